"""Greedy k-means++ (Arthur, Vassilvitskii 2007): starts spread by squared distance."""

import numpy as np

from edfkmeans.kernels.compile import kernel
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances


@kernel
def _draw(weights, total, u):
    """Index drawn with probability proportional to `weights`, from one uniform number."""
    target = u * total
    cumulated = 0.0
    last = 0
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            cumulated += weights[i]
            if cumulated > target:
                return i
    return last


@kernel
def greedy_plusplus(X, uniforms, chosen):
    """Choose ``len(chosen)`` rows; each step keeps the best of several draws.

    ``uniforms[step, t]`` is the random number of draw t; ``uniforms[0, 0]`` picks the first row.
    Only rows at a positive distance can be drawn, so the rows chosen are distinct.
    """
    n, d = X.shape
    k, trials = uniforms.shape
    tile = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    draws = np.empty(trials, np.int64)
    potential = np.empty(trials)
    nearest = np.full(n, np.inf)
    candidate = np.empty((trials, n))
    total = 0.0
    for step in range(k):
        drawn = 1 if step == 0 else trials
        for t in range(drawn):
            if step == 0:
                draws[t] = min(int(uniforms[0, 0] * n), n - 1)
            else:
                draws[t] = _draw(nearest, total, uniforms[step, t])
            potential[t] = 0.0
        for first in range(0, n, TILE):
            count = min(TILE, n - first)
            for p in range(TILE):
                rows[p] = first + p
            load_tile(X, rows, count, tile)
            for t in range(drawn):
                tile_distances(tile, X[draws[t]], distance)
                for p in range(count):
                    closer = min(distance[p], nearest[first + p])
                    candidate[t, first + p] = closer
                    potential[t] += closer
        best = 0
        for t in range(1, drawn):
            if potential[t] < potential[best]:
                best = t
        chosen[step] = draws[best]
        total = potential[best]
        nearest[:] = candidate[best]
