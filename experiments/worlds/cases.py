"""Cases that are hard in one respect."""

import numpy as np

from worlds.draws import draw_columns, draw_labels, draw_rotation, draw_rows
from worlds.mixtures import draw_residuals
from worlds.tables import bend_columns


def _apart(rng, k, d, least):
    """Draw centres of which no two are nearer than this."""
    spread = least * max(1.0, k ** (1 / d) * 0.7)
    centres = np.zeros((k, d))
    for c in range(1, k):
        while True:
            centres[c] = rng.normal(size=d) * spread
            if (np.linalg.norm(centres[:c] - centres[c], axis=1) >= least).all():
                break
            spread *= 1.02
    return centres


def small_groups(rng):
    """Make one large cloud and small groups apart from it, of eight rows or more."""
    n, d = draw_rows(rng, 150, 9000), draw_columns(rng, 2, 25)
    k = 1 if rng.random() < 0.6 else int(rng.integers(1, 5))
    small = rng.integers(8, 30, k) if rng.random() < 0.7 else rng.integers(8, max(10, n // 8), k)
    labels = np.repeat(np.arange(k + 1), [max(60, n - small.sum()), *small])
    away = rng.uniform(5, 10) if rng.random() < 0.75 else np.exp(rng.uniform(np.log(8), np.log(45)))
    centres = np.zeros((k + 1, d))
    for c in range(1, k + 1):  # at that distance from the cloud, apart from each other
        for _ in range(50):
            centres[c] = rng.normal(size=d)
            centres[c] *= away / np.linalg.norm(centres[c])
            if (np.linalg.norm(centres[:c] - centres[c], axis=1) > 5).all():
                break
    kind = rng.choice(["gaussian", "gaussian", "gaussian", "uniform", "common"])
    X = centres[labels] + draw_residuals(rng, kind, labels, k + 1, d)
    return X, labels, "small groups"


def grid(rng):
    """Blobs on a grid in two or three columns."""
    d = 2 if rng.random() < 0.75 else 3
    side = int(rng.integers(2, 6)) if d == 2 else 2 + int(rng.random() < 0.4)
    places = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    if rng.random() < 0.3:
        places = places[rng.permutation(len(places))[: max(2, int(len(places) * 0.8))]]
    k = len(places)
    m = int(rng.integers(10, 80))
    labels = np.repeat(np.arange(k), m) if rng.random() < 0.7 else draw_labels(rng, k * m, k)
    X = places[labels] * rng.uniform(3.5, 12) + rng.normal(size=(len(labels), d))
    return X, labels, "grid"


def two_groups(rng):
    """Two or three groups at every distance, in a few or in many columns."""
    d = draw_columns(rng, 1, 64)
    k = 2 if rng.random() < 0.7 else 3
    m = int(np.exp(rng.uniform(np.log(25), np.log(1500))))
    sizes = (
        np.full(k, m)
        if rng.random() < 0.6
        else np.maximum(15, (m * rng.dirichlet(np.ones(k)) * k).astype(int))
    )
    labels = np.repeat(np.arange(k), sizes)
    centres = _apart(rng, k, d, 1.0)
    gaps = [np.linalg.norm(centres[a] - centres[b]) for a in range(k) for b in range(a)]
    apart = rng.uniform(2, 4) if rng.random() < 0.5 else rng.uniform(1.5, 8)
    kind = rng.choice(["gaussian", "gaussian", "scale", "common", "tails", "shape"])
    X = centres[labels] / min(gaps) * apart + draw_residuals(rng, kind, labels, k, d)
    X = X @ draw_rotation(rng, d) if rng.random() < 0.5 else X
    return X, labels, "two groups"


def long_cloud(rng):
    """Two to four classes along a long cloud, or across it, that overlap; some columns are bent."""
    n, d = draw_rows(rng, 150, 3000), draw_columns(rng, 2, 50)
    k = 2 if rng.random() < 0.6 else int(rng.integers(3, 5))
    labels = draw_labels(rng, n, k)
    causes = int(rng.integers(1, min(d, 4) + 1))
    lengths = np.exp(-rng.uniform(0.2, 1.2) * np.arange(causes))
    hidden = rng.normal(size=(n, causes)) * np.exp(rng.normal(0, 0.2, k))[labels, None]
    at = 0 if rng.random() < 0.75 else int(rng.integers(causes))
    hidden[:, at] += labels * rng.uniform(1.8, 4.5)
    X = hidden * lengths @ rng.normal(size=(causes, d))
    X = X + rng.normal(size=(n, d)) * X.std() * rng.uniform(0.1, 1.5)
    if rng.random() < 0.4:
        X = bend_columns(rng, X)
    return X, labels, "long cloud"


def few_columns(rng):
    """Make groups that show in a few of many columns."""
    active, d = int(rng.integers(2, 6)), int(rng.integers(10, 41))
    k = int(rng.integers(2, 6))
    labels = np.repeat(np.arange(k), int(rng.integers(30, 300)))
    centres = _apart(rng, k, active, rng.uniform(3.5, 8))
    X = rng.normal(size=(len(labels), d))
    X[:, :active] += centres[labels]
    return X, labels, "few columns"


def far_rows(rng):
    """Clear groups and one to three rows far from all of them."""
    d, k = draw_columns(rng, 2, 20), int(rng.integers(2, 7))
    labels = np.repeat(np.arange(k), int(rng.integers(20, 200)))
    X = _apart(rng, k, d, rng.uniform(5, 12))[labels] + rng.normal(size=(len(labels), d))
    m = int(rng.integers(1, 4))
    away = rng.normal(size=(m, d))
    away *= np.exp(rng.uniform(np.log(15), np.log(150))) / np.linalg.norm(
        away, axis=1, keepdims=True
    )
    return np.vstack([X, away]), np.append(labels, np.full(m, -1)), "far rows"
