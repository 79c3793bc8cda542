"""Rows counted by their clusters, without the GIL."""

from edfkmeans.kernels.compile import kernel


@kernel
def take_shares(labels, order, shares, taken):
    """Take rows in a given order until every cluster has its share; `shares` is used up."""
    for m in range(order.shape[0]):
        i = order[m]
        c = labels[i]
        taken[i] = shares[c] > 0
        shares[c] -= taken[i]


@kernel
def count_pairs(one, other, counts):
    """Count the rows in every pair of clusters of two clusterings."""
    for i in range(one.shape[0]):
        counts[one[i], other[i]] += 1
