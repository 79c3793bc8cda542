"""The search for the best fit for every k: `fit_path`."""

from typing import Any

import numpy as np

from edfkmeans._choices import FITS, METRICS, Brought, Fits, Metric
from edfkmeans._progress import progress_bar
from edfkmeans._streams import seed_of
from edfkmeans.engines.threads import effective_jobs
from edfkmeans.fits.chain import count_steps
from edfkmeans.fits.clusterer import Clusterer, refuse_estimator
from edfkmeans.fits.fit import Fit, order_by_size, renumbered
from edfkmeans.fits.narrow import narrow_fits
from edfkmeans.fits.passes import fits_in_sample, refine
from edfkmeans.fits.path import KMeansPath, held_path, open_for, path_of
from edfkmeans.fits.starts import random_fits
from edfkmeans.rows.arguments import check_one_of, check_whole
from edfkmeans.rows.assignments import Nearest
from edfkmeans.rows.checks import check_distinct, count_distinct
from edfkmeans.rows.rows import Rows

# Clusters: the largest k that is considered unless the caller says otherwise.
DEFAULT_K_MAX = 30
# Chains, or random starts for each k, unless the caller says otherwise.
_N_INIT = {"best": 2, "paper": 10}


def fit_path(
    X: Any,
    k_max: int | None = None,
    *,
    fits: Fits = "best",
    n_init: int | None = None,
    clusterer: Any = None,
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    engine: Brought | None = None,
    progress: bool = False,
    sample_weight: Any = None,
) -> KMeansPath:
    """Fit k-means for k = 1 .. k_max + 1, or another clusterer.

    Every fit is a single-point optimum: no row can change its cluster and lower the inertia.
    (Lloyd's algorithm, which most libraries stop at, does not promise that.) With more than 131072
    rows, "best" stops when fewer than one row in 2000 moves in a sweep.
    Beyond 64 columns chains look for fits among the principal components, 24 at most (all, for few
    rows); every fit ends with all columns.

    Parameters
    ----------
    X : array-like, or rows elsewhere, of shape (n_samples, n_features)
        Numbers without missing values. Columns count by their scale: standardise them first
        unless they share a unit. Rows elsewhere need not fit in memory: a dask array or data
        frame, a DataFrame of Spark, a `pyarrow.dataset.Dataset`, a polars LazyFrame, a DuckDB
        relation, or a function that returns record batches of Arrow, called once for every pass.
        Their fits begin on a sample of 131072 rows and are refined on all of them by at most ten
        passes of Lloyd's algorithm.
    k_max : int, optional
        The largest number of clusters to consider. By default 30, or a fifth of the distinct
        rows of X where that is less (but 5 if X supports it): the pilot must leave enough rows to
        a cluster to tell the noise. A k_max that X cannot support is an error.
    fits : {"best", "paper"}
        "best": chains that go from k to k + 1 by adding a centre and back by dissolving a cluster,
        several of each tried. "paper": the best of some starts from random distinct rows.
    n_init : int, optional
        Number of chains, by default 2, or of random starts for each k, by default 10.
    clusterer : estimator, optional
        Fitted in place of k-means: any estimator as scikit-learn has them with a parameter
        ``n_clusters`` or ``n_components``, or a pipeline that ends with one, such as
        ``GaussianMixture(covariance_type="diag")``. It is cloned for every k from 2 on, and given a
        seed where a random_state is None, of a step of a pipeline too. A k for which it fails, or
        makes another number of clusters, is left out of the choice with a warning;
        `KMeansPath.failed` says why. X must be in memory, and `fits` and `n_init` left out.
    metric : {"euclidean", "cosine"}
        "cosine": every row is scaled to length one first, so that only directions count, as is
        usual for embeddings; rows of zeros have none and are an error. Everything after that is
        Euclidean: squared distances are then ``2 - 2 cos``, centres are means of such rows (not
        scaled again), and degrees of freedom and criteria are those of these rows.
    random_state : int, RandomState, Generator or None
        Same seed, same fits, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.
    engine : {"cuda"}, optional
        Who works on rows in memory: "cuda" is a GPU, see docs/gpu.md. Rows that lie on one, as a
        tensor of PyTorch or an array of CuPy, are worked on there, and labels come back as that.
    progress : bool
        Show a progress bar.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows. Whole numbers are counts: a row of weight 3 is three rows. Others are
        importances, and are divided by their mean. See the page *Weights*. Rows of weight 0 are
        given to the nearest centre and count for nothing.

    Returns
    -------
    KMeansPath

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import fit_path
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> path = fit_path(X, k_max=10, random_state=0)
    >>> path.labels(3).shape, path.centers(3).shape, int(path.sizes(3).sum())
    ((178,), (3, 13), 178)

    >>> from sklearn.mixture import GaussianMixture
    >>> mixtures = fit_path(X, 10, clusterer=GaussianMixture(covariance_type="diag"),
    ...                     random_state=0)
    >>> mixtures
    KMeansPath(k=1..10 and a pilot of 11, n=178, d=13, fits='GaussianMixture')
    """
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs, X)
    check_one_of("metric", metric, METRICS)
    asked = Clusterer.of(clusterer, X, fits, n_init, metric)
    rows = open_for(None, X, seed, n_jobs, progress, metric, engine, sample_weight, asked)
    return fit_rows(
        rows, k_max, seed, fits=fits, n_init=n_init, clusterer=asked, metric=metric, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip


def fit_rows(
    rows: Rows,
    k_max: int | None,
    seed: int,
    *,
    fits: Fits = "best",
    n_init: int | None = None,
    clusterer: Clusterer | None = None,
    metric: Metric = "euclidean",
    n_jobs: int = 1,
    progress: bool = False,
) -> KMeansPath:
    """Do what `fit_path` does, with rows that have been read, as the metric sees them."""
    check_one_of("fits", fits, FITS)
    n_init = _N_INIT[fits] if n_init is None else check_whole("n_init", n_init, 1)
    k_max = check_k_max(rows, k_max)
    sample = rows.sample
    values, weights = rows.points
    n = len(values)
    # What X is usually asked for has the same fits, however much more is asked for.
    k_first = usual_k_max(rows) + 1
    steps = {"best": count_steps(n, k_max + 1, n_init, k_first), "paper": k_max + 1}[fits]
    steps = k_max if clusterer is not None else steps
    with progress_bar(progress, "fitting", steps, "fit") as bar:

        def report(k: int, inertia: float) -> None:
            if progress:
                bar.set_postfix(k=k, inertia=f"{rows.units.squared(inertia):.6g}", refresh=False)
                bar.update()

        quick = rows.quick if fits == "best" else None
        if clusterer is not None:
            found, failed = clusterer.fits(values, k_max + 1, seed, n_jobs, report)
        elif quick is not None:
            found = [
                Fit(Nearest(centers), centers, np.ones(len(centers), np.int64), 0.0)
                for centers in quick.search(k_max + 1, seed, report)
            ]
        elif fits == "best":
            found = narrow_fits(values, k_max + 1, n_init, seed, n_jobs, report, k_first, weights)
        else:
            found = random_fits(values, k_max + 1, n_init, seed, n_jobs, report, weights)
    if sample is rows or weights is not None:
        kind, failed = (fits, {}) if clusterer is None else (clusterer.name, failed)
        return held_path(rows, found, kind, failed, metric)
    refined, products = refine(rows, [fit.centers for fit in found])
    # All rows decide about the numbers of clusters; the sample has the same.
    orders = [order_by_size(fit) for fit in refined]
    refined, found = ([*map(renumbered, each, orders)] for each in (refined, found))
    shown = path_of(sample, fits_in_sample(rows, refined, found), fits, metric=metric)
    return path_of(rows, refined, fits, shown, products, metric=metric)


def check_k_max(rows: Rows, k_max: int | None, least: int = 1) -> int:
    """Return the k_max to use: the one given if X supports it, else one that suits X."""
    refuse_estimator("k_max", k_max)
    if k_max is None:
        purpose = "choose a number of clusters"
        check_distinct(rows.sample.values, 4, purpose, rows.looked_at)
        return usual_k_max(rows)
    k_max = check_whole("k_max", k_max, least)
    distinct = count_distinct(rows.sample.values, k_max + 1)
    if distinct < k_max + 1:
        raise ValueError(
            f"k_max={k_max} needs at least {k_max + 1} distinct rows; {rows.looked_at} has "
            f"{distinct}. Lower k_max."
        )
    return k_max


def usual_k_max(rows: Rows) -> int:
    """Return the k_max that suits X: a pilot cluster should hold some distinct rows."""
    distinct = count_distinct(rows.sample.values, 5 * DEFAULT_K_MAX)
    return max(1, min(2, distinct - 2), min(max(5, distinct // 5), distinct // 2 - 1))
