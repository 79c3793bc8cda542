"""Quick fits for k = 1, 2, ... in one go, for reference data.

Each fit begins with the one before and a further centre, on the best of a few rows drawn as in
k-means++, and is improved by single-point moves. The distances of all rows to all centres are kept,
in single precision, and only those to centres that moved are taken again: one more centre moves
few of the others. The moves themselves, and the inertia, are in double precision. On 1000 rows this
is four times as fast as the sweeps with bounds in `hartigan`, which spare few looks where there are
no clusters; it takes 4 (k + d) n bytes.
"""

import numpy as np

from edfkmeans.kernels.compile import inlined, kernel, part
from edfkmeans.kernels.hartigan import apply_moves
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.kernels.steps import draw


@kernel
def _distances(columns, point, out):
    """Squared distances of all rows to a point."""
    d, n = columns.shape
    rest = d % 4
    for i in range(n):
        out[i] = 0.0
    for j in range(rest):
        c = np.float32(point[j])
        for i in range(n):
            t = columns[j, i] - c
            out[i] += t * t
    for j in range(rest, d, 4):
        c0, c1 = np.float32(point[j]), np.float32(point[j + 1])
        c2, c3 = np.float32(point[j + 2]), np.float32(point[j + 3])
        for i in range(n):
            t0, t1 = columns[j, i] - c0, columns[j + 1, i] - c1
            t2, t3 = columns[j + 2, i] - c2, columns[j + 3, i] - c3
            out[i] += t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3


@inlined
def _movers(distances, labels, sizes, leave, enter, movers):
    """Write the rows that seem to want to move; returns how many."""
    n = labels.shape[0]
    for i in range(n):
        leave[i] = 0.0
        enter[i] = np.inf
    for c in range(sizes.shape[0]):
        row = distances[c]
        this = np.int32(c)
        price = np.float32(sizes[c] / (sizes[c] + 1.0))
        gain = np.float32(sizes[c] / (sizes[c] - 1.0) if sizes[c] > 1 else 0.0)
        for i in range(n):
            mine = labels[i] == this
            leave[i] = gain * row[i] if mine else leave[i]
            enter[i] = min(enter[i], np.float32(np.inf) if mine else price * row[i])
    found = np.int64(0)  # not a literal: callers would be compiled for a 0 of their own
    for i in range(n):
        movers[found] = i
        found += enter[i] < leave[i]
    return found


@kernel
def _best_row(X, columns, own, uniforms, drawn, room):
    """Draw rows by their squared distance `own`; returns the one that would save most."""
    draw(own, None, uniforms, drawn)
    row, most = drawn[0], np.float32(-1.0)
    for candidate in drawn:
        _distances(columns, X[candidate], room)
        saved = np.float32(0.0)
        for i in range(own.shape[0]):
            saved += max(np.float32(0.0), own[i] - room[i])
        if saved > most:
            row, most = candidate, saved
    return row


@part
def _weigh(X, labels, centers, own):
    """Write every row's squared distance to its centre; returns their sum."""
    total = 0.0
    for i in range(X.shape[0]):
        square = 0.0
        for j in range(X.shape[1]):
            t = X[i, j] - centers[labels[i], j]
            square += t * t
        own[i] = square
        total += square
    return total


@kernel
def climb(X, columns, uniforms, enough, inertia, labels_of):
    """Write the inertia for k = 1 .. len(inertia).

    `columns` is X transposed, in single precision. ``uniforms[k - 1]`` are sorted numbers from
    (0, 1) to draw the rows with that may be the k-th centre. A fit ends when at most `enough` rows
    move in a sweep, or after ``6 + 30 // k`` sweeps. The labels for k > 1 go to
    ``labels_of[k - 1]``, if there is such a row.
    """
    n, d = X.shape
    most = inertia.shape[0]
    distances = np.empty((most, n), np.float32)
    centers = np.empty((most, d))
    before = np.empty((most, d))
    sizes = np.empty(most, np.int64)
    drift = np.empty(most)
    stale = np.zeros(most, np.bool_)  # whether the distances are those to another centre
    labels = np.zeros(n, np.int32)
    movers = np.empty(n, np.int64)
    drawn = np.empty(uniforms.shape[1], np.int64)
    own = np.empty(n, np.float32)
    leave = np.empty(n, np.float32)
    enter = np.empty(n, np.float32)
    centroids(X, labels, centers[:1], sizes[:1])
    _distances(columns, centers[0], distances[0])
    inertia[0] = _weigh(X, labels, centers, own)
    for k in range(2, most + 1):
        row = _best_row(X, columns, own, uniforms[k - 1], drawn, enter)
        _distances(columns, X[row], distances[k - 1])
        for i in range(n):
            if distances[k - 1, i] < own[i]:
                labels[i] = k - 1
        for j in range(d):
            for c in range(k - 1):
                before[c, j] = centers[c, j]
            before[k - 1, j] = X[row, j]
        centroids(X, labels, centers[:k], sizes[:k])
        for c in range(k):
            for j in range(d):
                stale[c] |= centers[c, j] != before[c, j]
        for _ in range(6 + 30 // k):
            for c in range(k):
                if stale[c]:
                    _distances(columns, centers[c], distances[c])
            found = _movers(distances, labels, sizes[:k], leave, enter, movers)
            moves, _ = apply_moves(
                X, None, movers, found, labels, centers[:k], sizes[:k], leave, enter, drift[:k]
            )
            for c in range(k):
                stale[c] = drift[c] > 0.0
            if moves <= enough:
                break
        inertia[k - 1] = _weigh(X, labels, centers, own)
        if k <= labels_of.shape[0]:
            for i in range(n):
                labels_of[k - 1, i] = labels[i]
