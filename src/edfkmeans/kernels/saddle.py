"""Valleys: the rows of two clusters, counted along the line between their centres."""

from typing import Any

import numpy as np

from edfkmeans.kernels.compile import inlined, kernel, part
from edfkmeans.kernels.counting import rand_index
from edfkmeans.kernels.lloyd import assign, centroids

# Clusters that each one is compared with: those whose centres are nearest.
_NEIGHBOURS = 3
# On the line from one centre, 0, to the other, 1: where counting begins and ends, bins per unit,
# and the width of the kernel that smoothes the counts.
_FROM, _TO, _PER_UNIT, _WIDTH = -0.5, 1.5, 20.0, 0.1
_PLACES = _FROM + np.arange(round((_TO - _FROM) * _PER_UNIT) + 1) / _PER_UNIT
_KERNEL = np.exp(-0.5 * ((_PLACES[:, None] - _PLACES) / _WIDTH) ** 2)
# Bins where the ends of a line begin, where its middle begins and ends, and where the ends end.
_ENDS, _MIDDLE, _BEYOND, _LAST = np.searchsorted(_PLACES, (-0.22, 0.28, 0.72, 1.22)).tolist()


@kernel
def squared_gaps(centers, gaps):
    """Write the squared distances of all pairs of centres, by their products."""
    k, d = centers.shape
    columns = np.empty((d, k))
    squares = np.zeros(k)
    for c in range(k):
        for j in range(d):
            columns[j, c] = centers[c, j]
            squares[c] += centers[c, j] * centers[c, j]
    gaps[:] = 0.0
    for c in range(k):
        for j in range(d):
            double = 2.0 * columns[j, c]
            for other in range(k):
                gaps[c, other] += double * columns[j, other]
        for other in range(k):
            gaps[c, other] = squares[c] + squares[other] - gaps[c, other]


@part
def _neighbours(gaps, near):
    """Write the clusters whose centres are nearest to that of each; the lower one wins ties."""
    for c in range(gaps.shape[0]):
        for m in range(near.shape[1]):
            least = np.inf
            for other in range(gaps.shape[0]):
                taken = other == c
                for before in range(m):
                    taken |= near[c, before] == other
                if not taken and gaps[c, other] < least:
                    least = gaps[c, other]
                    near[c, m] = other


@part
def _number_pairs(near, number, ends):
    """Give every pair of neighbours a number; returns how many there are."""
    found = 0
    number[:] = -1
    for c in range(near.shape[0]):
        for m in range(near.shape[1]):
            one, other = min(c, near[c, m]), max(c, near[c, m])
            if number[one, other] < 0:
                number[one, other] = number[other, one] = found
                ends[found, 0], ends[found, 1] = one, other
                found += 1
    return found


@kernel
def count_along(X, labels, lines, starts, pairs, first, per_unit, counts):
    """Count the rows of both clusters of every pair along the line between their centres.

    The place of a row on the line of pair p is ``X[i] @ lines[p] - starts[p]``: the middle of bin 0
    is at 0, and there are `per_unit` bins between the centres. A row counts for the two bins next
    to it, the more the nearer: rounding cannot move it. ``pairs[first[c] : first[c + 1]]`` are the
    pairs of cluster c. Rows beyond the last bins count for none.
    """
    bins = counts.shape[1]
    for i in range(X.shape[0]):
        c = labels[i]
        for m in range(first[c], first[c + 1]):
            p = pairs[m]
            place = -starts[p]
            for j in range(X.shape[1]):
                place += X[i, j] * lines[p, j]
            place *= per_unit
            if -1.0 < place < bins:
                low = np.int64(place + 1.0) - 1
                part = place - low
                if low >= 0:
                    counts[p, low] += 1.0 - part
                if low + 1 < bins:
                    counts[p, low + 1] += part


