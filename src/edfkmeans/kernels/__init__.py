"""Numba kernels: a block of rows in, labels and sums out; no classes, no I/O."""
