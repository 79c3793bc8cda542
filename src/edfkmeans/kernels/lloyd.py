"""Nearest centres, centroids and sums of squares.

Here as in `hartigan` and `steps`, `w` holds the weights of the rows, or is None: every row counts
once then. Numba compiles the two apart, and what is said of weights is not there without them.
"""

import numpy as np

from edfkmeans.kernels.compile import kernel
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances

# Rows in one piece of work: fixed, so that sums do not depend on the number of threads.
BLOCK = 8192


@kernel
def assign(X, centers, labels):
    """Write the nearest centre of every row to `labels`; the lowest index wins ties."""
    n, d = X.shape
    k = centers.shape[0]
    tile = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    best = np.empty(TILE)
    nearest = np.empty(TILE, np.int64)
    for first in range(0, n, TILE):
        count = min(TILE, n - first)
        for p in range(TILE):
            rows[p] = first + p
            best[p] = np.inf
            nearest[p] = 0
        load_tile(X, rows, count, tile)
        for c in range(k):
            tile_distances(tile, centers[c], distance)
            for p in range(TILE):
                if distance[p] < best[p]:
                    best[p] = distance[p]
                    nearest[p] = c
        for p in range(count):
            labels[first + p] = nearest[p]


@kernel
def centroids(X, labels, centers, sizes):
    """Write the mean and the number of rows of every cluster; an empty one keeps a zero mean."""
    n, d = X.shape
    centers[:] = 0.0
    sizes[:] = 0
    for i in range(n):
        c = labels[i]
        sizes[c] += 1
        for j in range(d):
            centers[c, j] += X[i, j]
    for c in range(centers.shape[0]):
        if sizes[c] > 0:
            for j in range(d):
                centers[c, j] /= sizes[c]


@kernel
def add_weighted(X, w, labels, sizes, sums):
    """Add rows times their weights, and the weights, to those of their clusters."""
    for i in range(X.shape[0]):
        c = labels[i]
        sizes[c] += w[i]
        for j in range(X.shape[1]):
            sums[c, j] += w[i] * X[i, j]


@kernel
def weighted_centroids(X, w, labels, centers, sizes):
    """Do what `centroids` does where rows may have weights."""
    if w is None:
        centroids(X, labels, centers, sizes)
        return
    centers[:] = 0.0
    sizes[:] = 0.0
    add_weighted(X, w, labels, sizes, centers)
    for c in range(centers.shape[0]):
        if sizes[c] > 0.0:
            for j in range(X.shape[1]):
                centers[c, j] /= sizes[c]


@kernel
def add_rows(whole, labels, sizes, sums):
    """Add whole numbers that stand for rows, and their count, to those of their clusters."""
    for i in range(whole.shape[0]):
        c = labels[i]
        sizes[c] += 1
        for j in range(whole.shape[1]):
            sums[c, j] += whole[i, j]


@kernel
def sum_of_squares(X, w, labels, centers):
    """Sum of squared distances of the rows to the centres they are labelled with.

    Summed block by block, so that the sum is the same when blocks are done one at a time.
    """
    total = 0.0
    for first in range(0, X.shape[0], BLOCK):
        part = 0.0
        for i in range(first, min(first + BLOCK, X.shape[0])):
            c = labels[i]
            if w is None:
                for j in range(X.shape[1]):
                    t = X[i, j] - centers[c, j]
                    part += t * t
            else:
                square = 0.0
                for j in range(X.shape[1]):
                    t = X[i, j] - centers[c, j]
                    square += t * t
                part += w[i] * square
        total += part
    return total
