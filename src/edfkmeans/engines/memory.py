"""Rows in memory, and passes over them by the threads of one machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans.engines.threads import Threads
from edfkmeans.rows.assignments import Known
from edfkmeans.rows.blocks import Assignment, Block, Room, Task, add_results, row_blocks
from edfkmeans.rows.checks import as_frame, check_numeric, check_rows
from edfkmeans.rows.directions import unit_rows
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.repeats import find_repeats
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats, Units, Values, widened
from edfkmeans.rows.weights import Spread, Tally, Weighing, check_weights


@dataclass(frozen=True, eq=False)
class MemoryRows(Sample):
    """Rows in memory, and how many threads may work on them."""

    values: Values
    units: Units
    n_jobs: int = 1
    weights: Floats | None = None
    """What blocks are given as weights of their rows."""
    place = "in memory"

    def sums(self, tasks: Sequence[Task], title: str = "") -> list[Any]:
        blocks = row_blocks(len(self.values))

        def one(task: Task) -> list[Any]:
            total: list[Any] = [None]
            for rows in blocks:
                pool.check()
                total = add_results(total, [task(self._block(rows))])
            return total

        with Threads(self.n_jobs) as pool:
            # The last first: tasks come in the order of k, and long ones must not be the last.
            return [total for (total,) in pool.map(one, list(tasks)[::-1])][::-1]

    def per_row(self, task: Task, dtype: Any) -> Any:
        column = np.empty(len(self.values), dtype)

        def fill(rows: slice) -> None:
            column[rows] = task(self._block(rows))

        with Threads(self.n_jobs) as pool:
            pool.map(fill, row_blocks(len(self.values)))
        return column

    def total(self, column: Any, title: str = "adding up") -> float:
        return float(column.sum())

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        encoded = [encode_labels(each, len(self.values), name) for name, each in labels.items()]
        return self, [(Known(each), int(each.max()) + 1) for each in encoded]

    def labels_of_sample(self, labels: Any) -> Labels:
        return encode_labels(labels, len(self.values), "labels")

    def kept(self) -> None:  # results hold the labels themselves
        return None

    def shown(self) -> pd.DataFrame:
        return pd.DataFrame(self.units.to_original(np.asarray(self.values, np.float64)))

    def _block(self, rows: slice) -> Block:
        weights = None if self.weights is None else self.weights[rows]
        return Block(rows, self.values[rows], self.units, Room(), weights=weights)


@dataclass(frozen=True, eq=False)
class WeightedRows(Rows):
    """Rows in memory that stand for several rows each.

    What adds up is made from rows and weights. Single rows, and pairs of them, are looked at in the
    sample: there every row is as often as its weight says.
    """

    held: MemoryRows
    weighing: Weighing
    spread: Spread
    absent: Values | None
    place = "in memory"

    @property
    def units(self) -> Units:  # type: ignore[override]
        return self.held.units

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.weighing.whole

    @property
    def n_samples(self) -> int:
        return self.weighing.total

    @property
    def n_rows(self) -> int:
        return len(self.spread.back)

    @cached_property
    def sample(self) -> Sample:
        held = self.held
        return MemoryRows(held.values[self.spread.copies], held.units, held.n_jobs)

    @property
    def points(self) -> tuple[Values, Floats | None]:
        return self.held.values, self.held.weights

    def sums(self, tasks: Sequence[Task], title: str = "") -> list[Any]:
        return self.held.sums(tasks, title)

    def per_row(self, task: Task, dtype: Any) -> Any:
        return self.spread.over_rows(self.held.per_row(task, dtype))

    def total(self, column: Any, title: str = "adding up") -> float:
        weights = self.spread.weights
        return float(column.sum() if weights is None else weights @ column)

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        n, first = len(self.spread.back), self.spread.first
        encoded = [
            encode_labels(encode_labels(each, n, name)[first], len(first), name)
            for name, each in labels.items()
        ]
        return self, [(Known(each), int(each.max()) + 1) for each in encoded]

    def labels_of_sample(self, labels: Any) -> Labels:
        return encode_labels(labels, len(self.spread.back), "labels")[self.spread.numbers]

    def kept(self) -> None:  # results hold the labels themselves
        return None

    def shown(self) -> pd.DataFrame:
        return self.sample.shown().set_axis(self.spread.numbers)


def read_rows(X: Any, n_jobs: int = 1) -> MemoryRows:
    """Check X and bring it into the form the kernels want: one copy."""
    raw = check_numeric(X)
    check_rows(len(raw))
    return _rows_of(raw, n_jobs)


def _rows_of(raw: Values, n_jobs: int, weights: Floats | None = None) -> MemoryRows:
    low, high = raw.min(axis=0).astype(np.float64), raw.max(axis=0).astype(np.float64)
    units = Units.of(raw, low, high, weights)
    return MemoryRows(widened(units.values(raw)), units, n_jobs, weights)


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int,
    progress: bool,
    sample_weight: Any = None,
    together: bool = False,
) -> MemoryRows | WeightedRows:
    """Do what every engine does with X; here it is there already, and nothing is drawn."""
    raw = check_numeric(X)
    if sample_weight is not None:
        return _weighted(raw, sample_weight, n_jobs)
    check_rows(len(raw))
    repeats = find_repeats(raw) if together else None
    if repeats is None:
        return _rows_of(raw, n_jobs)
    counts = np.bincount(repeats.back).astype(np.float64)
    weighing = Weighing(len(raw), 1.0, True, len(counts))
    held = _rows_of(raw[repeats.first], n_jobs, counts)
    copies = repeats.back if weighing.complete else weighing.copies(counts)
    return WeightedRows(held, weighing, Spread(repeats.back, repeats.first, copies, None), None)


def _weighted(raw: Values, sample_weight: Any, n_jobs: int) -> MemoryRows | WeightedRows:
    """Hold the rows that count, with their weights."""
    given = check_weights(sample_weight, len(raw))
    weighing = Weighing.of(Tally.of(given))
    if weighing is None:
        check_rows(len(raw))
        return _rows_of(raw, n_jobs)
    check_rows(weighing.n_rows, of="rows of a weight above 0")
    weights = given * weighing.scale
    first = np.flatnonzero(given)
    held = _rows_of(raw[first], n_jobs, weights[first])
    back = np.full(len(raw), -1)
    back[first] = np.arange(len(first))
    absent = None
    if len(first) < len(raw):
        absent = widened(held.units.values(raw[given == 0]))
    copies = weighing.copies(weights[first])
    return WeightedRows(held, weighing, Spread(back, first, copies, weights), absent)


def directions(X: Any) -> Values:
    """Return the rows of X scaled to length one."""
    return unit_rows(check_numeric(X))


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """Return ``function(rows, *common)`` for the rows of X as they are."""
    return function(widened(check_numeric(X)), *common)


def header(X: Any) -> Any:
    """Return what has the columns of X, having made sure that X is a matrix of numbers."""
    if type(X).__name__ == "DuckDBPyConnection":  # its result can be read only once
        return pd.DataFrame(columns=[column[0] for column in X.description])
    check_numeric(X)
    return as_frame(X)
