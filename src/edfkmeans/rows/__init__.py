"""Rows: what a table of numbers is, checked, centred and scaled, wherever it lies."""
