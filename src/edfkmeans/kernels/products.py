"""Single-point moves by the products of rows, where rows are few and columns many.

With ``S_c(x)`` the sum of the products of row x with the rows of cluster c, and ``T_c`` the sum of
the products of all pairs within it,

    |x - mu_c|^2 = x.x - 2 S_c(x) / n_c + T_c / n_c^2.

To weigh a row against all clusters takes k steps instead of k d, and a move changes two rows of S:
2 n steps. Such distances lose the digits of tight, distant clusters. So `descend` goes most of the
way only, and `hartigan` has the last word; `climb` is for samples without clusters.
"""

import numpy as np

from edfkmeans.kernels.compile import kernel, part
from edfkmeans.kernels.steps import draw

# A move must lower the sum of squares by this part of the row's square: beyond all rounding.
_LEAST_GAIN = 1e-10


@part
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


@part
def _movers(products, labels, sizes, sums, totals, leave, enter, movers):
    """Write the rows that want to move; returns how many."""
    n = labels.shape[0]
    for i in range(n):
        leave[i] = 0.0
        enter[i] = np.inf
    for c in range(sizes.shape[0]):
        size = max(float(sizes[c]), 1.0)
        price = sizes[c] / (sizes[c] + 1.0)
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


@part
def _square(i, c, products, sizes, sums, totals):
    """Squared distance of a row to the centroid of a cluster."""
    size = max(float(sizes[c]), 1.0)
    return products[i, i] - 2.0 * sums[c, i] / size + totals[c] / (size * size)


@part
def _move(i, target, products, labels, sizes, sums, totals):
    """Give a row to another cluster."""
    own = labels[i]
    totals[own] += products[i, i] - 2.0 * sums[own, i]
    totals[target] += products[i, i] + 2.0 * sums[target, i]
    for p in range(labels.shape[0]):
        sums[own, p] -= products[i, p]
        sums[target, p] += products[i, p]
    sizes[own] -= 1
    sizes[target] += 1
    labels[i] = target


@part
def _sweep(products, labels, sizes, sums, totals, leave, enter, movers):
    """Move each row that wants to, and still does when its turn comes; returns how many did."""
    found = _movers(products, labels, sizes, sums, totals, leave, enter, movers)
    moves = 0
    for m in range(found):
        i = movers[m]
        own = labels[i]
        if sizes[own] == 1:
            continue
        gain = _square(i, own, products, sizes, sums, totals) * (sizes[own] / (sizes[own] - 1.0))
        cost, target = np.inf, -1
        for c in range(sizes.shape[0]):
            price = sizes[c] / (sizes[c] + 1.0) * _square(i, c, products, sizes, sums, totals)
            if c != own and price < cost:
                cost, target = price, c
        if gain - cost > _LEAST_GAIN * (gain + products[i, i]):
            _move(i, target, products, labels, sizes, sums, totals)
            moves += 1
    return moves


@kernel
def descend(products, labels, k, max_sweeps):
    """Move rows from cluster to cluster until none wants to."""
    n = labels.shape[0]
    sizes = np.empty(k, np.int64)
    sums = np.empty((k, n))
    totals = np.empty(k)
    leave = np.empty(n)
    enter = np.empty(n)
    movers = np.empty(n, np.int64)
    _add_up(products, labels, sizes, sums, totals)
    for _ in range(max_sweeps):
        if _sweep(products, labels, sizes, sums, totals, leave, enter, movers) == 0:
            break


@part
def _best_row(products, own, uniforms, drawn):
    """Draw rows by their squared distance `own`; returns the one that would save most."""
    draw(own, None, uniforms, drawn)
    row, most = drawn[0], -1.0
    for candidate in drawn:
        saved = 0.0
        for i in range(own.shape[0]):
            square = products[i, i] + products[candidate, candidate] - 2.0 * products[candidate, i]
            saved += max(0.0, own[i] - square)
        if saved > most:
            row, most = candidate, saved
    return row


@kernel
def climb(products, uniforms, enough, inertia, labels_of):
    """Do what `climb.climb` does with rows of which only the products are known."""
    n = products.shape[0]
    most = inertia.shape[0]
    sizes = np.zeros(most, np.int64)
    sums = np.zeros((most, n))
    totals = np.zeros(most)
    labels = np.zeros(n, np.int32)
    leave = np.empty(n)
    enter = np.empty(n)
    own = np.empty(n, np.float32)
    movers = np.empty(n, np.int64)
    drawn = np.empty(uniforms.shape[1], np.int64)
    _add_up(products, labels, sizes[:1], sums[:1], totals[:1])
    for k in range(1, most + 1):
        if k > 1:
            row = _best_row(products, own, uniforms[k - 1], drawn)
            for i in range(n):
                square = products[i, i] + products[row, row] - 2.0 * products[row, i]
                if square < own[i]:
                    _move(i, k - 1, products, labels, sizes, sums, totals)
            for _ in range(6 + 30 // k):
                moves = _sweep(
                    products, labels, sizes[:k], sums[:k], totals[:k], leave, enter, movers
                )
                if moves <= enough:
                    break
        inertia[k - 1] = 0.0
        for i in range(n):
            square = max(0.0, _square(i, labels[i], products, sizes, sums, totals))
            own[i] = square
            inertia[k - 1] += square
        if 1 < k <= labels_of.shape[0]:
            for i in range(n):
                labels_of[k - 1, i] = labels[i]
