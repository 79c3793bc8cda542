"""Selection: the answer with its evidence, and `select_k`, the whole flow on one page."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from edfkmeans._choices import FITS, Brought, Fits, Method, Metric
from edfkmeans._streams import STEADY, seed_of
from edfkmeans.choosing.candidates import Candidate, candidates_of
from edfkmeans.choosing.judge import as_good
from edfkmeans.choosing.methods import criterion_of, table_of
from edfkmeans.choosing.resampling import chosen_again
from edfkmeans.criteria import Criterion, Given, Work
from edfkmeans.criteria.criterion import distance, judge
from edfkmeans.dof.terms import ambiguity_of
from edfkmeans.engines.threads import Threads, effective_jobs, one_thread_of_blas
from edfkmeans.fits.clusterer import asked_clusterer
from edfkmeans.fits.path import KMeansPath, check_path, open_for
from edfkmeans.fits.search import check_k_max, fit_rows, usual_k_max
from edfkmeans.kernels.ahead import call_help
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import column_names, count_distinct
from edfkmeans.rows.directions import check_metric
from edfkmeans.rows.findings import Finding, findings_of, numbered_row, remarks_of
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats
from edfkmeans.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Threads, at most, that look at a sample of rows on a device: what they do is short, and more of
# them get in each other's way.
_FEW_THREADS = 6
# A row that adds less than this to the degrees of freedom is not between clusters.
AMBIGUOUS = 0.1


@dataclass(frozen=True, repr=False, eq=False)
class Selection:
    """The number of clusters, the clustering, and the evidence for them.

    Attributes
    ----------
    k : int
        The number of clusters: the chosen one, or that of `with_k`.
    chosen : int
        The number of clusters that was chosen.
    table : DataFrame
        One row for each k: ``inertia``, ``dof_raw`` (degrees of freedom as estimated), ``dof``
        (smoothed) and ``bic``; with methods "judge" and "combined" also ``silhouette`` (mean over
        the rows), ``silhouette_reference`` (the same for samples without clusters) and
        ``silhouette_above`` (the former above the latter, as a part of the way to 1); with "judge"
        also ``bic_raw`` (the dof not smoothed), ``bic_paper`` (the paper's), ``saddle`` (how full
        the valleys between clusters are: 0 empty, 1 not there) and the columns of `confidence`.
    candidates : tuple of Candidate
        The other k worth a look, best first: with method "judge" by their expected agreement, with
        "combined" by its own measure, else the other local minima of the BIC, lowest first.
    path : KMeansPath
        All the fits, to look at another k. With method "judge" there are as many as usual, even
        where k_max is lower: what is said of a k does not depend on k_max.
    method : str
        How k was chosen.
    rule : str or None
        How it was read off the BIC, where that decides alone.
    structure : Structure or None
        The test for more than one cluster; only with method "combined".
    confidence : DataFrame or None
        For every k ``agreement``, the expected agreement (adjusted Rand index) with the groups
        there are, as a part of the best that any k of this path reaches, and ``near``, the
        probability that it is within 0.1 of that best; only with method "judge".
    resamples : Series or None
        Part of the resamples in which each k was chosen; only if asked for.
    ambiguity : ndarray of shape (n_samples,), or what stands for one where rows are elsewhere
        What each row adds to the degrees of freedom of the chosen fit because it might have joined
        another cluster: rows between clusters have most.
    reasons : mapping of int to str
        For every k what speaks for and against it, largest first: for the chosen one by itself, for
        others beside it.
    columns : tuple of str
        Names of the columns: those of a data frame, else "column 1", "column 2", ...
    findings : tuple of Finding
        What is odd about the columns; `remarks` says it in words.
    column_remarks : tuple of str
        These words: what it does to the answer, and what to do about it.
    row_name : callable
        What remarks call a row, given its number counted from 0.
    """

    k: int
    chosen: int
    table: pd.DataFrame
    candidates: tuple[Candidate, ...]
    path: KMeansPath
    method: str
    rule: str | None
    structure: Structure | None
    confidence: pd.DataFrame | None
    resamples: pd.Series | None
    ambiguity: Floats
    reasons: Mapping[int, str]
    columns: tuple[str, ...]
    findings: tuple[Finding, ...]
    column_remarks: tuple[str, ...]
    row_name: Callable[[int], str] = numbered_row

    @property
    def labels(self) -> Labels:
        """Cluster of every row, the largest being 0; not yet computed where rows are elsewhere."""
        return self.path.labels(self.k)

    @property
    def centers(self) -> Floats:
        """Centroids of the chosen fit, in the units of X."""
        return self.path.centers(self.k)

    @property
    def inertia(self) -> float:
        """Sum of squared distances of the chosen fit."""
        return float(self.path.inertia[self.k - 1])

    @property
    def k_max(self) -> int:
        """The largest k that was considered."""
        return len(self.table)

    @property
    def as_good(self) -> tuple[int, ...]:
        """The k that are as good as the chosen one, itself included, so far as can be told.

        With method "judge" those whose expected agreement is lower by 0.05 at most.
        """
        if self.confidence is None:
            return (self.chosen,)
        return as_good(self.confidence["agreement"], self.chosen)

    def with_k(self, k: int, X: Any = None) -> "Selection":
        """Return the same evidence with another number of clusters: one's own choice.

        Labels, centres, plots, the report and the dictionary are then those of that k; `chosen` is
        still what was chosen.

        Parameters
        ----------
        k : int
            From 1 to k_max.
        X : array-like of shape (n_samples, n_features), optional
            The data that were given to `select_k`. Without them it is not known which rows sit
            between these clusters, and `ambiguity` is NaN (not so where rows are in dask's chunks,
            which can be asked again).

        Returns
        -------
        Selection

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from edfkmeans import select_k
        >>> X = load_iris().data
        >>> found = select_k(X, 8, random_state=0).with_k(4, X)
        >>> found.k, found.path.sizes(4).tolist(), found.chosen
        (4, [50, 40, 32, 28], 5)
        """
        k = check_whole("k", k, 1)
        if k > self.k_max:
            raise ValueError(
                f"k={k} is more than k_max={self.k_max}, the largest that was considered. Choose "
                f"with k_max={k}, or give a smaller k."
            )
        if k in self.path.failed:
            raise ValueError(
                f"k={k} has no clustering: {self.path.fits} failed ({self.path.failed[k]}). Give "
                "another k."
            )
        path, bic = self.path, self.table["bic"].to_numpy()
        rows = path.kept_rows
        if X is not None:
            engine: Brought | None = "cuda" if path.place == "on a GPU" else None
            rows = open_for(path, X, 0, metric=path.metric, engine=engine)
            check_path(path, rows, None)
        if rows is not None:
            ambiguity = ambiguity_of(rows, path, k)
        elif k == self.k:
            ambiguity = self.ambiguity
        else:
            ambiguity = np.full(path.n_samples, np.nan)
        others = [each for each in self.candidates if each.k != k]
        if k != self.k:
            others.insert(0, self._as_candidate())
        return replace(
            self,
            k=k,
            ambiguity=ambiguity,
            candidates=tuple(replace(each, distance=distance(bic, each.k, k)) for each in others),
        )

    def _as_candidate(self) -> Candidate:
        """Describe this k as one that might be chosen instead of another one."""
        agreement, words = None, []
        if self.confidence is not None:
            agreement = float(self.confidence["agreement"][self.k])
            words.append(f"expected agreement {agreement:.2f}")
        words.append(self.reasons.get(self.k) or "chosen")
        if self.resamples is not None:
            share = float(self.resamples.get(self.k, 0.0))
            words.append(f"chosen in {100 * share:.0f} % of resamples")
        return Candidate(self.k, float(self.table["bic"][self.k]), 0.0, "; ".join(words), agreement)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the choice, how sure it is, and the BIC; see `edfkmeans.plots`."""
        from edfkmeans.plots import plot_bic, plot_choice

        return (plot_bic if self.confidence is None else plot_choice)(self, ax=ax)

    def sample(self) -> "tuple[Selection, pd.DataFrame]":
        """Return what can be shown of rows elsewhere: the sample of them, in memory.

        Returns
        -------
        Selection
            The same answer, with labels and ambiguity of the sample only, for plots and reports.
        DataFrame
            The rows of the sample; its index holds their numbers, counted from 0, or their ids.

        Examples
        --------
        >>> import dask.array as da
        >>> from sklearn.datasets import load_iris
        >>> from edfkmeans import select_k
        >>> found = select_k(da.from_array(load_iris().data, chunks=(40, 4)), 8, random_state=0)
        >>> shown, rows = found.sample()
        >>> shown.k == found.k, shown.labels.shape, rows.shape
        (True, (150,), (150, 4))
        """
        kept = self.path.kept_rows
        if kept is None:
            raise TypeError("This selection's rows are in memory: use it as it is.")
        rows = kept.shown()
        ambiguity = kept.part(self.ambiguity, rows)
        return replace(self, path=self.path.sample, ambiguity=ambiguity), rows

    def to_html(self, file: Any, X: Any = None, **details: Any) -> None:
        """Write a report, one HTML file; see `edfkmeans.report.write_report`."""
        from edfkmeans.report import write_report

        write_report(self, file, X, **details)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows as plain numbers, words and lists, ready for JSON.

        Examples
        --------
        >>> import json
        >>> from sklearn.datasets import load_iris
        >>> from edfkmeans import select_k
        >>> found = json.loads(json.dumps(select_k(load_iris().data, 8, random_state=0).to_dict()))
        >>> len(found["sizes"]) == found["k"], len(found["table"])
        (True, 8)
        """
        structure = self.structure
        return {
            "k": self.k,
            "chosen": self.chosen,
            "summary": self.summary,
            "sureness": self.sureness,
            "remarks": list(self.remarks),
            "advice": list(self.advice),
            "method": self.method,
            "rule": self.rule,
            "metric": self.path.metric,
            "n_samples": self.path.n_samples,
            "n_features": self.path.n_features,
            "sizes": self.path.sizes(self.k).tolist(),
            "centers": self.centers.tolist(),
            "as_good": list(self.as_good),
            "confidence": None
            if self.confidence is None
            else {
                str(k): {name: _plain(value) for name, value in row.items()}
                for k, row in self.confidence.iterrows()
            },
            "reason": self.reasons.get(self.k),
            "resamples": None
            if self.resamples is None
            else {str(k): float(share) for k, share in self.resamples.items()},
            "structure": None
            if structure is None
            else {"share": structure.share, "n_references": structure.n_references},
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "table": [
                {"k": cast("int", k)} | {str(name): _plain(value) for name, value in row.items()}
                for k, row in self.table.iterrows()
            ],
        }

    def standing(self, k: int) -> str:
        """Say what a k is among the others: "chosen", "asked for", "candidate", or nothing.

        Where another k was asked for, the one that was chosen is "the answer".
        """
        if k == self.k:
            return "chosen" if k == self.chosen else "asked for"
        if k == self.chosen:
            return "the answer"
        return "candidate" if any(k == each.k for each in self.candidates) else ""

    @property
    def headline(self) -> str:
        """The answer and how sure it is.

        Such as "3 clusters; 3 or 4 about as good; expected agreement 0.95".
        """
        from edfkmeans import _wording

        return _wording.headline(self)

    @property
    def summary(self) -> str:
        """The answer, how sure it is, why, and the runner-up, in one sentence or two."""
        from edfkmeans import _wording

        return _wording.summary(self)

    @property
    def sureness(self) -> str | None:
        """How likely it is, in words, that k comes within 0.1 of the best; None if not known.

        The words are those of the IPCC for probabilities: "very likely" is 0.9 or more, "likely"
        0.66 or more, "about as likely as not" 0.33 or more, "unlikely" 0.1 or more.
        """
        from edfkmeans import _wording

        return _wording.sureness(self)

    @property
    def advice(self) -> tuple[str, str, str]:
        """What to do next, in three sentences: about the k, the clusters, and the rows."""
        from edfkmeans import _wording

        return _wording.advice(self)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to be wary of in this answer, in words; empty when nothing stands out."""
        from edfkmeans import _wording

        return _wording.remarks(self)

    def __repr__(self) -> str:
        from edfkmeans import _wording

        return _wording.text(self)

    def _repr_html_(self) -> str:
        from edfkmeans import _wording

        return _wording.notebook(self)


