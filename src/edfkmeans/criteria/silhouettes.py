"""Silhouettes: how well each row sits in its cluster; of a clustering, of a path, of references."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.criteria.criterion import Given, Need, NotApplicable, Work
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.reference import Reference, quick_fits, some_rows
from edfkmeans.kernels import silhouette as kernels
from edfkmeans.kernels.counting import take_shares
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import check_numeric, count_distinct
from edfkmeans.rows.labels import Labels, Sizes, encode_labels, without_noise
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats

# Rows: of more, silhouettes are those of a sample, as exact ones take time with their square.
MANY_ROWS = 20_000
# Rows of that sample.
SAMPLE = 10_000
# Rows of every cluster that a sample holds at least, or all there are.
_LEAST = 30
# Rows that a thread takes at a time, and those of a tile for one clustering and for many: then the
# sums for all their clusters should stay near the processor.
_BLOCK, _TILE, _TILE_OF_MANY = 768, 128, 48
# Rows, up to so many, with more columns than this, have their distances by products of all pairs.
_PAIRS, _WIDE = 4096, 64
# Rows of the samples without clusters.
_REFERENCE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Silhouettes:
    """How well each row sits in its cluster, from -1 to 1 (Kaufman, Rousseeuw 1990).

    Attributes
    ----------
    per_point : ndarray of shape (n_samples,)
        The silhouette of every row; NaN for rows outside the sample, and for noise.
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
    """Silhouettes of one clustering: of every row, of every cluster, and their mean.

    The numbers of scikit-learn's `silhouette_samples` and `silhouette_score`, by Euclidean
    distance, in memory that grows with the rows and not with their square: no matrix of distances
    is made, and rows are given to all cores. Time does grow with the square of the rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        At least two clusters, from whatever algorithm. -1 is noise, as DBSCAN and HDBSCAN mean it:
        those rows are left out, with a warning, and have NaN.
    sample_size : int, optional
        With more rows than this, a sample of about so many, stratified by cluster, stands for all.
        By default all rows are looked at.
    random_state, n_jobs
        See `fit_path`; the former for which rows are sampled.

    Returns
    -------
    Silhouettes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.cluster import KMeans
    >>> from edfkmeans import silhouettes
    >>> X = load_iris().data
    >>> found = silhouettes(X, KMeans(3, n_init=10, random_state=0).fit_predict(X))
    >>> round(found.mean, 4), found.per_point.shape
    (0.5528, (150,))
    """
    size = None if sample_size is None else check_whole("sample_size", sample_size, 2)
    raw = check_numeric(X)
    kept = without_noise(labels, len(raw), "labels")
    rows = read_rows(raw[kept])
    encoded = encode_labels(np.asarray(labels)[kept], rows.n_samples, "labels")
    if encoded.max() == 0:
        raise ValueError("labels has one cluster, but silhouettes need two or more.")
    with Threads(effective_jobs(n_jobs)) as pool:
        work = Work(seed_of(random_state), pool)
        (found,) = silhouettes_of(rows, [0], lambda _: encoded, size or rows.n_samples, work)
    per_point = np.full(len(raw), np.nan)
    per_point[np.arange(len(raw))[kept][found.rows]] = found.values
    return Silhouettes(per_point, found.per_cluster, found.mean, found.n_sampled)


@dataclass(frozen=True, eq=False)
class _Looked:
    """Silhouettes of the rows that were looked at; NaN for those outside this one's sample."""

    rows: npt.NDArray[np.int64]
    values: Floats
    per_cluster: Floats
    mean: float
    n_sampled: int | None


