"""Choosing: how the answer is put together from the criteria's curves."""
