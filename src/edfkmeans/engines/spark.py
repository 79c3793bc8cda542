"""Rows in the partitions of a DataFrame of Spark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from edfkmeans.engines import _spark_partitions as partitions
from edfkmeans.engines._spark_draws import Census, Draw, Recipe, salt_of, unit_of
from edfkmeans.engines._spark_partitions import Chunk
from edfkmeans.engines._spark_tables import Table, address, collected, plain, quoted, table_of
from edfkmeans.engines.memory import MemoryRows
from edfkmeans.rows import look
from edfkmeans.rows.assignments import Column
from edfkmeans.rows.blocks import Assignment, Task, add_results, chunk_column, chunk_sums
from edfkmeans.rows.checks import check_rows
from edfkmeans.rows.directions import unit_rows_or_none
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Units, Values, widened
from edfkmeans.rows.weights import Tally, Weighing

__all__ = [
    "SparkColumn",
    "SparkRows",
    "Table",
    "free_names",
    "header",
    "map_rows",
    "open_rows",
    "write_labels",
]

_SPARK = {
    "int32": spark_types.IntegerType(),
    "int64": spark_types.LongType(),
    "float32": spark_types.FloatType(),
    "float64": spark_types.DoubleType(),
}


class SparkColumn:
    """Numbers for every row of a table: they are computed whenever they are asked for.

    `frame` is what to work with. `numpy.asarray` brings them all into memory, in the order of the
    ids of the table; where rows have no id, they have no order, and that is refused.

    Attributes
    ----------
    dtype : dtype
    """

    def __init__(
        self, table: Table, work: Callable[[Values], Any], dtype: Any, n_columns: int | None
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.table = table
        self.work = work
        self._n_columns = n_columns

    @property
    def frame(self) -> Any:
        """A DataFrame of Spark: the ids and the numbers; without ids, X and the numbers."""
        return self.beside(self.table.names if self.table.id is None else [self.table.id])

    def beside(self, kept: list[str]) -> Any:
        """Return a DataFrame of Spark: the first columns of the table, by name, and the numbers."""
        table, names = self.table, self.names
        rows = table.rows
        own, kind = [f"value{j}" for j in range(len(names))], _SPARK[self.dtype.name]
        schema = spark_types.StructType(
            [
                *rows.schema.fields[: len(kept)],
                *(spark_types.StructField(name, kind) for name in own),
            ]
        )
        first = plain(table.names)[: len(kept)]
        work = partial(partitions.columns, table.reader, self.work, self.dtype, first, own)
        return rows.mapInArrow(work, schema).toDF(*kept, *names)

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers."""
        name = "cluster" if self.dtype.kind == "i" else "value"
        ends = [""] if self._n_columns is None else range(self._n_columns)
        return free_names(self.table, [f"{name}{end}" for end in ends])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("These numbers are not there before they are read: copy=False fails.")
        if self.table.id is None:
            raise TypeError(
                "Rows in Spark have no order that an array could have. Use .frame, or name the "
                "rows: Table(X, id=...)."
            )
        whole = collected(self.frame).to_pandas()
        whole = whole.sort_values(self.table.id, kind="stable")
        found = whole[self.names].to_numpy(self.dtype)
        found = found[:, 0] if self._n_columns is None else found
        return found if dtype is None else found.astype(dtype)

    def sum(self) -> float:
        """Add the numbers up, those of a row that stands for several as often."""
        return float(reduce(add, self.table.results(partial(_total, self.work), "adding up")))

    def __repr__(self) -> str:
        return f"SparkColumn(dtype={self.dtype}, computed when asked for; its DataFrame is .frame)"


