"""EDFKMeans: the scikit-learn face of `select_k`."""

from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from edfkmeans.fit import Labels
from edfkmeans.fitting import Fits
from edfkmeans.kernels import lloyd
from edfkmeans.selection import Selection, select_k
from edfkmeans.table import Floats, Values, check_numeric, is_dask
from edfkmeans.verdict import Method


class EDFKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means that finds the number of clusters by itself.

    Parameters
    ----------
    k_max : int, optional
        The largest number of clusters to consider. By default 30, or fewer where X has fewer than
        150 distinct rows, see `select_k`.
    method : {"combined", "paper", "naive"}
        How k is chosen, see `select_k`.
    rule : {"paper", "r-package", "lowest"}, optional
        How k is read off the BIC curve with methods "paper" and "naive", see `select_k`.
    fits : {"best", "paper"}
        How the fits are found, see `fit_path`.
    n_init : int, optional
        Number of starts for each k, see `fit_path`.
    random_state : int, RandomState instance or None
        Same seed, same answer, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.

    Attributes
    ----------
    n_clusters_ : int
        The number of clusters that was chosen.
    labels_ : ndarray of shape (n_samples,), or dask array where X was one
        Cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Centroids.
    inertia_ : float
        Sum of squared distances to the centroids.
    selection_ : Selection
        The evidence: the BIC curve, the runners-up, the fits for every k.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import EDFKMeans
    >>> model = make_pipeline(StandardScaler(), EDFKMeans(random_state=0)).fit(load_wine().data)
    >>> model[-1].n_clusters_
    3
    >>> model.predict(load_wine().data[:5]).shape
    (5,)
    """

    def __init__(
        self,
        k_max: int | None = None,
        *,
        method: Method = "combined",
        rule: str | None = None,
        fits: Fits = "best",
        n_init: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.k_max = k_max
        self.method = method
        self.rule = rule
        self.fits = fits
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the number of clusters and cluster X.

        Parameters
        ----------
        X : array-like, dask array or dask data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self.selection_: Selection = select_k(
            self._checked(X, reset=True),
            self.k_max,
            method=self.method,
            rule=self.rule,
            fits=self.fits,
            n_init=self.n_init,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.n_clusters_ = self.selection_.k
        self.labels_ = self.selection_.labels
        self.cluster_centers_ = self.selection_.centers
        self.inertia_ = self.selection_.inertia
        self._n_features_out = self.n_clusters_
        return self

    def predict(self, X: Any) -> Any:
        """Return the nearest centroid of every row.

        Parameters
        ----------
        X : array-like, dask array or dask data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or dask array where X is one
        """
        check_is_fitted(self)
        array = self._checked(X)
        if is_dask(array):
            from edfkmeans.backends.dask import apply

            return apply(array, _nearest, self.cluster_centers_, dtype=np.int32)
        return _nearest(array, self.cluster_centers_)

    def transform(self, X: Any) -> Any:
        """Return the distance of every row to every centroid.

        Parameters
        ----------
        X : array-like, dask array or dask data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters_), or dask array where X is one
        """
        check_is_fitted(self)
        array = self._checked(X)
        if is_dask(array):
            from edfkmeans.backends.dask import apply

            centers = self.cluster_centers_
            return apply(array, _distances, centers, dtype=np.float64, n_columns=len(centers))
        return _distances(array, self.cluster_centers_)

    def _checked(self, X: Any, reset: bool = False) -> Any:
        """Return X as a matrix of numbers, in memory or in chunks, with the columns of `fit`."""
        if is_dask(X):
            from edfkmeans.backends.dask import header, matrix

            array = matrix(X)
            validate_data(self, header(X), reset=reset, skip_check_array=True)
            return X if reset else array
        array = check_numeric(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return array


def _nearest(array: Values, centers: Floats) -> Labels:
    labels: Labels = np.empty(array.shape[0], np.int32)
    origin = centers.mean(axis=0)
    lloyd.assign(array - origin, centers - origin, labels)
    return labels


def _distances(array: Values, centers: Floats) -> Floats:
    origin = centers.mean(axis=0)
    return np.asarray(pairwise_distances(array - origin, centers - origin))
