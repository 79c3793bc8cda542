"""Tiles: a few rows at a time, and their squared distances to one centre.

A tile is `TILE` rows, transposed to (d, TILE): the innermost loop runs over rows, has a length the
compiler knows, and so fills the vector units whatever d and k are. Differences are squared
directly: the expansion ``|x|^2 - 2 x.c + |c|^2`` loses the digits of tight, distant clusters.
"""

from edfkmeans.kernels.compile import kernel, part

# Rows: a multiple of every vector unit's width.
TILE = 48


@kernel
def load_tile(X, rows, count, tile):
    """Copy ``X[rows[:count]]`` into `tile`, transposed; the rest repeats the last row."""
    for p in range(TILE):
        i = rows[min(p, count - 1)]
        for j in range(X.shape[1]):
            tile[j, p] = X[i, j]


@kernel
def tile_distances(tile, center, out):
    """``out[p] = |tile[:, p] - center|^2``."""
    d = center.shape[0]
    rest = d % 4
    if rest == 0:
        for p in range(TILE):
            out[p] = 0.0
    elif rest == 1:
        c0 = center[0]
        for p in range(TILE):
            t0 = tile[0, p] - c0
            out[p] = t0 * t0
    elif rest == 2:
        c0, c1 = center[0], center[1]
        for p in range(TILE):
            t0, t1 = tile[0, p] - c0, tile[1, p] - c1
            out[p] = t0 * t0 + t1 * t1
    else:
        c0, c1, c2 = center[0], center[1], center[2]
        for p in range(TILE):
            t0, t1, t2 = tile[0, p] - c0, tile[1, p] - c1, tile[2, p] - c2
            out[p] = t0 * t0 + t1 * t1 + t2 * t2
    # Four coordinates at a time: `out` is loaded and stored a quarter as often.
    for j in range(rest, d, 4):
        c0, c1, c2, c3 = center[j], center[j + 1], center[j + 2], center[j + 3]
        for p in range(TILE):
            t0, t1 = tile[j, p] - c0, tile[j + 1, p] - c1
            t2, t3 = tile[j + 2, p] - c2, tile[j + 3, p] - c3
            out[p] += t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3


@part
def rows_of_one_cluster(labels, by_cluster, first, rows):
    """Write the next rows of the cluster that row `first` is in; returns how many fit in a tile."""
    c = labels[by_cluster[first]]
    count = 0
    while (
        count < TILE and first + count < labels.shape[0] and labels[by_cluster[first + count]] == c
    ):
        rows[count] = by_cluster[first + count]
        count += 1
    return count


@part
def pilot_errors(
    tile, rows, count, center, pilot_labels, pilot_centers, far, error, offset, longest
):
    """Write each row's distance from its pilot's mean, and bounds over its coordinates.

    These are the largest distance from the own centre, and the longest shift that counts.
    """
    d = tile.shape[0]
    for p in range(TILE):
        offset[p] = longest[p] = 0.0
        i = rows[min(p, count - 1)]
        for j in range(d):
            error[j, p] = tile[j, p] - pilot_centers[pilot_labels[i], j]
    for j in range(d):
        for p in range(TILE):
            offset[p] = max(offset[p], abs(tile[j, p] - center[j]))
            longest[p] = max(longest[p], abs(error[j, p]) + far)
