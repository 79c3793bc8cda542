"""One centre more, one centre less: the steps between a fit with k clusters and one with k + 1."""

import math

import numpy as np

from edfkmeans.kernels.compile import kernel
from edfkmeans.kernels.hartigan import root_weight
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances


@kernel
def weigh(X, w, centers, sizes, labels, own, enter, target):
    """Nearest centre of each row, its squared distance, and the cheapest other cluster to enter.

    ``enter = min over l != labels of n_l / (n_l + 1) |x - mu_l|^2``, reached at `target`; with
    weights as in `hartigan`.
    """
    n, d = X.shape
    k = centers.shape[0]
    tile = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    distances = np.empty((k, TILE))
    nearest = np.empty(TILE)
    other = np.empty(TILE)
    label = np.empty(TILE, np.int64)
    other_label = np.empty(TILE, np.int64)
    for first in range(0, n, TILE):
        count = min(TILE, n - first)
        light = False
        for p in range(TILE):
            rows[p] = first + p
            nearest[p] = other[p] = np.inf
            label[p] = other_label[p] = 0
            if w is not None:
                light |= w[first + min(p, count - 1)] < 1.0
        load_tile(X, rows, count, tile)
        for c in range(k):
            tile_distances(tile, centers[c], distances[c])
            for p in range(TILE):
                closer = distances[c, p] < nearest[p]
                nearest[p] = distances[c, p] if closer else nearest[p]
                label[p] = c if closer else label[p]
        for c in range(k):
            weight = sizes[c] / (sizes[c] + 1.0)
            for p in range(TILE):
                if w is not None and light:
                    weight = sizes[c] / (sizes[c] + min(1.0, w[rows[min(p, count - 1)]]))
                price = weight * distances[c, p]
                cheaper = (price < other[p]) & (label[p] != c)
                other[p] = price if cheaper else other[p]
                other_label[p] = c if cheaper else other_label[p]
        for p in range(count):
            labels[first + p] = label[p]
            own[first + p] = nearest[p]
            enter[first + p] = other[p]
            target[first + p] = other_label[p]


@kernel
def draw(shares, w, uniforms, drawn):
    """Draw rows with probability proportional to `shares`, one for each (sorted) uniform."""
    total = 0.0
    for i in range(shares.shape[0]):
        total += shares[i] if w is None else w[i] * shares[i]
    cumulated = 0.0
    t = last = 0
    for i in range(shares.shape[0]):
        if shares[i] > 0.0:
            last = i
            cumulated += shares[i] if w is None else w[i] * shares[i]
            while t < drawn.shape[0] and cumulated > uniforms[t] * total:
                drawn[t] = i
                t += 1
    while t < drawn.shape[0]:
        drawn[t] = last
        t += 1


@kernel
def gains(X, w, own, points, gain):
    """How much the sum of squares falls at once when a centre is put on each of the points."""
    n, d = X.shape
    tile = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    gain[:] = 0.0
    for first in range(0, n, TILE):
        count = min(TILE, n - first)
        for p in range(TILE):
            rows[p] = first + p
        load_tile(X, rows, count, tile)
        for t in range(points.shape[0]):
            tile_distances(tile, points[t], distance)
            saved = 0.0
            for p in range(count):
                if w is None:
                    saved += max(0.0, own[first + p] - distance[p])
                else:
                    saved += w[first + p] * max(0.0, own[first + p] - distance[p])
            gain[t] += saved


@kernel
def approach(X, point, own):
    """Lower every row's squared distance to its nearest centre to that of a further centre."""
    for i in range(X.shape[0]):
        square = 0.0
        for j in range(X.shape[1]):
            t = X[i, j] - point[j]
            square += t * t
        own[i] = min(own[i], square)


@kernel
def insert(X, w, row, k, base_labels, own, enter, labels, upper, lower):
    """Put centre k on a row: it takes the rows it is nearer to; writes labels and bounds."""
    n, d = X.shape
    taken = 0 if w is None else 0.0
    for i in range(n):
        square = 0.0
        for j in range(d):
            t = X[i, j] - X[row, j]
            square += t * t
        if square < own[i]:
            labels[i] = k
            upper[i] = np.inf
            lower[i] = 0.0
            taken += 1 if w is None else w[i]
        else:
            labels[i] = base_labels[i]
            upper[i] = math.sqrt(own[i]) * (1.0 + 1e-6)
            lower[i] = math.sqrt(square) * (1.0 - 1e-6)
    weight = root_weight(taken)
    for i in range(n):
        if labels[i] != k:
            lower[i] = min(weight * lower[i], math.sqrt(enter[i]) * (1.0 - 1e-6))
    return taken


@kernel
def remove(r, last, base_labels, own, enter, target, labels, upper, lower):
    """Dissolve cluster r, its rows to their `target`; the last cluster takes its number."""
    for i in range(base_labels.shape[0]):
        c = base_labels[i]
        if c == r:
            c = target[i]
            upper[i] = np.inf
            lower[i] = 0.0
        else:
            upper[i] = math.sqrt(own[i]) * (1.0 + 1e-6)
            lower[i] = math.sqrt(enter[i]) * (1.0 - 1e-6)
        labels[i] = r if c == last else c


@kernel
def removal_costs(w, labels, own, enter, costs):
    """How much the sum of squares rises at once when each cluster is dissolved."""
    costs[:] = 0.0
    for i in range(labels.shape[0]):
        if w is None:
            costs[labels[i]] += enter[i] - own[i]
        else:
            costs[labels[i]] += w[i] * (enter[i] - own[i])
