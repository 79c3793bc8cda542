"""DegreesOfFreedom of one clustering, and `degrees_of_freedom`, which estimates them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._choices import COUNTS, METRICS, Brought, Count, Metric
from edfkmeans._streams import seed_of
from edfkmeans.dof.bootstrap import bootstrap_terms
from edfkmeans.dof.terms import terms_of
from edfkmeans.engines import in_memory, open_rows
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.passes import fits_of_labels
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.units import Floats


@dataclass(frozen=True, repr=False, eq=False)
class DegreesOfFreedom:
    """Effective degrees of freedom of one k-means fit.

    Attributes
    ----------
    naive : int
        k d: the coordinates of the centroids.
    per_point : ndarray of shape (n_samples,), or what stands for one where rows are elsewhere
        What each row adds because it might have joined another cluster. Rows between clusters
        add most: they are the ones the answer hinges on.
    excess : float
        What the freedom to assign rows to clusters adds: the sum of `per_point`, each times its
        weight where rows have weights.
    error : float or None
        Standard error of `total`; only with method "bootstrap".
    """

    naive: int
    per_point: Floats
    excess: float
    error: float | None = None

    @property
    def total(self) -> float:
        """``naive + excess``."""
        return self.naive + self.excess

    def __repr__(self) -> str:
        return (
            f"DegreesOfFreedom(total={self.total:.6g}, naive={self.naive}, "
            f"excess={self.excess:.6g}"
            + (")" if self.error is None else f", error={self.error:.3g})")
        )


def degrees_of_freedom(
    X: Any,
    labels: Any,
    pilot_labels: Any,
    *,
    method: Count = "paper",
    precision: float | None = None,
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    engine: Brought | None = None,
    sample_weight: Any = None,
) -> DegreesOfFreedom:
    """Estimate the effective degrees of freedom of a clustering.

    The estimate is made for k-means fits. For a clustering whose rows are nearer to other
    centroids than to their own it can fall below k d.

    Parameters
    ----------
    X : array-like, or rows elsewhere, of shape (n_samples, n_features)
        See `fit_path`.
    labels : array-like of shape (n_samples,), or a dask array where X is one
        The clustering to be judged.
    pilot_labels : array-like of shape (n_samples,), or a dask array where X is one
        A finer clustering, which stands in for the unknown means and variance. The paper takes
        the fit with k_max + 1 clusters. One as coarse as `labels` gives too low a count, one
        coarser a meaningless one.
    method : {"paper", "exact"}
        "paper": Hofmeyr's sum over all single-coordinate shifts that send a row to another
        cluster, as if there were no third one; by distance to centroids. "exact": only the
        switches that happen, where they happen: the row goes to the cluster in which the inertia
        is least, the other labels held fixed. "bootstrap": data are drawn with the pilot's means
        and a variance corrected for what the pilot spends, and clustered again for as many clusters
        as `labels` has; the covariance of data and fits counts every freedom, for the price of many
        paths. The nearer the pilot is to the truth the better: give the clustering you believe in.
    precision : float, optional
        Only with "bootstrap": draw until the standard error is at most this part of the total, by
        default 0.02, or 256 times.
    metric, random_state, n_jobs, engine
        See `fit_path`; `random_state` only with "bootstrap", `engine` not with it.
    sample_weight : array-like of shape (n_samples,), optional
        See `fit_path`. `per_point` is what one of the rows that a row stands for adds. "bootstrap"
        needs counts of no more than 131072 rows in all: each has noise of its own.

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
    check_one_of("method", method, COUNTS)
    check_one_of("metric", metric, METRICS)
    if method != "bootstrap" and (precision is not None or random_state is not None):
        raise ValueError(f"precision and random_state are for method='bootstrap', not {method!r}.")
    if precision is not None and not 0 < precision < 1:
        raise ValueError(f"precision={precision!r} must be between 0 and 1.")
    n_jobs = effective_jobs(n_jobs)
    if method == "bootstrap" and (engine is not None or not in_memory(X)):
        raise ValueError(
            "method='bootstrap' fits all rows again and again, which must be in memory for "
            "that, and X is elsewhere. Use method='exact', or a sample of the rows."
        )
    rows, (fit, pilot) = fits_of_labels(
        open_rows(
            X, seed=0, n_jobs=n_jobs, metric=metric, engine=engine, sample_weight=sample_weight
        ),
        labels=labels,
        pilot_labels=pilot_labels,
    )
    naive = fit.k * rows.n_features
    error = None
    if method == "bootstrap":
        with Threads(n_jobs) as pool:
            per_point, error = bootstrap_terms(
                rows, fit, pilot, seed_of(random_state), precision or 0.02, pool
            )
    else:
        per_point = rows.per_row(terms_of(rows, fit, pilot, method), np.float64)
    return DegreesOfFreedom(naive, per_point, rows.total(per_point, "degrees of freedom"), error)