@part
def _ratio(counts, density):
    """Lowest density in the middle over the lesser of the two highest near the centres."""
    density[:] = 0.0
    for b in range(counts.shape[0]):
        for q in range(density.shape[0]):
            density[q] += counts[b] * _KERNEL[b, q]
    before, lowest, after = 0.0, np.inf, 0.0
    for q in range(_ENDS, _MIDDLE):
        before = max(before, density[q])
    for q in range(_MIDDLE, _BEYOND):
        lowest = min(lowest, density[q])
    for q in range(_BEYOND, _LAST):
        after = max(after, density[q])
    return min(2.0, lowest / max(1e-12, min(before, after)))


@kernel
def saddle_ratios(X, labels, centers, gaps, highest):
    """Write for every cluster its highest saddle ratio with a neighbour.

    `gaps` are the squared distances of the centres.
    """
    k, d = centers.shape
    near = np.empty((k, min(_NEIGHBOURS, k - 1)), np.int64)
    number = np.empty((k, k), np.int64)
    ends = np.empty((near.size, 2), np.int64)
    _neighbours(gaps, near)
    many = _number_pairs(near, number, ends)
    lines = np.empty((many, d))
    starts = np.empty(many)
    first = np.zeros(k + 1, np.int64)
    for p in range(many):
        one, other = ends[p, 0], ends[p, 1]
        first[one + 1] += 1
        first[other + 1] += 1
        square = 0.0
        for j in range(d):
            lines[p, j] = centers[other, j] - centers[one, j]
            square += lines[p, j] * lines[p, j]
        starts[p] = _FROM
        for j in range(d):
            lines[p, j] /= max(square, 1e-300)
            starts[p] += centers[one, j] * lines[p, j]
    for c in range(k):
        first[c + 1] += first[c]
    pairs = np.empty(2 * many, np.int64)
    room = first.copy()
    for p in range(many):
        for end in range(2):
            pairs[room[ends[p, end]]] = p
            room[ends[p, end]] += 1
    counts = np.zeros((many, _PLACES.shape[0]))
    count_along(X, labels, lines, starts, pairs, first, _PER_UNIT, counts)
    density = np.empty(_PLACES.shape[0])
    ratios = np.empty(many)
    for p in range(many):
        ratios[p] = _ratio(counts[p], density)
    for c in range(k):
        highest[c] = 0.0
        for m in range(near.shape[1]):
            highest[c] = max(highest[c], ratios[number[c, near[c, m]]])


@inlined
def _mean_saddle(X, labels, centers):
    """Mean saddle ratio over the rows."""
    k = centers.shape[0]
    gaps = np.empty((k, k))
    highest = np.empty(k)
    squared_gaps(centers, gaps)
    saddle_ratios(X, labels, centers, gaps, highest)
    total = 0.0
    for i in range(X.shape[0]):
        total += highest[labels[i]]
    return total / X.shape[0]


@kernel
def seen_through(X, others, labels_of, others_labels_of, ks, alike, saddles):
    """Look at rows through the fits of others: each goes to the nearest of their centroids.

    Writes for every k the adjusted Rand index with the rows' own labels, ``labels_of[k - 1]``, and
    the mean saddle ratio along the lines of the others, which were not bent to these rows. Without
    any others, rows are looked at through their own fits: one kernel is compiled for both.
    """
    told = np.empty(X.shape[0], np.int32)
    for m in range(ks.shape[0]):
        k = ks[m]
        centers = np.empty((k, X.shape[1]))
        sizes = np.empty(k, np.int64)
        own = labels_of[k - 1]
        if others.shape[0] > 0:
            centroids(others, others_labels_of[k - 1], centers, sizes)
            assign(X, centers, told)
            alike[m] = rand_index(told, own, k, k)
        else:
            centroids(X, own, centers, sizes)
            for i in range(X.shape[0]):
                told[i] = own[i]
            alike[m] = 1.0
        saddles[m] = _mean_saddle(X, told, centers)


def mean_saddles(X: Any, labels_of: Any, means: Any) -> None:
    """Write the mean saddle ratios for k = 2, 3, ..; labels are ``labels_of[k - 1]``."""
    ks = np.arange(2, len(labels_of) + 1)
    seen_through(X, X[:0], labels_of, labels_of, ks, np.empty(len(ks)), means[1 : len(labels_of)])
