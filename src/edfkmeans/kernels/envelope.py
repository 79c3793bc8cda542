r"""Excess degrees of freedom along the exact path: every switch counted once, where it happens.

The fitted model minimises the inertia. So, the other labels held fixed, a row x belongs to the
cluster with the least ``w_l |x - c_l|^2``, where m_l and c_l are the size and the centroid of
cluster l without the row, and ``w_l = m_l / (m_l + 1)``. Shift coordinate j by delta:

    f_l(delta) = F_l + 2 b_l delta + w_l delta^2,   F_l = w_l |x - c_l|^2,   b_l = w_l (x_j - c_lj).

The row switches at the breakpoints of the lower envelope of these parabolas. From owner a the
envelope, going right, passes to the l whose ``A delta^2 + 2 B delta + C`` (differences of w, b, F)
first falls through zero: at ``(-B - s) / A = C / (s - B)`` with ``s = sqrt(B^2 - A C)``, if at all;
going left is the same with -B and -delta. There the fitted value jumps by

    J = (m_b c_bj + x_j + delta) / (m_b + 1) - (m_a c_aj + x_j + delta) / (m_a + 1)

(b above the breakpoint, a below), and the term is ``phi((x_j + delta - mu~_ij) / sigma~) J /
sigma~``. For the own cluster of size n and centroid mu: ``F = n / (n-1) |x - mu|^2`` and
``b = x_j - mu_j``. A lone row stays where it is: its parabola is 0.

Only shifts to within `reach` sigma~ of the pilot's mean count. A cluster l that is nowhere below
the own one for such shifts, ``C > 2 |B| L + max(0, -A) L^2``, is on no envelope.
"""

import math

import numpy as np

from edfkmeans.kernels.compile import inlined, kernel
from edfkmeans.kernels.long_rows import LANES, row_errors, squared_distance
from edfkmeans.kernels.tiles import (
    TILE,
    load_tile,
    pilot_errors,
    rows_of_one_cluster,
    tile_distances,
)

_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
# Part of B^2: a discriminant up to this counts as zero, the parabolas as touching.
_TOUCH = 1e-15


@inlined
def _side(
    side, x, error, last, start, p, below, count, weights, Fs, near, centers, j, room, inv_sigma
):
    """Sum the terms of the breakpoints on one side (1: right, -1: left), up to ``side * last``.

    `below` tells which clusters are lower than the own one (number 0) somewhere on this side: no
    other is on the envelope there. `start` is the one that is lowest at delta = 0.
    """
    weight, F, offset, slope = room[0], room[1], room[2], room[3]  # w_l, F_l, x_j - c_lj, b_l
    weight[0], F[0] = weights[0], Fs[0]
    offset[0] = (x - centers[near[0], j]) / weights[0]  # the own centroid, without the row
    on, owner = 1, 0
    for l in range(1, count):  # noqa: E741
        if below[l, p]:
            weight[on], F[on], offset[on] = weights[l], Fs[l], x - centers[near[l], j]
            owner = on if l == start else owner
            on += 1
    # Stored, so that two clusters alike have the same one to the last bit: a fused difference would
    # not be zero, and the walk would go to and fro between them.
    for l in range(on):  # noqa: E741
        slope[l] = weight[l] * offset[l]
    total = shift = 0.0
    for _ in range(2 * on):  # two parabolas cross at most twice
        best, whom = np.inf, -1
        for l in range(on):  # noqa: E741
            if l == owner:
                continue
            A = weight[l] - weight[owner]
            B = side * (slope[l] - slope[owner])
            C = F[l] - F[owner]
            discriminant = B * B - A * C
            # A parabola that only touches from above is passed by: rounding might lead there, and
            # then not back.
            if discriminant < 0.0 or (A > 0.0 and discriminant <= _TOUCH * B * B):
                continue
            # The root where the difference falls, in the form without cancellation.
            root = math.sqrt(discriminant)
            where = np.inf
            if B <= 0.0:
                if root - B > 0.0:
                    where = C / (root - B)
                elif A < 0.0 and C == 0.0:  # level at 0, and lower ever after
                    where = 0.0
            elif A != 0.0:
                where = -(B + root) / A
            if shift <= where < best:
                best, whom = where, l
        if whom < 0 or best > last:
            break
        delta = side * best
        z = (error + delta) * inv_sigma
        # The fitted value is x + delta - w (x - c + delta), as w = m / (m + 1).
        here = weight[owner] * (offset[owner] + delta)
        there = weight[whom] * (offset[whom] + delta)
        total += side * (here - there) * math.exp(-0.5 * z * z)
        owner, shift = whom, best
    return total


