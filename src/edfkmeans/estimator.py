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

from edfkmeans._choices import Brought, Fits, Method, Metric
from edfkmeans.engines import header, map_rows
from edfkmeans.rows.assignments import nearest
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Values
from edfkmeans.rows.weights import Tally, Weighing, check_weights
from edfkmeans.selection import Selection, select_k


class EDFKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means that finds the number of clusters by itself.

    Parameters
    ----------
    k_max, method, rule
        How k is chosen, see `select_k`.
    fits, n_init, metric, n_jobs, engine
        How the fits are found, see `fit_path`.
    random_state : int, RandomState or None
        See `select_k`.

    Attributes
    ----------
    n_clusters_ : int
        The number of clusters that was chosen.
    labels_ : ndarray of shape (n_samples,), or what stands for one where rows are elsewhere
        Cluster of every row, 0 being the largest: a dask array where X was one, an `ArrowColumn`
        for a stream, a `SparkColumn` for a DataFrame of Spark.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Centroids; with the metric "cosine" means of rows of length one.
    inertia_ : float
        Sum of squared distances to the centroids.
    selection_ : Selection
        The evidence: how sure it is of every k, the runners-up, the fits.
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
        method: Method = "judge",
        rule: str | None = None,
        fits: Fits = "best",
        n_init: int | None = None,
        metric: Metric = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        engine: Brought | None = None,
    ) -> None:
        self.k_max = k_max
        self.method = method
        self.rule = rule
        self.fits = fits
        self.n_init = n_init
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # small ones
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the number of clusters and cluster X; y is ignored.

        `sample_weight` are the weights of the rows, see `fit_path`.
        """
        self._check(X, reset=True)
        self.selection_: Selection = select_k(
            X, sample_weight=sample_weight, **self.get_params(deep=False)
        )
        self.n_clusters_ = self.selection_.k
        self.labels_ = self.selection_.labels
        self.cluster_centers_ = self.selection_.centers
        self.inertia_ = self.selection_.inertia
        self._n_features_out = self.n_clusters_
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Choose the number of clusters, cluster X and return its labels; y is ignored."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Any:
        """Return the nearest centroid of every row of X; lazily where its rows are elsewhere."""
        check_is_fitted(self)
        self._check(X)
        return map_rows(X, _nearest, self.cluster_centers_, self.metric, dtype=np.int32)

    def transform(self, X: Any) -> Any:
        """Return the distance of every row of X to every centroid, a column for each."""
        check_is_fitted(self)
        self._check(X)
        centers = self.cluster_centers_
        return map_rows(
            X, _distances, centers, self.metric, dtype=np.float64, n_columns=len(centers)
        )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of squared distances of the rows of X to their nearest centroids.

        As scikit-learn's KMeans does, for cross-validation and grid searches; y is ignored. More
        clusters have a higher score, even on new rows. To choose k is what `fit` does. With
        `sample_weight` every square counts as often as its weight says.
        """
        check_is_fitted(self)
        self._check(X)
        squares = map_rows(X, _squares, self.cluster_centers_, self.metric, dtype=np.float64)
        if sample_weight is None:
            return -float(np.asarray(squares.sum() if hasattr(squares, "sum") else squares).sum())
        squares = np.asarray(squares)
        weights = check_weights(sample_weight, len(squares))
        Weighing.of(Tally.of(weights))  # refuses what `fit` refuses
        return -float(weights @ squares)

    def _check(self, X: Any, reset: bool = False) -> None:
        """Make sure that X is a matrix of numbers with the columns of `fit`."""
        validate_data(self, header(X), reset=reset, skip_check_array=True)


def _nearest(array: Values, centers: Floats, metric: Metric) -> Labels:
    return nearest(in_metric(array, metric), centers)


def _distances(array: Values, centers: Floats, metric: Metric) -> Floats:
    origin = centers.mean(axis=0)
    return np.asarray(pairwise_distances(in_metric(array, metric) - origin, centers - origin))


def _squares(array: Values, centers: Floats, metric: Metric) -> Floats:
    rows = in_metric(array, metric)
    away = rows - centers[nearest(rows, centers)]
    return np.asarray(np.einsum("ij,ij->i", away, away, dtype=np.float64))
