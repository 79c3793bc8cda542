"""Criteria of separation: silhouette, Calinski-Harabasz, Davies-Bouldin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans import choice
from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Floats,
    Given,
    Labelling,
    Need,
    NotApplicable,
    Work,
    register,
)
from edfkmeans.fit import Labels
from edfkmeans.kernels import silhouette as kernels
from edfkmeans.kernels.tiles import TILE
from edfkmeans.path import KMeansPath
from edfkmeans.reference import Reference, quick_fits, some_rows
from edfkmeans.table import Table, check_whole, count_distinct, encode_labels, read_table

# With more rows than this, silhouettes are those of a sample of SAMPLE rows: exact ones take time
# with the square of the rows.
MANY_ROWS = 20_000
SAMPLE = 10_000
# A sample holds at least so many rows of every cluster, or all there are.
_LEAST = 30
_BLOCK = 16 * TILE
# Rows of the samples without clusters.
_REFERENCE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Silhouettes:
    """How well each row sits in its cluster, from -1 to 1 (Kaufman, Rousseeuw 1990).

    Attributes
    ----------
    per_point : ndarray of shape (n_samples,)
        The silhouette of every row; NaN for rows outside the sample.
    per_cluster : ndarray of shape (k,)
        Means over the clusters, in the order of the sorted labels.
    mean : float
        Mean over all rows; from a sample, clusters count by their true size.
    n_sampled : int or None
        Number of rows in the sample, None where all rows were looked at.
    """

    per_point: Floats
    per_cluster: Floats
    mean: float
    n_sampled: int | None


def silhouettes(
    X: Any,
    labels: Any,
    *,
    sample_size: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Silhouettes:
    """Silhouettes of one clustering.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        At least two clusters.
    sample_size : int, optional
        With more rows than this, a sample of about so many, stratified by cluster, stands for all.
        By default all rows up to 20000, above that a sample of 10000. Give n_samples for all rows.
    random_state : int, RandomState, Generator or None
        Which rows are sampled.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.

    Returns
    -------
    Silhouettes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import fit_path
    >>> from edfkmeans.criteria.separation import silhouettes
    >>> X = load_iris().data
    >>> labels = fit_path(X, k_max=3, random_state=0).labels(3)
    >>> round(silhouettes(X, labels).mean, 4)
    0.5528
    """
    size = None if sample_size is None else check_whole("sample_size", sample_size, 2)
    table = read_table(X)
    encoded = encode_labels(labels, table.n_samples, "labels")
    if encoded.max() == 0:
        raise ValueError("labels has one cluster, but silhouettes need two or more.")
    with Threads(effective_jobs(n_jobs)) as pool:
        return _silhouettes(table, [encoded], size, Work(seed_of(random_state), pool))[0]


def _silhouettes(
    table: Table, labellings: Sequence[Labels], sample_size: int | None, work: Work
) -> list[Silhouettes]:
    n = table.n_samples
    ks = [int(labels.max()) + 1 for labels in labellings]
    starts = np.concatenate([[0], np.cumsum(ks)])
    if sample_size is None:
        sample_size = n if n <= MANY_ROWS else SAMPLE
    taken = [np.ones(n, bool)] * len(ks)
    if n > sample_size:
        order = stream(work.seed, Purpose.SILHOUETTE_ROWS).permutation(n)
        taken = [
            _stratified(labels, k, order, sample_size)
            for labels, k in zip(labellings, ks, strict=True)
        ]
    rows = np.flatnonzero(np.logical_or.reduce(taken))
    values = np.ascontiguousarray(table.values[rows])
    slots = np.empty((len(rows), len(ks)), np.int32)
    sizes = np.zeros(starts[-1] + 1, np.int64)
    for m, labels in enumerate(labellings):
        inside = taken[m][rows]
        slots[:, m] = np.where(inside, starts[m] + labels[rows], starts[-1])
        sizes[starts[m] : starts[m + 1]] = np.bincount(labels[rows][inside], minlength=ks[m])
    found = np.empty((len(ks), len(rows)))

    def block(first: int) -> None:
        work.pool.check()
        last = min(first + _BLOCK, len(rows))
        part = np.empty((len(ks), last - first))
        tile = np.empty((values.shape[1], TILE))
        kernels.silhouettes(values, first, last, slots, starts, sizes, tile, part)
        found[:, first:last] = part

    work.pool.map(block, range(0, len(rows), _BLOCK))
    result = []
    for m, labels in enumerate(labellings):
        inside = taken[m][rows]
        sums = np.bincount(labels[rows][inside], weights=found[m][inside], minlength=ks[m])
        per_cluster = sums / sizes[starts[m] : starts[m + 1]]
        per_point = np.full(n, np.nan)
        per_point[rows] = found[m]
        if n > sample_size:
            mean = float(np.bincount(labels, minlength=ks[m]) @ per_cluster / n)
        else:
            mean = float(found[m].mean())
        sampled = int(inside.sum()) if n > sample_size else None
        result.append(Silhouettes(per_point, per_cluster, mean, sampled))
    return result


def _stratified(
    labels: Labels, k: int, order: npt.NDArray[np.int64], sample_size: int
) -> npt.NDArray[np.bool_]:
    """Take from every cluster its share of the sample, and enough of small ones.

    Rows are taken in one fixed order, so that samples for different k are nearly the same rows and
    their silhouettes can be compared.
    """
    sizes = np.bincount(labels, minlength=k)
    share = np.ceil(sizes * (sample_size / len(labels))).astype(np.int64)
    share = np.minimum(sizes, np.maximum(share, _LEAST))
    # Position of each row among those of its cluster, in the given order.
    small = np.min_scalar_type(k)  # numpy sorts short integers by counting
    by_cluster = order[np.argsort(labels[order].astype(small), kind="stable")]
    position = np.empty(len(labels), np.int64)
    position[by_cluster] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(position < share[labels])


@dataclass(frozen=True)
class MeanSilhouettes(Need[tuple[Floats, int | None]]):
    """Mean silhouette for every k (NaN for 1), and the number of rows of the sample, if any."""

    sample_size: int | None = None

    def make(
        self, table: Table, path: KMeansPath, given: Given, work: Work
    ) -> tuple[Floats, int | None]:
        """Make it."""
        if path.k_max < 2:
            raise NotApplicable("silhouettes need two clusters or more")
        labellings = [path.labels(k) for k in range(2, path.k_max + 1)]
        found = _silhouettes(table, labellings, self.sample_size, work)
        work.report()
        return np.array([np.nan, *(one.mean for one in found)]), found[0].n_sampled


@dataclass(frozen=True)
class ReferenceSilhouettes(Need[Floats]):
    """Mean silhouette for every k (NaN for 1) of samples without clusters, fitted from one start.

    They are uniform in the box of the principal components, and of no more than 1000 rows.
    """

    n_references: int = 3

    def make(self, table: Table, path: KMeansPath, given: Given, work: Work) -> Floats:
        """Make it."""
        if path.k_max < 2:
            raise NotApplicable("silhouettes need two clusters or more")
        rows = some_rows(table, _REFERENCE_ROWS, work.seed)
        reference = Reference.like(rows, "principal")
        k_last = min(path.k_max, count_distinct(rows, path.k_max))

        def one(number: int) -> Floats:
            work.pool.check()
            rng = stream(work.seed, Purpose.NULL_SILHOUETTES, number)
            sample = read_table(reference.sample(len(rows), rng))
            labels = quick_fits(sample.values.astype(np.float64), k_last, rng, k_last)[1]
            alone = Work(work.seed, Threads(1))
            found = _silhouettes(sample, list(labels[1:]), None, alone)
            values = np.full(path.k_max, np.nan)
            values[1:k_last] = [one.mean for one in found]
            return values

        means = np.mean(work.pool.map(one, range(self.n_references)), axis=0)
        work.report()
        return np.asarray(means)


@dataclass(frozen=True)
class Silhouette(Criterion):
    """Mean silhouette: nearer to the own cluster than to the next (Kaufman, Rousseeuw 1990).

    Parameters
    ----------
    name : str
    sample_size : int, optional
        With more rows than this, a stratified sample of about so many stands for all. By default
        all rows up to 20000, above that a sample of 10000.
    """

    name: str = "silhouette"
    sample_size: int | None = None
    judges_one = True

    def __post_init__(self) -> None:
        if self.sample_size is not None:
            check_whole("sample_size", self.sample_size, 2)

    def needs(self) -> tuple[Need[Any], ...]:
        """Return the mean silhouettes."""
        return (MeanSilhouettes(self.sample_size),)

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        values, sampled = given[MeanSilhouettes(self.sample_size)]
        remark = f"from a stratified sample of {sampled:,} rows" if sampled else ""
        return Curve(choice.highest(values), values, self.better, "highest", remark=remark)

    def one(self, labelling: Labelling) -> float | None:
        """Judge one clustering."""
        if len(labelling.fit.sizes) < 2:
            return None
        labels = [labelling.fit.labels.astype(np.int32)]
        return _silhouettes(labelling.table, labels, self.sample_size, labelling.work)[0].mean


@dataclass(frozen=True)
class DaviesBouldin(Criterion):
    """How alike the two most alike clusters are, on average (Davies, Bouldin 1979).

    The values are those of ``sklearn.metrics.davies_bouldin_score``.
    """

    name: str = "davies-bouldin"
    better = "min"
    judges_one = True

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        last = min(path.k_max, table.n_samples - 1)
        values = np.full(path.k_max, np.nan)
        for k in range(2, last + 1):
            values[k - 1] = _davies_bouldin(table, path.labels(k))
        return Curve(choice.lowest(values), values, self.better, "lowest")

    def one(self, labelling: Labelling) -> float | None:
        """Judge one clustering."""
        if not 1 < len(labelling.fit.sizes) < labelling.table.n_samples:
            return None
        return _davies_bouldin(labelling.table, labelling.fit.labels)


def _davies_bouldin(table: Table, labels: npt.NDArray[Any]) -> float:
    from sklearn.metrics import davies_bouldin_score

    return float(davies_bouldin_score(table.values, labels))


@dataclass(frozen=True)
class CalinskiHarabasz(Criterion):
    """Variance between the clusters over variance within them (Calinski, Harabasz 1974).

    The values are those of ``sklearn.metrics.calinski_harabasz_score``, taken from the inertia.
    """

    name: str = "calinski-harabasz"
    judges_one = True
    adds_up = True

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        ks = np.arange(1, path.k_max + 1)
        values = _variance_ratio(path.inertia[:-1], path.inertia[0], ks, table.n_samples)
        return Curve(choice.highest(values), values, self.better, "highest")

    def one(self, labelling: Labelling) -> float | None:
        """Judge one clustering."""
        fit, table = labelling.fit, labelling.table
        ks = np.array([len(fit.sizes)])
        value = _variance_ratio(np.array([fit.inertia]), table.inertia, ks, table.n_samples)[0]
        return float(value) if np.isfinite(value) else None


def _variance_ratio(inertia: Floats, total: float, ks: npt.NDArray[np.int64], n: int) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # one cluster, or no residual
        values = (total - inertia) / (ks - 1) / (inertia / (n - ks))
    values[ks == 1] = np.nan
    return values


register(Silhouette())
register(CalinskiHarabasz())
register(DaviesBouldin())
