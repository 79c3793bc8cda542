"""One cluster, in all its disguises."""

import numpy as np

from worlds.draws import draw_columns, draw_rows
from worlds.mixtures import draw_residuals
from worlds.signals import curves, parts, pictures, words
from worlds.tables import bend_columns


def _correlated(rng, n, d):
    """Draw normal rows: independent, equally correlated, with factors, or of any covariance."""
    z = rng.normal(size=(n, d))
    way = rng.integers(5)
    if way == 1:
        r = rng.uniform(0.1, 0.9)
        z = np.sqrt(r) * rng.normal(size=(n, 1)) + np.sqrt(1 - r) * z
    elif way == 2:
        q = int(rng.integers(1, 5))
        z = z * rng.uniform(0.3, 1.2) + rng.normal(size=(n, q)) @ rng.normal(size=(q, d))
    elif way == 3:
        z = z @ rng.normal(size=(d, d))
    elif way == 4:
        z = z * np.exp(rng.normal(0, rng.uniform(0.2, 1), d))
    return z / z.std(axis=0)


def _rates(rng, n, d):
    """Draw counts whose columns rise and fall together: every row has a rate of its own."""
    rates = rng.uniform(0.5, 8, d) if rng.random() < 0.5 else np.exp(rng.uniform(-1, 3, d))
    if rng.random() < 0.5:
        shape = np.exp(rng.uniform(np.log(0.6), np.log(6)))
        own = rng.gamma(shape, 1 / shape, size=(n, 1))
    else:
        own = np.exp(rng.normal(size=(n, 1)) * rng.uniform(0.2, 1.2))
    if rng.random() < 0.3:  # some columns follow it less
        own = own ** rng.uniform(0.3, 1.2, d)
    if rng.random() < 0.3:
        shape = rng.uniform(0.5, 5)
        own = own * rng.gamma(shape, 1 / shape, size=(n, d))
    X = rng.poisson(np.clip(rates * own, 0, 1e5)).astype(float)
    return np.log1p(X) if rng.random() < 0.15 else X


def _answers(rng, n, d):
    """Draw yes and no, or answers of few steps, that one to three traits of a row lead to."""
    traits = int(rng.integers(1, 4))
    loads = rng.uniform(0.2, 0.9, size=(traits, d))
    if traits > 1 and rng.random() < 0.6:  # every question asks for one trait
        loads *= np.arange(traits)[:, None] == rng.integers(0, traits, d)
    loads /= np.maximum(np.sqrt((loads**2).sum(axis=0)) / 0.9, 1)
    own = np.sqrt(1 - (loads**2).sum(axis=0))
    z = rng.normal(size=(n, traits)) @ loads + rng.normal(size=(n, d)) * own
    levels = 2 if rng.random() < 0.7 else int(rng.integers(3, 8))
    bounds = np.sort(rng.uniform(-1.4, 1.4, size=(levels - 1, d)), axis=0)
    return (z > bounds[:, None]).sum(axis=0).astype(float)


def one_cluster(rng):
    """One cluster, in all its disguises."""
    n, d = draw_rows(rng, 50, 2500), draw_columns(rng)
    if rng.random() < 0.3:
        n = int(rng.integers(60, 200))
    elif rng.random() < 0.05:
        n = int(rng.integers(3000, 9000))
    if rng.random() < 0.25:
        d = int(rng.integers(2, 5))
    if rng.random() < 0.08:
        n, d = int(rng.integers(40, 120)), int(rng.integers(100, 300))
    kind = ONE[rng.integers(len(ONE))]
    if kind in SIGNALS:
        return *SIGNALS[kind](rng, 1)[:2], f"one {kind}"
    if kind == "uniform" and rng.random() < 0.5:
        d = int(rng.integers(1, 4))
    z = _correlated(rng, n, d)
    if kind == "uniform":
        X = rng.uniform(size=(n, d)) * np.exp(rng.normal(0, rng.choice([0, 0.5]), d))
    elif kind == "ball":
        X = draw_residuals(rng, "ball", np.zeros(n, int), 1, d)
    elif kind == "log-normal":
        X = np.exp(z * rng.uniform(0.3, 1.3))
    elif kind == "gamma":
        shared = rng.gamma(rng.uniform(0.5, 4), size=(n, 1)) * rng.uniform(0, 1.5)
        X = shared * rng.uniform(0.3, 1.2, d) + rng.gamma(rng.uniform(0.5, 4), size=(n, d))
    elif kind == "exponential":
        X = rng.exponential(size=(n, d))
    elif kind == "t":
        X = rng.standard_t(rng.uniform(1.8, 6), size=(n, d))
    elif kind == "elliptical t":
        df = rng.uniform(1.8, 6)
        X = z / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)
    elif kind == "laplace":
        X = rng.laplace(size=(n, d))
    elif kind == "counts":
        rate = rng.uniform(-1, 2, d) + z * rng.choice([0, 0.3, 0.6, 1.0])
        X = rng.poisson(np.exp(np.clip(rate, -5, 6)))
    elif kind == "rates":
        X = _rates(rng, n, d)
    elif kind == "likert":
        levels = int(rng.integers(3, 11))
        X = np.clip(
            np.round(levels / 2 + z * levels / rng.uniform(3, 6) + rng.normal(0, 0.5, d)), 1, levels
        )
    elif kind == "binary":
        X = (z > rng.uniform(-1.3, 1.3, d)).astype(float)
    elif kind == "answers":
        X = _answers(rng, n, d)
    elif kind == "rounded":
        step = rng.uniform(0.2, 1.5)
        X = np.round(z / step) * step
    elif kind == "mostly zeros":
        X = np.where(z > rng.uniform(0.3, 1.4), rng.exponential(size=(n, d)), 0.0)
        if rng.random() < 0.5:
            X = np.where(
                rng.random((n, d)) < rng.uniform(0.05, 0.4), rng.exponential(size=(n, d)), 0.0
            )
    elif kind == "repeated":
        times = int(rng.integers(2, 5))
        z = z[: max(25, n // times)]
        X = np.repeat(z, times, axis=0)
    elif kind == "far row":
        m = int(rng.integers(1, 4))
        away = rng.normal(size=(m, d))
        away *= np.exp(rng.uniform(np.log(8), np.log(150))) / np.linalg.norm(
            away, axis=1, keepdims=True
        )
        X = np.vstack([rng.normal(size=(n, d)) if rng.random() < 0.6 else z, away])
    elif kind == "mixed columns":
        X = bend_columns(rng, z)
    else:
        X = z
    return X, np.zeros(len(X), int), f"one {kind}"


SIGNALS = {"curves": curves, "pictures": pictures, "parts": parts, "words": words}
ONE = (
    *SIGNALS, "normal", "normal", "normal", "normal", "normal", "normal", "uniform", "uniform",
    "uniform", "ball", "log-normal", "log-normal", "gamma", "gamma", "exponential", "t",
    "elliptical t", "elliptical t", "elliptical t", "laplace", "counts", "counts", "likert",
    "likert", "binary", "answers", "answers", "rates", "rates", "rates", "rates", "rounded",
    "mostly zeros", "repeated", "repeated", "far row",
    "far row", "mixed columns", "mixed columns",
)  # fmt: skip
