"""Rows that are equal: a number for every row, and a look whether rows are what they should be."""

import numpy as np

from edfkmeans.kernels.compile import exact_kernel

_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


@exact_kernel
def digests(X, bits, out):
    """Write a number for every row, the same for equal rows; `bits` are those of X."""
    for i in range(X.shape[0]):
        digest = np.uint64(0)
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:  # 0.0 and -0.0 are equal
                digest ^= np.uint64(bits[i, j])
            digest *= _FACTOR
            digest ^= digest >> _SHIFT
        out[i] = digest


@exact_kernel
def are_repeats(X, first, back):
    """Say whether every row i is equal to row ``first[back[i]]``."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] != X[first[back[i]], j]:
                return False
    return True
