"""Silhouettes of many clusterings at once: each distance is taken once, and added to all.

Memory: one sum for each row of a tile and each cluster of each clustering, never n x n.
"""

import math

import numpy as np

from edfkmeans.kernels.compile import kernel, part

# Squared distance over the squares of both rows: below it, products have lost too many digits.
_NEAR = 1e-6


@part
def _squares(row, tile, out):
    """``out[p] = |tile[:, p] - row|^2``; loops as long as the tile is wide, see `silhouettes`."""
    d = row.shape[0]
    for p in range(tile.shape[1]):
        out[p] = 0.0
    # Four coordinates at a time: `out` is loaded and stored a quarter as often.
    for j in range(0, d - 3, 4):
        c0, c1, c2, c3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        for p in range(tile.shape[1]):
            t0, t1 = tile[j, p] - c0, tile[j + 1, p] - c1
            t2, t3 = tile[j + 2, p] - c2, tile[j + 3, p] - c3
            out[p] += t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3
    for j in range(d - d % 4, d):
        c0 = row[j]
        for p in range(tile.shape[1]):
            t0 = tile[j, p] - c0
            out[p] += t0 * t0


@part
def _squares_by_products(X, i, begin, count, products, out):
    """Write the squared distances of row i to rows ``begin .. begin + count - 1``."""
    for p in range(out.shape[0]):
        row = begin + min(p, count - 1)
        both = products[i, i] + products[row, row]
        out[p] = both - 2.0 * products[row, i]
        if out[p] < _NEAR * both:
            out[p] = 0.0
            for j in range(X.shape[1]):
                t = X[row, j] - X[i, j]
                out[p] += t * t


@kernel
def silhouettes(X, products, first, last, slots, starts, sizes, tile, out):
    """Write the silhouettes of rows first .. last-1 in every clustering to ``out[m, row - first]``.

    Cluster c of clustering m has the slot ``starts[m] + c``, ``slots[i, m]`` is that of row i, and
    ``sizes`` holds the number of rows in each slot. A row outside clustering m has the last slot,
    which belongs to none; its silhouette is NaN. A lone row has 0 (Kaufman, Rousseeuw 1990).

    `products` are those of every two rows, or None: where there are many columns, distances by them
    take a tenth of the time. Rows near to each other, of which they would lose digits, are looked
    at themselves.

    `tile` is room for d numbers of so many rows as it is wide. It comes from outside so that the
    compiler does not know its width: it would unroll the loops that add up, fail to see that sums
    and distances are different arrays, and leave the vector units idle (2.4 times slower).
    """
    n, d = X.shape
    width = tile.shape[1]
    clusterings = slots.shape[1]
    nowhere = sizes.shape[0] - 1
    distance = np.empty(width)
    sums = np.empty((sizes.shape[0], width))
    for begin in range(first, last, width):
        count = min(width, last - begin)
        for p in range(width):
            for j in range(d):
                tile[j, p] = X[begin + min(p, count - 1), j]
        sums[:] = 0.0
        for i in range(n):
            if products is None:
                _squares(X[i], tile, distance)
            else:
                _squares_by_products(X, i, begin, count, products, distance)
            for p in range(width):
                distance[p] = math.sqrt(distance[p])
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
