"""Fit: one clustering."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.engines.threads import Threads, ordered_sum
from edfkmeans.kernels import lloyd
from edfkmeans.rows.assignments import Known, Nearest
from edfkmeans.rows.blocks import Assignment, row_blocks
from edfkmeans.rows.labels import Labels, Sizes, SmallLabels
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats, Values

Order = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Fit:
    """One clustering, in the units of the rows: who is where, centroids, sizes and inertia."""

    assignment: Assignment
    centers: Floats
    sizes: Sizes
    inertia: float

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def labels(self) -> Labels | SmallLabels:
        """Cluster of every row, where rows are in memory and the fit holds them."""
        if not isinstance(self.assignment, Known):
            raise TypeError("This fit holds no labels: its rows are not in memory.")
        return self.assignment.labels


def inertia_of(
    values: Values,
    labels: Labels | SmallLabels,
    centers: Floats,
    pool: Threads,
    weights: Floats | None = None,
) -> float:
    """Sum the squared distances to the centres, block by block."""

    def block(rows: slice) -> float:
        w = None if weights is None else weights[rows]
        return float(lloyd.sum_of_squares(values[rows], w, labels[rows], centers))

    return ordered_sum(pool.map(block, row_blocks(len(values))))


def fit_of_labels(
    values: Values, labels: Labels | SmallLabels, k: int, weights: Floats | None = None
) -> Fit:
    """Return the fit that labels of rows in memory stand for."""
    centers = np.empty((k, values.shape[1]))
    sizes: Any = np.empty(k, np.int64 if weights is None else np.float64)
    lloyd.weighted_centroids(values, weights, labels, centers, sizes)
    inertia = inertia_of(values, labels, centers, Threads(1), weights)
    return Fit(Known(labels), centers, sizes, inertia)


def counted(fit: Fit, rows: Rows) -> Fit:
    """Return a fit whose sizes are whole numbers by their type too where rows are counted."""
    if not rows.whole or fit.sizes.dtype.kind == "i":
        return fit
    return replace(fit, sizes=np.rint(fit.sizes).astype(np.int64))


def order_by_size(fit: Fit) -> Order:
    """Return the clusters from the largest to the smallest; equal ones by their centres."""
    by_center = tuple(fit.centers.T[::-1])
    # Importances that weigh the same may add up to sums with other last digits.
    order: Order = np.lexsort((*by_center, -np.round(fit.sizes, 6)))
    return order


def renumbered(fit: Fit, order: Order) -> Fit:
    """Give clusters new numbers: number ``order[c]`` becomes ``c``."""
    assert isinstance(fit.assignment, Known | Nearest)
    assignment = fit.assignment.renumbered(np.argsort(order))
    return Fit(assignment, fit.centers[order], fit.sizes[order], fit.inertia)
