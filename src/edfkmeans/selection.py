"""Selection: the answer with its evidence, and `select_k`, the whole flow on one page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd

from edfkmeans import choice
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.criteria import Criterion, Given, Work
from edfkmeans.criteria.combined import SILHOUETTE_ROWS, Combined, StructureTest
from edfkmeans.criteria.information import Dof, Information
from edfkmeans.criteria.separation import MeanSilhouettes, ReferenceSilhouettes
from edfkmeans.fit import Labels
from edfkmeans.path import FITS, Fits, KMeansPath, check_k_max, check_path, fit_table, read_data
from edfkmeans.seeding import entropy
from edfkmeans.smoothing import smooth
from edfkmeans.structure import Structure
from edfkmeans.table import (
    Floats,
    Table,
    check_one_of,
    count_distinct,
    read_table,
)
from edfkmeans.terms import ambiguity_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["combined", "paper", "naive"]
METHODS: tuple[Method, ...] = ("combined", "paper", "naive")

# How sure: so many resamples, each of this part of the rows (as many as a bootstrap has distinct).
_RESAMPLES = 20
_PART = 0.632
_KEY = 11


@dataclass(frozen=True)
class Candidate:
    """Another k worth a look, which was not chosen.

    Attributes
    ----------
    k : int
    bic : float
    distance : float
        Its BIC less that of the chosen k; negative where it is lower.
    reason : str
        What speaks for and against it, in words.
    """

    k: int
    bic: float
    distance: float
    reason: str


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

    @property
    def summary(self) -> str:
        """The answer, how sure it is, and the runner-up, in one sentence."""
        text = f"k = {self.k}"
        if self.confidence is not None:
            share = float(self.confidence.get(self.k, 0.0))
            text += f", chosen in {100 * share:.0f} % of {_RESAMPLES} resamples"
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
                    "Data without clusters often look like these "
                    f"(p = {self.structure.p_value:.2f}): there may be only one cluster."
                )
        elif self.k != 1 and best == 1:
            remarks.append(
                "k = 1 has the lowest BIC of all: there may be no clusters "
                "(rule='r-package' would answer 1)."
            )
        elif self.k not in (best, self.k_max):
            remarks.append(f"k = {best} has a lower BIC; the rule takes the first local minimum.")
        if self.k == self.k_max > 1:
            remarks.append(f"k_max = {self.k_max} was reached: try a larger k_max.")
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
            lines.append(f"chosen in {_RESAMPLES} resamples: {shares}")
        for candidate in self.candidates[:3]:
            lines.append(f"k = {candidate.k}: {candidate.reason}")
        more = len(self.candidates) - 3
        if more > 0:
            lines.append(f"and {more} other candidate" + "s" * (more > 1))
        if not self.candidates:
            lines.append("no other candidate")
        return "\n  ".join([*lines, *self.remarks])


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
        The largest number of clusters to consider. By default 30, or fewer where X has fewer than
        62 distinct rows; a k_max that X cannot support is an error.
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
        Choose again on 20 random parts of the rows, and tell how often each k was chosen.
    fits : {"best", "paper"}
        How the fits are found, see `fit_path`.
    n_init : int, optional
        Number of starts for each k, see `fit_path`.
    random_state : int, RandomState, Generator or None
        Same seed, same answer, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.
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
    table, random_state = read_data(X, random_state, path, progress)
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
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
    else:
        k_max = check_path(path, table, k_max)
        path = path.up_to(k_max)
    seed = entropy(random_state)
    with Threads(n_jobs) as pool:
        judged = _judge(table, path, method, rule, seed, pool)
        shares = _shares(table.sample, path, method, rule, seed, pool) if confidence else None
        ambiguity = ambiguity_of(table, path, judged.k, pool)
    return Selection(
        k=judged.k,
        table=judged.table,
        candidates=_candidates(judged, shares),
        path=path,
        method=method,
        rule=rule,
        structure=judged.structure,
        confidence=shares,
        ambiguity=ambiguity,
    )


@dataclass(frozen=True)
class _Judged:
    """What was made of the fits: k, the others worth a look, and the table behind them."""

    k: int
    others: list[int]
    table: pd.DataFrame
    structure: Structure | None


def _judge(
    table: Table, path: KMeansPath, method: Method, rule: Any, seed: int, pool: Threads
) -> _Judged:
    """Ask the criterion of a method, and put down what it looked at."""
    criterion: Criterion = Combined()
    if method != "combined":
        criterion = Information(count=method, rule=rule)
    given = Given()
    work = Work(seed, pool)
    for need in criterion.needs():
        given.provide(need, table, path, work)
    curve = criterion.curve(table, path, given)
    ks = np.arange(1, path.k_max + 1)
    dof_raw: Floats = (ks * table.n_features).astype(np.float64)
    if method != "naive":
        dof_raw = given[Dof("exact" if method == "combined" else "paper")]
    frame = pd.DataFrame(
        {
            "inertia": path.inertia[:-1],
            "dof_raw": dof_raw,
            "dof": dof_raw if method == "naive" else smooth(dof_raw),
            "bic": curve.values,
        },
        index=pd.Index(ks, name="k"),
    )
    structure = None
    if method == "combined" and path.k_max > 1:
        frame["silhouette"] = given[MeanSilhouettes(SILHOUETTE_ROWS)][0]
        frame["silhouette_reference"] = given[ReferenceSilhouettes()]
        frame["silhouette_above"] = choice.above(
            frame["silhouette"].to_numpy(), frame["silhouette_reference"].to_numpy()
        )
        structure = given[StructureTest()]
    return _Judged(curve.k, list(curve.candidates), frame, structure)


def _shares(
    table: Table, path: KMeansPath, method: Method, rule: Any, seed: int, pool: Threads
) -> pd.Series:
    """Choose again on parts of the rows: how often each k is chosen."""
    k_max, fits = path.k_max, cast("Fits", path.fits)

    def one(number: int) -> int:
        pool.check()
        key = np.random.SeedSequence(seed, spawn_key=(_KEY, number))
        rng = np.random.default_rng(key)
        size = max(4, round(_PART * table.n_samples))
        rows = np.sort(rng.choice(table.n_samples, min(size, table.n_samples), replace=False))
        part = read_table(table.values[rows])
        most = min(k_max, count_distinct(part.values, k_max + 2) - 2)
        if most < 1:
            return 1
        part_path = fit_table(
            part, most, fits=fits, n_init=1, random_state=rng, n_jobs=1, progress=False
        )
        return _judge(part, part_path, method, rule, entropy(rng), Threads(1)).k

    chosen = pool.map(one, range(_RESAMPLES))
    counts = pd.Series(chosen).value_counts().sort_index()
    return pd.Series(counts / _RESAMPLES, name="share").rename_axis("k")


def _candidates(judged: _Judged, shares: pd.Series | None) -> tuple[Candidate, ...]:
    """Say of every other k what speaks for and against it; those chosen in resamples first."""
    table = judged.table
    others = judged.others
    if shares is not None:
        often = shares.drop(judged.k, errors="ignore").sort_values(ascending=False, kind="stable")
        chosen = [int(k) for k in often.index]
        others = chosen + [k for k in others if k not in chosen]
    found = []
    for k in others:
        distance = float(table["bic"][k] - table["bic"][judged.k])
        reasons = [f"{'lower' if distance < 0 else 'higher'} BIC ({distance:+.1f})"]
        if "silhouette_above" in table and k > 1:
            other = table["silhouette_above"][k]
            text = f"silhouette {other:.2f} above the reference"
            if judged.k > 1:
                mine = table["silhouette_above"][judged.k]
                text = f"{'higher' if other > mine else 'lower'} {text}, not {mine:.2f}"
            reasons.append(text)
        if shares is not None:
            reasons.append(f"chosen in {100 * float(shares.get(k, 0.0)):.0f} % of resamples")
        found.append(Candidate(k, float(table["bic"][k]), distance, ", ".join(reasons)))
    return tuple(found)
