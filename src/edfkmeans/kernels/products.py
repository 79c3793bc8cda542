"""Single-point moves by the products of rows, where rows are few and columns many.

With ``S_c(x)`` the sum of the products of row x with the rows of cluster c, and ``T_c`` the sum of
the products of all pairs within it,

    |x - mu_c|^2 = x.x - 2 S_c(x) / n_c + T_c / n_c^2.

To weigh a row against all clusters takes k steps instead of k d, and a move changes two rows of S:
2 n steps. Such distances lose the digits of tight, distant clusters. So this goes most of the way
only; `hartigan` goes the rest and has the last word.
"""

import numpy as np

from edfkmeans.kernels.compile import kernel

# A move must lower the sum of squares by this part of the row's square: beyond all rounding.
_LEAST_GAIN = 1e-10


@kernel
def _add_up(products, labels, sizes, sums, totals):
    """Write the sizes of the clusters, the sums of products with their rows, and within them."""
    n = labels.shape[0]
    sizes[:] = 0
    sums[:] = 0.0
    totals[:] = 0.0
    for i in range(n):
        c = labels[i]
        sizes[c] += 1
        for p in range(n):
            sums[c, p] += products[i, p]
    for i in range(n):
        totals[labels[i]] += sums[labels[i], i]


@kernel
def _movers(products, labels, sizes, sums, totals, leave, enter, movers):
    """Write the rows that want to move; returns how many."""
    n = labels.shape[0]
    for i in range(n):
        leave[i] = 0.0
        enter[i] = np.inf
    for c in range(sizes.shape[0]):
        size = float(sizes[c])
        price = size / (size + 1.0)
        gain = size / (size - 1.0) if size > 1.0 else 0.0
        slope, offset = 2.0 / size, totals[c] / (size * size)
        for i in range(n):
            square = offset - slope * sums[c, i]  # less what the row has with itself
            mine = labels[i] == c
            leave[i] = gain * (square + products[i, i]) if mine else leave[i]
            enter[i] = enter[i] if mine else min(enter[i], price * (square + products[i, i]))
    found = 0
    for i in range(n):
        movers[found] = i
        found += enter[i] < leave[i]
    return found


@kernel
def _best_move(i, own, products, sizes, sums, totals):
    """Gain of leaving the own cluster, cost of entering the cheapest other one, and which."""
    leave, enter, target = 0.0, np.inf, -1
    for c in range(sizes.shape[0]):
        size = float(sizes[c])
        square = products[i, i] - 2.0 * sums[c, i] / size + totals[c] / (size * size)
        if c == own:
            leave = square * (size / (size - 1.0))
        elif square * (size / (size + 1.0)) < enter:
            enter, target = square * (size / (size + 1.0)), c
    return leave, enter, target


@kernel
def descend(products, labels, k, max_sweeps):
    """Move rows from cluster to cluster, none of which is empty, until none wants to."""
    n = labels.shape[0]
    sizes = np.empty(k, np.int64)
    sums = np.empty((k, n))
    totals = np.empty(k)
    leave = np.empty(n)
    enter = np.empty(n)
    movers = np.empty(n, np.int64)
    _add_up(products, labels, sizes, sums, totals)
    for _ in range(max_sweeps):
        found = _movers(products, labels, sizes, sums, totals, leave, enter, movers)
        moves = 0
        for m in range(found):
            i = movers[m]
            own = labels[i]
            if sizes[own] == 1:
                continue
            gain, cost, target = _best_move(i, own, products, sizes, sums, totals)
            if gain - cost <= _LEAST_GAIN * (gain + products[i, i]):
                continue
            totals[own] += products[i, i] - 2.0 * sums[own, i]
            totals[target] += products[i, i] + 2.0 * sums[target, i]
            for p in range(n):
                sums[own, p] -= products[i, p]
                sums[target, p] += products[i, p]
            sizes[own] -= 1
            sizes[target] += 1
            labels[i] = target
            moves += 1
        if moves == 0:
            break