def _plain(value: Any) -> float | None:
    """Return a float, or None where JSON has no number for it."""
    return float(value) if np.isfinite(value) else None


def select_k(
    X: Any,
    k_max: int | None = None,
    *,
    method: Method = "judge",
    rule: str | None = None,
    resample: bool = False,
    fits: Fits = "best",
    n_init: int | None = None,
    clusterer: Any = None,
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    engine: Brought | None = None,
    path: KMeansPath | None = None,
    progress: bool = False,
    sample_weight: Any = None,
) -> Selection:
    """Choose the number of clusters for k-means.

    Fits k-means for k = 1 .. k_max + 1, estimates the degrees of freedom of each fit with the
    last one as pilot, and weighs fit against freedom. By default a judge that has learned from
    simulated data weighs the evidence of many criteria, and says how sure it is of every k.

    Parameters
    ----------
    X : array-like, or rows elsewhere, of shape (n_samples, n_features)
        See `fit_path`. Of rows that are not in memory, what looks at pairs of rows (silhouettes,
        the test for structure, `resample`) sees a sample of 131072.
    k_max : int, optional
        The largest number of clusters to answer, see `fit_path`. With method "judge" it bounds the
        answer only: no fewer fits are made than by default, and what is said of a k stays.
    method : {"judge", "combined", "paper", "naive"}
        "judge": the k of the highest expected agreement with the groups there are, 1 included, or
        the smallest from 2 on of several that are within 0.02 of it, see
        `edfkmeans.choosing.judge`. "combined": 1 unless `find_structure` finds more than one
        cluster. Else the local minimum of the BIC whose silhouette stands out most from that of
        samples without clusters, see `edfkmeans.criteria.rules.combined`; degrees of freedom are
        counted along the exact path, and correlated residuals as fewer columns. "paper": Hofmeyr's
        effective degrees of freedom, smoothed, and the first local minimum. "naive": k d, the count
        that ignores the assignment of rows to clusters; for comparison.
    rule : {"paper", "r-package", "lowest"}, optional
        Only with methods "paper" and "naive".
        "paper", the default: the smallest k with 1 < k < k_max that is a local minimum of the BIC;
        if there is none, 1 or k_max, whichever has the lower BIC. "r-package": as the author's R
        package, which answers 1 whenever k = 1 has the lowest BIC of all. "lowest": the k of the
        lowest BIC. On data without any clusters the paper's rule mostly finds some valley; look at
        `Selection.remarks`.
    resample : bool
        Choose again on 20 random parts of the rows (63 % of them, at most 20000), and tell how
        often each k was chosen.
    fits, n_init, clusterer, metric, n_jobs, engine, progress
        See `fit_path`. What the judge knows it has learned from k-means; of other clusterers it has
        seen none.
    random_state : int, RandomState, Generator or None
        The fits that the judge looks at are the same for every seed: an answer should not move
        because other starts were drawn. ``path=fit_path(X, random_state=...)`` shows what it says
        of others. The seed decides which rows are drawn, by `resample` and where X is not in
        memory, and with other methods about the fits.
    path : KMeansPath, optional
        Fits of X made before, by `fit_path` or `KMeansPath.from_labels`. X is not fitted again
        then, `fits` and `n_init` play no part, k_max is the path's unless lower and the metric is
        the path's; `clusterer` must be left out.
    sample_weight : array-like of shape (n_samples,), optional
        See `fit_path`. With a path, its own weights by default.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import select_k
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> result = select_k(X, random_state=0)
    >>> result.k
    3
    >>> result.table.loc[1:3, ["inertia"]].round(1)
       inertia
    k
    1   2314.0
    2   1658.8
    3   1277.9
    """
    criterion = criterion_of(method, rule)
    if resample and (
        clusterer is not None or (isinstance(path, KMeansPath) and path.fits not in FITS)
    ):
        raise ValueError(
            "resample=True fits parts of the rows again by k-means, which says nothing of "
            "clusterings of one's own. Leave path or clusterer out, or resample."
        )
    metric = check_metric(metric, path)
    asked = asked_clusterer(clusterer, X, fits, n_init, metric, path)
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs, X)
    call_help()
    rows = open_for(path, X, seed, n_jobs, progress, metric, engine, sample_weight, asked)
    columns = column_names(X, len(rows.units.mean))
    # What is odd about columns is seen in the rows of X, and not in those they stand for.
    weighted = rows.spread is not None and rows.spread.weights is not None
    seen = rows.points[0] if weighted else rows.sample.values
    # While a device looks for the fits, the processor looks at what needs none.
    quick = rows.quick is not None
    calm = one_thread_of_blas() if quick else nullcontext()
    with calm, Threads(min(n_jobs, _FEW_THREADS) if quick else n_jobs) as pool:
        work, given = Work(seed, pool), Given()
        begun: list[Callable[[], Any]] = [partial(findings_of, seen, columns, for_all=pool.map)]
        if path is None:
            k_max = _checked_k_max(rows, k_max, criterion)
            beyond = criterion.looks_beyond
            longest = max(k_max, usual_k_max(rows)) if beyond else k_max
            begun.append(partial(given.ahead, criterion.needs(), rows, longest, work))
            begun = [pool.beside(each) for each in begun] if quick else begun[:1]
            path = fit_rows(
                rows, longest, STEADY if beyond else seed, fits=fits, n_init=n_init,
                clusterer=asked, metric=metric, n_jobs=n_jobs, progress=progress,
            )  # fmt: skip
        else:
            k_max = check_path(path, rows, k_max)
            path = path if criterion.looks_beyond else path.up_to(k_max)
        for wait in begun[1:]:
            wait()
        curve = judge(criterion.bounded(k_max), rows, path, work, progress, given)
        shares = None
        if resample:
            shares = chosen_again(rows.sample, path, criterion.bounded(k_max), seed, pool, progress)
        findings = begun[0]()
    table = table_of(path, curve)
    if weighted and rows.spread is not None:
        findings = tuple(each.of_rows(rows.spread.first) for each in findings)
    if metric == "cosine":  # what is done to single columns is not done to directions
        findings = tuple(
            each for each in findings if each.kind in ("number", "far", "copy", "near")
        )
    return Selection(
        k=curve.k,
        chosen=curve.k,
        table=table,
        candidates=candidates_of(curve, table["bic"].to_numpy(), shares),
        path=path,
        method=method,
        rule=getattr(criterion, "rule", None),
        structure=curve.structure,
        confidence=curve.confidence,
        resamples=shares,
        ambiguity=ambiguity_of(rows, path, curve.k),
        reasons=curve.reasons,
        columns=columns,
        findings=findings,
        column_remarks=remarks_of(findings, columns),
    )


def _checked_k_max(rows: Rows, k_max: int | None, criterion: Criterion) -> int:
    """Return the k_max to use, having made sure that its pilot leaves what must be left."""
    k_max = check_k_max(rows, k_max)
    residuals = any(need.needs_residuals for need in criterion.needs())
    if residuals and count_distinct(rows.sample.values, k_max + 2) < k_max + 2:
        raise ValueError(
            f"k_max={k_max} asks for a pilot of {k_max + 1} clusters, which fits the "
            f"{k_max + 1} distinct rows of {rows.looked_at} without any residual. Lower "
            "k_max."
        )
    return k_max