@dataclass(frozen=True, eq=False)
class SparkRows(Rows):
    """Rows in a table of Spark, and a sample of them in memory."""

    table: Table
    units: Units
    seed: int
    recipe: Recipe
    """How the sample is drawn."""
    ids: pd.Index | None
    """Ids of the rows in the sample."""
    values: Values
    """The sample, in the units of all rows."""
    weighing: Weighing | None = None
    place = "in Spark"

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.weighing is None else self.weighing.total

    @property
    def n_rows(self) -> int:
        return self.recipe.n_rows

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
        work = partial(_sums, self.units, tasks)
        return reduce(add_results, self.table.results(work, title, add_results))

    def per_row(self, task: Task, dtype: Any) -> SparkColumn:
        work = partial(chunk_column, units=self.units, task=task, dtype=dtype)
        return SparkColumn(self.table, work, dtype, None)

    def total(self, column: SparkColumn, title: str = "adding up") -> float:
        return column.sum()

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        table = self.table
        frame, names = table.frame, []
        found: list[tuple[Assignment, int]] = []
        for number, (name, each) in enumerate(labels.items()):
            own = f"edfkmeans label {number}"
            codes, k = self._codes(each, name, own)
            frame = frame.join(codes, on=self._id(name), how="inner")
            names.append(own)
            found.append((Column(number), k))
        table = replace(table, frame=frame, beside=tuple(names))
        n = sum(table.results(_count, "joining labels"))
        if n != self.n_rows:
            raise ValueError(
                f"{' and '.join(labels)} give {n} rows when joined to X by {table.id!r}, but X has "
                f"{self.n_rows}. Give one label for each id."
            )
        return replace(self, table=table), found

    def labels_of_sample(self, labels: Any) -> Labels:
        self._id("labels")
        assert self.ids is not None
        if not _is_lazy(labels):
            codes = encode_labels(labels, self.n_rows, "labels")
            return codes[self._all_ids().get_indexer(self.ids)]
        frame = self._pairs(labels, "labels")
        work = partial(partitions.with_ids, pa.array(self.ids))
        there = collected(frame.mapInArrow(work, frame.schema)).to_pandas()
        own = there.set_index("id")["label"].reindex(self.ids)
        return encode_labels(own.to_numpy(), len(self.ids), "labels")

    def kept(self) -> Rows:
        return replace(self, values=self.values[:0], ids=None)

    def shown(self) -> pd.DataFrame:
        rows, ids = _drawn(self.table, self.recipe)
        index = None if ids is None else ids.rename(self.table.id)
        return pd.DataFrame(rows, index=index, columns=list(self.table.columns or ()))

    def part(self, column: SparkColumn, shown: pd.DataFrame) -> Any:
        return np.asarray(column.work(shown.to_numpy(self.table.dtype)))

    def _id(self, name: str) -> str:
        if self.table.id is None:
            raise TypeError(
                f"{name}: rows in Spark have no order, so labels have to be told which row they "
                "are of. Name the rows: Table(X, id=...)."
            )
        return self.table.id

    def _all_ids(self) -> pd.Index:
        """Return the ids of all rows, in their order."""
        id = self._id("labels")
        ids = collected(self.table.frame.select(quoted(id))).to_pandas()
        ordered: pd.Index = pd.Index(ids[id]).sort_values()
        if not ordered.is_unique:
            again = ordered[ordered.duplicated()][0]
            raise ValueError(
                f"id={id!r} names several rows alike, such as {again!r}, and labels could be those "
                "of any of them. Take a column that names every row once."
            )
        return ordered

    def _pairs(self, labels: Any, name: str) -> Any:
        """Return a DataFrame of `id` and `label`."""
        id = self._id(name)
        frame = labels.frame if isinstance(labels, SparkColumn) else labels
        others = [each for each in frame.columns if each != id]
        if id not in frame.columns or len(others) != 1:
            raise ValueError(
                f"{name} has the columns {', '.join(frame.columns)}, but must have {id!r} and one "
                "for the labels."
            )
        return frame.select(quoted(id), quoted(others[0])).toDF("id", "label")

    def _codes(self, labels: Any, name: str, own: str) -> tuple[Any, int]:
        """Return a DataFrame of ids and labels 0 .. k-1, and k."""
        id = self._id(name)
        if not _is_lazy(labels):
            codes = encode_labels(labels, self.n_rows, name)
            table = pa.table({id: pa.array(self._all_ids()), own: codes})
            return self.table.frame.sparkSession.createDataFrame(table), int(codes.max()) + 1
        frame = self._pairs(labels, name)
        there = frame.mapInArrow(partitions.kinds, spark_types.StructType([frame.schema["label"]]))
        found = collected(there).column("label").unique().to_pandas().to_numpy()
        encode_labels(found, len(found), name)  # refuses NaN
        known = np.unique(found)
        code = spark_types.StructField("label", spark_types.IntegerType())
        schema = spark_types.StructType([frame.schema["id"], code])
        codes = frame.mapInArrow(partial(partitions.encoded, known), schema)
        return codes.toDF(id, own), len(known)


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int,
    progress: bool,
    sample_weight: Any = None,
    together: bool = False,
) -> SparkRows:
    """Look at every row, and draw a sample; how many work on it is up to Spark."""
    if sample_weight is not None:
        raise TypeError(
            "sample_weight: rows in Spark have no order that weights could be in. Name the column "
            "that holds them: Table(X, weight=...)."
        )
    table, weighing = _weigh(table_of(X, progress))
    salt = salt_of(seed)
    found = table.results(partial(_census, salt, unit_of(weighing)), "reading")
    census: Census | None = reduce(add, found) if found else None
    check_rows(0 if census is None else census.n_rows if weighing is None else weighing.n_rows)
    assert census is not None
    names = table.columns
    if census.look.bad is not None:
        census.look.taken(names)
    recipe = census.recipe(look.SAMPLE, salt, weighing)
    rows, ids = _drawn(table, recipe)
    values, units = replace(census.look, sample=[rows]).taken(names)
    return SparkRows(table, units, seed, recipe, ids, widened(values), weighing)


