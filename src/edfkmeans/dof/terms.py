"""Terms: every row's part of the excess degrees of freedom."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from edfkmeans._choices import Count
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.path import KMeansPath
from edfkmeans.kernels import jumps
from edfkmeans.rows.blocks import Block
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.tasks import Terms
from edfkmeans.rows.units import Floats

# Standard deviations from the pilot's mean: as far as this switches along the exact path count.
# FAR is for one fit: the next term would be below 1e-12. NEAR is for a whole path: below 1e-6.
FAR, NEAR = 7.5, 5.0


def pilot_sigma(rows: Rows, pilot: Fit) -> float:
    """Return the standard deviation of the pilot's residuals, over the columns that vary."""
    if pilot.inertia <= 0:
        raise ValueError(
            f"The pilot with {pilot.k} clusters fits X without any residual, so there is "
            "no noise to measure the degrees of freedom with. Use a pilot with fewer clusters "
            "(a lower k_max), or data with more distinct rows."
        )
    return math.sqrt(pilot.inertia / (rows.n_samples * rows.n_features))


def terms_of(rows: Rows, fit: Fit, pilot: Fit, method: Count, reach: float = FAR) -> Terms:
    """Return the task of finding the terms of some rows, from fits in the units of the rows."""
    gaps = np.empty((fit.k, fit.k))
    centers, pilot_centers = map(rows.units.only_varying, (fit.centers, pilot.centers))
    jumps.center_gaps(centers, gaps)
    return Terms(
        fit.assignment, centers, fit.sizes, gaps, pilot.assignment, pilot_centers,
        pilot_sigma(rows, pilot), method, reach,
    )  # fmt: skip


def path_excess(rows: Rows, path: KMeansPath, method: Count) -> Floats:
    """Excess degrees of freedom for k = 1 .. k_max, in one pass; one cluster has none."""
    return path_excesses(rows, path, (method,))[0]


def path_excesses(rows: Rows, path: KMeansPath, methods: Sequence[Count]) -> list[Floats]:
    """Excess degrees of freedom for k = 1 .. k_max, by several counts in one pass."""
    ks = range(2, path.k_max + 1)
    if not ks:
        return [np.zeros(1) for _ in methods]
    tasks = [
        terms_of(rows, path.fit(k), path.pilot, method, NEAR).sum for method in methods for k in ks
    ]
    sums = np.reshape(rows.sums(tasks, "degrees of freedom"), (len(methods), len(ks)))
    return [np.concatenate([[0.0], part]) for part in sums]


def ambiguity_of(rows: Rows, path: KMeansPath, k: int) -> Any:
    """Return what each row adds to the degrees of freedom of one fit, along the exact path."""
    if k == 1 or path.inertia[-1] <= 0:
        return rows.per_row(_no_terms, np.float64)
    return rows.per_row(terms_of(rows, path.fit(k), path.pilot, "exact"), np.float64)


def _no_terms(block: Block) -> Floats:
    return np.zeros(len(block.values))
