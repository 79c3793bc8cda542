"""KMeansPath: the best fit found for every k."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from edfkmeans import _html
from edfkmeans._choices import FITS, METRICS, Brought, Metric
from edfkmeans.engines import memory, open_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import fit_from_centers
from edfkmeans.fits.fit import Fit, counted, fit_of_labels, order_by_size, renumbered
from edfkmeans.rows.arguments import check_one_of, check_whole
from edfkmeans.rows.assignments import Known, nearest
from edfkmeans.rows.checks import check_numeric
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import Labels, Sizes, SmallLabels, size_text
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats, Units, Values
from edfkmeans.rows.weights import Spread

# Sizes of clusters that a notebook shows for each k.
_SHOWN_SIZES = 8


@dataclass(frozen=True, repr=False, eq=False)
class KMeansPath:
    """The k-means fits of one data set for k = 1 .. k_max + 1.

    The last fit is the pilot: it gives the mean and the variance that the degrees of freedom of
    all the others are measured with. Clusters are numbered by size: 0 is the largest.

    Attributes
    ----------
    inertia : ndarray of shape (k_max + 1,)
        Sum of squared distances to the centroids; entry k - 1 belongs to k.
    n_samples, n_features : int
        Rows, as many as their weights add up to, and columns that vary.
    fits : str
        How the fits were found: "best", "paper", "given" for `from_labels`, or the name of the
        estimator that made them.
    metric : str
        "cosine" where rows were scaled to length one first, else "euclidean".
    failed : mapping of int to str
        The k for which that estimator failed, and why. What the path holds for them is the
        clustering of one less with a cluster cut in two, so that curves have no holes; it is never
        chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import fit_path
    >>> path = fit_path(load_iris().data, k_max=5, random_state=0)
    >>> path
    KMeansPath(k=1..5 and a pilot of 6, n=150, d=4, fits='best')
    >>> path.inertia[:4].round(2)
    array([681.37, 152.35,  78.85,  57.23])
    >>> path.sizes(3).tolist()
    [62, 50, 38]
    """

    inertia: Floats
    n_samples: int
    n_features: int
    fits: str
    place: str
    """Where the rows are: in memory or elsewhere."""
    _fits: tuple[Fit, ...]
    _units: Units
    kept_rows: Rows | None = None
    """Rows that have to be asked for labels; None where the fits hold them."""
    _sample: "KMeansPath | None" = None
    """The same fits of the rows of the sample; None where that is all rows."""
    spread: Spread | None = None
    """How rows that stand for several go back to those of X; None where each stands for itself."""
    _absent: tuple[SmallLabels, ...] = ()
    """Labels of the rows of weight 0 for every k, where there are such rows."""
    products: Floats | None = None
    """Sums of the products of columns over all rows, where a pass has made them by the way."""
    failed: Mapping[int, str] = field(default_factory=dict)
    metric: Metric = "euclidean"

    @property
    def k_max(self) -> int:
        """The largest k that can be chosen; the path holds one fit more, the pilot."""
        return len(self.inertia) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows of X, of which each may stand for several."""
        if self.kept_rows is not None:
            return self.kept_rows.n_rows
        return self.n_samples if self.spread is None else len(self.spread.back)

    def as_counted(self, column: Any) -> Any:
        """Return rows of X, or a column of them, each as often as its weight says."""
        if self.spread is None or self.spread.weights is None:
            return column
        return column[self.spread.numbers]

    @property
    def sample(self) -> "KMeansPath":
        """The path of the rows to look at one by one: those that are in memory."""
        return self if self._sample is None else self._sample

    def fit(self, k: int) -> Fit:
        """Return the fit with k clusters, in the units of the rows."""
        return self._fits[self._index(k)]

    @property
    def pilot(self) -> Fit:
        """The last fit, in the units of the rows."""
        return self._fits[-1]

    def labels(self, k: int) -> Labels:
        """Cluster of every row, 0 .. k-1, the largest being 0; lazy where rows are."""
        assignment = self.fit(k).assignment
        if isinstance(assignment, Known):
            labels: Labels = assignment.labels.astype(np.int32)
            if self.spread is None:
                return labels
            absent = self._absent[k - 1] if self._absent else 0
            over_rows: Labels = self.spread.over_rows(labels, absent)
            return over_rows
        assert self.kept_rows is not None
        held: Labels = self.kept_rows.per_row(assignment.on, np.int32)
        return held

    def centers(self, k: int) -> Floats:
        """Centroids of the fit with k clusters, in the units of X."""
        return self._units.to_original(self.fit(k).centers)

    def up_to(self, k_max: int) -> "KMeansPath":
        """Return the first part of the path, with the fit of k_max + 1 clusters as pilot."""
        last = self._index(k_max + 1) + 1
        return replace(
            self,
            inertia=self.inertia[:last],
            _fits=self._fits[:last],
            _sample=self._sample and self._sample.up_to(k_max),
            failed={k: why for k, why in self.failed.items() if k <= k_max + 1},
        )

    def sizes(self, k: int) -> Sizes:
        """Count the rows in each cluster of the fit with k clusters, or add up their weights."""
        return self.fit(k).sizes.copy()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done that is not the usual way, in words."""
        notes = []
        if self.metric == "cosine":
            notes.append("Rows scaled to length one: only directions count (metric cosine).")
        if self.fits not in (*FITS, "given"):
            notes.append(f"Clusterings by {self.fits} in place of k-means.")
        return tuple(notes)

    def _index(self, k: int) -> int:
        k = check_whole("k", k, 1)
        if k > self.k_max + 1:
            raise ValueError(
                f"k={k} is not on this path, which has k = 1 .. {self.k_max + 1}. "
                "Fit a path with a larger k_max."
            )
        return k - 1

    def __repr__(self) -> str:
        return (
            f"KMeansPath(k=1..{self.k_max} and a pilot of {self.k_max + 1}, "
            f"n={self.n_samples}, d={self.n_features}, fits={self.fits!r}"
            + (f", metric={self.metric!r})" if self.metric != "euclidean" else ")")
        )

    def _repr_html_(self) -> str:
        """Show in a notebook the inertia and the sizes for every k."""
        rows = []
        for k in range(1, self.k_max + 2):
            sizes = self.sizes(k)
            shown = ", ".join(map(size_text, sizes[:_SHOWN_SIZES]))
            more = f" and {k - _SHOWN_SIZES} more" if k > _SHOWN_SIZES else ""
            rows.append((str(k), f"{self.inertia[k - 1]:.6g}", shown + more))
        title = _html.paragraph(f"{self!r}", strong=True)
        fits = _html.table(("k", "inertia", "rows in each cluster"), rows)
        return f"<div>{title}{_html.folded('The fits', fits)}</div>"

    @classmethod
    def from_labels(
        cls,
        X: Any,
        labels: Mapping[int, Any],
        *,
        metric: Metric = "euclidean",
        sample_weight: Any = None,
    ) -> "KMeansPath":
        """Make a path from clusterings of one's own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        labels : mapping from k to the labels of the rows
            Every k from 2 to k_max + 1; k = 1 may be left out. Labels may be any values; the path
            numbers the clusters by size, as every path does.
        metric : {"euclidean", "cosine"}
            See `fit_path`.
        sample_weight : array-like of shape (n_samples,), optional
            See `fit_path`.

        Returns
        -------
        KMeansPath

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.cluster import AgglomerativeClustering
        >>> from edfkmeans import KMeansPath, select_k
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(m, 1, size=(30, 2)) for m in (0, 9, 18)])
        >>> path = KMeansPath.from_labels(
        ...     X, {k: AgglomerativeClustering(k).fit_predict(X) for k in range(2, 9)})
        >>> select_k(X, path=path).k
        3
        """
        check_one_of("metric", metric, METRICS)
        rows = memory.open_rows(in_metric(check_numeric(X), metric), 0, 1, False, sample_weight)
        if rows.n_features == 0:
            raise ValueError("X has 1 distinct row: there is nothing to cluster.")
        if not isinstance(labels, Mapping):
            raise TypeError(
                f"labels is a {type(labels).__name__}, but must map each k to the labels of its "
                "clustering: {2: labels2, 3: labels3, ...}."
            )
        last = max((check_whole("k in labels", k, 1) for k in labels), default=0)
        missing = [k for k in range(2, last + 1) if k not in labels]
        if last < 2 or missing:
            raise ValueError(
                f"labels holds k = {sorted(labels)}, but a path needs every k from 2 to k_max + 1. "
                + (f"Add k = {missing}." if missing else "")
            )
        values, weights = rows.points
        fits = []
        for k in range(1, last + 1):
            name, given = f"labels[{k}]", labels.get(k, np.zeros(rows.n_rows))
            ((assignment, found),) = rows.labelled(**{name: given})[1]
            assert isinstance(assignment, Known)
            if found != k:
                raise ValueError(
                    f"{name} has {found} distinct labels instead of {k}. "
                    "Give each clustering under its own number of clusters."
                )
            fits.append(fit_of_labels(values, assignment.labels, k, weights))
        return held_path(rows, fits, "given", metric=metric)


def check_path(path: KMeansPath, rows: Rows, k_max: int | None) -> int:
    """Return the k_max to judge, having made sure that the path belongs to X."""
    if not isinstance(path, KMeansPath):
        raise TypeError(
            f"path is a {type(path).__name__}, not a KMeansPath. "
            "Make one with fit_path or KMeansPath.from_labels."
        )
    if path.place != rows.place:
        raise TypeError(
            f"path was fitted to rows {path.place}, but X is {rows.place}. Give the X of the path, "
            "or fit a path to X."
        )
    if (path.n_samples, path.n_features) != (rows.n_samples, rows.n_features):
        raise ValueError(
            f"path was fitted to {_count(path)} and {path.n_features} varying columns, X has "
            f"{_count(rows)} and {rows.n_features}. Give the X of the path, and its weights if any."
        )
    _check_sums(path, rows)
    if k_max is None:
        return path.k_max
    k_max = check_whole("k_max", k_max, 1)
    if k_max > path.k_max:
        raise ValueError(
            f"k_max={k_max} is more than path.k_max={path.k_max}. Lower k_max or fit a longer path."
        )
    return k_max


def _count(held: KMeansPath | Rows) -> str:
    """Say how many rows there are, and as how many they count where they have weights."""
    weighted = "" if held.n_rows == held.n_samples else f" that count as {held.n_samples}"
    return f"{held.n_rows} rows{weighted}"


def _check_sums(path: KMeansPath, rows: Rows) -> None:
    """Make sure that the rows in memory are the path's, and in its order."""
    if rows.spread is None:
        path, rows = path.sample, rows.sample
    values, weights = rows.points
    last = path.k_max + 1
    rounding = single_precision(path.centers(last))
    slack = float(np.sqrt(path.n_samples) * np.linalg.norm(rounding))
    spread = float(rows.units.squared(rows.inertia))
    if not same_sum(spread, path.inertia[0], 1e-6, slack):
        raise ValueError(
            f"path was fitted to data with a sum of squares of {path.inertia[0]:.6g}, X has "
            f"{spread:.6g}. Give the X of the path."
        )
    again = fit_of_labels(values, path.pilot.labels.astype(np.int32), last, weights)
    pilot = float(rows.units.squared(again.inertia))
    if not same_sum(pilot, path.inertia[-1], 1e-6, slack + 1e-6 * np.sqrt(spread)):
        raise ValueError(
            f"path's labels for {last} clusters have an inertia of {pilot:.6g} in X, not "
            f"{path.inertia[-1]:.6g}: the rows of X are others, or in another order. Give the X of "
            "the path."
        )
    # Rows that are moved, or with columns in another order, have the same sums.
    away = np.abs(rows.units.to_original(again.centers) - path.centers(last)).max(axis=0)
    if (away > 1e-3 * np.sqrt(spread / len(values)) + rounding).any():
        raise ValueError(
            "path was fitted to other rows than those of X: their means in each cluster differ by "
            f"up to {away.max():.6g}. Give the X of the path, its columns in their order."
        )


