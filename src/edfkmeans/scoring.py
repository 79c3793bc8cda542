"""`score`: what the criteria say about one clustering, wherever it came from."""

from typing import Any

import pandas as pd

from edfkmeans._streams import seed_of
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.criteria import Labelling, Work, registered
from edfkmeans.fit import Fit, fit_of_labels
from edfkmeans.fitting import DEFAULT_K_MAX, fit_table
from edfkmeans.table import Table, count_distinct, encode_labels, read_table


def score(
    X: Any,
    labels: Any,
    *,
    pilot_labels: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
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
        The clustering, from whatever algorithm.
    pilot_labels : array-like of shape (n_samples,), optional
        A finer clustering, from which the effective degrees of freedom take the noise. By default
        k-means with 31 clusters, or twice as many as `labels` has if that is more.
    random_state : int, RandomState, Generator or None
        Same seed, same values, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.

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
    table = read_table(X)
    encoded = encode_labels(labels, table.n_samples, "labels")
    fit = fit_of_labels(table.values, encoded, int(encoded.max()) + 1)
    seed = seed_of(random_state)
    n_jobs = effective_jobs(n_jobs)
    if pilot_labels is None:
        pilot = _pilot(table, len(fit.sizes), seed, n_jobs)
    else:
        encoded = encode_labels(pilot_labels, table.n_samples, "pilot_labels")
        pilot = fit_of_labels(table.values, encoded, int(encoded.max()) + 1)
    with Threads(n_jobs) as pool:
        labelling = Labelling(table, fit, pilot, Work(seed, pool))
        rows = [
            (name, criterion.one(labelling), {"min": "lower", "max": "higher"}[criterion.better])
            for name, criterion in registered().items()
            if criterion.judges_one
        ]
    frame = pd.DataFrame(rows, columns=["criterion", "value", "better"]).set_index("criterion")
    return frame.astype({"value": float})


def _pilot(table: Table, k: int, seed: int, n_jobs: int) -> Fit:
    """Fit k-means with more clusters than the clustering has, as far as the data allow."""
    most = max(DEFAULT_K_MAX + 1, 2 * k)
    distinct = count_distinct(table.values, 2 * most)
    if distinct < 4:
        raise ValueError(
            f"X has {distinct} distinct rows; at least 4 are needed to judge clusters."
        )
    k_pilot = min(most, max(3, distinct // 2))
    path = fit_table(
        table, k_pilot - 1, fits="best", n_init=1, seed=seed, n_jobs=n_jobs, progress=False
    )
    return fit_of_labels(table.values, path.labels(k_pilot), k_pilot)
