"""Rows that a stream of Arrow's record batches gives, on one machine and never all at once."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from edfkmeans.engines._arrow_chunks import Chunks
from edfkmeans.engines._arrow_streams import stream_of
from edfkmeans.engines.memory import MemoryRows
from edfkmeans.engines.threads import effective_jobs
from edfkmeans.rows.assignments import Column
from edfkmeans.rows.blocks import Assignment, Task, add_results, chunk_column, chunk_sums
from edfkmeans.rows.checks import check_rows
from edfkmeans.rows.directions import unit_rows_or_none
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.look import Look, Place, sample_numbers
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats, Units, Values, widened
from edfkmeans.rows.weights import Tally, Weighing, check_weights


class ArrowColumn:
    """Numbers for every row of a stream: they are computed whenever they are read.

    `numpy.asarray` reads them all and an index some of them. They are an Arrow stream too:
    `pyarrow.table`, `polars.DataFrame` and others take them as they are, and
    `pyarrow.RecordBatchReader.from_stream` goes through them batch by batch.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    """

    def __init__(
        self, chunks: Chunks, work: Callable[[Values], Any], dtype: Any, n_columns: int | None
    ) -> None:
        self.dtype = np.dtype(dtype)
        self._chunks = chunks
        self._work = work
        self._n_columns = n_columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and, where there are several, of columns."""
        n = self._chunks.n_rows
        return (n,) if self._n_columns is None else (n, self._n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def parts(self, title: str = "a pass over the rows") -> Iterator[Any]:
        """Read the numbers part by part, in the order of the rows."""
        return self._chunks.run(self._one, title)

    def _one(self, raw: Values, start: int) -> Any:
        return np.asarray(self._work(raw), self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("These numbers are not there before they are read: copy=False fails.")
        found = np.empty(self.shape, self.dtype)
        start = 0
        for part in self.parts():
            found[start : start + len(part)] = part
            start += len(part)
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        """Read some of the numbers, by an index, a slice, a mask or a list of indices."""
        n = len(self)
        if isinstance(key, slice):
            key = np.arange(*key.indices(n))
        numbers = np.asarray(key)
        if numbers.dtype == bool and numbers.shape == (n,):
            numbers = np.flatnonzero(numbers)
        if not numbers.size:
            return np.empty((0, *self.shape[1:]), self.dtype)
        if numbers.dtype.kind not in "iu" or numbers.ndim > 1:
            raise IndexError(f"{key!r} is no index of rows. Give numbers of rows, counted from 0.")
        if numbers.min() < -n or numbers.max() >= n:
            raise IndexError(f"{key!r} is out of range: there are {n} rows.")
        found = self._chunks.pick(np.where(numbers < 0, numbers + n, numbers), self._one, "reading")
        return found.reshape(numbers.shape + self.shape[1:])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)

    def reader(self, name: str = "cluster") -> Any:
        """Return a `pyarrow.RecordBatchReader`; several columns are numbered."""
        names = [name]
        if self._n_columns is not None:
            names = [f"{name}{j}" for j in range(self._n_columns)]
        schema = pa.schema([(each, pa.from_numpy_dtype(self.dtype)) for each in names])
        batches = (
            pa.record_batch(list(part.reshape(len(part), -1).T), schema=schema)
            for part in self.parts()
        )
        return pa.RecordBatchReader.from_batches(schema, batches)

    def __repr__(self) -> str:
        return f"ArrowColumn(shape={self.shape}, dtype={self.dtype}, read when asked for)"


@dataclass(frozen=True, eq=False)
class ArrowRows(Rows):
    """Rows in a stream, and a sample of them in memory."""

    chunks: Chunks
    units: Units
    seed: int
    numbers: npt.NDArray[np.int64]
    """Numbers of the rows in the sample."""
    values: Values
    """The sample, in the units of all rows."""
    weights: Floats | None = None
    weighing: Weighing | None = None
    place = "in a stream"

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.weighing is None else self.weighing.total

    @property
    def n_rows(self) -> int:
        return self.chunks.n_rows

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.weighing is None or self.weighing.whole

    @property
    def sample(self) -> Sample:
        return MemoryRows(self.values, self.units)

    def sums(self, tasks: Sequence[Task], title: str = "a pass over the rows") -> list[Any]:
        tasks = list(tasks)
        if not tasks:
            return []
        results = self.chunks.run(partial(_sums, self.units, tasks, self.weights), title)
        return reduce(add_results, results)

    def per_row(self, task: Task, dtype: Any) -> ArrowColumn:
        work = partial(chunk_column, units=self.units, task=task, dtype=dtype)
        return ArrowColumn(self.chunks, work, dtype, None)

    def total(self, column: ArrowColumn, title: str = "adding up") -> float:
        if self.weights is not None:
            return float(self.weights @ np.asarray(column))
        return float(reduce(add, (part.sum() for part in column.parts(title))))

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        n = self.chunks.n_rows
        encoded = [encode_labels(each, n, name) for name, each in labels.items()]
        chunks = copy(self.chunks)
        chunks.beside = tuple(encoded)
        found: list[tuple[Assignment, int]] = [
            (Column(number), int(each.max()) + 1) for number, each in enumerate(encoded)
        ]
        return replace(self, chunks=chunks), found

    def labels_of_sample(self, labels: Any) -> Labels:
        return encode_labels(labels, self.chunks.n_rows, "labels")[self.numbers]

    def kept(self) -> Rows:
        return replace(self, values=self.values[:0])

    def shown(self) -> pd.DataFrame:
        values = self.chunks.pick(self.numbers, _as_they_are, "reading")
        return pd.DataFrame(values, index=self.numbers, columns=self.chunks.columns)


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int,
    progress: bool,
    sample_weight: Any = None,
    together: bool = False,
) -> ArrowRows:
    """Look at every row once and draw a sample; equal rows are not put together."""
    chunks = Chunks(stream_of(X), n_jobs, progress)
    n = chunks.n_rows
    weights = weighing = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, n)
        weighing = Weighing.of(Tally.of(weights))
        weights = None if weighing is None else weights * weighing.scale
    check_rows(n if weighing is None else weighing.n_rows)
    if weights is None or weighing is None:
        numbers = sample_numbers(n, seed)
    else:
        numbers = weighing.copies(weights)
    looks: Any = chunks.run(partial(_look, numbers, weights), "reading")
    values, units = reduce(add, looks).taken(chunks.columns)
    return ArrowRows(chunks, units, seed, numbers, widened(values), weights, weighing)


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> ArrowColumn:
    """Return ``function(rows, *common)`` of every chunk, not yet computed."""
    chunks = Chunks(stream_of(X), effective_jobs(None))
    return ArrowColumn(chunks, partial(_called, function, common), dtype, n_columns)


