"""Terms: every row's part of the excess degrees of freedom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._choices import Count
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.path import KMeansPath
from edfkmeans.kernels import envelope, jumps
from edfkmeans.rows.blocks import Assignment, Block
from edfkmeans.rows.labels import Sizes
from edfkmeans.rows.rows import Rows
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


@dataclass(frozen=True, eq=False)
class Terms:
    """The task of finding the terms of some rows: what it needs to know of fit and pilot."""

    assignment: Assignment
    centers: Floats
    sizes: Sizes
    gaps: Floats
    pilot_assignment: Assignment
    pilot_centers: Floats
    sigma: float
    method: Count
    reach: float

    @classmethod
    def of(cls, rows: Rows, fit: Fit, pilot: Fit, method: Count, reach: float = FAR) -> "Terms":
        """Take it from fits in the units of the rows."""
        gaps = np.empty((fit.k, fit.k))
        centers, pilot_centers = map(rows.units.only_varying, (fit.centers, pilot.centers))
        jumps.center_gaps(centers, gaps)
        return cls(
            fit.assignment, centers, fit.sizes, gaps, pilot.assignment, pilot_centers,
            pilot_sigma(rows, pilot), method, reach,
        )  # fmt: skip

    def __call__(self, block: Block) -> Floats:
        """Return every row's part of the excess."""
        labels = block.labels(self.assignment)
        by_cluster = np.argsort(labels, kind="stable")
        fitted = (block.varying, labels, by_cluster, self.centers, self.sizes, self.gaps)
        noise = (block.labels(self.pilot_assignment), self.pilot_centers, self.sigma)
        terms: Floats = block.room.array("terms", labels.shape)
        if self.method == "paper":
            jumps.paper_terms(*fitted, *noise, terms)
        else:
            envelope.exact_terms(*fitted, *noise, self.reach, terms)
        if self.sizes.dtype.kind == "f":
            # Importances: a cluster that weighs no more than one row is one that stays.
            terms[self.sizes[labels] <= 1] = 0.0
        return terms

    def sum(self, block: Block) -> float:
        """Add the rows' parts up."""
        terms = self(block)
        return float(terms.sum() if block.weights is None else block.weights @ terms)


def path_excess(rows: Rows, path: KMeansPath, method: Count) -> Floats:
    """Excess degrees of freedom for k = 1 .. k_max, in one pass; one cluster has none."""
    return path_excesses(rows, path, (method,))[0]


def path_excesses(rows: Rows, path: KMeansPath, methods: Sequence[Count]) -> list[Floats]:
    """Excess degrees of freedom for k = 1 .. k_max, by several counts in one pass."""
    ks = range(2, path.k_max + 1)
    if not ks:
        return [np.zeros(1) for _ in methods]
    tasks = [
        Terms.of(rows, path.fit(k), path.pilot, method, NEAR).sum for method in methods for k in ks
    ]
    sums = np.reshape(rows.sums(tasks, "degrees of freedom"), (len(methods), len(ks)))
    return [np.concatenate([[0.0], part]) for part in sums]


def ambiguity_of(rows: Rows, path: KMeansPath, k: int) -> Any:
    """Return what each row adds to the degrees of freedom of one fit, along the exact path."""
    if k == 1 or path.inertia[-1] <= 0:
        return rows.per_row(_no_terms, np.float64)
    return rows.per_row(Terms.of(rows, path.fit(k), path.pilot, "exact"), np.float64)


def _no_terms(block: Block) -> Floats:
    return np.zeros(len(block.values))
