"""Looks: what the judge sees in the rows themselves, for every k."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from edfkmeans._streams import STEADY, Purpose, stream
from edfkmeans.choosing.islands import islands
from edfkmeans.criteria.criterion import Early, Given, Need, Work
from edfkmeans.criteria.silhouettes import silhouettes_of, stratified
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.reference import draws_for, fits_from, runs, some_rows, spanned
from edfkmeans.kernels.apart import lie_apart, spreads
from edfkmeans.kernels.counting import rand_index
from edfkmeans.kernels.lloyd import centroids
from edfkmeans.kernels.saddle import seen_through
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats
from edfkmeans.structure import nearest_unimodal

# Rows: of more, silhouettes come from a sample of this size.
SILHOUETTE_ROWS = 2500
# Rows: of more, saddles and distances to the centres come from a sample of this size.
_ROWS = 5000
# Rows: clusters of fewer are not asked how far apart from the others they lie.
LARGE = (5, 10, 30)
# Rows that are split in two to see whether both halves say the same.
_SPLIT = 4000
# Knots of the distribution function whose distance from a unimodal one is taken.
_KNOTS = 60
# Columns that are asked for it: those that look most like two groups.
_ASKED = 8
# Tasks that the k of one half are shared out to.
_SHARES = 4
# What is told of rows along a line, see `_along`.
_LINE = ("dip", "skewness", "tails", "tails_in_errors", "middle", "spread", "sides")
# Rows of which the shape of the columns is taken.
_SHAPE = 1000


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
    halves, held_saddle : ndarray of shape (k_max,)
        Of the fits of two halves of the rows: their adjusted Rand index, and the mean saddle ratio
        of each half along the lines of the other, which has not been bent to it.
    line : mapping of str to float
        The rows of each half along the line between the two clusters of the other.
    shape : mapping of str to float
        What the columns look like.
    islands : mapping of str to float
        The clearest small group apart from the cloud, found without fits.
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


@dataclass(frozen=True, eq=False)
class Grounds:
    """What is seen of the rows before there are fits: parts of `Looks`."""

    halves: Floats
    held_saddle: Floats
    line: dict[str, float]
    shape: dict[str, float]
    islands: dict[str, float]


@dataclass(frozen=True)
class Ground(Early[Grounds]):
    """Look at the rows themselves, and at quick fits of their halves."""

    def steps(self) -> int:
        return 0

    def before(self, rows: Rows, k_max: int, work: Work) -> Grounds:
        shape = _shape(some_rows(rows, _SHAPE, STEADY))
        halves, held, line = _halves(rows, k_max, work)
        return Grounds(halves, held, line, shape, islands(rows, work.pool))


@dataclass(frozen=True)
class Look(Need[Looks]):
    """Look at the rows, with the same draws for every seed."""

    def needs(self) -> tuple[Need[Any], ...]:
        return (Ground(),)

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Looks:
        steady = Work(STEADY, work.pool)
        ground = given[Ground()]
        # Between the kernels there are short steps. Where a device found the fits these are most of
        # the time, and beside each other they keep the threads busy.
        seen: Callable[[], Any] = partial(_saddles, rows, path, steady)
        nested: Callable[[], Any] = partial(_nested, path, work)
        if rows.quick is not None:
            seen, nested = work.pool.beside(seen), work.pool.beside(nested)
        mean, least, negative = _silhouettes(rows, path, steady)
        curves = seen()
        saddle, highest, lowest, size, cut, alike, balls, boxes = curves[:8]
        apart = curves[8:].reshape(len(LARGE), 2, -1)
        found = Looks(
            mean, least, negative, saddle, highest, lowest, size, cut, apart, alike, balls, boxes,
            nested(), **vars(ground),
        )  # fmt: skip
        work.report()
        return found


def _silhouettes(rows: Rows, path: KMeansPath, work: Work) -> Floats:
    curves = np.full((3, path.k_max), np.nan)
    ks = range(2, path.k_max + 1)
    if ks:
        found = silhouettes_of(rows.sample, ks, path.labels, SILHOUETTE_ROWS, work)
        for k, one in zip(ks, found, strict=True):
            seen = one.values[np.isfinite(one.values)]
            curves[:, k - 1] = one.mean, one.per_cluster.min(), (seen < 0).mean()
    return curves


def _saddles(rows: Rows, path: KMeansPath, work: Work) -> Floats:
    """Return saddle ratios, the index of Davies and Bouldin, and the BIC of two mixtures."""
    values = rows.units.only_varying(rows.sample.values)
    n = len(values)
    order = stream(STEADY, Purpose.LOOKED_AT).permutation(n) if n > _ROWS else None
    first = values if order is None else values[order[:_ROWS]]
    whole = np.ascontiguousarray(first, dtype=np.float64)
    narrow = spanned(whole) if order is None else whole
    large = np.array(LARGE, np.float64)

    def one(k: int) -> Floats:
        work.pool.check()
        labels, looked, same = path.labels(k), whole, narrow
        if order is not None:
            inside = stratified(labels, k, order, _ROWS)
            looked, labels = values[inside].astype(np.float64), labels[inside]
            same = looked
        seen = np.empty(8 + 2 * len(LARGE))
        lie_apart(looked, same, labels, path.sizes(k).astype(np.float64), large, seen)
        return seen

    curves = np.full((8 + 2 * len(LARGE), path.k_max), np.nan)
    if path.k_max > 1:
        curves[:, 1:] = np.array(work.pool.map(one, range(2, path.k_max + 1))).T
    seen, labels = np.empty(3), np.zeros(len(whole), np.int32)
    spreads(whole, labels, whole.mean(axis=0)[None], np.array([len(whole)]), np.zeros((1, 1)), seen)
    curves[6:8, 0] = seen[1:]
    return curves


def _nested(path: KMeansPath, work: Work) -> Floats:
    """Return how much the fit with k clusters agrees with that of one less."""
    found = np.full(path.k_max + 1, np.nan)
    ks = range(3, path.k_max + 2)
    found[2:] = work.pool.map(
        lambda k: rand_index(path.labels(k - 1), path.labels(k), k - 1, k), ks
    )
    return found


def _halves(rows: Rows, k_max: int, work: Work) -> tuple[Floats, Floats, dict[str, float]]:
    """Fit two halves of the rows, and look at each through the fits of the other."""
    alike, saddles = np.full((2, k_max), np.nan)
    values = some_rows(rows, _SPLIT, STEADY)
    rng = stream(STEADY, Purpose.LOOKED_AT, 1)
    order = rng.permutation(len(values))
    halves = [order[half::2] for half in (0, 1)]
    k_last = min([k_max, *(count_distinct(values[half], k_max) for half in halves)])
    narrow = spanned(values)
    parts = [np.ascontiguousarray(narrow[half]) for half in halves]
    draws = [draws_for(k_last, rng) for _ in parts]
    fits = work.pool.map(lambda half: fits_from(parts[half], draws[half], k_last)[1], (0, 1))
    if k_last == 1:
        return alike, saddles, dict.fromkeys(_LINE, np.nan)

    def some(task: tuple[int, int]) -> Floats:
        work.pool.check()
        own, first = task
        ks = np.arange(first, k_last + 1, _SHARES)
        seen = np.empty((2, len(ks)))
        seen_through(parts[own], parts[1 - own], fits[own], fits[1 - own], ks, *seen)
        return seen

    tasks = [(own, first) for own in (0, 1) for first in range(2, min(2 + _SHARES, k_last + 1))]
    both = np.empty((2, 2, k_last - 1))
    for (own, first), seen in zip(tasks, work.pool.map(some, tasks), strict=True):
        both[own, :, first - 2 :: _SHARES] = seen
    alike[1:k_last], saddles[1:k_last] = both.mean(axis=0)
    line = dict.fromkeys(_LINE, 0.0)
    for own in (0, 1):
        centers = np.empty((2, narrow.shape[1]))
        centroids(parts[1 - own], fits[1 - own][1], centers, np.empty(2, np.int64))
        for name, value in _along(parts[own], centers).items():
            line[name] += value / 2
    return alike, saddles, line


def _along(values: Floats, centers: Floats) -> dict[str, float]:
    """Describe some rows by where they lie along the line between two centres."""
    places = values @ (centers[1] - centers[0])
    z = (places - places.mean()) / max(float(places.std()), 1e-300)
    spread = float(np.median(np.abs(z - np.median(z))))
    tails = float((z**4).mean())
    return {
        "dip": _dip(places),
        "skewness": abs(float((z**3).mean())),
        "tails": float(np.log(max(tails, 1e-300))),
        "tails_in_errors": (tails - 3) * np.sqrt(len(z) / 24),  # of a normal column
        "middle": float((np.abs(z) < 0.25).mean()),
        "spread": spread,
        "sides": abs(float((z > 0).mean()) - 0.5),
    }


def agreement(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index of two clusterings, 1 for two of one cluster."""
    return float(rand_index(one, other, int(one.max()) + 1, int(other.max()) + 1))


