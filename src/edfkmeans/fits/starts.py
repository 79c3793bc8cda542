"""Starts: centres to begin a fit from, drawn at random."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import fit_from_centers
from edfkmeans.fits.fit import Fit
from edfkmeans.kernels import steps as kernels
from edfkmeans.rows.units import Floats, Values

Report = Callable[[int, float], None]
"""Told the k and the inertia of every fit that is done."""


def plusplus_rows(
    values: Values, k: int, rng: np.random.Generator, weights: Floats | None = None
) -> Floats:
    """Choose k distinct rows by greedy k-means++ (Arthur, Vassilvitskii 2007)."""
    if weights is None:
        first = rng.integers(len(values), size=1)
    else:  # the row that this one would be if all were written down as often as they count
        sums = np.cumsum(weights)
        first = np.searchsorted(sums, rng.integers(round(sums[-1]), size=1) + 0.5)
    chosen = np.empty((k, values.shape[1]))
    chosen[0] = values[first]
    own = np.full(len(values), np.inf, np.float32)
    drawn = np.empty(2 + int(np.log(k)), np.int64)
    gain = np.empty(len(drawn))
    for found in range(1, k):
        kernels.approach(values, chosen[found - 1], own)
        kernels.draw(own, weights, np.sort(rng.random(len(drawn))), drawn)
        kernels.gains(values, weights, own, values[drawn].astype(np.float64), gain)
        chosen[found] = values[drawn[gain.argmax()]]
    return chosen


def drawn_rows(
    own: npt.NDArray[np.float32], uniforms: Floats, weights: Floats | None
) -> npt.NDArray[np.int64]:
    """Draw rows by their squared distance `own`, each once; uniforms are sorted.

    A row that stands for several may be there as often as different ones of them are drawn. As
    uniforms are sorted, rows and copies that are the same are side by side.
    """
    drawn: Any = np.empty(len(uniforms), np.int64)
    kernels.draw(own, weights, uniforms, drawn)
    other = np.diff(drawn, prepend=-1) != 0
    if weights is not None:
        sums = np.cumsum(weights * own, dtype=np.float64)
        into = uniforms * sums[-1] - (sums - weights * own)[drawn]
        copies = np.floor(into / np.maximum(own[drawn], 1e-300))
        other |= np.diff(copies, prepend=-1) != 0
    found: npt.NDArray[np.int64] = drawn[other]
    return found


def random_fits(
    values: Values,
    k_last: int,
    n_init: int,
    seed: int,
    n_jobs: int,
    report: Report,
    weights: Floats | None = None,
) -> list[Fit]:
    """Fit k = 1 .. k_last as the paper does: the best of some random starts for each k."""
    distinct: Any = np.unique(values, axis=0)
    with Threads(n_jobs) as pool:

        def one_start(k: int, start: int) -> Fit:
            pool.check()
            rng = stream(seed, Purpose.RANDOM_STARTS, k, start)
            seeds = distinct[rng.choice(len(distinct), k, replace=False)].astype(np.float64)
            return fit_from_centers(values, seeds, Threads(1), weights=weights)

        def best_start(k: int) -> Fit:
            starts = range(n_init if k > 1 else 1)
            return min((one_start(k, start) for start in starts), key=lambda fit: fit.inertia)

        # Large k first: the longest tasks must not be the last ones.
        ks = range(k_last, 0, -1)
        return pool.map(best_start, ks, lambda k, fit: report(k, fit.inertia))[::-1]
