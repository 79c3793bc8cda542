"""Selection: the answer with its evidence, and `select_k`, the whole flow on one page."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from edfkmeans import choice
from edfkmeans._streams import seed_of
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.candidates import Candidate, candidates_of
from edfkmeans.confidence import N_RESAMPLES, resample
from edfkmeans.fit import Labels
from edfkmeans.fitting import FITS, Fits, check_k_max, fit_table, read_data
from edfkmeans.path import ChunkedPath, KMeansPath, check_path
from edfkmeans.structure import Structure
from edfkmeans.table import Floats, check_one_of, count_distinct
from edfkmeans.terms import ambiguity_of
from edfkmeans.verdict import METHODS, Method, judge

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A row that adds less than this to the degrees of freedom is not between clusters.
AMBIGUOUS = 0.1


@dataclass(frozen=True, repr=False, eq=False)
class Selection:
    """The number of clusters, the clustering, and the evidence for them.

    Attributes
    ----------
    k : int
        The number of clusters.
    table : DataFrame
        One row for each k: ``inertia``, ``dof_raw`` (degrees of freedom as estimated), ``dof``
        (smoothed) and ``bic``; with method "combined" also ``silhouette`` (mean over the rows),
        ``silhouette_reference`` (the same for samples without clusters) and ``silhouette_above``
        (the former above the latter, as a part of the way to 1), which decides.
    candidates : tuple of Candidate
        The other k worth a look, best first: with method "combined" by its own measure, else the
        other local minima of the BIC, lowest first.
    path : KMeansPath
        All the fits, to look at another k.
    method : str
        How k was chosen.
    rule : str or None
        How it was read off the BIC, where that decides alone.
    structure : Structure or None
        The test for more than one cluster; only with method "combined".
    confidence : Series or None
        Part of the resamples in which each k was chosen; only if asked for.
    ambiguity : ndarray of shape (n_samples,), or dask array where X is one
        What each row adds to the degrees of freedom of the chosen fit because it might have joined
        another cluster: rows between clusters have most.
    """

    k: int
    table: pd.DataFrame
    candidates: tuple[Candidate, ...]
    path: KMeansPath
    method: str
    rule: str | None
    structure: Structure | None
    confidence: pd.Series | None
    ambiguity: Floats

    @property
    def labels(self) -> Labels:
        """Cluster of every row, 0 .. k-1; a dask array where X is one."""
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

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the BIC curve with the choice and the runners-up; see `edfkmeans.plots`."""
        from edfkmeans.plots import plot_bic

        return plot_bic(self, ax=ax)

    def sample(self) -> "tuple[Selection, pd.DataFrame]":
        """Return what can be shown of rows in dask's chunks: the sample of them, in memory.

        Returns
        -------
        Selection
            The same answer, with labels and ambiguity of the sample only, for plots and reports.
        DataFrame
            The rows of the sample; its index holds their numbers, counted from 0.

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
        if not isinstance(self.path, ChunkedPath):
            raise TypeError("This selection's rows are in memory: use it as it is.")
        rows, chunks = self.path.rows, self.path.chunks
        shown = replace(self, path=self.path.sample, ambiguity=np.asarray(self.ambiguity[rows]))
        values = np.asarray(chunks.array[rows])
        return shown, pd.DataFrame(values, index=rows, columns=list(chunks.columns))

    def to_html(self, file: Any, X: Any = None, **details: Any) -> None:
        """Write a report, one HTML file that needs no network; see `edfkmeans.report`.

        Parameters
        ----------
        file : str or Path
        X : array-like of shape (n_samples, n_features), optional
            The data, to show the rows too; a data frame's column names are used.
        **details
            See `edfkmeans.report.write_report`.
        """
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
            "summary": self.summary,
            "remarks": list(self.remarks),
            "method": self.method,
            "rule": self.rule,
            "n_samples": self.path.n_samples,
            "n_features": self.path.n_features,
            "sizes": self.path.sizes(self.k).tolist(),
            "centers": self.centers.tolist(),
            "confidence": None
            if self.confidence is None
            else {str(k): float(share) for k, share in self.confidence.items()},
            "structure": None
            if structure is None
            else {"p_value": structure.p_value, "n_references": structure.n_references},
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "table": [
                {"k": cast("int", k)} | {str(name): _plain(value) for name, value in row.items()}
                for k, row in self.table.iterrows()
            ],
        }

    @property
    def summary(self) -> str:
        """The answer, how sure it is, and the runner-up, in one sentence."""
        text = f"k = {self.k}"
        if self.confidence is not None:
            share = float(self.confidence.get(self.k, 0.0))
            text += f", chosen in {100 * share:.0f} % of {N_RESAMPLES} resamples"
        if self.candidates:
            runner_up = self.candidates[0]
            text += f"; k = {runner_up.k} is the runner-up: {runner_up.reason}"
        return text + "."

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to be wary of in this answer, in words; empty when nothing stands out."""
        remarks = []
        best = self.table["bic"].idxmin()
        if self.structure is not None:
            if self.k == 1 < self.k_max:
                remarks.append(
                    "No clusters stand out: data without any look like these, or more clustered, "
                    f"with p = {self.structure.p_value:.2f}."
                )
        elif self.k != 1 and best == 1:
            remarks.append(
                "k = 1 has the lowest BIC of all: there may be no clusters "
                "(rule='r-package' would answer 1)."
            )
        elif self.k not in (best, self.k_max):
            remarks.append(f"k = {best} has a lower BIC; the rule takes the first local minimum.")
        if self.k == self.k_max > 1:
            larger = self.path.n_samples >= 2 * self.k_max + 4
            remarks.append(
                f"k_max = {self.k_max} was reached"
                + (
                    ": try a larger k_max."
                    if larger
                    else ", which is about all that so few rows allow."
                )
            )
        if self.confidence is not None:
            often = cast("int", self.confidence.idxmax())
            share = float(self.confidence[often])
            if share > float(self.confidence.get(self.k, 0.0)):
                remarks.append(
                    f"On parts of the rows k = {often} is chosen more often "
                    f"({100 * share:.0f} %): do not lean on k = {self.k}."
                )
        return tuple(remarks)

    def __repr__(self) -> str:
        how = f"method={self.method!r}" + (f", rule={self.rule!r}" if self.rule else "")
        lines = [
            f"Selection: k = {self.k} of 1..{self.k_max} "
            f"(n={self.path.n_samples}, d={self.path.n_features}, {how})"
        ]
        if self.confidence is not None:
            shares = ", ".join(
                f"k = {k}: {100 * share:.0f} %"
                for k, share in self.confidence.sort_values(ascending=False).head(4).items()
            )
            lines.append(f"chosen in {N_RESAMPLES} resamples: {shares}")
        for candidate in self.candidates[:3]:
            lines.append(f"k = {candidate.k}: {candidate.reason}")
        more = len(self.candidates) - 3
        if more > 0:
            lines.append(f"and {more} other candidate" + "s" * (more > 1))
        if not self.candidates:
            lines.append("no other candidate")
        return "\n  ".join([*lines, *self.remarks])


