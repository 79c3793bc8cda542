"""Looks: what the judge sees in the rows themselves, for every k."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._streams import STEADY, Purpose, stream
from edfkmeans.choosing.agreement import agreement
from edfkmeans.choosing.glance import Glance
from edfkmeans.criteria.needs import Given, Need, Work
from edfkmeans.criteria.saddles import saddle_ratios
from edfkmeans.criteria.silhouettes import silhouettes_of, stratified
from edfkmeans.fits.path import KMeansPath
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.rows.labels import Labels, Sizes
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

# Rows: of more, silhouettes come from a sample of this size.
SILHOUETTE_ROWS = 2500
# Rows: of more, saddles and distances to the centres come from a sample of this size.
_ROWS = 5000
# Rows: clusters of fewer are not asked how far apart from the others they lie.
LARGE = (5, 10, 30)
# Part of a column's variance: a cluster's is never taken for less.
_LEAST_PART = 1e-3


@dataclass(frozen=True, eq=False)
class Looks:
    """Curves over k (entry k - 1 belongs to k, NaN where there is none), and numbers of the set.

    Attributes
    ----------
    silhouette, least_silhouette, negative : ndarray of shape (k_max,)
        Mean over the rows, lowest mean of a cluster, part of the rows below 0.
    saddle, highest_saddle, lowest_saddle, lowest_size, cut : ndarray of shape (k_max,)
        Saddle ratios: mean over the rows, highest and lowest of a cluster; the number of rows of
        the cluster with the lowest; the part of the rows in clusters whose ratio is above 1.
    apart : ndarray of shape (len(LARGE), 2, k_max)
        The lowest saddle ratio of a cluster with at least `LARGE` rows, and its number of rows.
    davies_bouldin : ndarray of shape (k_max,)
    balls, boxes : ndarray of shape (k_max,)
        BIC per number in X of a normal mixture with one variance for each cluster, and with one for
        each cluster and column; every row counts for its own cluster only.
    nested : ndarray of shape (k_max + 1,)
        Adjusted Rand index of the fits with k and k - 1 clusters; the last entry is the pilot's.
    halves, held_saddle, line, shape, islands
        What is seen of the rows alone, see `edfkmeans.choosing.glance`.
    """

    silhouette: Floats
    least_silhouette: Floats
    negative: Floats
    saddle: Floats
    highest_saddle: Floats
    lowest_saddle: Floats
    lowest_size: Floats
    cut: Floats
    apart: Floats
    davies_bouldin: Floats
    balls: Floats
    boxes: Floats
    nested: Floats
    halves: Floats
    held_saddle: Floats
    line: dict[str, float]
    shape: dict[str, float]
    islands: dict[str, float]


@dataclass(frozen=True)
class Look(Need[Looks]):
    """Look at the rows, with the same draws for every seed."""

    def needs(self) -> tuple[Need[Any], ...]:
        return (Glance(),)

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Looks:
        steady = Work(STEADY, work.pool)
        valleys = work.pool.beside(lambda: _saddles(rows, path, steady))
        nested = work.pool.beside(lambda: _nested(path, work))
        mean, least, negative = _silhouettes(rows, path, steady)
        curves = valleys()
        saddle, highest, lowest, size, cut, alike, balls, boxes = curves[:8]
        apart = curves[8:].reshape(len(LARGE), 2, -1)
        found = Looks(
            mean, least, negative, saddle, highest, lowest, size, cut, apart, alike, balls, boxes,
            nested(), **vars(given[Glance()]),
        )  # fmt: skip
        work.report()
        return found


def _silhouettes(rows: Rows, path: KMeansPath, work: Work) -> Floats:
    curves = np.full((3, path.k_max), np.nan)
    ks = range(2, path.k_max + 1)
    if ks:
        for k, one in zip(
            ks, silhouettes_of(rows.sample, ks, path.labels, SILHOUETTE_ROWS, work), strict=True
        ):
            seen = one.values[np.isfinite(one.values)]
            curves[:, k - 1] = one.mean, one.per_cluster.min(), (seen < 0).mean()
    return curves


def _saddles(rows: Rows, path: KMeansPath, work: Work) -> Floats:
    """Return saddle ratios, the index of Davies and Bouldin, and the BIC of two mixtures."""
    values = rows.units.only_varying(rows.sample.values)
    n = len(values)
    order = stream(STEADY, Purpose.LOOKED_AT).permutation(n) if n > _ROWS else None
    whole = None if order is not None else np.ascontiguousarray(values, dtype=np.float64)

    def one(k: int) -> tuple[float, ...]:
        work.pool.check()
        labels, looked = path.labels(k), whole
        if looked is None:
            assert order is not None
            inside = stratified(labels, k, order, _ROWS)
            looked, labels = values[inside].astype(np.float64), labels[inside]
        ratios = saddle_ratios(looked, labels, k)
        sizes = path.sizes(k)
        least = int(np.lexsort((sizes, ratios.round(9)))[0])
        return (
            float(sizes @ ratios) / n,
            float(ratios.max()),
            float(ratios[least]),
            float(sizes[least]),
            float(sizes[ratios > 1].sum()) / n,
            *_spreads(looked, labels, k),
            *_apart(ratios, sizes),
        )

    curves = np.full((8 + 2 * len(LARGE), path.k_max), np.nan)
    if path.k_max > 1:
        curves[:, 1:] = np.array(work.pool.map(one, range(2, path.k_max + 1))).T
    if whole is None:
        assert order is not None
        whole = values[order[:_ROWS]].astype(np.float64)
    curves[6:8, 0] = _spreads(whole, np.zeros(len(whole), np.int32), 1)[1:]
    return curves


def _apart(ratios: Floats, sizes: Sizes) -> list[float]:
    """Return the lowest ratio of a large cluster and its number of rows, for every `LARGE`."""
    found = []
    for least in LARGE:
        # What is left beside a few rows far away is not apart: they are.
        large = np.where((sizes >= least) & (sizes <= 0.75 * sizes.sum()), ratios, np.inf)
        lowest = int(np.lexsort((sizes, large.round(9)))[0])
        found += [min(float(large[lowest]), 3.0), float(sizes[lowest])]
    return found


def _spreads(values: Floats, labels: Labels, k: int) -> tuple[float, float, float]:
    """Return the index of Davies and Bouldin, and the BIC of the two mixtures."""
    n, d = values.shape
    centers, sizes = np.empty((k, d)), np.empty(k, np.int64)
    centroids(values, labels, centers, sizes)
    sizes = np.maximum(sizes, 1)  # without residuals a cluster may have lost its rows
    squares = centers[labels]
    squares -= values
    squares *= squares
    away = np.sqrt(squares.sum(axis=1))
    spread = np.bincount(labels, weights=away, minlength=k) / sizes
    lengths = (centers**2).sum(axis=1)
    apart = np.maximum(lengths[:, None] + lengths - 2 * centers @ centers.T, 0.0)
    np.fill_diagonal(apart, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):  # two centres in one place
        alike = np.nan_to_num((spread[:, None] + spread) / np.sqrt(apart), posinf=1e6)
    inside = np.zeros((k, n))
    inside[labels, np.arange(n)] = 1.0
    variances = inside @ squares / sizes[:, None]
    total = values.var(axis=0)
    total[total <= 0] = 1.0  # a column may vary in other rows only
    shares = sizes / n
    mixing = -2 * shares @ np.log(shares) / d
    ball = np.log(np.maximum(variances.mean(axis=1), _LEAST_PART * total.mean()) / total.mean())
    box = np.log(np.maximum(variances, _LEAST_PART * total) / total).mean(axis=1)
    price = np.log(n) / (n * d)
    return (
        float(alike.max(axis=1).mean()),
        float(shares @ ball + mixing + price * k * (d + 2)),
        float(shares @ box + mixing + price * k * (2 * d + 1)),
    )


def _nested(path: KMeansPath, work: Work) -> Floats:
    """Return how much the fit with k clusters agrees with that of one less."""
    found = np.full(path.k_max + 1, np.nan)
    ks = range(3, path.k_max + 2)
    found[2:] = work.pool.map(lambda k: agreement(path.labels(k - 1), path.labels(k)), ks)
    return found
