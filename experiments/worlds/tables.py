"""Tables with hidden causes."""

import numpy as np

from worlds.draws import draw_clusters, draw_columns, draw_labels, draw_rows
from worlds.mixtures import add_outliers, draw_centres, draw_residuals


def draw_hidden(rng, n, k):
    """Draw hidden dimensions with clusters; a class may be made of two of them."""
    q = int(rng.integers(1, 9))
    parts = k
    classes = np.arange(k)
    if rng.random() < 0.3:
        more = int(rng.integers(1, k + 1))
        classes = np.append(classes, rng.integers(0, k, more))
        parts += more
    part = draw_labels(rng, n, parts)
    kind = rng.choice(["gaussian", "scale", "shape", "tails", "skewed"])
    apart = np.exp(rng.uniform(np.log(1.0), np.log(4.5)))
    hidden = draw_centres(rng, parts, q)[part] * apart + draw_residuals(rng, kind, part, parts, q)
    return hidden, classes[part]


def factors(rng):
    """Make a table like those of surveys: columns made of a few hidden causes."""
    n, d = draw_rows(rng), draw_columns(rng, 4, 80)
    k = draw_clusters(rng, n, 12)
    hidden, labels = draw_hidden(rng, n, k)
    q = hidden.shape[1]
    loads = rng.normal(size=(q, d)) * (rng.random((q, d)) < rng.uniform(0.2, 1.0))
    X = hidden @ loads
    noise = rng.uniform(0.1, 1.5) * np.exp(rng.normal(0, 0.4, d)) * max(X.std(), 1e-9)
    X = X + rng.normal(size=(n, d)) * noise
    X = bend_columns(rng, X)
    if rng.random() < 0.12:
        X, labels = add_outliers(rng, X, labels, rng.uniform(0.002, 0.03))
    return X, labels, "factors"


def bend_columns(rng, X):
    """Make columns skewed, rounded, counted, 0/1, or nearly always the same."""
    d = X.shape[1]
    z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    kinds = ["plain", "skewed", "rounded", "binary", "rare", "count", "bent", "zeros"]
    shares = rng.dirichlet([3, 1, 1, 0.7, 0.2, 0.4, 0.6, 0.4])
    if rng.random() < 0.35:  # all columns of one kind
        shares = np.eye(len(kinds))[
            rng.choice(len(kinds), p=[0.2, 0.25, 0.1, 0.2, 0, 0.1, 0.05, 0.1])
        ]
    chosen = rng.choice(kinds, d, p=shares)
    for j, kind in enumerate(chosen):
        if kind == "skewed":
            z[:, j] = np.exp(z[:, j] * rng.uniform(0.3, 1.0))
        elif kind == "rounded":
            step = rng.uniform(0.1, 1.2)
            z[:, j] = np.round(z[:, j] / step) * step
        elif kind == "binary":
            z[:, j] = z[:, j] > np.quantile(z[:, j], rng.uniform(0.2, 0.8))
        elif kind == "rare":
            z[:, j] = z[:, j] > np.quantile(z[:, j], rng.uniform(0.85, 0.97))
        elif kind == "count":
            z[:, j] = rng.poisson(np.exp(np.clip(z[:, j] * 0.7 + rng.uniform(-1, 1.5), -4, 5)))
        elif kind == "zeros":
            over = np.maximum(z[:, j] - np.quantile(z[:, j], rng.uniform(0.3, 0.85)), 0)
            z[:, j] = np.expm1(over * rng.uniform(0.3, 1.5))
        elif kind == "bent":
            z[:, j] = np.tanh(z[:, j] * rng.uniform(0.5, 2))
    return z


def network(rng):
    """Many columns that are pictures of few hidden causes, through a random network."""
    n, d = draw_rows(rng), draw_columns(rng, 8, 100)
    k = draw_clusters(rng, n, 15)
    hidden, labels = draw_hidden(rng, n, k)
    hidden = hidden / hidden.std()
    width = int(rng.integers(8, 64))
    first = rng.normal(size=(hidden.shape[1], width)) * rng.uniform(0.4, 1.5)
    inner = hidden @ first + rng.normal(0, 0.7, width)
    way = rng.choice(["tanh", "relu", "bump"])
    inner = {"tanh": np.tanh(inner), "relu": np.maximum(inner, 0), "bump": np.exp(-(inner**2))}[way]
    X = inner @ rng.normal(size=(width, d)) / np.sqrt(width)
    X = X + rng.normal(size=(n, d)) * X.std() * rng.uniform(0.05, 1.0)
    if rng.random() < 0.3:  # as bright as ink: never below 0
        X = np.maximum(X - np.quantile(X, rng.uniform(0.2, 0.7)), 0)
    if rng.random() < 0.3:
        step = X.std() * rng.uniform(0.1, 0.7)
        X = np.round(X / step)
    return X, labels, "network"


def size(rng):
    """Make a table in which nearly everything grows with size: bones, leaves, firms."""
    n, d = draw_rows(rng), int(rng.integers(3, 16))
    k = int(rng.integers(2, 5))
    labels = draw_labels(rng, n, k)
    place = np.sort(rng.normal(size=k) + np.arange(k) * rng.uniform(1, 3.5))
    spread = np.exp(rng.normal(0, 0.25, k))
    large = place[labels] + rng.normal(size=n) * spread[labels]
    form = rng.normal(size=(k, d)) * rng.uniform(0, 0.8)
    X = large[:, None] * rng.uniform(0.6, 1.2, d) + form[labels]
    X = X + rng.normal(size=(n, d)) * rng.uniform(0.1, 0.8, d)
    X = X / X.std(axis=0)
    if rng.random() < 0.7:
        X = np.exp(X * rng.uniform(0.1, 0.8))
    return X, labels, "size"


def many(rng):
    """Make many classes of few rows each in many columns."""
    k = int(rng.integers(8, 26))
    labels = np.repeat(
        np.arange(k), rng.integers(5, 35, k) if rng.random() < 0.5 else rng.integers(8, 40)
    )
    n, d = len(labels), draw_columns(rng, 8, 90)
    q = int(rng.integers(3, 15))
    hidden = rng.normal(size=(k, q))[labels] * rng.uniform(1.0, 4.0) + rng.normal(size=(n, q))
    X = hidden @ rng.normal(size=(q, d)) / np.sqrt(q)
    X = X + rng.normal(size=(n, d)) * rng.uniform(0.2, 1.5)
    return bend_columns(rng, X) if rng.random() < 0.5 else X, labels, "many"
