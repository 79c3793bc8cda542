"""Fits of wide rows: looked for among their principal components, finished on all columns.

If rows could belong to clusters in part, the best k clusters would be told by the first k - 1
principal components (Ding and He 2004). So chains that add and dissolve clusters look there, where
a distance costs a tenth. Every fit then goes down to a single-point optimum of the rows themselves.
"""

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.chain import chain_fits
from edfkmeans.fits.descent import Descent
from edfkmeans.fits.fit import Fit, fit_of_labels
from edfkmeans.fits.starts import Report
from edfkmeans.rows import look
from edfkmeans.rows.assignments import Known
from edfkmeans.rows.units import Floats, Values

# Columns for each component: with fewer, there is little to gain.
_WIDE = 3
# Columns: up to so many, their products are quickest, and exact.
_EXACT = 1024
# Moves per row: of more rows than a sample has, a fit ends when a sweep has no more.
_ENOUGH = 1 / 2000


def narrow_fits(
    values: Values, k_last: int, n_chains: int, seed: int, n_jobs: int, report: Report, k_first: int
) -> list[Fit]:
    """Fit k = 1 .. k_last as `chain_fits` does, by fewer columns where there are many.

    As many components as `k_first`, which does not depend on k_last: so do the fits up to there.
    """
    n, d = values.shape
    if min(n, d) < _WIDE * k_first:
        return chain_fits(values, k_last, n_chains, seed, n_jobs, report, k_first)
    near = np.ascontiguousarray(values @ _axes(values, k_first, seed).astype(values.dtype))
    found = chain_fits(near, k_last, n_chains, seed, n_jobs, report, k_first)
    enough = int(_ENOUGH * n) if n > look.SAMPLE else 0
    with Threads(n_jobs) as pool:

        def one(fit: Fit) -> Fit:
            pool.check()
            return _finished(values, fit, enough)

        # Large k first: the longest tasks must not be the last ones.
        return pool.map(one, found[::-1])[::-1]


def _axes(values: Values, count: int, seed: int) -> Floats:
    """Return the first principal axes, one in every column."""
    if values.shape[1] <= _EXACT:
        products = np.asarray(values.T @ values, np.float64)
        return np.linalg.eigh(products)[1][:, : -count - 1 : -1]
    from sklearn.utils.extmath import randomized_svd  # takes a second to import

    drawn = int(stream(seed, Purpose.COMPONENTS).integers(2**31 - 1))
    return np.asarray(randomized_svd(values, count, n_iter=4, random_state=drawn)[2].T, np.float64)


def _finished(values: Values, fit: Fit, enough: int) -> Fit:
    """Take a clustering down to an optimum on all columns."""
    begin = fit_of_labels(values, fit.labels, fit.k)
    descent = Descent(values)
    descent.labels[:] = fit.labels
    descent.start(begin.centers, begin.sizes)
    inertia = descent.run(Threads(1), enough=enough)
    labels = descent.labels.astype(np.min_scalar_type(fit.k))
    return Fit(Known(labels), descent.centers, descent.sizes, inertia)
