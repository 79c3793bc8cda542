"""Starts: centres to begin a fit from, drawn at random."""

from collections.abc import Callable
from typing import Any

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import fit_from_centers
from edfkmeans.fits.fit import Fit
from edfkmeans.kernels import steps as kernels
from edfkmeans.rows.units import Floats, Values

Report = Callable[[int, float], None]
"""Told the k and the inertia of every fit that is done."""


def plusplus_rows(values: Values, k: int, rng: np.random.Generator) -> Floats:
    """Choose k distinct rows by greedy k-means++ (Arthur, Vassilvitskii 2007)."""
    chosen = values[rng.integers(len(values), size=1)].astype(np.float64)
    own = np.full(len(values), np.inf, np.float32)
    while len(chosen) < k:
        kernels.approach(values, chosen[-1], own)
        drawn = np.empty(2 + int(np.log(k)), np.int64)
        kernels.draw(own, np.sort(rng.random(len(drawn))), drawn)
        gain = np.empty(len(drawn))
        kernels.gains(values, own, values[drawn].astype(np.float64), gain)
        chosen = np.vstack([chosen, values[drawn[gain.argmax()]]])
    return chosen


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
