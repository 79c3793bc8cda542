"""`score`: what the criteria say about one clustering, wherever it came from."""

from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._choices import METRICS, Metric
from edfkmeans._streams import seed_of
from edfkmeans.criteria import Labelling, Work, registered
from edfkmeans.engines import memory
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.passes import fits_of_labels
from edfkmeans.fits.search import DEFAULT_K_MAX, fit_rows
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.checks import check_distinct, check_numeric
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import check_length, without_noise
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.weights import check_weights


def score(
    X: Any,
    labels: Any,
    *,
    pilot_labels: Any = None,
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
) -> pd.DataFrame:
    """Judge one clustering by every criterion that makes sense for one.

    Gap, jump, fK and the others that compare different k are for `compare`. The effective
    degrees of freedom of ``bic`` and ``aic`` are not smoothed here, as they are along a path in
    `compare`, and are made for k-means: for labels whose rows are nearer to other centroids than to
    their own there may be no value.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The clustering, from whatever algorithm. -1 is noise, as DBSCAN and HDBSCAN mean it: those
        rows are left out, with a warning, and the clustering of the others is judged.
    pilot_labels : array-like of shape (n_samples,), optional
        A finer clustering, from which the effective degrees of freedom take the noise. By default
        k-means with 31 clusters, or twice as many as `labels` has if that is more.
    metric, random_state, n_jobs, sample_weight
        See `fit_path`.

    Returns
    -------
    DataFrame
        A row for each criterion: its ``value``, NaN where it has none for this clustering, and
        which values are ``better``.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import score
    >>> X = load_iris().data
    >>> score(X, AgglomerativeClustering(3).fit_predict(X)).loc["silhouette":].round(3)
                         value  better
    criterion
    silhouette           0.554  higher
    calinski-harabasz  558.058  higher
    davies-bouldin       0.656   lower
    """
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs)
    check_one_of("metric", metric, METRICS)
    raw = check_numeric(X)
    kept = without_noise(labels, len(raw), "labels")
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, len(raw))[kept]
    seen = in_metric(raw[kept], metric, np.arange(len(raw))[kept])
    rows = memory.open_rows(seen, seed, n_jobs, False, sample_weight)
    _, (fit,) = fits_of_labels(rows, labels=np.asarray(labels)[kept])
    if pilot_labels is None:
        pilot = _pilot(rows, fit.k, seed, n_jobs)
    else:
        pilot_labels = np.asarray(pilot_labels)
        check_length(pilot_labels.shape, len(raw), "pilot_labels")
        _, (pilot,) = fits_of_labels(rows, pilot_labels=pilot_labels[kept])
    with Threads(n_jobs) as pool:
        labelling = Labelling(rows, fit, pilot, Work(seed, pool))
        lines = [
            (name, criterion.one(labelling), {"min": "lower", "max": "higher"}[criterion.better])
            for name, criterion in registered().items()
            if criterion.judges_one
        ]
    frame = pd.DataFrame(lines, columns=["criterion", "value", "better"]).set_index("criterion")
    return frame.astype({"value": float})


def _pilot(rows: Rows, k: int, seed: int, n_jobs: int) -> Fit:
    """Fit k-means with more clusters than the clustering has, as far as the data allow."""
    most = max(DEFAULT_K_MAX + 1, 2 * k)
    distinct = check_distinct(rows.sample.values, 2 * most, "judge clusters", rows.looked_at)
    k_pilot = min(most, max(3, distinct // 2))
    path = fit_rows(rows, k_pilot - 1, seed, n_init=1, n_jobs=n_jobs)
    return path.pilot
