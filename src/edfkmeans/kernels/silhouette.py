"""Silhouettes of many clusterings at once: each distance is taken once, and added to all.

Memory: one sum for each row of a tile and each cluster of each clustering, never n x n.
"""

import math

import numpy as np

from edfkmeans.kernels.compile import kernel
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances

# Squared distance over the squares of both rows: below it, products have lost too many digits.
_NEAR = 1e-6


@kernel
def _distances(X, i, begin, count, tile, products, center, distance):
    """Write the distances of row i to those of a tile, of products where there are any."""
    for j in range(center.shape[0]):
        center[j] = X[i, j]
    if products is None:
        tile_distances(tile, center, distance)
    else:
        for p in range(tile.shape[1]):
            row = begin + min(p, count - 1)
            both = products[i, i] + products[row, row]
            distance[p] = both - 2.0 * products[row, i]
            if distance[p] < _NEAR * both:
                distance[p] = 0.0
                for j in range(center.shape[0]):
                    t = X[row, j] - center[j]
                    distance[p] += t * t
    for p in range(tile.shape[1]):
        distance[p] = math.sqrt(distance[p])


@kernel
def silhouettes(X, products, first, last, slots, starts, sizes, tile, out):
    """Write the silhouettes of rows first .. last-1 in every clustering to ``out[m, row - first]``.

    Cluster c of clustering m has the slot ``starts[m] + c``, ``slots[i, m]`` is that of row i, and
    ``sizes`` holds the number of rows in each slot. A row outside clustering m has the last slot,
    which belongs to none; its silhouette is NaN. A lone row has 0 (Kaufman, Rousseeuw 1990).

    `products` are those of every two rows, or None: where there are many columns, distances by them
    take a tenth of the time. Rows near to each other, of which they would lose digits, are looked
    at themselves.

    `tile` is room for (d, TILE) numbers. It comes from outside so that the compiler does not know
    its width: it would unroll the loops that add up, fail to see that sums and distances are
    different arrays, and leave the vector units idle (2.4 times slower).
    """
    n, d = X.shape
    clusterings = slots.shape[1]
    nowhere = sizes.shape[0] - 1
    rows = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    center = np.empty(d)
    sums = np.empty((sizes.shape[0], TILE))
    width = tile.shape[1]
    for begin in range(first, last, TILE):
        count = min(TILE, last - begin)
        for p in range(TILE):
            rows[p] = begin + p
        load_tile(X, rows, count, tile)
        sums[:] = 0.0
        for i in range(n):
            _distances(X, i, begin, count, tile, products, center, distance)
            for m in range(clusterings):
                slot = slots[i, m]
                for p in range(width):
                    sums[slot, p] += distance[p]
        for m in range(clusterings):
            for p in range(count):
                own = slots[begin + p, m]
                value = np.nan if own == nowhere else 0.0
                if own != nowhere and sizes[own] > 1:
                    within = sums[own, p] / (sizes[own] - 1)
                    nearest = np.inf
                    for slot in range(starts[m], starts[m + 1]):
                        if slot != own:
                            nearest = min(nearest, sums[slot, p] / sizes[slot])
                    widest = max(within, nearest)
                    value = (nearest - within) / widest if widest > 0.0 else 0.0
                out[m, begin + p - first] = value