def silhouettes_of(
    rows: Sample,
    which: Sequence[int],
    labels_of: Callable[[int], Labels],
    sample_size: int | None,
    work: Work,
) -> list[_Looked]:
    """Return the silhouettes of several clusterings of the same rows.

    Labels are asked for one clustering in every thread, and twice where all rows are looked at: all
    together may be larger than X.
    """
    n = rows.n_samples
    if sample_size is None:
        sample_size = n if n <= MANY_ROWS else SAMPLE
    samples = n > sample_size
    order = np.arange(0)
    if samples:
        order = stream(work.seed, Purpose.SILHOUETTE_ROWS).permutation(n)

    def pick(each: int) -> tuple[Sizes, npt.NDArray[np.int64], Labels]:
        """Return the sizes of a clustering, the rows that are looked at, and their labels."""
        work.pool.check()
        labels = labels_of(each)
        k = int(labels.max()) + 1
        inside = np.arange(0)
        if samples:
            inside = np.flatnonzero(stratified(labels, k, order, sample_size))
        return np.bincount(labels, minlength=k), inside, labels[inside]

    picked = work.pool.map(pick, which)
    ks = [len(true_sizes) for true_sizes, _, _ in picked]
    starts = np.concatenate([[0], np.cumsum(ks)])
    taken = np.full(n, not samples)
    for _, inside, _ in picked:
        taken[inside] = True
    looked = np.flatnonzero(taken)
    values: Any = np.ascontiguousarray(rows.values[looked] if len(looked) < n else rows.values)
    slots = np.full((len(looked), len(ks)), starts[-1], np.int32)
    sizes = np.zeros(starts[-1] + 1, np.int64)
    for m, (_, inside, labels) in enumerate(picked):
        place: Any = np.searchsorted(looked, inside)
        if not samples:
            place, labels = slice(None), labels_of(which[m])
        slots[place, m] = starts[m] + labels
        sizes[starts[m] : starts[m + 1]] = np.bincount(labels, minlength=ks[m])
    found = np.empty((len(ks), len(looked)))
    wide = len(looked) <= _PAIRS and values.shape[1] > _WIDE
    products = np.asarray(values @ values.T, np.float64) if wide else None

    def block(first: int) -> None:
        work.pool.check()
        last = min(first + _BLOCK, len(looked))
        part = np.empty((len(ks), last - first))
        tile = np.empty((values.shape[1], _TILE if len(ks) == 1 else _TILE_OF_MANY))
        kernels.silhouettes(values, products, first, last, slots, starts, sizes, tile, part)
        found[:, first:last] = part

    work.pool.map(block, range(0, len(looked), _BLOCK))
    result = []
    for m, k in enumerate(ks):
        rows_in: Any = slots[:, m] < starts[-1] if samples else slice(None)
        own = slots[rows_in, m] - starts[m]
        sums = np.bincount(own, weights=found[m][rows_in], minlength=k)
        per_cluster = sums / np.maximum(sizes[starts[m] : starts[m + 1]], 1)  # some may be empty
        mean = float(picked[m][0] @ per_cluster / n) if samples else float(found[m].mean())
        n_sampled = int(rows_in.sum()) if samples else None
        result.append(_Looked(looked, found[m], per_cluster, mean, n_sampled))
    return result


def stratified(
    labels: Labels, k: int, order: npt.NDArray[np.int64], sample_size: int
) -> npt.NDArray[np.bool_]:
    """Take from every cluster its share of the sample, and enough of small ones.

    Rows are taken in one fixed order, so that samples for different k are nearly the same rows and
    their silhouettes can be compared.
    """
    sizes = np.bincount(labels, minlength=k)
    share = np.ceil(sizes * (sample_size / len(labels))).astype(np.int64)
    taken = np.empty(len(labels), np.bool_)
    take_shares(labels, order, np.minimum(np.maximum(share, _LEAST), sizes), taken)
    return taken


@dataclass(frozen=True)
class MeanSilhouettes(Need[tuple[Floats, int | None]]):
    """Mean silhouette for every k (NaN for 1), and the number of rows of the sample, if any."""

    sample_size: int | None = None

    def make(
        self, rows: Rows, path: KMeansPath, given: Given, work: Work
    ) -> tuple[Floats, int | None]:
        if path.k_max < 2:
            raise NotApplicable("silhouettes need two clusters or more")
        ks = range(2, path.k_max + 1)
        found = silhouettes_of(rows.sample, ks, path.labels, self.sample_size, work)
        work.report()
        return np.array([np.nan, *(one.mean for one in found)]), found[0].n_sampled


@dataclass(frozen=True)
class ReferenceSilhouettes(Need[Floats]):
    """Mean silhouette for every k (NaN for 1) of samples without clusters, fitted from one start.

    They are uniform in the box of the principal components, and of no more than 1000 rows.
    """

    n_references: int = 3

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Floats:
        if path.k_max < 2:
            raise NotApplicable("silhouettes need two clusters or more")
        some = some_rows(rows, _REFERENCE_ROWS, work.seed)
        reference = Reference.like(some, "principal")
        k_last = min(path.k_max, count_distinct(some, path.k_max))

        def one(number: int) -> Floats:
            work.pool.check()
            rng = stream(work.seed, Purpose.NULL_SILHOUETTES, number)
            sample = read_rows(reference.sample(len(some), rng))
            labels = quick_fits(sample.values.astype(np.float64), k_last, rng, k_last)[1]
            alone = Work(work.seed, Threads(1))
            ks = range(2, k_last + 1)
            found = silhouettes_of(sample, ks, lambda k: labels[k - 1], None, alone)
            values = np.full(path.k_max, np.nan)
            values[1:k_last] = [one.mean for one in found]
            return values

        means = np.mean(work.pool.map(one, range(self.n_references)), axis=0)
        work.report()
        return np.asarray(means)
