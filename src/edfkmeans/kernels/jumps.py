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
than 1e-16 to df >= d. The same with the largest |h| and |e| of a pair (i, l) skips the pair before
any coordinate is looked at.
"""

import math

import numpy as np

from edfkmeans.kernels.compile import kernel

_Z = 12.0
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


@kernel
def paper_terms(X, labels, centers, sizes, gaps, pilot_labels, pilot_centers, sigma, terms):
    """Write every row's sum of terms over coordinates and other clusters to `terms`."""
    n, d = X.shape
    k = centers.shape[0]
    error = np.empty(d)
    reach = np.empty(d)
    for i in range(n):
        c = labels[i]
        n_c = float(sizes[c])
        if n_c == 1.0:
            terms[i] = 0.0
            continue
        r = (n_c - 1.0) / n_c
        a = (2.0 * n_c - 1.0) / (n_c * n_c)  # 1 - r^2 without cancellation
        own = 0.0
        offset = 0.0
        longest = 0.0
        for j in range(d):
            t = X[i, j] - centers[c, j]
            own += t * t
            offset = max(offset, abs(t))
            error[j] = X[i, j] - pilot_centers[pilot_labels[i], j]
            reach[j] = abs(error[j]) + _Z * sigma
            longest = max(longest, reach[j])
        total = 0.0
        for other in range(k):
            if other == c:
                continue
            square = 0.0
            for j in range(d):
                t = X[i, j] - centers[other, j]
                square += t * t
            g = square - own
            # h = (mu_cj - mu_lj) + (x_ij - mu_cj) / n_c, so this bounds every |h| of the pair
            if g > 2.0 * (gaps[c, other] + offset / n_c) * longest:
                continue
            n_l = float(sizes[other])
            slope = (n_l + 1.0 - n_c) / (n_c * (n_l + 1.0))
            for j in range(d):
                h = (X[i, j] - centers[other, j]) - r * (X[i, j] - centers[c, j])
                if g > 2.0 * abs(h) * reach[j]:
                    continue
                discriminant = h * h - a * g
                if discriminant < 0.0:
                    continue
                root = math.sqrt(discriminant)
                q = -(h + root) if h >= 0.0 else root - h
                delta = g / q if q != 0.0 else 0.0
                z = (error[j] + delta) / sigma
                if abs(z) > 2.0 * _Z:
                    continue
                jump = (
                    centers[c, j]
                    - (n_l * centers[other, j] + X[i, j]) / (n_l + 1.0)
                    + delta * slope
                )
                if delta > 0.0 or (g == 0.0 and h <= 0.0):
                    jump = -jump
                total += math.exp(-0.5 * z * z) * jump
        terms[i] = total * _INV_SQRT_2PI / sigma
