r"""The paper's sum of jumps: the excess degrees of freedom.

For row i in cluster c, coordinate j and another cluster l, the shift delta of x_ij that sends the
row from c to l solves ``a delta^2 + 2 h delta + g = 0`` with

    r = (n_c - 1) / n_c,   a = 1 - r^2,
    h = (x_ij - mu_lj) - r (x_ij - mu_cj),
    g = |x_i - mu_l|^2 - |x_i - mu_c|^2.

Of two real roots the smaller one counts, in the form that never subtracts like numbers:
``q = -(h + sign(h) sqrt(h^2 - a g))``, ``delta = g / q``. The jump at delta < 0, value above less
value below, is

    J = mu_cj - n_l mu_lj / (n_l + 1) - x_ij / (n_l + 1) + delta (n_l + 1 - n_c) / (n_c (n_l + 1)),

its negative for delta > 0, and the term is ``phi((x_ij + delta - mu~_ij) / sigma~) J / sigma~``.
A row on the boundary (g = 0, delta = 0) counts as one just inside its own cluster: delta then has
the sign of -h.

A row that is a cluster by itself adds nothing: r = 0 and h^2 - a g is minus the squared distance to
mu_l in the other coordinates, so delta leads right to mu_l, where the jump is zero.

What is skipped, and why it may be. Since a >= 0, ``|q| <= 2|h| + sqrt(a max(-g, 0))``; so for
g >= 0, ``|delta| >= g / (2 |h|)``. With e = x_ij - mu~_ij the density's argument is at least
``(|delta| - |e|) / sigma~``, hence a term with ``g > 2 |h| (|e| + Z sigma~)`` has an argument
beyond Z and is at most ``phi(Z) (|J_0| / sigma~ + |e| / sigma~ + Z)``, J_0 being J at delta = 0.
Z = 12 makes phi(Z) = 2e-32: even 1e9 skipped terms of clusters a million sigma~ apart add less
than 1e-16 to df >= d. Taken with the largest |h| and |e| of a pair (i, l), the condition skips the
pair before any coordinate is looked at; then it is asked for every coordinate, in few of which two
clusters lie far apart. Rows come in tiles of one cluster, and a tile is skipped when all its rows
are.
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

# Standard deviations: what is further from the pilot's mean is skipped.
_Z = 12.0
# The same with room for rounding: no coordinate is skipped that has a term.
_FAR = _Z * (1.0 + 1e-9)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)


@kernel
def center_gaps(centers, gaps):
    """``gaps[c, l] = max_j |mu_cj - mu_lj|``."""
    k, d = centers.shape
    for c in range(k):
        for other in range(k):
            widest = 0.0
            for j in range(d):
                widest = max(widest, abs(centers[c, j] - centers[other, j]))
            gaps[c, other] = widest


@inlined
def _exp_minus_half(z2):
    """``exp(-z2 / 2)`` for z2 <= 144 and 0 beyond, in a form that vectorises.

    Taylor's series of the 256th part, squared eight times: relative error below 3e-13.
    """
    r = z2 * (-1.0 / 512.0)
    s = 1.0 + r / 11.0
    s = 1.0 + r / 10.0 * s
    s = 1.0 + r / 9.0 * s
    s = 1.0 + r / 8.0 * s
    s = 1.0 + r / 7.0 * s
    s = 1.0 + r / 6.0 * s
    s = 1.0 + r / 5.0 * s
    s = 1.0 + r / 4.0 * s
    s = 1.0 + r / 3.0 * s
    s = 1.0 + r / 2.0 * s
    s = 1.0 + r * s
    s = s * s
    s = s * s
    s = s * s
    s = s * s
    s = s * s
    s = s * s
    s = s * s
    s = s * s
    return s if z2 <= _Z * _Z else 0.0


@inlined
def _any_reached(x, error, g, mu_c, mu_l, n_c, far):
    """Tell whether one coordinate can bring any row of a tile near another cluster."""
    r = (n_c - 1.0) / n_c
    reached = 0
    for p in range(TILE):
        h = (x[p] - mu_l) - r * (x[p] - mu_c)
        reached += g[p] <= 2.0 * abs(h) * (abs(error[p]) + far)
    return reached > 0


@inlined
def _term(x, error, g, mu_c, mu_l, r, a, slope, n_l, inv_sigma):
    """One row, coordinate and other cluster."""
    h = (x - mu_l) - r * (x - mu_c)
    discriminant = h * h - a * g
    root = math.sqrt(max(discriminant, 0.0))
    q = -(h + root) if h >= 0.0 else root - h
    delta = g / q if q != 0.0 else 0.0
    z = (error + delta) * inv_sigma
    jump = mu_c - (n_l * mu_l + x) / (n_l + 1.0) + delta * slope
    down = (delta > 0.0) | ((g == 0.0) & (h <= 0.0))
    term = _exp_minus_half(z * z) * (-jump if down else jump)
    return term if discriminant >= 0.0 else 0.0


@inlined
def _add_terms(x, error, g, mu_c, mu_l, n_c, n_l, inv_sigma, total):
    """Add the terms of one coordinate and one other cluster for a tile of rows of cluster c."""
    r = (n_c - 1.0) / n_c
    a = (2.0 * n_c - 1.0) / (n_c * n_c)  # 1 - r^2 without cancellation
    slope = (n_l + 1.0 - n_c) / (n_c * (n_l + 1.0))
    for p in range(TILE):
        total[p] += _term(x[p], error[p], g[p], mu_c, mu_l, r, a, slope, n_l, inv_sigma)


@kernel
def paper_terms(
    X, labels, by_cluster, centers, sizes, gaps, pilot_labels, pilot_centers, sigma, terms
):
    """Write every row's sum of terms over coordinates and other clusters to `terms`.

    `by_cluster` lists the rows cluster by cluster.
    """
    n, d = X.shape
    k = centers.shape[0]
    tile = np.empty((d, TILE))
    error = np.empty((d, TILE))
    rows = np.empty(TILE, np.int64)
    own = np.empty(TILE)
    g = np.empty(TILE)
    offset = np.empty(TILE)
    longest = np.empty(TILE)
    total = np.empty(TILE)
    first = np.int64(0)
    while first < n:
        c = labels[by_cluster[first]]
        count = rows_of_one_cluster(labels, by_cluster, first, rows)
        first += count
        n_c = float(sizes[c])
        load_tile(X, rows, count, tile)
        tile_distances(tile, centers[c], own)
        total[:] = 0.0
        pilot_errors(
            tile, rows, count, centers[c], pilot_labels, pilot_centers, _Z * sigma,
            error, offset, longest,
        )  # fmt: skip
        for other in range(k):
            if other == c or n_c == 1.0:
                continue
            tile_distances(tile, centers[other], g)
            near = 0
            for p in range(TILE):
                g[p] -= own[p]
                # h = (mu_cj - mu_lj) + (x_ij - mu_cj) / n_c: this bounds every |h| of the pair
                near += g[p] <= 2.0 * (gaps[c, other] + offset[p] / n_c) * longest[p]
            if near == 0:
                continue
            for j in range(d):
                mu_c, mu_l = centers[c, j], centers[other, j]
                if _any_reached(tile[j], error[j], g, mu_c, mu_l, n_c, _FAR * sigma):
                    _add_terms(
                        tile[j], error[j], g, mu_c, mu_l,
                        n_c, float(sizes[other]), 1.0 / sigma, total,
                    )  # fmt: skip
        for p in range(count):
            terms[rows[p]] = total[p] * _INV_SQRT_2PI / sigma


@kernel
def wide_paper_terms(
    X, labels, floors, centers, sizes, gaps, pilot_labels, pilot_centers, sigma, terms
):
    """Do what `paper_terms` does, a row at a time: where there are many columns.

    `floors` are what the squared distances of rows and centres are at least.
    """
    n, d = X.shape
    error = np.empty(d)
    room = np.empty((2, LANES))
    for i in range(n):
        terms[i] = 0.0
        c = labels[i]
        n_c = float(sizes[c])
        if n_c == 1.0:
            continue
        x = X[i]
        own = squared_distance(x, centers[c])
        offset, longest = row_errors(x, centers[c], pilot_centers[pilot_labels[i]], error, room)
        longest += _Z * sigma
        r = (n_c - 1.0) / n_c
        a = (2.0 * n_c - 1.0) / (n_c * n_c)  # 1 - r^2 without cancellation
        total = 0.0
        for other in range(centers.shape[0]):
            most = 2.0 * (gaps[c, other] + offset / n_c) * longest
            if other == c or floors[i, other] - own > most:
                continue
            g = squared_distance(x, centers[other]) - own
            if g > most:
                continue
            n_l = float(sizes[other])
            slope = (n_l + 1.0 - n_c) / (n_c * (n_l + 1.0))
            for j in range(d):
                total += _term(
                    x[j], error[j], g, centers[c, j], centers[other, j],
                    r, a, slope, n_l, 1.0 / sigma,
                )  # fmt: skip
        terms[i] = total * _INV_SQRT_2PI / sigma
