"""Draws that every world makes: how many rows, columns and clusters, and of which sizes."""

import numpy as np


def draw_rows(rng, low=60, high=2500):
    """Draw a number of rows, evenly on the logarithmic scale; one set in thirty is large."""
    if rng.random() < 1 / 30:
        return int(rng.integers(3000, 12000))
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_columns(rng, low=2, high=60):
    """Draw a number of columns, evenly on the logarithmic scale."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def draw_clusters(rng, n, most=25):
    """Draw a number of clusters: two to five in half of the sets."""
    k = (
        rng.integers(2, 6)
        if rng.random() < 0.5
        else int(np.exp(rng.uniform(np.log(2), np.log(most + 1))))
    )
    return int(min(k, max(2, n // 12)))


def draw_sizes(rng, n, k):
    """Draw sizes from nearly equal to very unequal, none below four rows."""
    shares = rng.dirichlet(np.full(k, np.exp(rng.uniform(0, np.log(1000)))))
    least = min(4, n // k)
    return least + rng.multinomial(n - least * k, shares)


def draw_labels(rng, n, k):
    """Draw sizes, and return the cluster of every row."""
    return np.repeat(np.arange(k), draw_sizes(rng, n, k))


def draw_rotation(rng, d):
    """Draw a rotation, all alike likely."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))