def directions(X: Any) -> Callable[[], Any]:
    """Return the rows of X scaled to length one, as a function that gives batches of them."""
    width = len(stream_of(X).columns)
    scaled = map_rows(X, unit_rows_or_none, dtype=np.float64, n_columns=width)
    return partial(scaled.reader, "column")


def header(X: Any) -> pd.DataFrame:
    """Return a table of no rows with the columns of X, having made sure that X is numbers."""
    return pd.DataFrame(columns=stream_of(X).columns)


def write_labels(labels: ArrowColumn, place: str | Path, name: str = "cluster") -> None:
    """Write labels as a Parquet file, part by part, in the order of the rows."""
    from pyarrow import parquet

    reader = labels.reader(name)
    with parquet.ParquetWriter(place, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


# What runs inside a thread.


def _look(numbers: npt.NDArray[np.int64], weights: Floats | None, raw: Values, start: int) -> Look:
    first, last = np.searchsorted(numbers, [start, start + len(raw)])
    place = Place(None, start, len(raw), numbers[first:last] - start)
    return Look.at(raw, place, part_of(weights, raw, start))


def _sums(
    units: Units, tasks: list[Task], weights: Floats | None, raw: Values, start: int
) -> list[Any]:
    return chunk_sums(raw, units, tasks, part_of(weights, raw, start))


def part_of(weights: Floats | None, raw: Values, start: int) -> Floats | None:
    """Return the weights of a chunk's rows."""
    return None if weights is None else weights[start : start + len(raw)]


def _called(function: Callable[..., Any], common: tuple[Any, ...], raw: Values) -> Any:
    return function(raw, *common)


def _as_they_are(raw: Values, start: int) -> Values:
    return raw
