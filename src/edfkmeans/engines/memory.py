"""Rows in memory, and passes over them by the threads of one machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans.engines.threads import Threads
from edfkmeans.rows.assignments import Known
from edfkmeans.rows.blocks import Assignment, Block, Room, Task, add_results, row_blocks
from edfkmeans.rows.checks import as_frame, check_numeric, check_rows
from edfkmeans.rows.directions import unit_rows
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Units, Values


@dataclass(frozen=True, eq=False)
class MemoryRows(Sample):
    """Rows in memory, and how many threads may work on them."""

    values: Values
    units: Units
    n_jobs: int = 1
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
        return Block(rows, self.values[rows], self.units, Room())


def read_rows(X: Any, n_jobs: int = 1) -> MemoryRows:
    """Check X and bring it into the form the kernels want: one copy, float32 staying float32."""
    raw = check_numeric(X)
    check_rows(len(raw))
    low, high = raw.min(axis=0).astype(np.float64), raw.max(axis=0).astype(np.float64)
    units = Units.of(raw, low, high)
    return MemoryRows(units.values(raw), units, n_jobs)


def open_rows(X: Any, seed: int, n_jobs: int, progress: bool) -> MemoryRows:
    """Do what every engine does with X; here it is there already, and no sample is drawn."""
    return read_rows(X, n_jobs)


def directions(X: Any) -> Values:
    """Return the rows of X scaled to length one."""
    return unit_rows(check_numeric(X))


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """Return ``function(rows, *common)`` for the rows of X as they are."""
    return function(check_numeric(X), *common)


def header(X: Any) -> Any:
    """Return what has the columns of X, having made sure that X is a matrix of numbers."""
    if type(X).__name__ == "DuckDBPyConnection":  # its result can be read only once
        return pd.DataFrame(columns=[column[0] for column in X.description])
    check_numeric(X)
    return as_frame(X)
