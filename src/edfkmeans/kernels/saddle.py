"""Rows counted along the lines between pairs of centres."""

from edfkmeans.kernels.compile import kernel


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
                low = int(place + 1.0) - 1
                part = place - low
                if low >= 0:
                    counts[p, low] += 1.0 - part
                if low + 1 < bins:
                    counts[p, low + 1] += part
