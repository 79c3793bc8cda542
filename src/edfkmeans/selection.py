"""Selection: the answer with its evidence, and `select_k`, the whole flow on one page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from edfkmeans import choice
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.criteria.information import bic
from edfkmeans.dof import path_excess
from edfkmeans.fit import Labels
from edfkmeans.path import Fits, KMeansPath, check_k_max, check_path, fit_table
from edfkmeans.smoothing import smooth
from edfkmeans.table import (
    Floats,
    check_one_of,
    count_distinct,
    read_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["paper", "naive"]
METHODS: tuple[Method, ...] = ("paper", "naive")


@dataclass(frozen=True)
class Candidate:
    """Another k worth a look: a local minimum of the curve that was not chosen.

    Attributes
    ----------
    k : int
    bic : float
    distance : float
        Its BIC less that of the chosen k; negative where it is lower.
    """

    k: int
    bic: float
    distance: float


@dataclass(frozen=True, repr=False, eq=False)
class Selection:
    """The number of clusters, the clustering, and the evidence for them.

    Attributes
    ----------
    k : int
        The number of clusters.
    table : DataFrame
        One row for each k: ``inertia``, ``dof_raw`` (degrees of freedom as estimated), ``dof``
        (smoothed) and ``bic``.
    candidates : tuple of Candidate
        The other local minima of the BIC, lowest first.
    path : KMeansPath
        All the fits, to look at another k.
    method, rule : str
        How the curve was made and read.
    """

    k: int
    table: pd.DataFrame
    candidates: tuple[Candidate, ...]
    path: KMeansPath
    method: str
    rule: str

    @property
    def labels(self) -> Labels:
        """Cluster of every row, 0 .. k-1."""
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
    def remarks(self) -> tuple[str, ...]:
        """What to be wary of in this answer, in words; empty when nothing stands out."""
        remarks = []
        best = self.table["bic"].idxmin()
        if self.k != 1 and best == 1:
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
        lines = [
            f"Selection: k = {self.k} of 1..{self.k_max} "
            f"(n={self.path.n_samples}, d={self.path.n_features}, method={self.method!r}, "
            f"rule={self.rule!r})"
        ]
        others = ", ".join(f"k = {c.k} (BIC {c.distance:+.1f})" for c in self.candidates[:4])
        more = len(self.candidates) - 4
        if others:
            lines.append(
                f"other local minima: {others}" + (f" and {more} more" if more > 0 else "")
            )
        else:
            lines.append("no other local minimum")
        return "\n  ".join([*lines, *self.remarks])


def select_k(
    X: Any,
    k_max: int | None = None,
    *,
    method: Method = "paper",
    rule: str | None = None,
    fits: Fits = "best",
    n_init: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    path: KMeansPath | None = None,
    progress: bool = False,
) -> Selection:
    """Choose the number of clusters for k-means.

    Fits k-means for k = 1 .. k_max + 1, estimates the degrees of freedom of each fit with the
    last one as pilot, and reads k off the BIC curve.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers without missing values. Columns count by their scale: standardise them first
        unless they share a unit. Constant columns are not counted.
    k_max : int, optional
        The largest number of clusters to consider. By default 30, or fewer where X has fewer than
        62 distinct rows; a k_max that X cannot support is an error.
    method : {"paper", "naive"}
        "paper": Hofmeyr's effective degrees of freedom, smoothed. "naive": k d, the count that
        ignores the assignment of rows to clusters; for comparison.
    rule : {"paper", "r-package", "lowest"}, optional
        "paper", the default: the smallest k with 1 < k < k_max that is a local minimum of the BIC;
        if there is none, 1 or k_max, whichever has the lower BIC. "r-package": as the author's R
        package, which answers 1 whenever k = 1 has the lowest BIC of all. "lowest": the k of the
        lowest BIC. On data without any clusters the paper's rule mostly finds some valley; look at
        `Selection.remarks`.
    fits : {"best", "paper"}
        How the fits are found, see `fit_path`.
    n_init : int, optional
        Number of starts for each k, see `fit_path`.
    random_state : int, RandomState, Generator or None
        Same seed, same answer, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.
    path : KMeansPath, optional
        Fits of X made before, by `fit_path` or `KMeansPath.from_labels`. Nothing is fitted then:
        `fits`, `n_init` and `random_state` play no part, and k_max is the path's unless lower.
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
    rule = "paper" if rule is None else rule
    check_one_of("rule", rule, choice.RULES)
    table = read_table(X)
    if path is None:
        k_max = check_k_max(table, k_max)
        if method != "naive" and count_distinct(table.values, k_max + 2) < k_max + 2:
            raise ValueError(
                f"k_max={k_max} asks for a pilot of {k_max + 1} clusters, which fits the "
                f"{k_max + 1} distinct rows of X without any residual. Lower k_max."
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
    ks = np.arange(1, k_max + 1)
    naive: Floats = (ks * table.n_features).astype(np.float64)
    if method == "naive":
        dof_raw = dof = naive
    else:
        with Threads(effective_jobs(n_jobs)) as pool:
            dof_raw = naive + path_excess(table, path, k_max, method, pool)
        dof = smooth(dof_raw)
    inertia = path.inertia[:k_max]
    curve = bic(inertia, dof, table.n_samples, table.n_features)
    k = choice.RULES[rule](curve)
    others = [
        Candidate(other, float(curve[other - 1]), float(curve[other - 1] - curve[k - 1]))
        for other in choice.local_minima(curve)
        if other != k
    ]
    return Selection(
        k=k,
        table=pd.DataFrame(
            {"inertia": inertia, "dof_raw": dof_raw, "dof": dof, "bic": curve},
            index=pd.Index(ks, name="k"),
        ),
        candidates=tuple(sorted(others, key=lambda candidate: candidate.bic)),
        path=path,
        method=method,
        rule=rule,
    )
