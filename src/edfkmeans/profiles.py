"""Profiles: how the mean of each cluster stands to that of all rows, column by column."""

import numpy as np

from edfkmeans.path import KMeansPath
from edfkmeans.table import Floats


def scores(path: KMeansPath, k: int) -> Floats:
    """Return the centroids less the mean of all rows, in units of `spread`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import fit_path
    >>> from edfkmeans.profiles import scores
    >>> scores(fit_path(load_iris().data, 8, random_state=0), 1).round(6) + 0
    array([[0., 0., 0., 0.]])
    """
    mean, deviation = _finest(path)
    return np.asarray((path.centers(k) - mean) / np.where(deviation > 0, deviation, 1.0))


def spread(path: KMeansPath) -> Floats:
    """Return the standard deviation of each column between the clusters of the finest fit."""
    return _finest(path)[1]


def _finest(path: KMeansPath) -> tuple[Floats, Floats]:
    last = path.k_max + 1
    centers, weights = path.centers(last), path.sizes(last) / path.n_samples
    mean = np.asarray(weights @ centers)
    return mean, np.sqrt(weights @ (centers - mean) ** 2)
