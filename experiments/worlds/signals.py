"""Signals: rows that are curves, pictures, compositions or texts.

Each takes the number of clusters, so that one cluster can be drawn of the same kind.
"""

import numpy as np

from worlds.draws import draw_clusters, draw_columns, draw_labels, draw_rows
from worlds.mixtures import draw_centres, draw_residuals


def curves(rng, k=None):
    """Rows that are smooth curves: a course for each class, shifted, stretched and disturbed."""
    n, d = draw_rows(rng), draw_columns(rng, 8, 100)
    k = k or draw_clusters(rng, n, 15)
    labels = draw_labels(rng, n, k)
    swift = np.exp(rng.uniform(np.log(1), np.log(6)))
    waves = int(rng.integers(2, 7))
    times = np.linspace(0, 1, d)
    shift = rng.normal(size=n) * rng.choice([0, 0.02, 0.06])
    own, shared = np.exp(rng.uniform(np.log(0.7), np.log(4))), rng.normal() * 1.5
    X = shared * np.cos(2 * np.pi * rng.uniform(0, 2) * (times + shift[:, None]))
    for c in range(k):
        inside = labels == c
        speed, begin, height = rng.normal(size=(3, waves))
        at = times + shift[inside, None]
        for s, b, h in zip(speed * swift, begin * np.pi, height, strict=True):
            X[inside] += own * h / np.sqrt(waves) * np.cos(2 * np.pi * s * at + b)
    X *= np.exp(rng.normal(size=(n, 1)) * rng.choice([0, 0.1, 0.3]))
    X += rng.normal(size=(n, 1)) * rng.choice([0, 0.2, 0.6])
    smooth = np.cos(
        2 * np.pi * rng.normal(size=(8, 1)) * swift * times + rng.uniform(0, 7, size=(8, 1))
    )
    X += rng.normal(size=(n, 8)) @ smooth * rng.uniform(0.05, 0.4)
    noise = rng.normal(size=(n, d))
    if rng.random() < 0.2:
        noise = np.cumsum(noise, axis=1) / np.sqrt(d)
    X += noise * rng.uniform(0.05, 0.8)
    return X, labels, "curves"


def pictures(rng, k=None):
    """Rows that are small pictures: some spots for each class, which move a little."""
    n, side = draw_rows(rng, 100), int(rng.integers(5, 11))
    k = k or draw_clusters(rng, n, 15)
    labels = draw_labels(rng, n, k)
    pixels = np.stack(np.meshgrid(*[np.linspace(0, 1, side)] * 2), axis=-1).reshape(-1, 2)
    moved, jitter = rng.uniform(0, 0.12), rng.uniform(0, 0.1)
    shared = rng.uniform(0.1, 0.9, size=(int(rng.integers(0, 4)), 2))
    X = np.zeros((n, side * side))
    for c in range(k):
        inside = np.flatnonzero(labels == c)
        whole = rng.normal(size=(len(inside), 2)) * moved
        own = rng.uniform(0.1, 0.9, size=(int(rng.integers(1, 5)), 2))
        for place in np.vstack([shared, own]):
            spot = place + whole + rng.normal(size=whole.shape) * jitter
            away = ((pixels - spot[:, None]) ** 2).sum(axis=2)
            ink = np.exp(rng.normal(size=len(inside)) * 0.2)
            X[inside] += ink[:, None] * np.exp(-away / (2 * rng.uniform(0.07, 0.2) ** 2))
    X += rng.normal(size=X.shape) * rng.uniform(0.02, 0.6)
    if rng.random() < 0.6:
        X = np.clip(X, 0, rng.choice([1, 2, np.inf]))
    if rng.random() < 0.4:
        X = np.round(X * 8)
    return X, labels, "pictures"


def parts(rng, k=None):
    """Rows that are parts of a whole: what something is made of, in percent."""
    n, d = draw_rows(rng), draw_columns(rng, 3, 20)
    k = k or draw_clusters(rng, n, 10)
    labels = draw_labels(rng, n, k)
    kind = rng.choice(["gaussian", "scale", "shape", "common", "tails"])
    apart = np.exp(rng.uniform(np.log(1.0), np.log(4)))
    logs = draw_residuals(rng, kind, labels, k, d)
    if k > 1:
        logs = logs + draw_centres(rng, k, d)[labels] * apart
    logs = logs / logs.std() * rng.uniform(0.2, 1.2) + rng.normal(size=d) * rng.uniform(0, 2)
    X = np.exp(np.clip(logs, -30, 30))
    X = 100 * X / X.sum(axis=1, keepdims=True)
    if rng.random() < 0.3:
        X = np.round(X, 1)
    return X, labels, "parts"


def words(rng, k=None):
    """Rows that are texts: how often each of some words occurs."""
    n, d = draw_rows(rng), draw_columns(rng, 10, 80)
    k = k or draw_clusters(rng, n, 8)
    labels = draw_labels(rng, n, k)
    usual = 1 / np.arange(1, d + 1) ** rng.uniform(0.3, 1.2)
    own = np.exp(rng.normal(size=(k, d)) * rng.uniform(0.4, 1.8)) * usual
    own /= own.sum(axis=1, keepdims=True)
    rates = own[labels]
    if rng.random() < 0.5:  # words of the others, too
        mixed = rng.beta(1, rng.uniform(2, 8), size=(n, 1))
        rates = (1 - mixed) * rates + mixed * own.mean(axis=0)
    if rng.random() < 0.6:  # who has used a word uses it again
        shape = rng.uniform(0.2, 3)
        rates = rates * rng.gamma(shape, 1 / shape, size=(n, d))
    length = np.exp(rng.normal(np.log(rng.uniform(20, 500)), rng.uniform(0, 0.8), size=(n, 1)))
    X = rng.poisson(np.clip(rates * length, 0, 1e5)).astype(float)
    way = rng.random()
    if way < 0.5:
        X = 100 * X / np.maximum(X.sum(axis=1, keepdims=True), 1)
    elif way < 0.75:
        X = np.log1p(X)
    return X, labels, "words"
