"""Selection: the answer with its evidence, and `select_k`, the whole flow on one page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from edfkmeans import choice
from edfkmeans.backends import threads
from edfkmeans.criteria.information import bic
from edfkmeans.dof import paper_terms
from edfkmeans.path import Fit, Fits, KMeansPath, Labels, fit_of_labels, fit_path
from edfkmeans.smoothing import smooth
from edfkmeans.table import Floats, Table, check_whole, read_table

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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        first = (
            f"Selection: k = {self.k} of 1..{self.k_max} "
            f"(n={self.path.n_samples}, d={self.path.n_features}, method={self.method!r}, "
            f"rule={self.rule!r})"
        )
        others = ", ".join(f"k = {c.k} (BIC {c.distance:+.1f})" for c in self.candidates[:4])
        more = len(self.candidates) - 4
        second = f"also local minima: {others}" + (f" and {more} more" if more > 0 else "")
        return first + "\n  " + (second if others else "no other local minimum")


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
    rule : {"paper", "r-package"}, optional
        "paper", the default: the smallest k with 1 < k < k_max that is a local minimum of the BIC;
        if there is none, 1 or k_max, whichever has the lower BIC. "r-package": as the author's R
        package, which answers 1 whenever k = 1 has the lowest BIC of all.
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
    >>> result.table.loc[1:3, ["inertia", "dof_raw"]].round(0)
       inertia  dof_raw
    k
    1   2314.0     13.0
    2   1659.0     76.0
    3   1278.0     92.0
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {list(METHODS)}.")
    rule = "paper" if rule is None else rule
    if rule not in choice.RULES:
        raise ValueError(f"rule={rule!r} must be one of {list(choice.RULES)}.")
    if path is None:
        path = fit_path(
            X,
            k_max,
            fits=fits,
            n_init=n_init,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
    table = read_table(X)
    k_max = _check_path(path, table, k_max)
    ks = np.arange(1, k_max + 1)
    naive: Floats = (ks * table.n_features).astype(np.float64)
    if method == "naive":
        dof_raw = dof = naive
    else:
        dof_raw = naive + _excess(table, path, k_max, threads.effective_jobs(n_jobs))
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


def _check_path(path: KMeansPath, table: Table, k_max: int | None) -> int:
    """Return the k_max to judge, having made sure that the path belongs to X."""
    if (path.n_samples, path.n_features) != (table.n_samples, table.n_features):
        raise ValueError(
            f"path was fitted to {path.n_samples} rows and {path.n_features} varying columns, "
            f"X has {table.n_samples} and {table.n_features}. Give the X of the path."
        )
    if k_max is None:
        return path.k_max
    k_max = check_whole("k_max", k_max, 1)
    if k_max > path.k_max:
        raise ValueError(
            f"k_max={k_max} is more than path.k_max={path.k_max}. Lower k_max or fit a longer path."
        )
    return k_max


def _excess(table: Table, path: KMeansPath, k_max: int, n_jobs: int) -> Floats:
    """Excess degrees of freedom for k = 1 .. k_max; one cluster has none."""

    def fit(k: int) -> Fit:
        return fit_of_labels(table.values, path.labels(k), k)

    pilot = fit(k_max + 1)
    excess = np.zeros(k_max)
    for k in range(2, k_max + 1):
        excess[k - 1] = paper_terms(table, fit(k), pilot, n_jobs).sum()
    return excess