def _plain(value: Any) -> float | None:
    """Return a float, or None where JSON has no number for it."""
    return float(value) if np.isfinite(value) else None


def select_k(
    X: Any,
    k_max: int | None = None,
    *,
    method: Method = "combined",
    rule: str | None = None,
    confidence: bool = False,
    fits: Fits = "best",
    n_init: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    path: KMeansPath | None = None,
    progress: bool = False,
) -> Selection:
    """Choose the number of clusters for k-means.

    Fits k-means for k = 1 .. k_max + 1, estimates the degrees of freedom of each fit with the
    last one as pilot, and weighs fit against freedom. By default it also asks whether there is more
    than one cluster at all, and lets the silhouette decide between the local minima of the BIC.

    Parameters
    ----------
    X : array-like, dask array or dask data frame of shape (n_samples, n_features)
        Numbers without missing values. Columns count by their scale: standardise them first
        unless they share a unit. Constant columns are not counted. Rows in dask's chunks need not
        fit in memory; fits and degrees of freedom are those of all rows, what looks at pairs of
        rows (silhouettes, the test for structure, `confidence`) sees a sample of 131072.
    k_max : int, optional
        The largest number of clusters to consider. By default 30, or a fifth of the distinct
        rows of X where that is less (but 5 if X supports it): the pilot must leave enough rows to
        a cluster to tell the noise. A k_max that X cannot support is an error.
    method : {"combined", "paper", "naive"}
        "combined": 1 unless `find_structure` finds more than one cluster. Else the local minimum
        of the BIC whose silhouette stands out most from that of samples without clusters, see
        `edfkmeans.choice.combined`; degrees of freedom are counted along the exact path, and
        correlated residuals as fewer columns. "paper": Hofmeyr's effective degrees of freedom,
        smoothed, and the first local minimum. "naive": k d, the count that ignores the assignment
        of rows to clusters; for comparison.
    rule : {"paper", "r-package", "lowest"}, optional
        Only with methods "paper" and "naive".
        "paper", the default: the smallest k with 1 < k < k_max that is a local minimum of the BIC;
        if there is none, 1 or k_max, whichever has the lower BIC. "r-package": as the author's R
        package, which answers 1 whenever k = 1 has the lowest BIC of all. "lowest": the k of the
        lowest BIC. On data without any clusters the paper's rule mostly finds some valley; look at
        `Selection.remarks`.
    confidence : bool
        Choose again on 20 random parts of the rows (63 % of them, at most 20000), and tell how
        often each k was chosen.
    fits : {"best", "paper"}
        How the fits are found, see `fit_path`.
    n_init : int, optional
        Number of starts for each k, see `fit_path`.
    random_state : int, RandomState, Generator or None
        Same seed, same answer, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.
    path : KMeansPath, optional
        Fits of X made before, by `fit_path` or `KMeansPath.from_labels`. X is not fitted again
        then, `fits` and `n_init` play no part, and k_max is the path's unless lower.
    progress : bool
        Show a progress bar.

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
    check_one_of("method", method, METHODS)
    if method != "combined":
        rule = "paper" if rule is None else rule
        check_one_of("rule", rule, choice.RULES)
    elif rule is not None:
        raise ValueError(
            f"rule={rule!r} is for methods 'paper' and 'naive'; method='combined' has its own. "
            "Leave rule out, or set method='paper'."
        )
    if confidence and isinstance(path, KMeansPath) and path.fits not in FITS:
        raise ValueError(
            "confidence=True fits parts of the rows again, which cannot be done for clusterings of "
            "one's own. Leave path out."
        )
    n_jobs = effective_jobs(n_jobs)
    seed = seed_of(random_state)
    table = read_data(X, seed, path, progress)
    if path is None:
        k_max = check_k_max(table, k_max)
        if method != "naive" and count_distinct(table.values, k_max + 2) < k_max + 2:
            raise ValueError(
                f"k_max={k_max} asks for a pilot of {k_max + 1} clusters, which fits the "
                f"{k_max + 1} distinct rows of {table.rows_looked_at} without any residual. Lower "
                "k_max."
            )
        path = fit_table(
            table,
            k_max,
            fits=fits,
            n_init=n_init,
            seed=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
    else:
        k_max = check_path(path, table, k_max)
        path = path.up_to(k_max)
    with Threads(n_jobs) as pool:
        judged = judge(table, path, method, rule, seed, pool, progress)
        shares = None
        if confidence:
            # Of rows in chunks, parts of the sample.
            shares = resample(table.sample, path, method, rule, seed, pool, progress)
        ambiguity = ambiguity_of(table, path, judged.k, pool)
    return Selection(
        k=judged.k,
        table=judged.table,
        candidates=candidates_of(judged, shares),
        path=path,
        method=method,
        rule=rule,
        structure=judged.structure,
        confidence=shares,
        ambiguity=ambiguity,
    )
