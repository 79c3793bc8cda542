"""Partitions: what runs in a worker of Spark.

A function gets an iterator of record batches, the rows of one partition, and gives record batches
back. Nothing here needs a session, and Spark is imported only to ask for a partition's number.
"""

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from edfkmeans.engines._arrow_streams import matrix_of
from edfkmeans.rows.moments import to_scale
from edfkmeans.rows.units import Floats, Values

# Batches are joined until there are so many rows.
_ROWS = 65536
# What a partition gives back: its number, and what was found or went wrong, pickled.
FOUND = "partition long, found binary"
# A column that holds all the numbers of a row.
PACKED = "numbers"


@dataclass(frozen=True)
class Chunk:
    """Some rows of a partition, with their ids, the number of the first one, and their weights."""

    rows: Values
    ids: Any
    start: int
    weights: Floats | None = None


Work = Callable[[Chunk], Any]


@dataclass(frozen=True, eq=False)
class Reader:
    """How record batches become numbers."""

    names: tuple[str, ...]
    """Columns of X, then those that stand beside them."""
    dtype: Any
    id: str | None
    scale: tuple[Floats, Floats] | None = None
    """What to subtract from the columns of X, and what to divide them by."""
    weight: str | None = None
    weight_scale: float = 1.0
    """What weights are multiplied by."""
    packed: bool = False
    """Whether the numbers of a row stand in one column, as an array."""

    def matrix(self, batches: Sequence[Any]) -> Values:
        """Return the numbers of some batches."""
        if self.packed:
            parts = [batch.column(PACKED).flatten() for batch in batches]
            flat = np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])
            values = flat.astype(self.dtype, copy=False).reshape(-1, len(self.names))
        else:
            own = [batch.select(list(self.names)) for batch in batches]
            values = matrix_of(own, self.names, self.dtype)
        if self.scale is None:
            return values
        d = len(self.scale[0])
        values[:, :d] = to_scale(values[:, :d], *self.scale)
        return values

    def chunks(self, batches: Iterable[Any]) -> Iterator[Chunk]:
        """Go through a partition."""
        start = 0
        for held in _gathered(batches):
            ids = None
            if self.id is not None:
                ids = pa.concat_arrays([batch.column(self.id) for batch in held])
            chunk = Chunk(self.matrix(held), ids, start, self.weights(held))
            start += len(chunk.rows)
            yield chunk

    def weights(self, batches: Sequence[Any]) -> Floats | None:
        """Return the weights of the rows of some batches, if they have any."""
        if self.weight is None:
            return None
        own = [batch.select([self.weight]) for batch in batches]
        given = matrix_of(own, [self.weight], np.dtype(np.float64))[:, 0]
        return np.asarray(given * self.weight_scale, np.float64)


def _gathered(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Join small batches: calls cost time."""
    held: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS:
            yield held
            held = []
    if held:
        yield held


def add_up(
    reader: Reader, work: Work, together: Callable[[Any, Any], Any], batches: Iterable[Any]
) -> Iterator[Any]:
    """Give the sum of what a function makes of the chunks of a partition; None without rows.

    What goes wrong is handed over in its place: Spark would try again, and tell less.
    """
    try:
        results = map(work, reader.chunks(batches))
        first = next(results, None)
        found = pickle.dumps((reduce(together, results, first), None))
    except Exception as error:
        found = pickle.dumps((None, _portable(error)))
    _keep_what_is_loaded(work.func if isinstance(work, partial) else work)
    yield pa.record_batch({"partition": [partition_number()], "found": [found]})


@cache
def _keep_what_is_loaded(work: Work) -> None:
    """Leave out of the search for garbage what is there when a kind of work is first done.

    That is numba and the like, for the most part. Spark's workers search after every task, which
    would take longer than many tasks do.
    """
    gc.collect()
    gc.freeze()


def _portable(error: Exception) -> Exception:
    """Return an error that arrives; some cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(error))  # type: ignore[no-any-return]
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


def partition_number() -> int:
    """Return the number of the partition that is being worked on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0


def columns(
    reader: Reader,
    work: Callable[[Values], Any],
    dtype: Any,
    kept: Sequence[str],
    names: Sequence[str],
    batches: Iterable[Any],
) -> Iterator[Any]:
    """Put what a function makes of the rows beside the columns that are kept of them."""
    kind = pa.from_numpy_dtype(dtype)
    for held in _gathered(batches):
        whole = pa.Table.from_batches(held).select(list(kept)).combine_chunks()
        made = np.asarray(work(reader.matrix(held)), dtype).reshape(len(whole), -1)
        for name, column in zip(names, made.T, strict=True):
            whole = whole.append_column(name, pa.array(np.ascontiguousarray(column), kind))
        yield from whole.to_batches()


def with_ids(wanted: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Keep the rows with some ids."""
    import pyarrow.compute as pc

    for batch in batches:
        own = batch.column("id")
        yield batch.filter(pc.is_in(own, value_set=wanted.cast(own.type)))


def kinds(batches: Iterable[Any]) -> Iterator[Any]:
    """Give the distinct labels of a partition."""
    seen = None
    for batch in batches:
        column = batch.column("label")
        seen = column.unique() if seen is None else pa.concat_arrays([seen, column]).unique()
    if seen is not None:
        yield pa.record_batch({"label": seen})


def encoded(known: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Turn labels into 0 .. k-1."""
    for batch in batches:
        codes = np.searchsorted(known, np.asarray(batch.column("label").to_pandas()))
        yield pa.record_batch({"id": batch.column("id"), "label": codes.astype(np.int32)})
