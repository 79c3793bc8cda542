"""Fits of wide rows: looked for among their principal components, finished on all columns.

If rows could belong to clusters in part, the best k clusters would be told by the first k - 1
principal components (Ding and He 2004). So chains that add and dissolve clusters look there, where
a distance costs a tenth. Every fit then goes down to a single-point optimum of the rows themselves.

Rows that are too few for that, and fewer than the columns, are looked at in all the dimensions they
span: distances there are the same.
"""

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads, one_thread_of_blas
from edfkmeans.fits.chain import chain_fits, falling
from edfkmeans.fits.descent import Descent, Singles
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.starts import Report
from edfkmeans.kernels import products as kernels
from edfkmeans.rows import look
from edfkmeans.rows.assignments import Known
from edfkmeans.rows.units import Floats, Values

# Columns: up to so many, rows are looked at as they are.
_NARROW = 64
# Components that fits are looked for in, at most.
_COMPONENTS = 24
# Columns, and rows, for each component: with fewer, there is little to gain.
_WIDE = 3
# Rows or columns: up to so many, their products are quickest, and exact.
_EXACT = 1024
# Rows: up to so many, or twice as many as columns, the products of all pairs may be held.
_PAIRS = 2048
# Sweeps by products of rows, at most; those by the rows themselves have the last word.
_SWEEPS = 200
# Moves per row: of more rows than a sample has, a fit ends when a sweep has no more.
_ENOUGH = 1 / 2000


def narrow_fits(
    values: Values,
    k_last: int,
    n_chains: int,
    seed: int,
    n_jobs: int,
    report: Report,
    k_first: int,
    weights: Floats | None = None,
) -> list[Fit]:
    """Fit k = 1 .. k_last as `chain_fits` does, by fewer columns where there are many.

    The number of components does not depend on k_last: nor do the fits up to k_first.
    """
    n, d = values.shape
    if d > _NARROW:  # columns that do not vary do not count
        d = int(values.any(axis=0).sum())
    count = min(k_first, _COMPONENTS)
    if min(n, d) < _WIDE * count:
        count = n - 1 if n < d else d
    if d <= _NARROW or count >= d:
        return chain_fits(values, k_last, n_chains, seed, n_jobs, report, k_first, weights)
    near = _components(values, weights, count, seed)
    found = chain_fits(near, k_last, n_chains, seed, n_jobs, report, k_first, weights)
    products = None
    if weights is None and (n <= _PAIRS or n <= 2 * d):
        products = np.asarray(values @ values.T, np.float64)
    enough = int(_ENOUGH * n) if n > look.SAMPLE else 0
    single = np.asarray(values, np.float32)
    with Threads(n_jobs) as pool, one_thread_of_blas():

        def one(fit: Fit) -> Fit:
            pool.check()
            return _finished(values, single, weights, products, fit, enough)

        # Large k first: the longest tasks must not be the last ones.
        return falling(values, weights, pool.map(one, found[::-1])[::-1], pool)


def _components(values: Values, weights: Floats | None, count: int, seed: int) -> Values:
    """Return the rows along their first principal axes, which columns of mean 0 have."""
    n, d = values.shape
    root = None if weights is None else np.sqrt(weights)[:, None]
    scaled = values if root is None else values * root
    if n < d and n <= _EXACT:
        places, lengths = _first(scaled @ scaled.T, count)
        places *= np.sqrt(np.maximum(lengths, 0.0))
        if root is not None:
            places /= root
        return np.ascontiguousarray(places.astype(values.dtype))
    if d <= _EXACT:
        axes = _first(scaled.T @ scaled, count)[0]
    else:
        from sklearn.utils.extmath import randomized_svd  # takes a second to import

        drawn = int(stream(seed, Purpose.COMPONENTS).integers(2**31 - 1))
        axes = randomized_svd(scaled, count, n_iter=4, random_state=drawn)[2].T
    return np.ascontiguousarray(values @ axes.astype(values.dtype))


def _first(products: Values, count: int) -> tuple[Floats, Floats]:
    """Return the first eigenvectors, one in every column, and their eigenvalues."""
    from scipy.linalg import eigh  # only wide rows need it

    whole, last = np.asarray(products, np.float64), len(products) - 1
    found, vectors = eigh(whole, subset_by_index=(last + 1 - count, last))
    return vectors[:, ::-1], found[::-1]


def _finished(
    values: Values,
    single: Singles,
    weights: Floats | None,
    products: Floats | None,
    fit: Fit,
    enough: int,
) -> Fit:
    """Take a clustering down to an optimum on all columns."""
    descent = Descent(values, weights)
    descent.single = single
    descent.labels[:] = fit.labels
    if products is not None:
        kernels.descend(products, descent.labels, fit.k, _SWEEPS)
    descent.start(np.zeros((fit.k, values.shape[1])), np.ones_like(fit.sizes))
    inertia = descent.run(Threads(1), enough=enough)
    labels = descent.labels.astype(np.min_scalar_type(fit.k))
    return Fit(Known(labels), descent.centers, descent.sizes, inertia)
