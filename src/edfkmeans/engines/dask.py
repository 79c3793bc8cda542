"""Rows in the chunks of a dask array or data frame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans.engines._dask_chunks import Chunks, apply, is_frame, matrix
from edfkmeans.engines.memory import MemoryRows
from edfkmeans.rows.assignments import Column
from edfkmeans.rows.blocks import Assignment, Task, add_results, chunk_column, chunk_sums
from edfkmeans.rows.checks import check_rows
from edfkmeans.rows.directions import unit_rows_or_none
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.look import Look, Place, places, sample_numbers
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats, Units, Values, widened
from edfkmeans.rows.weights import Tally, Weighing, check_weight_shape, refuse_masked


@dataclass(frozen=True, eq=False)
class DaskRows(Rows):
    """Rows in chunks, and a sample of them in memory."""

    chunks: Chunks
    units: Units
    seed: int
    numbers: npt.NDArray[np.int64]
    """Numbers of the rows in the sample."""
    values: Values
    """The sample, in the units of all rows."""
    weighing: Weighing | None = None
    place = "in chunks"

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.weighing is None else self.weighing.total

    @property
    def n_rows(self) -> int:
        return sum(self.chunks.sizes)

    @property
    def weights(self) -> Any:
        """The weights of all rows, a dask array, or None."""
        return self.chunks.weights

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.weighing is None or self.weighing.whole

    @property
    def sample(self) -> Sample:
        return MemoryRows(self.values, self.units)

    def sums(self, tasks: Sequence[Task], title: str = "a pass over the rows") -> list[Any]:
        work = partial(_chunk_sums, self.units)
        found: list[Any] = self.chunks.add_up(work, list(tasks), title, add_results)
        return found

    def per_row(self, task: Task, dtype: Any) -> Any:
        return apply(self.chunks.array, chunk_column, self.units, task, dtype, dtype=dtype)

    def total(self, column: Any, title: str = "adding up") -> float:
        own = Chunks(column[:, None], self.chunks.progress, self.chunks.weights)
        return float(own.add_up(_total, None, title))

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        columns: list[Any] = []
        found: list[tuple[Assignment, int]] = []
        for number, (name, each) in enumerate(labels.items()):
            array = self.chunks.aligned(each, name)
            kinds = np.asarray(da.unique(array).compute())
            encode_labels(kinds, len(kinds), name)  # refuses NaN
            columns.append(array.map_blocks(partial(np.searchsorted, kinds), dtype=np.int64))
            found.append((Column(number), len(kinds)))
        return replace(self, chunks=self.chunks.beside(columns)), found

    def labels_of_sample(self, labels: Any) -> Labels:
        array = self.chunks.aligned(labels, "labels")
        return encode_labels(np.asarray(array[self.numbers]), len(self.numbers), "labels")

    def kept(self) -> Rows:
        return replace(self, values=self.values[:0])

    def shown(self) -> pd.DataFrame:
        values = np.asarray(self.chunks.array[self.numbers])
        return pd.DataFrame(values, index=self.numbers, columns=list(self.chunks.columns))


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int,
    progress: bool,
    sample_weight: Any = None,
    together: bool = False,
) -> DaskRows:
    """Look at every row once and draw a sample; how many work on it is up to dask.

    Equal rows are not put together.
    """
    chunks = Chunks(X, progress)
    weighing, before = _weigh(chunks, sample_weight)
    n = sum(chunks.sizes)
    check_rows(n if weighing is None else weighing.n_rows)
    if weighing is None:
        numbers = sample_numbers(n, seed)
        looks = chunks.collect(Look.at, places(chunks.sizes, numbers), "reading")
    else:
        nothing = places(chunks.sizes, np.empty(0, np.int64))
        asked = [(place, weighing, own) for place, own in zip(nothing, before, strict=True)]
        found = chunks.collect(_weighted_look, asked, "reading")
        looks = [each for each, _ in found]
        numbers = np.concatenate([own for _, own in found])
    values, units = reduce(add, looks).taken(chunks.columns)
    return DaskRows(chunks, units, seed, numbers, widened(values), weighing)


def _weigh(chunks: Chunks, sample_weight: Any) -> tuple[Weighing | None, Any]:
    """Give chunks their weights; returns what these mean, and what weighs before every chunk."""
    if sample_weight is None:
        return None, ()
    weights = weights_of(chunks, sample_weight)
    own = Chunks(weights[:, None], chunks.progress)
    firsts = np.concatenate([[0], np.cumsum(chunks.sizes)])[:-1]
    tallies = own.collect(_tally, firsts.tolist(), "weighing")
    weighing = Weighing.of(reduce(add, tallies))
    if weighing is None:
        return None, ()
    chunks.weights = weights * weighing.scale
    totals = [tally.total * weighing.scale for tally in tallies]
    return weighing, np.concatenate([[0.0], np.cumsum(totals)])[:-1]


def weights_of(chunks: Chunks, sample_weight: Any) -> Any:
    """Return weights as a dask array of floats, in the chunks of the rows."""
    refuse_masked(sample_weight)
    # A column that may have gaps would be one of objects.
    kind = getattr(getattr(sample_weight, "dtype", None), "numpy_dtype", np.dtype(object))
    if kind.kind in "biuf":
        sample_weight = sample_weight.astype(np.float64)
    weights = chunks.aligned(sample_weight, "sample_weight", check_weight_shape)
    if weights.dtype.kind not in "biuf":
        raise ValueError(
            f"sample_weight has dtype {weights.dtype}, which is not numbers. Give one real number "
            "for each row."
        )
    return weights.astype(np.float64)


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """Return ``function(rows, *common)`` of every chunk as a dask array, not yet computed."""
    return apply(matrix(X)[0], function, *common, dtype=dtype, n_columns=n_columns)


def directions(X: Any) -> Any:
    """Return the rows of X scaled to length one, not yet computed."""
    array, columns = matrix(X)
    width = array.shape[1] if columns is None else len(columns)
    return apply(array, unit_rows_or_none, dtype=array.dtype, n_columns=width)


def header(X: Any) -> Any:
    """Return a table of no rows with the columns of X, having made sure that X is numbers."""
    matrix(X)
    return X._meta if is_frame(X) else np.empty((0, *X.shape[1:]))


def write_labels(labels: Any, folder: str | Path, name: str = "cluster") -> None:
    """Write labels, a dask array, as a folder of Parquet files, one for every chunk.

    They are in the order of the rows. The folder must not hold other files.
    """
    import dask.dataframe as dd  # it needs pyarrow, which dask arrays do without

    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} exists. Remove it first, or name another folder.")
    dd.from_dask_array(labels, columns=name).to_frame().to_parquet(folder, write_index=False)


# What runs inside a task.


def _chunk_sums(
    units: Units, rows: Values, tasks: list[Task], weights: Floats | None = None
) -> list[Any]:
    return chunk_sums(rows, units, tasks, weights)


def _total(column: Values, common: None, weights: Floats | None = None) -> float:
    return float(column.sum() if weights is None else weights @ column[:, 0])


def _tally(weights: Values, first: int) -> Tally:
    return Tally.of(np.asarray(weights[:, 0], np.float64), first)


def _weighted_look(
    rows: Values, asked: tuple[Place, Weighing, float], weights: Floats
) -> tuple[Look, npt.NDArray[np.int64]]:
    """Look at a chunk, whose part of the sample its weights tell, and give the sample's numbers."""
    place, weighing, before = asked
    wanted = weighing.copies(weights, before)
    return Look.at(rows, replace(place, wanted=wanted), weights), wanted + place.start
