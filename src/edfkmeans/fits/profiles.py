"""Profiles: how clusters differ, column by column, and the two axes that show it best."""

import numpy as np

from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.units import Floats, Values


def scores(path: KMeansPath, k: int) -> Floats:
    """Return the centroids less the mean of all rows, in units of `spread`."""
    mean, deviation = _finest(path)
    return np.asarray((path.centers(k) - mean) / np.where(deviation > 0, deviation, 1.0))


def principal_axes(values: Values) -> tuple[Floats, Floats]:
    """Return two axes along which rows differ most, and the part of the variance along each."""
    centred = values - values.mean(axis=0, dtype=np.float64)
    wide = len(centred) < centred.shape[1]
    weights, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    axes = vectors[:, ::-1][:, :2]
    if wide:  # from the products of rows, which are fewer
        axes = centred.T @ axes
        axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-300)
    return axes, weights[::-1][:2] / (weights.sum() or 1.0)


def spread(path: KMeansPath) -> Floats:
    """Return the standard deviation of each column between the clusters of the finest fit."""
    return _finest(path)[1]


def _finest(path: KMeansPath) -> tuple[Floats, Floats]:
    last = path.k_max + 1
    centers, weights = path.centers(last), path.sizes(last) / path.n_samples
    mean = np.asarray(weights @ centers)
    return mean, np.sqrt(weights @ (centers - mean) ** 2)
