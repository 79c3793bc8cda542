"""The search for the best fit for every k: `fit_path`."""

from typing import Any

from edfkmeans._choices import FITS, Fits
from edfkmeans._progress import progress_bar
from edfkmeans._streams import seed_of
from edfkmeans.engines.threads import effective_jobs
from edfkmeans.fits.chain import chain_fits, count_steps
from edfkmeans.fits.fit import order_by_size, renumbered
from edfkmeans.fits.passes import fits_in_sample, refine
from edfkmeans.fits.path import KMeansPath, held_path, open_for, path_of
from edfkmeans.fits.starts import random_fits
from edfkmeans.rows.arguments import check_one_of, check_whole
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
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
    sample_weight: Any = None,
) -> KMeansPath:
    """Fit k-means for k = 1 .. k_max + 1.

    Every fit is a single-point optimum: no row can change its cluster and lower the inertia.
    (Lloyd's algorithm, which most libraries stop at, does not promise that.) With more than 131072
    rows, "best" stops when fewer than one row in 2000 moves in a sweep.

    Parameters
    ----------
    X : array-like, or rows elsewhere, of shape (n_samples, n_features)
        Numbers without missing values. Columns count by their scale: standardise them first
        unless they share a unit. Rows elsewhere need not fit in memory: a dask array or data
        frame, a `pyarrow.dataset.Dataset`, a polars LazyFrame, a DuckDB relation, or a function
        that returns record batches of Arrow, called once for every pass. Their fits begin on a
        sample of 131072 rows and are refined on all of them by at most ten passes of Lloyd's
        algorithm.
    k_max : int, optional
        The largest number of clusters to consider. By default 30, or a fifth of the distinct
        rows of X where that is less (but 5 if X supports it): the pilot must leave enough rows to
        a cluster to tell the noise. A k_max that X cannot support is an error.
    fits : {"best", "paper"}
        "best": chains that go from k to k + 1 by adding a centre and back by dissolving a cluster,
        several of each tried. "paper": the best of some starts from random distinct rows.
    n_init : int, optional
        Number of chains, by default 2, or of random starts for each k, by default 10.
    random_state : int, RandomState, Generator or None
        Same seed, same fits, whatever n_jobs.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores, or as many as limits allow.
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
    """
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs)
    rows = open_for(None, X, seed, n_jobs, progress, sample_weight)
    return fit_rows(rows, k_max, seed, fits=fits, n_init=n_init, n_jobs=n_jobs, progress=progress)


def fit_rows(
    rows: Rows,
    k_max: int | None,
    seed: int,
    *,
    fits: Fits = "best",
    n_init: int | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> KMeansPath:
    """Do what `fit_path` does, with rows that have been read."""
    check_one_of("fits", fits, FITS)
    n_init = _N_INIT[fits] if n_init is None else check_whole("n_init", n_init, 1)
    k_max = check_k_max(rows, k_max)
    sample = rows.sample
    values, weights = rows.points
    n = len(values)
    # What X is usually asked for has the same fits, however much more is asked for.
    k_first = usual_k_max(rows) + 1
    steps = {"best": count_steps(n, k_max + 1, n_init, k_first), "paper": k_max + 1}[fits]
    with progress_bar(progress, "fitting", steps, "fit") as bar:

        def report(k: int, inertia: float) -> None:
            if progress:
                bar.set_postfix(k=k, inertia=f"{rows.units.squared(inertia):.6g}", refresh=False)
                bar.update()

        if fits == "best":
            found = chain_fits(values, k_max + 1, n_init, seed, n_jobs, report, k_first, weights)
        else:
            found = random_fits(values, k_max + 1, n_init, seed, n_jobs, report, weights)
    if sample is rows or weights is not None:
        return held_path(rows, found, fits)
    refined, products = refine(rows, [fit.centers for fit in found])
    # All rows decide about the numbers of clusters; the sample has the same.
    orders = [order_by_size(fit) for fit in refined]
    refined, found = ([*map(renumbered, each, orders)] for each in (refined, found))
    shown = path_of(sample, fits_in_sample(rows, refined, found), fits)
    return path_of(rows, refined, fits, shown, products)


def check_k_max(rows: Rows, k_max: int | None, least: int = 1) -> int:
    """Return the k_max to use: the one given if X supports it, else one that suits X."""
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
