"""Criteria: pure functions from the fits, and what else they need, to a value for every k."""
