"""Mixtures: clusters of one form around random centres, and the paper's schemes."""

import numpy as np

from edfkmeans.simulate import SCHEMES, simulate
from worlds.draws import draw_clusters, draw_columns, draw_labels, draw_rotation, draw_rows


def draw_centres(rng, k, d):
    """Draw centres: at random, in groups, or spread out; the two nearest are 2 apart."""
    way = rng.random()
    if way < 0.35 and k > 3:
        groups = rng.normal(size=(int(rng.integers(2, max(3, k // 2) + 1)), d)) * rng.uniform(2, 6)
        centres = groups[rng.integers(0, len(groups), k)] + rng.normal(size=(k, d))
    elif way < 0.6:
        centres = np.zeros((k, d))
        points = rng.normal(size=(40 * k, d))
        centres[0] = points[0]
        for c in range(1, k):  # far from those before
            away = ((points[:, None] - centres[:c]) ** 2).sum(axis=2).min(axis=1)
            centres[c] = points[rng.choice(len(points), p=away**2 / (away**2).sum())]
    else:
        centres = rng.normal(size=(k, d))
    gaps = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2))
    np.fill_diagonal(gaps, np.inf)
    nearest = gaps.min(axis=1)
    scale = nearest.min() if rng.random() < 0.5 else np.median(nearest)
    return 2 * centres / max(scale, 1e-9)


def draw_residuals(rng, kind, labels, k, d):
    """Draw rows around 0 for every cluster, of standard deviation about 1."""
    n = len(labels)
    if kind == "gaussian":
        return rng.normal(size=(n, d))
    if kind == "scale":
        return rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.5, k))[labels, None]
    if kind == "axes":
        return rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.6, (k, d)))[labels]
    if kind == "shape":
        out = np.empty((n, d))
        for c in range(k):
            inside = labels == c
            stretch = np.exp(rng.normal(0, 0.6, d))
            out[inside] = (rng.normal(size=(inside.sum(), d)) * stretch) @ draw_rotation(rng, d)
        return out
    if kind == "common":
        root = rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d) * rng.uniform(0.2, 1.5)
        return rng.normal(size=(n, d)) @ root
    if kind == "tails":
        df = rng.integers(2, 7)
        if rng.random() < 0.5:
            return rng.standard_t(df, size=(n, d)) * 0.7
        return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(df, size=(n, 1)) / df) * 0.7
    if kind == "uniform":
        return rng.uniform(-1.7, 1.7, size=(n, d))
    if kind == "ball":
        z = rng.normal(size=(n, d))
        return (
            z
            / np.linalg.norm(z, axis=1, keepdims=True)
            * rng.random((n, 1)) ** (1 / d)
            * np.sqrt(d + 2)
        )
    if kind == "skewed":
        power = rng.uniform(0.3, 1.0)
        z = (np.exp(power * rng.normal(size=(n, d))) - np.exp(power**2 / 2)) / power
        return z * rng.choice([-1, 1], size=(k, d))[labels]
    if kind == "exponential":
        return (rng.exponential(size=(n, d)) - 1) * rng.choice([-1, 1], size=(k, d))[labels]
    if kind == "curved":
        z = rng.normal(size=(n, d))
        if d > 1:
            bend = rng.normal(0, 0.5, (k, d))
            bend[:, 0] = 0
            z[:, 0] *= rng.uniform(1, 2.5)
            z += (z[:, :1] ** 2 - z[:, 0].var()) * bend[labels] / np.sqrt(d)
            for c in range(k):
                z[labels == c] = z[labels == c] @ draw_rotation(rng, d)
        return z
    raise AssertionError(kind)


MIXED = ("gaussian", "scale", "axes", "shape", "common", "tails", "uniform", "ball", "skewed",
         "exponential", "curved")  # fmt: skip


def mixture(rng):
    """Clusters of one form around random centres, part of the columns without information."""
    n, d = draw_rows(rng), draw_columns(rng)
    k = draw_clusters(rng, n)
    labels = draw_labels(rng, n, k)
    idle = int(rng.integers(0, d // 2 + 1)) if rng.random() < 0.35 else 0
    active = max(1, d - idle)
    kind = MIXED[rng.integers(len(MIXED))]
    apart = np.exp(rng.uniform(np.log(1.1), np.log(6)))
    if rng.random() < 0.3:  # the more columns, the less each says
        apart *= min(2.0, 1 + 0.1 * np.sqrt(active))
    X = draw_centres(rng, k, active)[labels] * apart + draw_residuals(rng, kind, labels, k, active)
    if idle:
        X = np.hstack([X, rng.normal(size=(n, idle)) * rng.uniform(0.5, 1.5)])
    if rng.random() < 0.3:
        X = X @ draw_rotation(rng, X.shape[1])
    X, labels = _spoil(rng, X, labels)
    return X, labels, f"mixture {kind}"


def _spoil(rng, X, labels):
    """Round, bend or cut columns, add rows far away: each in some of the sets."""
    d = X.shape[1]
    if rng.random() < 0.12:
        X = np.sign(X) * np.log1p(np.abs(X))
    if rng.random() < 0.10:
        X = np.exp(X / np.maximum(X.std(axis=0), 1e-9) * rng.uniform(0.2, 0.9))
    if rng.random() < 0.12:
        step = X.std(axis=0) * rng.uniform(0.1, 1.0)
        X = np.round(X / step) * step
    if rng.random() < 0.08 and d > 3:
        which = rng.random(d) < rng.uniform(0.1, 0.9)
        X = np.where(which, np.quantile(X, rng.uniform(0.2, 0.8), axis=0) < X, X)
    if rng.random() < 0.10:
        X, labels = add_outliers(rng, X, labels, rng.uniform(0.002, 0.03))
    if rng.random() < 0.04:
        times = int(rng.integers(2, 4))
        X, labels = np.repeat(X, times, axis=0), np.repeat(labels, times)
    return X, labels


def add_outliers(rng, X, labels, share):
    """Add rows far from the middle that belong to no cluster."""
    m = max(1, round(share * len(X)))
    far = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(m, X.shape[1])) * rng.uniform(2, 6)
    return np.vstack([X, far]), np.append(labels, np.full(m, -1))


def scheme(rng):
    """One of the paper's six schemes."""
    name = SCHEMES[rng.integers(len(SCHEMES))]
    n, d = draw_rows(rng, 200), int(rng.integers(2, 25))
    k = int(rng.integers(2, min(20, n // 12) + 1))
    X, labels = simulate(name, k, d, n, random_state=rng)
    return X, labels, f"scheme {name}"
