"""Apart: how the clusters of one clustering lie beside each other, in one call."""

import math

import numpy as np

from edfkmeans.kernels.compile import kernel, part
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.kernels.saddle import saddle_ratios, squared_gaps

# Part of a column's variance: a cluster's is never taken for less.
_LEAST_PART = 1e-3
# What is left beside a few rows far away is not apart: they are. The largest part that may be.
_MOST_PART = 0.75


@kernel
def spreads(X, labels, centers, sizes, gaps, out):
    """Write the index of Davies and Bouldin, and the BIC of two mixtures, per number in X.

    The mixtures are normal, with one variance for each cluster, and with one for each cluster and
    column; every row counts for its own cluster only.
    """
    n, d = X.shape
    k = centers.shape[0]
    away = np.zeros(k)
    variances = np.zeros((k, d))
    means = np.zeros(d)
    for i in range(n):
        c = labels[i]
        square = 0.0
        for j in range(d):
            t = X[i, j] - centers[c, j]
            square += t * t
            variances[c, j] += t * t
            means[j] += X[i, j]
        away[c] += math.sqrt(square)
    totals = np.zeros(d)
    for j in range(d):
        means[j] /= n
    for i in range(n):
        for j in range(d):
            t = X[i, j] - means[j]
            totals[j] += t * t
    total = 0.0
    for j in range(d):
        totals[j] = totals[j] / n if totals[j] > 0.0 else 1.0  # it may vary in other rows only
        total += totals[j] / d
    alike = mixing = balls = boxes = 0.0
    for c in range(k):
        size = max(float(sizes[c]), 1.0)  # a cluster may have lost its rows
        share = size / n
        mixing -= 2.0 * share * math.log(share) / d
        mean = box = 0.0
        for j in range(d):
            variance = variances[c, j] / size
            mean += variance / d
            box += math.log(max(variance, _LEAST_PART * totals[j]) / totals[j])
        balls += share * math.log(max(mean, _LEAST_PART * total) / total)
        boxes += share * box / d
        most = 0.0
        for other in range(k):
            wide = away[c] / size + away[other] / max(float(sizes[other]), 1.0)
            if other != c and wide > 0.0:
                gap = math.sqrt(max(gaps[c, other], 0.0))
                most = max(most, min(wide / gap, 1e6) if gap > 0.0 else 1e6)
        alike += most / k
    price = math.log(n) / (n * d)
    out[0] = alike
    out[1] = balls + mixing + price * k * (d + 2)
    out[2] = boxes + mixing + price * k * (2 * d + 1)


@part
def _lowest(ratios, sizes, least, most):
    """Find the cluster of the lowest ratio, the smaller of two; of certain sizes, if there are."""
    found, lowest = 0, np.inf
    for c in range(ratios.shape[0]):
        ratio = math.floor(1e9 * ratios[c] + 0.5) if least <= sizes[c] <= most else np.inf
        if ratio < lowest or (ratio == lowest and sizes[c] < sizes[found]):
            found, lowest = c, ratio
    return found


@kernel
def lie_apart(X, spanned, labels, sizes, large, out):
    """Write what is seen of one clustering.

    `spanned` are the rows of X, or the same in fewer columns; `sizes` those of the clusters, of
    which X may hold some rows only. Written are the saddle ratios: their mean over the rows, the
    highest, the lowest, the size of that cluster, the part of the rows in clusters with a ratio
    above 1; what `spreads` tells; and the lowest ratio of a cluster of at least as many rows as
    each number of `large`, with its size.
    """
    k = sizes.shape[0]
    centers = np.empty((k, X.shape[1]))
    counts = np.empty(k, np.int64)
    centroids(X, labels, centers, counts)
    gaps = np.empty((k, k))
    squared_gaps(centers, gaps)
    spreads(X, labels, centers, counts, gaps, out[5:8])
    if spanned.shape[1] < X.shape[1]:
        centers = np.empty((k, spanned.shape[1]))
        centroids(spanned, labels, centers, counts)
    ratios = np.empty(k)
    saddle_ratios(spanned, labels, centers, gaps, ratios)
    total = mean = highest = cut = 0.0
    for c in range(k):
        total += sizes[c]
        mean += sizes[c] * ratios[c]
        highest = max(highest, ratios[c])
        cut += sizes[c] if ratios[c] > 1.0 else 0.0
    found = _lowest(ratios, sizes, 0.0, np.inf)
    out[0], out[1], out[2], out[3], out[4] = (
        mean / total, highest, ratios[found], sizes[found], cut / total,
    )  # fmt: skip
    for m in range(large.shape[0]):
        found = _lowest(ratios, sizes, large[m], _MOST_PART * total)
        fits = large[m] <= sizes[found] <= _MOST_PART * total
        out[8 + 2 * m] = ratios[found] if fits else 3.0
        out[9 + 2 * m] = sizes[found]