def _weigh(table: Table) -> tuple[Table, Weighing | None]:
    """Find out what the weights of the rows mean, if they have any; the table then scales them."""
    if table.weight is None:
        return table, None
    tallies = table.results(_tally, "weighing")
    check_rows(sum(each.positive + each.zero for each in tallies))
    weighing = Weighing.of(reduce(add, tallies))
    if weighing is None:  # every row counts once
        return replace(table, weight=None), None
    return replace(table, weight_scale=weighing.scale), weighing


def _drawn(table: Table, recipe: Recipe) -> tuple[Values, pd.Index | None]:
    return recipe.taken(reduce(add, table.results(partial(_draw, recipe), "drawing a sample")))


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> SparkColumn:
    """Return ``function(rows, *common)`` of every row, not yet computed."""
    return SparkColumn(table_of(X), partial(_called, function, common), dtype, n_columns)


def directions(X: Any) -> Table:
    """Return the rows of X scaled to length one, as they are read."""
    table = table_of(X)
    scaled = map_rows(
        table, unit_rows_or_none, dtype=np.float64, n_columns=len(table.columns or ())
    )
    kept = [name for name in (table.id, table.weight) if name is not None]
    frame = scaled.beside(kept or table.names)
    return Table(frame, id=table.id, columns=scaled.names, weight=table.weight)


def header(X: Any) -> pd.DataFrame:
    """Return a table of no rows with the columns of X, having made sure that X is numbers."""
    return pd.DataFrame(columns=list(table_of(X).columns or ()))


def write_labels(labels: SparkColumn, folder: str | Path) -> None:
    """Write labels as a folder of Parquet files, by Spark's workers, who must get at it."""
    labels.frame.write.parquet(address(folder) if isinstance(folder, Path) else folder)


def free_names(table: Table, names: list[str]) -> list[str]:
    """Return these names, with a word in front where the table has one of them, in any case."""
    taken = {name.lower() for name in table.names}
    while taken.intersection(names):
        names = [f"edfkmeans_{name}" for name in names]
    return names


def _is_lazy(labels: Any) -> bool:
    return isinstance(labels, SparkColumn | DataFrame)


# What runs inside a worker.


def _tally(chunk: Chunk) -> Tally:
    def where(row: int) -> str:
        if chunk.ids is not None:
            return f"row {chunk.ids[row].as_py()!r} (its id)"
        number = partitions.partition_number()
        return f"row {row + chunk.start} (counted from 0, in partition {number})"

    assert chunk.weights is not None
    return Tally.of(chunk.weights, where=where)


def _census(salt: int, unit: float, chunk: Chunk) -> Census:
    where = f"in partition {partitions.partition_number()}"
    return Census.at(chunk.rows, chunk.ids, chunk.start, salt, where, chunk.weights, unit)


def _draw(recipe: Recipe, chunk: Chunk) -> Draw:
    return recipe.draw(chunk.rows, chunk.ids, chunk.weights)


def _sums(units: Units, tasks: list[Task], chunk: Chunk) -> list[Any]:
    return chunk_sums(chunk.rows, units, tasks, chunk.weights)


def _total(work: Callable[[Values], Any], chunk: Chunk) -> float:
    column = work(chunk.rows)
    return float(np.sum(column) if chunk.weights is None else chunk.weights @ column)


def _count(chunk: Chunk) -> int:
    return len(chunk.rows)


def _called(function: Callable[..., Any], common: tuple[Any, ...], raw: Values) -> Any:
    return function(raw, *common)
