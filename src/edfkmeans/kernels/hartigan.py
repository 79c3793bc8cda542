"""Single-point moves to a local optimum that Lloyd cannot reach.

Moving row x from cluster c to cluster l changes the sum of squares by

    w_l |x - mu_l|^2  -  n_c / (n_c - 1) |x - mu_c|^2,      w_l = n_l / (n_l + 1),

so a fit is a single-point optimum when that is nowhere negative. Lloyd's condition lacks the two
factors and stops earlier. A cluster is never emptied: a lone row stays. One that is empty to begin
with (two centres on one spot) has w_l = 0 and takes the first row that is not on its centroid.

A sweep is a `scan`, which only reads the centres and may run on many blocks of rows at once, and an
`apply_moves`, which goes through the rows that want to move one by one and asks each again.

Most rows need no look at all. For each row two bounds are kept (Hamerly 2010, with the factors):

    upper >= |x - mu_c|,      lower <= min over l != c of sqrt(w_l) |x - mu_l|.

When centres have moved by at most drift_l and every sqrt(w_l) has shrunk to at least the part
`shrink` of what it was, ``upper + drift_c`` and ``shrink * lower - max_{l != c} drift_l`` are
bounds again, as w_l < 1. A row with ``sqrt(n_c / (n_c - 1)) upper <= lower`` stays. Bounds are kept
in single precision, rounded to the safe side.

In most sweeps a few clusters change, and they are close to each other. So a row in doubt is asked
about these alone first: of the others, `lower` has not lost anything, and with the distances to
those that changed it is a bound again that is nearly as good as a new one. Rows of a cluster whose
centre is far from all that changed are not even asked that, as

    |x - mu_l|  >=  |mu_c - mu_l| - upper.

Only rows that are still in doubt, hardly more than want to move, are weighed against all clusters.
Bounds decide what is looked at and never who moves: the fits are the same without them.

Where columns are many, distances are found by products with the centres in single precision, and
what these lose is added to the bounds. Rows that are in doubt even so, few more than want to move,
are weighed as all others are.

A row of weight w stands for w rows. It is asked as one of them: ``n_l / (n_l + u)`` and
``n_c / (n_c - u)``, with u = 1, or w if that is less, take the place of the factors. If one of them
would rather be elsewhere, so would the others, all the more when it has left: the row goes as a
whole. So whole weights lead to the fits of rows repeated as often. Bounds are those for u = 1,
which are good for every lesser u.
"""

import math

import numpy as np

from edfkmeans.kernels.compile import inlined, kernel
from edfkmeans.kernels.lloyd import sum_of_squares, weighted_centroids
from edfkmeans.kernels.tiles import TILE, load_tile, tile_distances

# A move must lower the sum of squares by this part of what the row contributes, so that rounding
# can never make two states better than each other.
_LEAST_GAIN = 1e-10
# A cluster that weighs no more than a row times this is that row alone: weights need not add up to
# the last digit.
_ALONE = 1.0 + 1e-9
# Roundings of single precision, and of the drift that is summed up, to the safe side.
_UP, _DOWN = 1.0 + 1e-6, 1.0 - 1e-6
# Rows are asked about the clusters that changed, if these are at most k / _FEW; else about those
# that moved by more than the part _LITTLE of what the furthest did; and about all clusters where
# that would be more than k / _MOST of them.
_FEW, _LITTLE, _MOST = 5, 0.1, 1.5
# Rows for each cluster that changed, from which on it pays to know how far centres are apart.
_ROWS_PER_PAIR = 4
# Further away than anything, and finite: infinity less infinity is not a number.
_FAR = 1e300
# A square that single precision may take for 0.
_NOTHING = 1e-30
# A drift that says of a cluster whose centre stayed that its size has changed.
_AT_ALL = 1e-300


@inlined
def root_weight(size):
    """``sqrt(n_l / (n_l + 1))``."""
    return math.sqrt(size / (size + 1.0))


@kernel
def weigh(X, w, rows, count, labels, centers, sizes, asked, factor, upper, lower):
    """Renew the bounds of rows by some clusters, or by all of them.

    Rows that may want to move all the same, or of all clusters those that do, are left in `rows`;
    returns how many.
    """
    tile, some, own = (
        np.empty((X.shape[1], TILE)),
        np.empty(TILE, np.int64),
        np.empty(TILE, np.int32),
    )
    distance, leave, enter, root = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    every = asked.shape[0] == centers.shape[0]
    left = np.int64(0)
    for first in range(0, count, TILE):
        in_tile = min(TILE, count - first)
        for p in range(TILE):
            some[p] = rows[first + min(p, in_tile - 1)]
            own[p] = labels[some[p]]
            leave[p] = enter[p] = np.inf
        load_tile(X, some, some.shape[0], tile)
        for c in asked:
            tile_distances(tile, centers[c], distance)
            weight, number = sizes[c] / (sizes[c] + 1.0), np.int32(c)
            for p in range(TILE):
                mine = own[p] == number
                leave[p] = distance[p] if mine else leave[p]
                if w is not None:
                    weight = sizes[c] / (sizes[c] + min(1.0, w[some[p]]))
                enter[p] = enter[p] if mine else min(enter[p], weight * distance[p])
        for p in range(TILE):
            root[p] = math.sqrt(leave[p]) * _UP
            distance[p] = math.sqrt(enter[p]) * _DOWN
        for p in range(in_tile):
            i, size = some[p], sizes[own[p]]
            above, below = root[p], distance[p]
            if every:
                one = 1.0 if w is None else min(1.0, w[i])
                wants = enter[p] < leave[p] * (size / (size - one))
            else:
                above, below = min(above, np.float64(upper[i])), min(below, np.float64(lower[i]))
                wants = factor[own[p]] * above > below
            upper[i] = above
            lower[i] = below
            rows[left] = i
            left += wants
    return left


