"""Worlds: data sets with known clusters, of many kinds, that the judge learns from.

No real data set is among them, and none of their settings was taken from one. What decides how well
the judge does on data it has never seen is how many kinds there are; so there are mixtures of many
forms, shapes in the plane, tables that come from a few hidden causes, pictures of hidden causes
through a random network, signals (curves, pictures, compositions, texts), cases that are hard in
one respect, and one cluster in all its disguises.

    X, labels, kind = draw(seed, number)

Rows of background noise and outliers have the label -1: no clustering is blamed for them.
"""

import numpy as np

from worlds.cases import far_rows, few_columns, grid, long_cloud, small_groups, two_groups
from worlds.mixtures import mixture, scheme
from worlds.one import one_cluster
from worlds.shapes import shapes
from worlds.signals import curves, parts, pictures, words
from worlds.tables import factors, many, network, size


def draw(seed, number):
    """Draw one data set: rows, labels and the name of its kind."""
    rng = np.random.default_rng([seed, number])
    world = rng.choice(len(WORLDS), p=np.array([share for _, share in WORLDS]))
    while True:
        X, labels, kind = WORLDS[world][0](rng)
        X, labels = _finish(rng, np.asarray(X, float), np.asarray(labels))
        inside = labels[labels >= 0]
        if len(np.unique(X, axis=0)) >= 25 and len(inside) >= 20:
            return X, labels, kind


def _finish(rng, X, labels):
    """Drop constant columns, shuffle the rows, and standardise three sets in four."""
    X = X[:, X.std(axis=0) > 0]
    order = rng.permutation(len(X))
    X, labels = X[order], labels[order]
    if rng.random() < 0.75:
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, labels


# Every world and its share of the sets.
WORLDS = (
    (mixture, 0.14),
    (scheme, 0.02),
    (shapes, 0.11),
    (factors, 0.11),
    (network, 0.045),
    (curves, 0.03),
    (pictures, 0.025),
    (parts, 0.025),
    (words, 0.03),
    (size, 0.045),
    (many, 0.04),
    (small_groups, 0.08),
    (grid, 0.015),
    (two_groups, 0.07),
    (long_cloud, 0.03),
    (few_columns, 0.015),
    (far_rows, 0.015),
    (one_cluster, 0.155),
)