def single_precision(centers: Floats) -> Floats:
    """Return how much the values of a column may change where X comes in single precision."""
    return np.asarray(4 * np.finfo(np.float32).eps * np.abs(centers).max(axis=0))


def same_sum(found: float, expected: float, part: float, slack: float) -> bool:
    """Whether sums of squares are the same, up to a part of them and what rounding may move.

    Their roots are lengths, which differ by no more than the length of what was added.
    """
    length = float(np.sqrt(expected))
    return bool(abs(np.sqrt(found) - length) <= part * length + slack)


def open_for(
    path: Any,
    X: Any,
    seed: int,
    n_jobs: int = 1,
    progress: bool = False,
    metric: Metric = "euclidean",
    engine: Brought | None = None,
    sample_weight: Any = None,
    clusterer: Any = None,
) -> Rows:
    """Open X as it was opened for a path, if there is one: the same sample, and its weights."""
    spread = None
    if clusterer is not None and sample_weight is not None:
        raise ValueError(
            "clusterer and sample_weight: estimators are fitted to the rows as they are, without "
            "weights. Leave one of them out, or repeat the rows."
        )
    if isinstance(path, KMeansPath):
        seed = seed if path.kept_rows is None else path.kept_rows.seed
        spread = path.spread
        if sample_weight is None:
            sample_weight = spread.weights if spread else getattr(path.kept_rows, "weights", None)
            shape: Any = getattr(X, "shape", None)
            known = sample_weight is not None and isinstance(shape, tuple) and len(shape) == 2
            if known and isinstance(shape[0], int) and shape[0] != path.n_rows:
                raise ValueError(
                    f"path was fitted to {_count(path)}, X has {shape[0]}. Give the X of the path."
                )
    # Estimators of others know no weights: they see every row.
    together = clusterer is None and (
        path is None or (spread is not None and spread.weights is None)
    )
    return open_rows(X, seed, n_jobs, progress, metric, engine, sample_weight, together)


