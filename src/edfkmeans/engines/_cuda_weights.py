"""Weights of rows on a GPU: sums over rows in which each counts as often as its weight says."""

from typing import Any

import numpy as np

from edfkmeans.engines._cuda_device import THREADS, cupy, launch, tiles
from edfkmeans.rows.tasks import Sums
from edfkmeans.rows.units import Floats

# Rows that are worked on at a time: for every fit there is a number for each.
PART = 2**20
# Rows that a block of `weighted_sums` adds up, and numbers that it may hold.
_ROWS, _HELD = 4096, 6144
# Values are below 2: in units of the total times this, no sum over rows leaves 63 bits.
_BITS = 61


def most_weighted() -> int:
    """Return the largest k that `weighted_sums` can do."""
    return _HELD // 2


class Weights:
    """The weights of all rows, in memory; those of a part are sent when it is worked on."""

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        total = float(weights.sum())
        self.unit = float(np.ldexp(1.0, int(np.ceil(np.log2(total))) - _BITS))

    def part(self, start: int, n: int) -> Any:
        """Send the weights of n rows from a first one on."""
        return cupy().asarray(self.weights[start : start + n])

    def add_up(self, batch: Any, X: Any, labels: Any, own: Any) -> None:
        """Add the rows of every cluster of a batch of fits to its `sizes` and `totals`."""
        layout, k = batch.layout, max(batch.ks)
        strip = min(layout.d, _HELD // k - 1)
        args = (
            *layout.rows(X), batch.starts_there, labels, own, _ROWS, strip, 1 / self.unit,
            batch.sizes, batch.totals[0],
        )  # fmt: skip
        grid = (-(-len(X) // _ROWS), len(batch.ks), -(-layout.d // strip))
        program = layout.program(batch.label)
        launch(program, "weighted_sums", grid, THREADS, args, 8 * k * (strip + 1))

    def squares(self, batch: Any, X: Any, labels: Any, own: Any) -> Any:
        """Return the sums of squared distances to the centres that rows are labelled with."""
        layout, fits = batch.layout, len(batch.ks)
        parts = cupy().empty((tiles(len(X)), fits), np.float64)
        args = (
            *layout.rows(X), batch.centers, batch.starts_there, fits, labels, own, parts,
        )  # fmt: skip
        grid = (tiles(len(X)), fits)
        launch(layout.program(batch.label), "weighted_squares", grid, THREADS, args)
        return parts.sum(axis=0)

    def terms(
        self, program: Any, fitted: tuple[Any, ...], labels: Any, own: Any, terms: Any
    ) -> Any:
        """Return the sums of terms; those of clusters that weigh next to nothing become 0.

        `fitted` are sizes, where those of each fit start, and where its labels are.
        """
        fits, n = terms.shape
        parts = cupy().empty((tiles(n), fits), np.float64)
        args = (np.int64(n), *fitted, fits, labels, own, terms, parts)
        launch(program, "weighted_terms", (tiles(n), fits), THREADS, args)
        return parts.sum(axis=0)

    def found(self, sizes: Any, totals: Any, inertia: float) -> Sums:
        """Return what was added up for a fit."""
        return Sums(sizes * self.unit, totals[0] * self.unit, inertia)