@inlined
def _clusters_in_reach(c, tile, centers, sizes, gaps, offset, longest, distance, near, weight, F):
    """Write which clusters may be on an envelope, their weights and F; returns how many.

    Number 0 is the own one, which is there already.
    """
    found = 1
    for other in range(centers.shape[0]):
        if other == c:
            continue
        w = sizes[other] / (sizes[other] + 1.0)
        tile_distances(tile, centers[other], distance)
        reached = 0
        steeper = max(0.0, weight[0] - w)
        for p in range(TILE):
            C = w * distance[p] - F[0, p]
            # |B| = |w (mu_c - mu_l) - (1 - w) (x - mu_c)|, in every coordinate at most:
            B = gaps[c, other] * w + offset[p] * (1.0 - w)
            reached += (2.0 * B + steeper * longest[p]) * longest[p] >= C
        if reached > 0:
            near[found], weight[found] = other, w
            for p in range(TILE):
                F[found, p] = w * distance[p]
            found += 1
    return found


@inlined
def _lowest_at_zero(F, count, starts):
    """Write the cluster that is lowest without a shift: the own one, if labels are an optimum."""
    for p in range(TILE):
        starts[p] = 0
        for l in range(1, count):  # noqa: E741
            if F[l, p] < F[starts[p], p]:
                starts[p] = l


@inlined
def _is_below(A, B, C, last):
    """Whether ``A delta^2 + 2 B delta + C`` is below 0 somewhere from 0 to `last`."""
    dips = (B * B > A * C) & (B < 0.0) & (A * last > -B)
    return dips | (C < 0.0) | (C + (2.0 * B + A * last) * last < 0.0)


@inlined
def _below(x, centers, j, near, weight, F, count, last, below, some):
    """Write which clusters are lower than the own one somewhere on each side, and if any is.

    Side 0 is to the right, up to ``last[0]``, and side 1 to the left, down to ``-last[1]``.
    """
    mu_c = centers[near[0], j]
    for l in range(1, count):  # noqa: E741
        A = weight[l] - weight[0]
        w, mu_l = weight[l], centers[near[l], j]
        for p in range(TILE):
            B = w * (x[p] - mu_l) - (x[p] - mu_c)
            C = F[l, p] - F[0, p]
            below[0, l, p] = _is_below(A, B, C, last[0, p])
            below[1, l, p] = _is_below(A, -B, C, last[1, p])
            some[0, p] |= below[0, l, p]
            some[1, p] |= below[1, l, p]