def held_path(
    rows: Rows,
    fits: Sequence[Fit],
    kind: str,
    failed: Mapping[int, str] | None = None,
    metric: Metric = "euclidean",
) -> KMeansPath:
    """Make a path of fits that hold the labels of rows in memory; clusters get their numbers."""
    found = [counted(renumbered(fit, order_by_size(fit)), rows) for fit in fits]
    if rows.spread is None:
        return path_of(rows, found, kind, failed=failed, metric=metric)
    copies = [fit_of_copies(rows, fit) for fit in found]
    seen = path_of(rows.sample, copies, kind, failed=failed, metric=metric)
    return path_of(rows, found, kind, seen, failed=failed, metric=metric)


def fit_of_copies(rows: Rows, fit: Fit) -> Fit:
    """Return a fit of rows that stand for several as one of their copies."""
    assert rows.spread is not None
    copies, values = rows.spread.copies, rows.points[0]
    labels = fit.labels[copies]
    if len(copies) == rows.n_samples and rows.whole:  # all copies are there
        return Fit(Known(labels), fit.centers, fit.sizes, fit.inertia)
    counts = np.bincount(copies, minlength=len(values)).astype(np.float64)
    if np.bincount(fit.labels, counts, fit.k).min() > 0:
        found = fit_of_labels(values, fit.labels, fit.k, counts)
        return replace(found, assignment=Known(labels), sizes=found.sizes.astype(np.int64))
    # Of a light cluster there may be no copy. A centre without rows takes some on the way down.
    return fit_from_centers(rows.sample.values, fit.centers, Threads(1))