@inlined
def _choose_changed(drift, changed):
    """Write which clusters rows are asked about first; returns how many, and the others' drift."""
    k = drift.shape[0]
    furthest, moved = 0.0, 0
    for c in range(k):
        furthest = max(furthest, drift[c])
        moved += drift[c] > 0.0
    least = furthest * _LITTLE if moved * _FEW > k else 0.0
    many, rest = 0, 0.0
    for c in range(k):
        changed[many] = c
        if drift[c] > least:
            many += 1
        else:
            rest = max(rest, drift[c])
    if many * _MOST > k:
        for c in range(k):
            changed[c] = c
        return k, 0.0
    return many, rest


@inlined
def _reach(centers, sizes, changed, reach):
    """Write how far the nearest other cluster that changed is, less what its factor takes."""
    for c in range(reach.shape[0]):
        reach[c] = _FAR
        for other in changed:
            square = 0.0
            for j in range(centers.shape[1]):
                t = centers[c, j] - centers[other, j]
                square += t * t
            far = math.sqrt(square) * root_weight(sizes[other]) * _DOWN
            reach[c] = reach[c] if other == c else min(reach[c], far)


@inlined
def _widen_bounds(labels, upper, lower, drift, shrink, rest, anew, reach, factor, rows):
    """Widen the bounds of all rows; writes those in doubt to `rows` and returns how many.

    The `lower` of these holds for the clusters that did not change.
    """
    furthest, second, who = 0.0, 0.0, -1
    for c in range(drift.shape[0]):
        if drift[c] > furthest:
            furthest, second, who = drift[c], furthest, c
        elif drift[c] > second:
            second = drift[c]
    count = np.int64(0)
    for i in range(labels.shape[0]):
        c = labels[i]
        above = (upper[i] + drift[c]) * _UP
        kept = lower[i] if rest == 0.0 else (shrink * lower[i] - rest) * _DOWN
        kept = np.inf if anew else kept
        below = (shrink * lower[i] - (second if c == who else furthest)) * _DOWN
        below = max(below, min(kept, (reach[c] - above) * _DOWN))
        doubt = factor[c] * above > below
        upper[i] = above
        lower[i] = kept if doubt else below
        rows[count] = i
        count += doubt
    return count


@inlined
def _doubted(n, w, labels, centers, sizes, upper, lower, drift, shrink, changed, factor, rows):
    """Write the rows in doubt and the clusters to ask them about; returns how many of each."""
    k = centers.shape[0]
    reach = np.empty(k)
    for c in range(k):
        factor[c] = math.sqrt(sizes[c] / (sizes[c] - 1.0)) if sizes[c] > 1 else 0.0
        if w is not None and sizes[c] <= 1.0:
            factor[c] = np.inf  # lighter rows may leave it: they are always looked at
    many, rest = _choose_changed(drift, changed)
    reach[:] = -np.inf
    if n >= _ROWS_PER_PAIR * many:
        _reach(centers, sizes, changed[:many], reach)
    count = _widen_bounds(labels, upper, lower, drift, shrink, rest, many == k, reach, factor, rows)
    return count, many


@kernel
def scan(X, w, labels, centers, sizes, upper, lower, drift, shrink, movers):
    """Write the rows of a block that want to move to `movers`; returns how many."""
    n, k = X.shape[0], centers.shape[0]
    changed, factor = np.empty(k, np.int64), np.empty(k)
    count, many = _doubted(
        n, w, labels, centers, sizes, upper, lower, drift, shrink, changed, factor, movers
    )
    if many < k:
        count = weigh(
            X, w, movers, count, labels, centers, sizes, changed[:many], factor, upper, lower
        )
        for c in range(k):
            changed[c] = c
    return weigh(X, w, movers, count, labels, centers, sizes, changed, factor, upper, lower)


@kernel
def doubted(w, labels, centers, sizes, upper, lower, drift, shrink, changed, factor, rows):
    """Do the first part of a `scan`, that of the bounds."""
    n = labels.shape[0]
    return _doubted(
        n, w, labels, centers, sizes, upper, lower, drift, shrink, changed, factor, rows
    )


