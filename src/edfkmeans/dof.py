"""DegreesOfFreedom: how many parameters a clustering really spends, and who spends them."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans.backends.threads import Threads, effective_jobs, row_blocks
from edfkmeans.fit import Fit, fit_of_labels
from edfkmeans.kernels import envelope, jumps
from edfkmeans.path import KMeansPath
from edfkmeans.table import Floats, Table, check_one_of, encode_labels, read_table

Method = Literal["paper", "exact"]
METHODS: tuple[Method, ...] = ("paper", "exact")
_KERNELS = {"paper": jumps.paper_terms, "exact": envelope.exact_terms}


@dataclass(frozen=True, repr=False, eq=False)
class DegreesOfFreedom:
    """Effective degrees of freedom of one k-means fit.

    Attributes
    ----------
    naive : int
        k d: the coordinates of the centroids.
    per_point : ndarray of shape (n_samples,)
        What each row adds because it might have joined another cluster. Rows between clusters
        add most: they are the ones the answer hinges on.
    """

    naive: int
    per_point: Floats

    @property
    def excess(self) -> float:
        """What the freedom to assign rows to clusters adds: the sum of `per_point`."""
        return float(self.per_point.sum())

    @property
    def total(self) -> float:
        """``naive + excess``."""
        return self.naive + self.excess

    def __repr__(self) -> str:
        return (
            f"DegreesOfFreedom(total={self.total:.6g}, naive={self.naive}, "
            f"excess={self.excess:.6g})"
        )


def degrees_of_freedom(
    X: Any,
    labels: Any,
    pilot_labels: Any,
    *,
    method: Method = "paper",
    n_jobs: int | None = None,
) -> DegreesOfFreedom:
    """Estimate the effective degrees of freedom of a clustering.

    The estimate is made for k-means fits. For a clustering whose rows are nearer to other
    centroids than to their own it can fall below k d.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The clustering to be judged.
    pilot_labels : array-like of shape (n_samples,)
        A finer clustering, which stands in for the unknown means and variance. The paper takes
        the fit with k_max + 1 clusters. One as coarse as `labels` gives too low a count, one
        coarser a meaningless one.
    method : {"paper", "exact"}
        "paper": Hofmeyr's sum over all single-coordinate shifts that send a row to another
        cluster, as if there were no third one; by distance to centroids. "exact": only the
        switches that happen, where they happen: the row goes to the cluster in which the inertia
        is least, the other labels held fixed.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.

    Returns
    -------
    DegreesOfFreedom

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import degrees_of_freedom, fit_path
    >>> X = load_iris().data
    >>> path = fit_path(X, k_max=10, random_state=0)
    >>> dof = degrees_of_freedom(X, path.labels(3), path.labels(11))
    >>> dof.naive, dof.total > dof.naive, dof.per_point.shape
    (12, True, (150,))
    """
    check_one_of("method", method, METHODS)
    n_jobs = effective_jobs(n_jobs)
    table = read_table(X)
    fit, pilot = (
        fit_of_labels(table.values, encoded, int(encoded.max()) + 1)
        for encoded in (
            encode_labels(labels, table.n_samples, "labels"),
            encode_labels(pilot_labels, table.n_samples, "pilot_labels"),
        )
    )
    with Threads(n_jobs) as pool:
        per_point = point_terms(table, fit, pilot, method, pool)
    return DegreesOfFreedom(naive=len(fit.sizes) * table.n_features, per_point=per_point)


def pilot_sigma(table: Table, pilot: Fit) -> float:
    """Return the standard deviation of the pilot's residuals, over the columns that vary."""
    if pilot.inertia <= 0:
        raise ValueError(
            f"The pilot with {len(pilot.sizes)} clusters fits X without any residual, so there is "
            "no noise to measure the degrees of freedom with. Use a pilot with fewer clusters "
            "(a lower k_max), or data with more distinct rows."
        )
    return math.sqrt(pilot.inertia / (table.n_samples * table.n_features))


def point_terms(table: Table, fit: Fit, pilot: Fit, method: Method, pool: Threads) -> Floats:
    """Every row's part of the excess degrees of freedom."""
    sigma = pilot_sigma(table, pilot)
    k = len(fit.sizes)
    gaps = np.empty((k, k))
    jumps.center_gaps(fit.centers, gaps)
    terms = np.empty(table.n_samples)

    def block(rows: slice) -> None:
        _KERNELS[method](
            table.values[rows],
            fit.labels[rows],
            fit.centers,
            fit.sizes,
            gaps,
            pilot.labels[rows],
            pilot.centers,
            sigma,
            terms[rows],
        )

    pool.map(block, row_blocks(table.n_samples))
    return terms


def path_excess(
    table: Table, path: KMeansPath, k_max: int, method: Method, pool: Threads
) -> Floats:
    """Excess degrees of freedom for k = 1 .. k_max; one cluster has none."""
    pilot = fit_of_labels(table.values, path.labels(k_max + 1), k_max + 1)

    def excess(k: int) -> float:
        fit = fit_of_labels(table.values, path.labels(k), k)
        return float(point_terms(table, fit, pilot, method, Threads(1)).sum())

    # Large k first: the longest tasks must not be the last ones.
    return np.array([*pool.map(excess, range(k_max, 1, -1)), 0.0][::-1])
