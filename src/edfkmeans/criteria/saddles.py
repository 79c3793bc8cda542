"""Saddles: whether there is a valley between clusters, or one cloud cut in two."""

import numpy as np

from edfkmeans.kernels.lloyd import centroids
from edfkmeans.kernels.saddle import count_along
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats

# Clusters that each one is compared with: those whose centres are nearest.
_NEIGHBOURS = 3
# On the line from one centre, 0, to the other, 1: where counting begins and ends, bins per unit,
# and the width of the kernel that smoothes the counts.
_FROM, _TO, _PER_UNIT, _WIDTH = -0.5, 1.5, 20, 0.1
_PLACES = _FROM + np.arange(round((_TO - _FROM) * _PER_UNIT) + 1) / _PER_UNIT
_KERNEL = np.exp(-0.5 * ((_PLACES[:, None] - _PLACES) / _WIDTH) ** 2)
_MIDDLE, _FIRST_END, _LAST_END = (
    slice(*np.searchsorted(_PLACES, ends)) for ends in ((0.28, 0.72), (-0.22, 0.28), (0.72, 1.22))
)


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
    squares = (centers**2).sum(axis=1)
    away = squares[:, None] + squares - 2 * centers @ centers.T
    np.fill_diagonal(away, -1.0)
    near = np.argsort(away, axis=1, kind="stable")[:, 1 : 1 + _NEIGHBOURS]
    own = np.arange(k)[:, None]
    pairs, number = np.unique(
        np.minimum(own, near) * k + np.maximum(own, near), return_inverse=True
    )
    ends = np.concatenate(np.divmod(pairs, k))
    one, other = centers[ends].reshape(2, len(pairs), -1)
    lines = other - one
    lines /= np.maximum((lines**2).sum(axis=1, keepdims=True), 1e-300)
    starts = (one * lines).sum(axis=1) + _FROM
    members = ends.argsort(kind="stable")
    first = ends[members].searchsorted(np.arange(k + 1))
    counts = np.zeros((len(pairs), len(_PLACES)))
    count_along(
        values, labels, lines, starts, members % len(pairs), first, float(_PER_UNIT), counts
    )
    density = counts @ _KERNEL
    peaks = np.minimum(density[:, _FIRST_END].max(axis=1), density[:, _LAST_END].max(axis=1))
    ratio = density[:, _MIDDLE].min(axis=1) / np.maximum(peaks, 1e-12)
    highest: Floats = np.minimum(ratio, 2.0)[number.reshape(near.shape)].max(axis=1)
    return highest