@kernel
def exact_terms(
    X, labels, by_cluster, centers, sizes, gaps, pilot_labels, pilot_centers, sigma, reach, terms
):
    """Write every row's sum of terms over coordinates and breakpoints to `terms`.

    `by_cluster` lists the rows cluster by cluster.
    """
    n, d = X.shape
    k = centers.shape[0]
    tile = np.empty((d, TILE))
    error = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    distance = np.empty(TILE)
    offset = np.empty(TILE)
    longest = np.empty(TILE)
    total = np.empty(TILE)
    last = np.empty((2, TILE))
    below = np.empty((2, k, TILE), np.uint8)
    some = np.empty((2, TILE), np.uint8)
    room = np.empty((4, k))
    starts = np.empty(TILE, np.int64)
    F = np.empty((k, TILE))
    near = np.empty(k, np.int64)
    weight = np.empty(k)
    first = np.int64(0)
    while first < n:
        c = labels[by_cluster[first]]
        count = rows_of_one_cluster(labels, by_cluster, first, rows)
        first += count
        n_c = float(sizes[c])
        if n_c == 1.0:
            for p in range(count):  # rows of weight 0 may be with the one that counts
                terms[rows[p]] = 0.0
            continue
        load_tile(X, rows, count, tile)
        tile_distances(tile, centers[c], distance)
        near[0], weight[0] = c, (n_c - 1.0) / n_c
        for p in range(TILE):
            F[0, p] = distance[p] / weight[0]
            total[p] = 0.0
        pilot_errors(
            tile, rows, count, centers[c], pilot_labels, pilot_centers, reach * sigma,
            error, offset, longest,
        )  # fmt: skip
        clusters = _clusters_in_reach(
            c, tile, centers, sizes, gaps, offset, longest, distance, near, weight, F
        )
        if clusters == 1:
            for p in range(count):
                terms[rows[p]] = 0.0
            continue
        _lowest_at_zero(F, clusters, starts)
        for j in range(d):
            for p in range(TILE):
                last[0, p] = reach * sigma - error[j, p]
                last[1, p] = reach * sigma + error[j, p]
                some[0, p] = some[1, p] = starts[p] != 0
            _below(tile[j], centers, j, near, weight, F, clusters, last, below, some)
            for p in range(count):
                for s in range(2):
                    if some[s, p]:
                        total[p] += _side(
                            1.0 - 2.0 * s, tile[j, p], error[j, p], last[s, p], starts[p], p,
                            below[s], clusters, weight, F[:, p], near, centers, j, room,
                            1.0 / sigma,
                        )  # fmt: skip
        for p in range(count):
            terms[rows[p]] = total[p] * _INV_SQRT_2PI / sigma


@kernel
def wide_exact_terms(
    X, labels, floors, centers, sizes, gaps, pilot_labels, pilot_centers, sigma, reach, terms
):
    """Do what `exact_terms` does, a row at a time: where there are many columns.

    `floors` are what the squared distances of rows and centres are at least.
    """
    n, d = X.shape
    k = centers.shape[0]
    error = np.empty(d)
    lanes = np.empty((2, LANES))
    below = np.empty((2, k, d), np.uint8)
    some = np.empty((2, d), np.uint8)
    room = np.empty((4, k))
    F = np.empty(k)
    near = np.empty(k, np.int64)
    weight = np.empty(k)
    for i in range(n):
        terms[i] = 0.0
        c = labels[i]
        n_c = float(sizes[c])
        if n_c == 1.0:
            continue
        x = X[i]
        near[0], weight[0] = c, (n_c - 1.0) / n_c
        F[0] = squared_distance(x, centers[c]) / weight[0]
        offset, longest = row_errors(x, centers[c], pilot_centers[pilot_labels[i]], error, lanes)
        longest += reach * sigma
        count, start = 1, 0
        for other in range(k):
            w = sizes[other] / (sizes[other] + 1.0)
            B = gaps[c, other] * w + offset * (1.0 - w)
            most = F[0] + (2.0 * B + max(0.0, weight[0] - w) * longest) * longest
            if other == c or w * floors[i, other] > most:
                continue
            F[count] = w * squared_distance(x, centers[other])
            if F[count] <= most:
                near[count], weight[count] = other, w
                start = count if F[count] < F[start] else start
                count += 1
        if count == 1:
            continue
        some[:] = start != 0
        for l in range(1, count):  # noqa: E741
            A, C, w = weight[l] - weight[0], F[l] - F[0], weight[l]
            own, its = centers[c], centers[near[l]]
            for j in range(d):
                B = w * (x[j] - its[j]) - (x[j] - own[j])
                below[0, l, j] = _is_below(A, B, C, reach * sigma - error[j])
                below[1, l, j] = _is_below(A, -B, C, reach * sigma + error[j])
                some[0, j] |= below[0, l, j]
                some[1, j] |= below[1, l, j]
        total = 0.0
        for j in range(d):
            for s in range(2):
                if some[s, j]:
                    side = 1.0 - 2.0 * s
                    total += _side(
                        side, x[j], error[j], reach * sigma - side * error[j], start, j,
                        below[s], count, weight, F, near, centers, j, room, 1.0 / sigma,
                    )  # fmt: skip
        terms[i] = total * _INV_SQRT_2PI / sigma