def _shape(rows: Floats) -> dict[str, float]:
    """Describe some rows: steps, ties, skewness, tails, correlation, far rows."""
    n = len(rows)
    spread = rows.std(axis=0)
    varying = spread > 1e-12 * spread.max()  # some columns may vary in other rows only
    rows, spread = rows[:, varying], spread[varying]
    z, d = rows / spread, rows.shape[1]
    skew, tails = (z**3).mean(axis=0), (z**4).mean(axis=0)
    bimodal = (skew**2 + 1) / np.maximum(tails, 1e-12)
    ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
    steps = (np.diff(ordered, axis=1) > 1e-9 * spread[:, None]).sum(axis=1) + 1
    most = (np.arange(1, n + 1) - runs(ordered)).max(axis=1) / n  # how often one value occurs
    tails_first, tails_next, dip_of_components = _components(rows)
    narrow = z @ z.T if n < d else z.T @ z
    correlation = np.linalg.eigvalsh(narrow) / (n * d)
    squares = (rows**2).sum(axis=1)
    far = np.sort(squares) / max(squares.mean(), 1e-300)
    return {
        "distinct_rows": count_distinct(rows, n) / n,
        "two_values": float((steps <= 2).mean()),
        "few_values": float((steps <= 10).mean()),
        "ties": float(1 - steps.mean() / n),
        "most_frequent": float(most.mean()),
        "skewness": float(np.abs(skew).mean()),
        "highest_skewness": float(np.abs(skew).max()),
        "tails": float(np.log(tails.mean())),
        "lowest_tails": float(np.log(tails.min())),
        "bimodal": float(bimodal.mean()),
        "highest_bimodal": float(bimodal.max()),
        "first_component": float(correlation[-1]),
        "components": float(1 / max((correlation**2).sum(), 1e-300)) / min(n, d),
        "unequal_spread": float(np.log(spread.max() / np.median(spread))),
        "farthest": float(np.log(max(far[-1], 1e-300))),
        "highest_dip": max(_dip(rows[:, j]) for j in np.argsort(-bimodal)[:_ASKED]),
        "dip_of_components": dip_of_components,
        "tails_of_first_component": tails_first,
        "tails_of_next_components": tails_next,
        "far_share": float(far[-max(1, n // 100) :].sum() / n),
    }


def _components(rows: Floats) -> tuple[float, float, float]:
    """Return how long the tails of the first component and of the next four are, and the dip."""
    n, d = rows.shape
    if n < d:
        places = np.linalg.eigh(rows @ rows.T)[1][:, ::-1]
    else:
        places = rows @ np.linalg.eigh(rows.T @ rows)[1][:, ::-1]
    places = places[:, :5]
    spread = np.maximum(places.std(axis=0), 1e-300)
    tails = np.log(
        np.maximum((((places - places.mean(axis=0)) / spread) ** 4).mean(axis=0), 1e-300)
    )
    dips = [_dip(places[:, j]) for j in range(min(2, places.shape[1]))]
    return float(tails[0]), float(tails[1:].mean() if len(tails) > 1 else tails[0]), max(dips)


def _dip(column: Floats) -> float:
    """Return how far a column is from the nearest unimodal one, in standard errors."""
    knots = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS + 1)))
    if len(knots) < 4 or np.diff(knots).min() < 1e-12 * (knots[-1] - knots[0]):
        return 0.0
    heights = np.searchsorted(np.sort(column), knots, side="right") / len(column)
    heights = (heights - heights[0]) / (1 - heights[0])
    return float(np.abs(nearest_unimodal(knots, heights) - heights).max() * np.sqrt(len(column)))
