"""Soundness: whether each cluster holds when the rows are drawn again, and how it stands apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans._choices import FITS
from edfkmeans._progress import progress_bar
from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.search import fit_rows
from edfkmeans.profiles import check_shown
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Values
from edfkmeans.selection import AMBIGUOUS, Selection

# What a mean Jaccard coefficient is called, from the highest down: Hennig's limits.
_CALLED = (
    (0.85, "holds well"),
    (0.75, "holds"),
    (0.6, "is a pattern, but which rows belong to it is doubtful"),
    (0.0, "does not hold: other rows of the same kind give other clusters"),
)
# Rows in a resample, at most.
_MOST_ROWS = 5_000
# Numbers of clusters that are looked at closely, unless others are asked for.
_LOOKED_AT = 4
# Standard deviations between two centres: below this the clusters run into each other. A normal
# cloud that is cut in two has 2.7, an even one 3.5.
_CLOSE = 3.5
# As many are told at most: farther away are only clusters whose rows hardly differ, or not at all.
_FARTHEST = 999.0


@dataclass(frozen=True, repr=False, eq=False)
class Soundness:
    """How sound the clusters of one fit are.

    Attributes
    ----------
    k : int
    table : DataFrame
        A row for each cluster. ``rows``: how many it has. ``stability``: the mean over resamples of
        the Jaccard coefficient with the cluster that is most like it there, from 0 to 1; NaN where
        the fits cannot be made again. ``nearest``: the cluster that it is least apart from.
        ``apart``: how far the two centres lie from each other, in standard deviations of their rows
        along the line between them, 999 at most. ``between``: the number of its rows that sit
        between clusters.
    n_resamples : int
        How often the rows were drawn again.
    single : tuple of int
        The clusters of one row. Such a row has a cluster of its own whenever it is drawn, so that
        their stability is no evidence.
    """

    k: int
    table: pd.DataFrame
    n_resamples: int
    single: tuple[int, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Say of every cluster whether it holds, and whether it stands apart."""
        if self.k == 1:
            return ("One cluster of all rows: there is nothing that could fall apart.",)
        return tuple(
            _words(int(str(cluster)), row.stability, row.nearest, row.apart, cluster in self.single)
            for cluster, row in self.table.iterrows()
        )

    @property
    def unsound(self) -> tuple[int, ...]:
        """The clusters that do not hold: stability below 0.6."""
        return tuple(np.flatnonzero(self.table["stability"].to_numpy() < _CALLED[2][0]).tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers, words and lists, ready for JSON."""
        rows = self.table.astype(object).where(self.table.notna(), None).to_dict("records")
        named = zip(self.table.index, rows, self.words, strict=True)
        return {
            "n_resamples": self.n_resamples,
            "clusters": [{"cluster": c, **row, "words": words} for c, row, words in named],
        }

    def __repr__(self) -> str:
        return "\n  ".join([f"Soundness of {self.k} clusters:", *self.words])


def _words(cluster: int, stability: float, nearest: float, apart: float, single: bool) -> str:
    text = f"Cluster {cluster}"
    if single:
        text += " is one row, no group"
    elif stability == stability:
        text += f" {next(words for least, words in _CALLED if stability >= least)}"
        text += f" (stability {stability:.2f})"
    else:
        text += " was not drawn again"
    how = "runs into" if apart < _CLOSE else "stands apart from"
    far = f"{apart:.1f} spreads away" if apart < _FARTHEST else "too far to count in spreads"
    return f"{text}; it {how} cluster {nearest:.0f}, its nearest ({far})."


def assess(
    selection: Selection,
    X: Any,
    k: int | None = None,
    *,
    n_resamples: int = 30,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Soundness:
    """Tell how sound each cluster is.

    Stability is Hennig's: rows are drawn again with replacement and clustered anew; every cluster
    is compared with the new cluster that shares most with it, by the Jaccard coefficient of the
    distinct rows that were drawn. The mean over the resamples is 0.85 or more for a cluster that
    holds well, and below 0.6 for one that should not be trusted. A stable cluster need not be a
    real one: a long cloud is cut in two at the same place every time.

    Parameters
    ----------
    selection : Selection
    X : array-like of shape (n_samples, n_features)
        The data that were given to `select_k`.
    k : int, optional
        The fit to look at, by default the chosen one.
    n_resamples : int
        How often rows are drawn, 5000 at most.
    random_state, n_jobs, progress
        See `fit_path`.

    Returns
    -------
    Soundness

    References
    ----------
    C. Hennig, Cluster-wise assessment of cluster stability, Computational Statistics & Data
    Analysis 52 (2007) 258-271.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.soundness import assess
    >>> X = load_iris().data
    >>> found = assess(select_k(X, 8, random_state=0), X, k=2, random_state=0)
    >>> found.table["stability"].round(1).tolist(), found.unsound
    ([1.0, 1.0], ())
    """
    k = selection.k if k is None else check_whole("k", k, 1)
    found = assess_several(
        selection, X, [k], n_resamples=n_resamples, random_state=random_state, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    return found[k]


def assess_several(
    selection: Selection,
    X: Any,
    ks: Iterable[int],
    *,
    n_resamples: int = 30,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> dict[int, Soundness]:
    """Do what `assess` does for several k, which share the resamples.

    A report does it for `worth_a_look`.
    """
    ks = sorted(set(ks))
    if ks[-1] > selection.k_max:
        raise ValueError(f"k={ks[-1]} is more than k_max={selection.k_max}. Give a smaller k.")
    check_whole("n_resamples", n_resamples, 1)
    path, seed = selection.path, seed_of(random_state)
    values = path.as_counted(check_shown(selection, X, None)[0])
    stability = {k: np.full(k, np.nan) for k in ks}
    if path.fits in FITS and ks[-1] > 1:
        several = [k for k in ks if k > 1]
        with Threads(effective_jobs(n_jobs)) as pool:
            stability |= _stabilities(values, path, several, n_resamples, seed, pool, progress)
    found = {}
    for k in ks:
        labels = path.as_counted(path.labels(k))
        nearest, apart = _separation(values, labels, path.centers(k))
        table = pd.DataFrame(
            {
                "rows": path.sizes(k),
                "stability": stability[k],
                "nearest": nearest,
                "apart": apart,
                "between": _between(selection, X, k),
            }
        ).rename_axis("cluster")
        found[k] = Soundness(k, table, n_resamples, _single(path, k))
    return found


def worth_a_look(selection: Selection) -> list[int]:
    """Return the k that are looked at closely: the chosen one, those as good, and runners-up."""
    ks = [selection.k, *selection.as_good, *(each.k for each in selection.candidates)]
    return list(dict.fromkeys(ks))[:_LOOKED_AT]


def _stabilities(
    values: Values,
    path: KMeansPath,
    ks: list[int],
    n_resamples: int,
    seed: int,
    pool: Threads,
    progress: bool,
) -> dict[int, Floats]:
    """Return the mean Jaccard coefficient of every cluster, for every k."""
    labels = {k: path.as_counted(path.labels(k)) for k in ks}

    def one(number: int) -> dict[int, Floats]:
        pool.check()
        rng = stream(seed, Purpose.STABILITY, number)
        drawn = np.sort(rng.integers(len(values), size=min(_MOST_ROWS, len(values))))
        part = read_rows(values[drawn])
        last = min(ks[-1], count_distinct(part.values, ks[-1] + 1) - 1)
        # A path of k_max = k - 1 ends with the fit of k clusters.
        again = fit_rows(part, max(1, last - 1), seed_of(rng), n_init=1)
        first = np.flatnonzero(np.diff(drawn, prepend=-1))
        return {
            k: jaccards(labels[k][drawn[first]], again.labels(k)[first], k)
            for k in ks
            if k <= again.k_max + 1
        }

    with progress_bar(progress, "drawing rows again", n_resamples) as bar:

        def tell(number: int, found: dict[int, Floats]) -> None:
            bar.update()

        drawn = pool.map(one, range(n_resamples), tell)
    means = {}
    for k in ks:
        rows = [found[k] for found in drawn if k in found]
        seen = np.array(rows) if rows else np.full((1, k), np.nan)
        counted = np.maximum((~np.isnan(seen)).sum(axis=0), 1)
        # A cluster of which no row was drawn says nothing in that resample.
        means[k] = np.where(np.isnan(seen).all(axis=0), np.nan, np.nansum(seen, axis=0) / counted)
    return means


def jaccards(labels: Labels, others: Labels, k: int) -> Floats:
    """Return for each of k clusters the highest Jaccard coefficient with one of the others.

    NaN where a cluster has no row among these.
    """
    width = int(others.max()) + 1
    pairs = np.bincount(labels.astype(np.int64) * width + others, minlength=k * width)
    both = pairs.reshape(k, width)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    best = (both / np.maximum(either, 1)).max(axis=1)
    return np.where(both.any(axis=1), best, np.nan)


def _separation(values: Values, labels: Labels, centers: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """Return for every cluster the one it is least apart from, and how far that is.

    The distance of two centres is counted in standard deviations of the rows of the two clusters
    along the line between the centres: the root of the mean of their two variances.
    """
    k = len(centers)
    if k == 1:
        return np.array([np.nan]), np.array([np.nan])
    spreads = np.empty((k, k))
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)
    for c in range(k):
        own = values[labels == c] - centers[c]
        lines = (centers - centers[c]) / np.where(gaps[c] > 0, gaps[c], 1.0)[:, None]
        spreads[c] = (own @ lines.T).var(axis=0)
    both = np.sqrt((spreads + spreads.T) / 2)
    with np.errstate(over="ignore"):  # two clusters of equal rows, as single ones are
        apart = gaps / np.where(both > 0, both, np.finfo(float).tiny)
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    return nearest, np.minimum(apart[np.arange(k), nearest], _FARTHEST)


def _single(path: KMeansPath, k: int) -> tuple[int, ...]:
    """Return the clusters of one row; one of a weight of 3 is three rows, of importances one."""
    rows, weights = path.sizes(k), None if path.spread is None else path.spread.weights
    if weights is not None and not np.array_equal(weights, np.rint(weights)):
        rows = np.bincount(path.labels(k)[weights > 0], minlength=k)
    return tuple(np.flatnonzero(rows == 1).tolist())


def _between(selection: Selection, X: Any, k: int) -> Any:
    """Count the rows of every cluster that sit between clusters."""
    if k != selection.k or np.isnan(selection.ambiguity).any():
        selection = selection.with_k(k, X)
    path = selection.path
    unsure = selection.ambiguity > AMBIGUOUS
    weights = None if path.spread is None else path.spread.weights
    if weights is None:
        return np.bincount(path.labels(k)[unsure], minlength=k)
    counts = np.bincount(path.labels(k)[unsure], weights=weights[unsure], minlength=k)
    return counts.astype(path.sizes(k).dtype)
