"""Rows counted by their clusters, without the GIL."""

import numpy as np

from edfkmeans.kernels.compile import kernel


@kernel
def take_shares(labels, order, shares, taken):
    """Take rows in a given order until every cluster has its share; `shares` is used up."""
    taken[:] = False
    left = 0
    for c in range(shares.shape[0]):
        left += shares[c]
    for m in range(order.shape[0]):
        if left == 0:
            break
        i = order[m]
        c = labels[i]
        taken[i] = shares[c] > 0
        shares[c] -= taken[i]
        left -= taken[i]


@kernel
def rand_index(one, other, k, other_k):
    """Compute the adjusted Rand index of two clusterings; 1 for two of one cluster."""
    counts = np.zeros((k, other_k))
    for i in range(one.shape[0]):
        counts[one[i], other[i]] += 1.0
    pairs = first = second = 0.0
    for a in range(k):
        size = 0.0
        for b in range(other_k):
            size += counts[a, b]
            pairs += counts[a, b] * (counts[a, b] - 1.0) / 2.0
        first += size * (size - 1.0) / 2.0
    for b in range(other_k):
        size = 0.0
        for a in range(k):
            size += counts[a, b]
        second += size * (size - 1.0) / 2.0
    n = float(one.shape[0])
    expected = first * second / max(n * (n - 1.0) / 2.0, 1.0)
    most = (first + second) / 2.0
    return 1.0 if most == expected else (pairs - expected) / (most - expected)
