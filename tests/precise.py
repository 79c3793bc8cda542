"""Both counts of the degrees of freedom in fifty digits, from the exact fractions that floats are.

Knows nothing of tiles, bounds or centring, and imports nothing of the package.
"""

import itertools

import mpmath as mp
import numpy as np

DIGITS = 50


class Clusters:
    """Sizes and centroids of labels 0 .. k-1, in fifty digits; each row is there `times` times."""

    def __init__(self, X, labels, times=None):
        self.rows = [[mp.mpf(float(v)) for v in row] for row in X]
        self.labels = [int(label) for label in labels]
        self.times = [1] * len(self.rows) if times is None else [int(many) for many in times]
        d = len(self.rows[0])
        self.sizes = [0] * (max(self.labels) + 1)
        self.centers = [[mp.mpf(0)] * d for _ in self.sizes]
        for row, c, many in zip(self.rows, self.labels, self.times, strict=True):
            self.sizes[c] += many
            self.centers[c] = [a + many * b for a, b in zip(self.centers[c], row, strict=True)]
        self.centers = [
            [v / m for v in center] for center, m in zip(self.centers, self.sizes, strict=True)
        ]

    @property
    def inertia(self):
        return mp.fsum(
            many * (a - b) ** 2
            for row, c, many in zip(self.rows, self.labels, self.times, strict=True)
            for a, b in zip(row, self.centers[c], strict=True)
        )


def squared(x, y):
    return mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def paper_term(x, mu_c, mu_l, n_c, n_l, g, mean, sigma):
    """One coordinate, one other cluster: the textbook's root, which fifty digits can afford."""
    r = mp.mpf(n_c - 1) / n_c
    a, h = 1 - r * r, (x - mu_l) - r * (x - mu_c)
    if h * h < a * g:
        return mp.mpf(0)
    root = mp.sqrt(h * h - a * g)
    # Of roots of equal magnitude the positive one; on the boundary as just inside.
    delta = min((-h + root) / a, (-h - root) / a, key=abs) if g else mp.mpf(0)
    falls = delta < 0 or (g == 0 and h > 0)
    jump = (mu_c + delta / n_c) - (n_l * mu_l + x + delta) / (n_l + 1)
    return mp.npdf((x + delta - mean) / sigma) / sigma * (jump if falls else -jump)


def exact_term(x, j, own, rest, far, mean, sigma):
    """One coordinate: all crossings of all parabolas, and who is lowest between them."""
    weights = [mp.mpf(m) / (m + 1) for m, _ in rest]
    curves = [
        (w, w * (x[j] - c[j]), w * square)
        for w, (_, c), square in zip(weights, rest, far, strict=True)
    ]
    at = set()
    for (w, b, f), (v, e, g) in itertools.combinations(curves, 2):
        A, B, C = v - w, e - b, g - f
        if A == 0:
            if B != 0:
                at.add(-C / (2 * B))
        elif B * B >= A * C:
            root = mp.sqrt(B * B - A * C)
            at |= {(-B + root) / A, (-B - root) / A}
    at = sorted(at)
    if not at:
        return mp.mpf(0)

    def lowest(delta):
        heights = [f + (2 * b + w * delta) * delta for w, b, f in curves]
        return min(range(len(heights)), key=lambda i: (heights[i], i != own))

    between = [(a + b) / 2 for a, b in itertools.pairwise(at)]
    owners = [lowest(delta) for delta in [at[0] - sigma, *between, at[-1] + sigma]]
    total = mp.mpf(0)
    for delta, (left, right) in zip(at, itertools.pairwise(owners), strict=True):
        low, high = (
            (rest[i][0] * rest[i][1][j] + x[j] + delta) / (rest[i][0] + 1) for i in (left, right)
        )
        total += mp.npdf((x[j] + delta - mean) / sigma) / sigma * (high - low)
    return total


def excess_terms(X, labels, pilot_labels, method, times=None):
    """Every row's part of the excess degrees of freedom."""
    with mp.workdps(DIGITS):
        fit, pilot = Clusters(X, labels, times), Clusters(X, pilot_labels, times)
        n, d = sum(fit.times), len(fit.rows[0])
        varies = [j for j in range(d) if any(row[j] != fit.rows[0][j] for row in fit.rows)]
        sigma = mp.sqrt(pilot.inertia / (n * len(varies)))
        found = []
        for i, x in enumerate(fit.rows):
            c = fit.labels[i]
            mean, n_c = pilot.centers[pilot.labels[i]], fit.sizes[c]
            if n_c == 1 or len(fit.sizes) == 1:
                found.append(mp.mpf(0))
                continue
            if method == "exact":
                rest = list(zip(fit.sizes, fit.centers, strict=True))
                without = [
                    (n_c * m - v) / (n_c - 1) for m, v in zip(fit.centers[c], x, strict=True)
                ]
                rest[c] = (n_c - 1, without)
                far = [squared(x, center) for _, center in rest]
                terms = [exact_term(x, j, c, rest, far, mean[j], sigma) for j in varies]
            else:
                own = squared(x, fit.centers[c])
                terms = [
                    paper_term(
                        x[j], fit.centers[c][j], fit.centers[o][j], n_c, fit.sizes[o], g, mean[j],
                        sigma,
                    )
                    for o in range(len(fit.sizes))
                    if o != c
                    for g in [squared(x, fit.centers[o]) - own]
                    for j in varies
                ]  # fmt: skip
            found.append(mp.fsum(terms))
        return np.array([float(term) for term in found])
