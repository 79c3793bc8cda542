"""Tasks: what a pass over the rows is asked for, as data. An engine may do them in its own way.

They are called with a block of rows in memory. Whoever has the rows elsewhere, on a GPU say, can
read off what is wanted instead, and hand over the same.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._choices import Count
from edfkmeans.kernels import envelope, jumps, lloyd
from edfkmeans.rows.blocks import Assignment, Block
from edfkmeans.rows.labels import Labels, Sizes
from edfkmeans.rows.units import Floats, Values

# Values are below 2. They are added in units of 2^-46, in which the sum of a block of 8192 rows
# stays below 2^60.
UNIT = 46
# Bits: the sum of a block is put down in an upper and a lower part, the lower of so many. Billions
# of blocks can be added before one of the parts overflows.
HALF = 30
# Columns: of more, terms are found a row at a time.
_WIDE = 128


@dataclass(slots=True, eq=False)
class Sums:
    """What blocks add to a fit: rows, their totals, and squares about the old centres."""

    sizes: Any
    totals: npt.NDArray[Any]
    inertia: float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.sizes + other.sizes, self.totals + other.totals, self.inertia + other.inertia
        )

    @property
    def means(self) -> Floats:
        """Centroids from sums of whole numbers, rounded once; with weights, of any numbers."""
        if self.totals.ndim == 2:
            return np.asarray(self.totals / self.sizes[:, None])
        exact = self.totals[0].astype(object) * 2**HALF + self.totals[1].astype(object)
        count = self.sizes.astype(object)[:, None]
        return np.asarray(exact / (count * 2**UNIT), np.float64)


@dataclass(frozen=True, eq=False)
class Tally:
    """The task of a pass for one fit: add up the rows of its clusters."""

    assignment: Assignment
    centers: Floats

    def __call__(self, block: Block) -> Sums:
        """Add up the rows of a block."""
        k, d = self.centers.shape
        labels = block.labels(self.assignment)
        if block.weights is not None:
            return self._weighted(block, labels, block.weights)
        sizes: Sizes = np.zeros(k, np.int64)
        sums = np.zeros((k, d), np.int64)
        lloyd.add_rows(block.whole(2.0**UNIT), labels, sizes, sums)
        inertia = lloyd.sum_of_squares(block.values, None, labels, self.centers)
        totals = np.empty((2, k, d), np.int64)
        np.right_shift(sums, HALF, out=totals[0])
        np.bitwise_and(sums, 2**HALF - 1, out=totals[1])
        return Sums(sizes, totals, inertia)

    def _weighted(self, block: Block, labels: Labels, weights: Floats) -> Sums:
        """Add up rows times their weights, which would not fit into whole numbers."""
        k, d = self.centers.shape
        sizes, totals = np.zeros(k), np.zeros((k, d))
        lloyd.add_weighted(block.values, weights, labels, sizes, totals)
        inertia = lloyd.sum_of_squares(block.values, weights, labels, self.centers)
        return Sums(sizes, totals, inertia)


def products(block: Block) -> Floats:
    """Sum the products of every two columns."""
    values = block.doubles()
    if block.weights is not None:
        return np.asarray((values.T * block.weights) @ values)
    return np.asarray(values.T @ values)


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

    def __call__(self, block: Block) -> Floats:
        """Return every row's part of the excess."""
        X, labels = block.varying, block.labels(self.assignment)
        wide = X.shape[1] > _WIDE
        further = self._floors(X) if wide else self._by_cluster(labels)
        fitted = (X, labels, further, self.centers, self.sizes, self.gaps)
        noise = (block.labels(self.pilot_assignment), self.pilot_centers, self.sigma)
        terms: Floats = block.room.array("terms", labels.shape)
        if self.method == "paper":
            of_rows = jumps.wide_paper_terms if wide else jumps.paper_terms
            of_rows(*fitted, *noise, terms)
        else:
            of_rows = envelope.wide_exact_terms if wide else envelope.exact_terms
            of_rows(*fitted, *noise, self.reach, terms)
        if self.sizes.dtype.kind == "f":
            # Importances: a cluster that weighs no more than one row is one that stays.
            terms[self.sizes[labels] <= 1] = 0.0
        return terms

    def _by_cluster(self, labels: Labels) -> Any:
        """List the rows cluster by cluster; numbers of few bits are sorted without comparing."""
        return np.argsort(labels.astype(np.min_scalar_type(len(self.centers))), kind="stable")

    def _floors(self, X: Values) -> Floats:
        """Return what the squared distances of rows and centres are at least.

        By products, which lose digits: no more than their sums could lose is taken off.
        """
        rows, centers = X.astype(np.float64, copy=False), self.centers
        squares = np.einsum("ij,ij->i", rows, rows)[:, None]
        squares = squares + np.einsum("ij,ij->i", centers, centers)
        lost = 4 * X.shape[1] * np.finfo(np.float64).eps
        return np.asarray((1 - lost) * squares - 2 * (rows @ centers.T))

    def sum(self, block: Block) -> float:
        """Add the rows' parts up."""
        terms = self(block)
        return float(terms.sum() if block.weights is None else block.weights @ terms)