@kernel
def weigh_products(
    products, squares, center_squares, lost, rows, w, labels, sizes, asked, factor, upper, lower
):
    """Do what `weigh` does, by the products of rows and centres; returns how many rows are left.

    Products are in single precision: a distance may be off by the part `lost` of the squares, or by
    next to nothing. Bounds allow for that, and rows may be left that do not want to move.
    """
    every = asked.shape[0] == sizes.shape[0]
    left = np.int64(0)
    for m in range(rows.shape[0]):
        i = rows[m]
        own, square = labels[i], squares[i]
        one = 1.0 if w is None else min(1.0, w[i])
        leave = enter = root = np.inf
        for a in range(asked.shape[0]):
            c = asked[a]
            error = lost * (square + center_squares[a] + _NOTHING)
            distance = square + center_squares[a] - 2.0 * products[m, a]
            if c == own:
                leave = max(distance + error, 0.0)
            else:
                floor = max(distance - error, 0.0)
                enter = min(enter, floor * (sizes[c] / (sizes[c] + one)))
                root = min(root, floor * (sizes[c] / (sizes[c] + 1.0)))
        size = sizes[own]
        above, below = math.sqrt(leave) * _UP, math.sqrt(root) * _DOWN
        if every:
            wants = factor[own] > 0.0 and enter < leave * (size / (size - one))
        else:
            above, below = min(above, np.float64(upper[i])), min(below, np.float64(lower[i]))
            wants = factor[own] * above > below
        upper[i] = above
        lower[i] = below
        rows[left] = i
        left += wants
    return left


@inlined
def _best_move(x, one, c, centers, sizes):
    """Gain of leaving c, cost of entering the cheapest other cluster, and that cluster."""
    leave, enter, target = 0.0, np.inf, -1
    for cluster in range(centers.shape[0]):
        square = 0.0
        for j in range(x.shape[0]):
            t = x[j] - centers[cluster, j]
            square += t * t
        if cluster == c:
            leave = square * (sizes[c] / (sizes[c] - one))
        else:
            cost = square * (sizes[cluster] / (sizes[cluster] + one))
            if cost < enter:
                enter, target = cost, cluster
    return leave, enter, target


@inlined
def _moved_by(old, old_sizes, centers, sizes, drift):
    """Write how far centres are from the old ones; returns the `shrink` that goes with it."""
    shrink = 1.0
    for c in range(old.shape[0]):
        square = 0.0
        for j in range(old.shape[1]):
            t = centers[c, j] - old[c, j]
            square += t * t
        drift[c] = math.sqrt(square) * _UP
        if sizes[c] != old_sizes[c]:
            drift[c] += _AT_ALL
        if sizes[c] < old_sizes[c]:
            shrink = min(shrink, root_weight(sizes[c]) / root_weight(old_sizes[c]))
    return shrink


@kernel
def apply_moves(X, w, movers, count, labels, centers, sizes, upper, lower, drift):
    """Move each row that still wants to; returns the number of moves and the new `shrink`.

    A row of weight w counts as w moves. Only where centres end up counts for the bounds, which is
    less than the way they went from move to move.
    """
    old, old_sizes = centers.copy(), sizes.copy()
    moves = 0 if w is None else 0.0
    for m in range(count):
        i = movers[m]
        c = labels[i]
        amount = 1 if w is None else w[i]
        if (sizes[c] == 1) if w is None else (sizes[c] <= amount * _ALONE):
            continue
        one = 1.0 if w is None else min(1.0, amount)
        leave, enter, target = _best_move(X[i], one, c, centers, sizes)
        if leave - enter <= _LEAST_GAIN * leave:
            continue
        sizes[c] -= amount
        sizes[target] += amount
        for j in range(centers.shape[1]):
            t = (X[i, j] - centers[c, j]) / sizes[c]
            if w is not None:
                t *= amount
            centers[c, j] -= t
            t = (X[i, j] - centers[target, j]) / sizes[target]
            if w is not None:
                t *= amount
            centers[target, j] += t
        labels[i] = target
        upper[i] = np.inf  # weighed again in the next sweep
        lower[i] = 0.0
        moves += amount
    return moves, _moved_by(old, old_sizes, centers, sizes, drift)


@kernel
def start(X, w, labels, old, old_sizes, centers, sizes, drift):
    """Write centroids and sizes of `labels`, and how far they are from `old`, where bounds hold.

    Returns the `shrink` that goes with `drift`.
    """
    weighted_centroids(X, w, labels, centers, sizes)
    return _moved_by(old, old_sizes, centers, sizes, drift)


@kernel
def descend(X, w, labels, centers, sizes, upper, lower, drift, shrink, enough, max_sweeps):
    """Sweep until at most `enough` rows move; returns the inertia, moves left and `shrink`.

    The bounds stay good for another call.
    """
    movers = np.empty(X.shape[0], np.int64)
    moves = 0 if w is None else 0.0
    for _ in range(max_sweeps):
        found = scan(X, w, labels, centers, sizes, upper, lower, drift, shrink, movers)
        moves, shrink = apply_moves(
            X, w, movers, found, labels, centers, sizes, upper, lower, drift
        )
        if moves <= enough:
            break
    weighted_centroids(X, w, labels, centers, sizes)  # without the rounding errors of the moves
    return sum_of_squares(X, w, labels, centers), moves, shrink
