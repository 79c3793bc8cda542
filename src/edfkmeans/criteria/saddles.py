"""Saddles: whether there is a valley between clusters, or one cloud cut in two."""

import numpy as np

from edfkmeans.kernels import saddle as kernels
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats


def saddle_ratios(values: Floats, labels: Labels, k: int, centers: Floats | None = None) -> Floats:
    """Return for every cluster its highest saddle ratio with a neighbour.

    The rows of two clusters are projected on the line between their centres. The ratio is the
    lowest density in the middle over the lesser of the two highest near the centres: near 0 for
    clusters that are apart, above 1 where one cloud was cut in two. The centres are the means of
    the clusters unless others are given.
    """
    if centers is None:
        centers = np.empty((k, values.shape[1]))
        centroids(values, labels, centers, np.empty(k, np.int64))
    gaps, highest = np.empty((k, k)), np.empty(k)
    kernels.squared_gaps(centers, gaps)
    kernels.saddle_ratios(values, labels, centers, gaps, highest)
    return highest
