"""The path of fits: k-means for every k, by a chain or from random starts."""

from typing import Any, Literal

import numpy as np
from tqdm.auto import tqdm

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.chain import Report, chain_fits, count_steps
from edfkmeans.chunked import ChunkedTable, read_chunked, refine
from edfkmeans.fit import Fit, Labels, fit_from_centers, fit_of_labels
from edfkmeans.kernels import lloyd
from edfkmeans.path import ChunkedPath, KMeansPath, original_inertia, path_of
from edfkmeans.table import (
    Table,
    Values,
    check_one_of,
    check_whole,
    count_distinct,
    is_dask,
    read_table,
)

Fits = Literal["best", "paper"]
FITS: tuple[Fits, ...] = ("best", "paper")

DEFAULT_K_MAX = 30
# Seconds before a progress bar shows.
PATIENCE = 2
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
) -> KMeansPath:
    """Fit k-means for k = 1 .. k_max + 1.

    Every fit is a single-point optimum: no row can change its cluster and lower the inertia.
    (Lloyd's algorithm, which most libraries stop at, does not promise that.) With more than 131072
    rows, "best" stops when fewer than one row in 2000 moves in a sweep.

    Parameters
    ----------
    X : array-like, dask array or dask data frame of shape (n_samples, n_features)
        Numbers without missing values. Columns count by their scale: standardise them first
        unless they share a unit. Rows in dask's chunks need not fit in memory: the fits begin on a
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
    seed = seed_of(random_state)
    return fit_table(
        read_data(X, seed, progress=progress),
        k_max,
        fits=fits,
        n_init=n_init,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )


def fit_table(
    table: Table,
    k_max: int | None,
    *,
    fits: Fits,
    n_init: int | None,
    seed: int,
    n_jobs: int | None,
    progress: bool,
) -> KMeansPath:
    """Do what `fit_path` does, with data that have been read."""
    check_one_of("fits", fits, FITS)
    n_init = _N_INIT[fits] if n_init is None else check_whole("n_init", n_init, 1)
    n_jobs = effective_jobs(n_jobs)
    k_max = check_k_max(table, k_max)
    n = len(table.values)
    steps = {"best": count_steps(n, k_max + 1, n_init), "paper": k_max + 1}[fits]
    with tqdm(total=steps, disable=not progress, desc="fitting", unit="fit", delay=PATIENCE) as bar:

        def report(k: int, inertia: float) -> None:
            if progress:
                bar.set_postfix(k=k, inertia=f"{table.squared(inertia):.6g}", refresh=False)
                bar.update()

        if fits == "best":
            found = chain_fits(table.values, k_max + 1, n_init, seed, n_jobs, report)
        else:
            found = random_fits(table.values, k_max + 1, n_init, seed, n_jobs, report)
    if isinstance(table, ChunkedTable):
        return _chunked_path(table, found, fits)
    return path_of(table, found, fits)


def random_fits(
    values: Values, k_last: int, n_init: int, seed: int, n_jobs: int, report: Report
) -> list[Fit]:
    """Fit k = 1 .. k_last as the paper does: the best of some random starts for each k."""
    distinct: Any = np.unique(values, axis=0)
    with Threads(n_jobs) as pool:

        def one_start(k: int, start: int) -> Fit:
            pool.check()
            rng = stream(seed, Purpose.RANDOM_STARTS, k, start)
            seeds = distinct[rng.choice(len(distinct), k, replace=False)].astype(np.float64)
            return fit_from_centers(values, seeds, Threads(1))

        def best_start(k: int) -> Fit:
            starts = range(n_init if k > 1 else 1)
            return min((one_start(k, start) for start in starts), key=lambda fit: fit.inertia)

        # Large k first: the longest tasks must not be the last ones.
        ks = range(k_last, 0, -1)
        return pool.map(best_start, ks, lambda k, fit: report(k, fit.inertia))[::-1]


def _chunked_path(table: ChunkedTable, found: list[Fit], kind: str) -> ChunkedPath:
    """Take the fits of the sample down on all rows."""
    fits, products = refine(table, [fit.centers for fit in found])
    sample = []
    for fit, start in zip(fits, found, strict=True):
        k = len(fit.sizes)
        labels: Labels = np.empty(len(table.values), np.int32)
        lloyd.assign(table.values, fit.nearest, labels)
        # A small cluster may have left the rows of the sample; then its own fit stands for it.
        empty = np.bincount(labels, minlength=k).min() == 0
        sample.append(start if empty else fit_of_labels(table.values, labels, k))
    return ChunkedPath(
        inertia=original_inertia(table, fits),
        n_samples=table.n_samples,
        n_features=table.n_features,
        fits=kind,
        _labels=(),
        _centers=tuple(table.to_original(fit.centers) for fit in fits),
        seed=table.seed,
        rows=table.rows,
        chunks=table.chunks,
        centring=table.centring,
        _fits=tuple(fits),
        _products=products,
        _sample=path_of(table.sample, sample, kind),
    )


def read_data(X: Any, seed: int, path: KMeansPath | None = None, progress: bool = False) -> Table:
    """Read X, wherever its rows are.

    Of rows in chunks a sample is drawn; the path, if there is one, has drawn it before.
    """
    if not is_dask(X):
        return read_table(X)
    return read_chunked(X, path.seed if isinstance(path, ChunkedPath) else seed, progress)


def check_k_max(table: Table, k_max: int | None, least: int = 1) -> int:
    """Return the k_max to use: the one given if X supports it, else one that suits X."""
    if k_max is None:
        # A pilot cluster should hold some distinct rows, or it says little of the noise.
        distinct = count_distinct(table.values, 5 * DEFAULT_K_MAX)
        if distinct < 4:
            raise ValueError(
                f"{_capital(table.rows_looked_at)} has {distinct} distinct "
                f"row{'s' * (distinct > 1)} and at least 4 are needed to "
                "choose a number of clusters. Check that X holds what you meant to cluster."
            )
        return max(2, min(max(5, distinct // 5), distinct // 2 - 1))
    k_max = check_whole("k_max", k_max, least)
    distinct = count_distinct(table.values, k_max + 1)
    if distinct < k_max + 1:
        raise ValueError(
            f"k_max={k_max} needs at least {k_max + 1} distinct rows; {table.rows_looked_at} has "
            f"{distinct}. Lower k_max."
        )
    return k_max


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