def path_of(
    rows: Rows,
    fits: Sequence[Fit],
    kind: str,
    sample: KMeansPath | None = None,
    products: Floats | None = None,
    failed: Mapping[int, str] | None = None,
    metric: Metric = "euclidean",
) -> KMeansPath:
    """Make a path of fits in the units of the rows."""
    absent = rows.absent
    return KMeansPath(
        inertia=_original_inertia(rows.units, fits),
        n_samples=rows.n_samples,
        n_features=rows.n_features,
        fits=kind,
        place=rows.place,
        _fits=tuple(map(_small, fits)),
        _units=rows.units,
        kept_rows=rows.kept(),
        _sample=sample,
        spread=rows.spread,
        _absent=() if absent is None else tuple(_nearest(absent, fit) for fit in fits),
        products=products,
        failed=failed or {},
        metric=metric,
    )


def _nearest(values: Values, fit: Fit) -> SmallLabels:
    """Give rows that the fit was not made from to their nearest centres."""
    return nearest(values, fit.centers).astype(np.min_scalar_type(fit.k - 1))


def _small(fit: Fit) -> Fit:
    """Keep labels in the fewest bytes that hold them."""
    if not isinstance(fit.assignment, Known):
        return fit
    labels = fit.assignment.labels.astype(np.min_scalar_type(fit.k - 1), copy=False)
    return replace(fit, assignment=Known(labels))


def _original_inertia(units: Units, fits: Sequence[Fit]) -> Floats:
    """Return the inertia of fits in the units of X, if a float can hold it."""
    inertia = np.array([fit.inertia for fit in fits])
    original: Floats = units.squared(inertia)
    if ((original < 1e-300) & (inertia > 0)).any() or not np.isfinite(original).all():
        raise ValueError(
            f"X spreads over about {units.scale:.0e}, whose square is out of a float's range. "
            f"Divide X by {units.scale:.0e} first: it changes no cluster."
        )
    return original
