"""Blocks: some rows at a time, and what is done with them wherever they are.

A pass over the rows goes block by block. `chunk_sums` and `chunk_column` do one for a chunk of
numbers as they were read; they are all that a worker of an engine has to call.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Units, Values

Task = Callable[["Block"], Any]
"""Called with every block; what it returns can be added up, or is one value for each row."""


class Assignment(Protocol):
    """Says of every row of a block which cluster it is in: 0 .. k-1."""

    def on(self, block: "Block") -> Labels:
        """Return the labels of the rows of a block."""


class ChunkError(ValueError):
    """A chunk could not be computed; the message says which and why."""


def chunk_error(number: int, error: BaseException, rows: range | None, source: str) -> ChunkError:
    """Say which chunk failed, with its rows and its file so far as they are known, and why."""
    place = f", rows {rows.start} to {rows.stop - 1}" if rows else ""
    place += f", {source}" if source else ""
    reason = " ".join(str(error).split()).rstrip(" .")  # pyarrow's may have several lines
    failed = ChunkError(
        f"Chunk {number} of X (counted from 0{place}) could not be computed: "
        f"{type(error).__name__}: {reason}. Repair it or leave it out."
    )
    failed.__cause__ = error
    return failed


@lru_cache(maxsize=16)
def row_blocks(n: int) -> tuple[slice, ...]:
    """Split n rows into blocks that do not depend on who works on them."""
    return tuple(slice(first, min(first + BLOCK, n)) for first in range(0, n, BLOCK))


# Rows in one span: Ctrl-C is heard between them.
_LONGEST = 16 * BLOCK


def row_spans(n: int, parts: int) -> list[slice]:
    """Split n rows for so many threads, for what sums nothing up: fewer pieces than blocks."""
    count = max(1, min(parts, -(-n // BLOCK)), -(-n // _LONGEST))
    edges = [n * number // count for number in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(edges)]


class Room:
    """Arrays that are used again for every block.

    Workers that take memory and give it back again and again are three times slower.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        """Return an array of at most BLOCK rows; what it holds is left from before."""
        if name not in self._arrays:
            self._arrays[name] = np.empty((BLOCK, *shape[1:]), dtype)
        return self._arrays[name][: shape[0]]


class Block:
    """Some rows, good until the next block is made.

    Attributes
    ----------
    rows : slice
        Where they are in the whole, or in their chunk.
    values : ndarray of shape (n_rows, n_columns)
        In the units of the whole.
    units : Units
    room : Room
    beside : ndarray of shape (n_rows, n_further)
        Columns that stand beside those of X.
    weights : ndarray of shape (n_rows,), or None
        How many rows each row stands for; None where each is one.
    """

    def __init__(
        self,
        rows: slice,
        values: Values,
        units: Units,
        room: Room,
        beside: Any = None,
        weights: Floats | None = None,
    ) -> None:
        self.rows = rows
        self.values = values
        self.units = units
        self.room = room
        self.beside = beside
        self.weights = weights
        self._labels: dict[int, Labels] = {}
        self._whole: Any = None

    @cached_property
    def varying(self) -> Values:
        """The values in the columns that vary."""
        values: Values = self.units.only_varying(self.values)
        return values

    def doubles(self) -> Any:
        """Return the values in double precision."""
        doubles = self.room.array("doubles", self.values.shape)
        doubles[:] = self.values
        return doubles

    def whole(self, unit: float) -> Any:
        """Return the values as whole numbers of ``1 / unit``; several tasks share them."""
        if self._whole is None:
            doubles = self.room.array("doubles", self.values.shape)
            np.multiply(self.values, unit, out=doubles)
            self._whole = self.room.array("whole", self.values.shape, np.int64)
            np.copyto(self._whole, np.rint(doubles, out=doubles), casting="unsafe")
        return self._whole

    def labels(self, assignment: Assignment) -> Labels:
        """Say who is in which cluster; several tasks that ask the same are answered once."""
        key = id(assignment)
        if key not in self._labels:
            self._labels[key] = assignment.on(self)
        return self._labels[key]


def blocks_of(raw: Values, units: Units, weights: Floats | None = None) -> Iterator[Block]:
    """Go through a chunk of X block by block; columns beyond those of X stand beside them."""
    d = len(units.mean)
    own: Any = np.ascontiguousarray(raw[:, :d])
    room = Room()
    for rows in row_blocks(len(raw)):
        shape = (rows.stop - rows.start, d)
        values = room.array("values", shape, raw.dtype)
        units.fill(own[rows], values, room.array("doubles", shape))
        own_weights = None if weights is None else weights[rows]
        yield Block(rows, values, units, room, raw[rows, d:], own_weights)


def chunk_sums(
    raw: Values, units: Units, tasks: Sequence[Task], weights: Floats | None = None
) -> list[Any]:
    """Add up what every task makes of the blocks of a chunk; None where there are no rows."""
    sums: list[Any] = [None] * len(tasks)
    for block in blocks_of(raw, units, weights):
        sums = add_results(sums, [task(block) for task in tasks])
    return sums


def add_results(sums: list[Any], further: list[Any]) -> list[Any]:
    """Add results of tasks to earlier ones, task by task."""
    if any(total is None for total in sums):
        return further
    if any(part is None for part in further):
        return sums
    return [total + part for total, part in zip(sums, further, strict=True)]


def chunk_column(raw: Values, units: Units, task: Task, dtype: Any) -> Any:
    """Put together what a task makes of the rows of a chunk."""
    column = np.empty(len(raw), dtype)
    for block in blocks_of(raw, units):
        column[block.rows] = task(block)
    return column
