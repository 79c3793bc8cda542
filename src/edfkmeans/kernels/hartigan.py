"""Single-point moves to a local optimum that Lloyd cannot reach.

Moving row x from cluster c to cluster l changes the sum of squares by

    n_l / (n_l + 1) |x - mu_l|^2  -  n_c / (n_c - 1) |x - mu_c|^2,

so a fit is a single-point optimum when that is nowhere negative. Lloyd's condition lacks the two
factors and stops earlier. A cluster is never emptied: a lone row stays.
"""

import numpy as np

from edfkmeans.kernels.compile import kernel
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances

# A move must lower the sum of squares by this part of what the row contributes, so that rounding
# can never make two states better than each other.
_LEAST_GAIN = 1e-10


@kernel
def _best_move(x, c, centers, sizes):
    """Cost of leaving c and the cheapest other cluster to enter, with its cost."""
    leave, enter, target = 0.0, np.inf, -1
    for cluster in range(centers.shape[0]):
        square = 0.0
        for j in range(x.shape[0]):
            t = x[j] - centers[cluster, j]
            square += t * t
        if cluster == c:
            leave = square * sizes[c] / (sizes[c] - 1)
        else:
            cost = square * sizes[cluster] / (sizes[cluster] + 1)
            if cost < enter:
                enter, target = cost, cluster
    return leave, enter, target


@kernel
def _move(x, c, target, centers, sizes):
    """Take x out of cluster c and put it into `target`."""
    sizes[c] -= 1
    sizes[target] += 1
    for j in range(x.shape[0]):
        centers[c, j] -= (x[j] - centers[c, j]) / sizes[c]
        centers[target, j] += (x[j] - centers[target, j]) / sizes[target]


@kernel
def sweep(X, labels, centers, sizes):
    """One pass over the rows, each moved where that pays; returns the number of moves.

    A tile of rows is weighed against the centres as they are when it is reached. Rows that would
    stay are done; one that would move is weighed again by itself, with the centres of that moment.
    """
    n, d = X.shape
    k = centers.shape[0]
    tile = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    own = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    leave = np.empty(TILE)
    enter = np.empty(TILE)
    moves = 0
    for first in range(0, n, TILE):
        count = min(TILE, n - first)
        for p in range(TILE):
            rows[p] = first + p
            own[p] = labels[first + min(p, count - 1)]
            leave[p] = 0.0
            enter[p] = np.inf
        load_tile(X, rows, count, tile)
        for c in range(k):
            tile_distances(tile, centers[c], distance)
            weight = sizes[c] / (sizes[c] + 1.0)
            for p in range(TILE):
                if own[p] == c:
                    leave[p] = distance[p]
                else:
                    enter[p] = min(enter[p], weight * distance[p])
        for p in range(count):
            i, c = first + p, own[p]
            if sizes[c] > 1 and enter[p] < leave[p] * (sizes[c] / (sizes[c] - 1.0)):
                out, into, target = _best_move(X[i], c, centers, sizes)
                if out - into > _LEAST_GAIN * out:
                    _move(X[i], c, target, centers, sizes)
                    labels[i] = target
                    moves += 1
    return moves


@kernel
def descend(X, labels, centers, sizes, max_sweeps):
    """Sweep until no row moves; `labels` in and out, `centers` and `sizes` out."""
    centroids(X, labels, centers, sizes)
    for _ in range(max_sweeps):
        moves = sweep(X, labels, centers, sizes)
        # Fresh centroids: the updates of a sweep have gathered rounding errors.
        centroids(X, labels, centers, sizes)
        if moves == 0:
            break
