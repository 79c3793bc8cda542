"""DegreesOfFreedom: how many parameters a clustering really spends, and who spends them."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.backends.threads import Threads, effective_jobs, row_blocks
from edfkmeans.fit import Fit, fit_of_labels
from edfkmeans.fitting import fit_table
from edfkmeans.path import ChunkedPath, KMeansPath
from edfkmeans.table import Floats, Table, check_one_of, encode_labels, is_dask, read_table
from edfkmeans.terms import chunked_terms, pilot_sigma, point_terms

Method = Literal["paper", "exact", "bootstrap"]
METHODS: tuple[Method, ...] = ("paper", "exact", "bootstrap")
# Bootstrap: draws at a time, and at most.
_BATCH, _MOST = 8, 256


@dataclass(frozen=True, repr=False, eq=False)
class DegreesOfFreedom:
    """Effective degrees of freedom of one k-means fit.

    Attributes
    ----------
    naive : int
        k d: the coordinates of the centroids.
    per_point : ndarray of shape (n_samples,), or dask array where X is one
        What each row adds because it might have joined another cluster. Rows between clusters
        add most: they are the ones the answer hinges on.
    error : float or None
        Standard error of `total`; only with method "bootstrap".
    """

    naive: int
    per_point: Floats
    error: float | None = None
    _excess: float | None = None

    @property
    def excess(self) -> float:
        """What the freedom to assign rows to clusters adds: the sum of `per_point`."""
        return float(self.per_point.sum()) if self._excess is None else self._excess

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
    method: Method = "paper",
    precision: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DegreesOfFreedom:
    """Estimate the effective degrees of freedom of a clustering.

    The estimate is made for k-means fits. For a clustering whose rows are nearer to other
    centroids than to their own it can fall below k d.

    Parameters
    ----------
    X : array-like, dask array or dask data frame of shape (n_samples, n_features)
    labels : array-like or dask array of shape (n_samples,)
        The clustering to be judged.
    pilot_labels : array-like or dask array of shape (n_samples,)
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
    random_state : int, RandomState, Generator or None
        Only with "bootstrap".
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.

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
    if method != "bootstrap" and (precision is not None or random_state is not None):
        raise ValueError(f"precision and random_state are for method='bootstrap', not {method!r}.")
    if precision is not None and not 0 < precision < 1:
        raise ValueError(f"precision={precision!r} must be between 0 and 1.")
    n_jobs = effective_jobs(n_jobs)
    if is_dask(X):
        if method == "bootstrap":
            raise ValueError(
                "method='bootstrap' fits all rows again and again, which must be in memory for "
                "that, and X is a dask collection. Use method='exact', or a sample of the rows."
            )
        return DegreesOfFreedom(*chunked_terms(X, labels, pilot_labels, method))
    table = read_table(X)
    fit, pilot = (
        fit_of_labels(table.values, encoded, int(encoded.max()) + 1)
        for encoded in (
            encode_labels(labels, table.n_samples, "labels"),
            encode_labels(pilot_labels, table.n_samples, "pilot_labels"),
        )
    )
    naive = len(fit.sizes) * table.n_features
    with Threads(n_jobs) as pool:
        if method != "bootstrap":
            return DegreesOfFreedom(naive, point_terms(table, fit, pilot, method, pool))
        seed = seed_of(random_state)
        sigma = corrected_sigma(table, pilot, seed, pool)
        draws: list[Floats] = []
        total, error = 1.0, np.inf
        while error > (0.02 if precision is None else precision) * total and len(draws) < _MOST:
            numbers = range(len(draws), len(draws) + _BATCH)
            draws += [
                rows[0]
                for rows in pool.map(
                    lambda b: bootstrap_draw(table, [fit], pilot, sigma, seed, b), numbers
                )
            ]
            totals = np.sum(draws, axis=1)
            total, error = totals.mean(), totals.std(ddof=1) / np.sqrt(len(draws))
    smooth_part = table.n_features / fit.sizes[fit.labels]
    return DegreesOfFreedom(naive, np.mean(draws, axis=0) - smooth_part, float(error))


def bootstrap_draw(
    table: Table,
    fits: list[Fit],
    pilot: Fit,
    sigma: float,
    seed: int,
    number: int,
) -> list[Floats]:
    """Draw data from the pilot, fit them again and take every row's product of noise and fit.

    The fits for the number of clusters of each of `fits` are compared with that one, not with
    their own mean: any fixed fit does, as the noise has mean 0, and a near one leaves little noise.
    """
    rng = stream(seed, Purpose.BOOTSTRAP, number)
    noise = rng.normal(size=table.values.shape) * table.varying
    drawn = pilot.centers[pilot.labels] + sigma * noise
    ks = [len(fit.sizes) for fit in fits]
    path = fit_table(
        read_table(drawn),
        max(2, *ks) - 1,
        fits="best",
        n_init=1,
        seed=seed_of(rng),
        n_jobs=1,
        progress=False,
    )
    return [
        ((path.centers(k)[path.labels(k)] - fit.centers[fit.labels]) * noise).sum(axis=1) / sigma
        for k, fit in zip(ks, fits, strict=True)
    ]


def corrected_sigma(table: Table, pilot: Fit, seed: int, pool: Threads) -> float:
    """Return the standard deviation of the noise: the pilot's, corrected for what the pilot spends.

    A pilot with many clusters has fitted some of the noise. How much is measured by a few draws.
    """
    sigma = pilot_sigma(table, pilot)
    draws = pool.map(
        lambda b: float(bootstrap_draw(table, [pilot], pilot, sigma, seed, b)[0].sum()),
        range(_MOST, _MOST + _BATCH),
    )
    residuals = table.n_samples * table.n_features
    spent = min(max(float(np.mean(draws)), 0.0), 0.9 * residuals)
    return sigma / math.sqrt(1 - spent / residuals)


def effective_columns(table: Table, path: KMeansPath) -> float:
    """Count the columns that the pilot's residuals are worth: between 1 and their number.

    Correlated residuals carry less than one piece of evidence each. The eigenvalues w of their
    covariance are worth ``(sum w)^2 / sum w^2`` columns if only their spread counts; the geometric
    mean of that and the number of columns is what served best.
    """
    if isinstance(path, ChunkedPath):
        scatter = path.residual_products
    else:
        labels = path.labels(path.k_max + 1)
        pilot = fit_of_labels(table.values, labels, path.k_max + 1)
        scatter = np.zeros((table.values.shape[1],) * 2)
        for rows in row_blocks(table.n_samples):
            residual = table.values[rows] - pilot.centers[labels[rows]]
            scatter += residual.T @ residual
    total = np.trace(scatter)
    # Divided first: squares of small residuals leave the range of a float.
    spread = 1 / ((scatter / total) ** 2).sum() if total > 0 else 1.0
    return float(np.sqrt(table.n_features * spread))
