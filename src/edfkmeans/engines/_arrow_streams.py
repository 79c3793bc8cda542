"""Streams: what gives record batches of Arrow, and gives the same ones whenever it is asked."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from edfkmeans.rows.checks import refuse_same_names, refuse_text
from edfkmeans.rows.moments import to_scale
from edfkmeans.rows.units import Floats, Values

# Rows that are asked for at a time; readers may give fewer.
_ROWS = 65536
_ONCE = (
    "which can be read only once, and several passes are needed. Give a function that opens it "
    "anew, e.g. lambda: pyarrow.csv.open_csv(file), or the rows themselves if they fit, e.g. "
    "pyarrow.table(X) or list(X)."
)


class Stream(ABC):
    """Rows that are read batch by batch, as often as they are asked for."""

    @cached_property
    @abstractmethod
    def schema(self) -> Any:
        """Names and types of the columns."""

    @abstractmethod
    def count(self) -> int:
        """Count the rows."""

    @abstractmethod
    def batches(self) -> Iterator[tuple[Any, str]]:
        """Read all rows: record batches, each with the name of its file, if there is one."""

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, counted once."""
        return self.count()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, len(self.schema.names)

    def spoilt(self, last: str) -> str:
        """Name the file that cannot be read, if there are files; `last` was still good."""
        return ""

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns, having made sure that all are numbers."""
        names = list(self.schema.names)
        if not names:
            raise ValueError("X has no columns. Give at least one column of numbers.")
        refuse_same_names(names)
        refuse_text([field.name for field in self.schema if not _is_number(field.type)])
        return names

    @cached_property
    def dtype(self) -> Any:
        """What the numbers are computed in: float32 stays, all others become float64."""
        types = [np.dtype(_numpy_type(field.type)) for field in self.schema]
        return np.dtype(np.float32 if np.result_type(*types) == np.float32 else np.float64)

    def matrix(self, batches: Sequence[Any]) -> Values:
        """Return the rows of some batches, what is missing being NaN."""
        return matrix_of(batches, self.schema.names, self.dtype)


def index_columns(schema: Any) -> list[str]:
    """Name the columns that are the index of a data frame of pandas, as its metadata says.

    They say which row it is, and no data frame would count them as columns.
    """
    try:
        told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = told.get("index_columns", [])
    except (ValueError, AttributeError):  # of someone else
        return []
    return [name for name in schema.names if name in index]


def matrix_of(batches: Sequence[Any], names: Sequence[str], dtype: Any) -> Values:
    """Return the rows of record batches with columns of these names, missing ones being NaN."""
    values = np.empty((sum(batch.num_rows for batch in batches), len(names)), dtype)
    wanted = pa.from_numpy_dtype(dtype)
    first = 0
    for batch in batches:
        if batch.schema.names != list(names):
            raise ValueError(
                f"it has columns {batch.schema.names}, but the first had {list(names)}"
            )
        for j, column in enumerate(batch.columns):
            numbers = column if column.type == wanted else column.cast(wanted, safe=False)
            part = numbers.to_numpy(zero_copy_only=False)
            values[first : first + batch.num_rows, j] = part
        first += batch.num_rows
    return values


def _is_number(kind: Any) -> bool:
    types = pa.types
    return any(
        check(kind)
        for check in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    )


def _numpy_type(kind: Any) -> Any:
    return np.float64 if pa.types.is_decimal(kind) else kind.to_pandas_dtype()


@dataclass(frozen=True, eq=False)
class DatasetStream(Stream):
    """The rows of a `pyarrow.dataset.Dataset`."""

    dataset: Any
    names: tuple[str, ...] | None = None
    """The columns to read; None for all."""

    @cached_property
    def schema(self) -> Any:
        whole = self.dataset.schema
        return whole if self.names is None else pa.schema([whole.field(n) for n in self.names])

    def count(self) -> int:
        if isinstance(getattr(self.dataset, "format", None), ds.CsvFileFormat):
            # Text has to be read for that, and Ctrl-C must be heard meanwhile.
            return sum(batch.num_rows for batch, _ in self.batches())
        return int(self.dataset.count_rows())

    def batches(self) -> Iterator[tuple[Any, str]]:
        # A scanner of the whole reads up to 1 GB ahead of those who compute more slowly than it
        # reads. So files are asked one by one, and those of Parquet for one row group at a time.
        fragments = self._fragments()
        if fragments is None:
            for tagged in self.dataset.scanner(**self._wanted(), use_threads=False).scan_batches():
                yield tagged.record_batch, getattr(tagged.fragment, "path", "")
            return
        for fragment in fragments:
            path = getattr(fragment, "path", "")
            yield from ((batch, path) for batch in self._of_file(fragment))

    def _fragments(self) -> list[Any] | None:
        """Return the files; None if the dataset has a filter, which its files do not know of."""
        try:
            return list(self.dataset.get_fragments())
        except ValueError:
            return None

    def _wanted(self) -> dict[str, Any]:
        columns = None if self.names is None else list(self.names)
        return {"columns": columns, "batch_size": _ROWS, "batch_readahead": 1}

    def _of_file(self, fragment: Any) -> Iterator[Any]:
        """Read one file: Parquet by row groups, all else as pyarrow reads it."""
        wanted = {"schema": self.dataset.schema, **self._wanted()}
        if isinstance(fragment, ds.ParquetFileFragment):
            wanted["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)
            for group in fragment.split_by_row_group():
                yield from group.to_batches(**wanted)
        else:
            yield from fragment.to_batches(**wanted, use_threads=False)

    def spoilt(self, last: str) -> str:
        # The reader does not always say which file it was: ask those that did not come.
        files = [each for each in self._fragments() or [] if getattr(each, "path", "")]
        places = [each.path for each in files]
        for fragment in files[places.index(last) if last in places else 0 :]:
            try:
                for _ in fragment.to_batches(schema=self.dataset.schema, batch_readahead=1):
                    pass
            except Exception:
                return str(fragment.path)
        return ""


@dataclass(frozen=True, eq=False)
class LazyStream(Stream):
    """The rows of a polars LazyFrame."""

    frame: Any

    @cached_property
    def schema(self) -> Any:
        return self.frame.limit(0).collect().to_arrow().schema

    def count(self) -> int:
        import polars as pl

        return int(self.frame.select(pl.len()).collect().item())

    def batches(self) -> Iterator[tuple[Any, str]]:
        if not hasattr(self.frame, "collect_batches"):
            raise TypeError(
                "X is a LazyFrame of a polars that cannot hand over rows batch by batch. Upgrade "
                "polars to 1.34 or later, or give X.collect() if the rows fit."
            )
        for part in self.frame.collect_batches(chunk_size=_ROWS, maintain_order=True):
            yield from ((batch, "") for batch in part.to_arrow().to_batches())


@dataclass(frozen=True, eq=False)
class RelationStream(Stream):
    """The rows of a DuckDB relation, which runs its query again in every pass."""

    relation: Any

    @cached_property
    def schema(self) -> Any:
        return _reader_of(self.relation.limit(0)).schema

    def count(self) -> int:
        return int(self.relation.count("*").fetchall()[0][0])

    def batches(self) -> Iterator[tuple[Any, str]]:
        yield from ((batch, "") for batch in _reader_of(self.relation))


def _reader_of(relation: Any) -> Any:
    """Run the query of a relation; its result is not held."""
    for name in ("to_arrow_reader", "fetch_record_batch"):  # from 1.5 on, and in 1.4
        reader = getattr(type(relation), name, None)
        if reader is not None:
            return reader(relation, _ROWS)
    raise TypeError(
        "X is a relation of a DuckDB that cannot hand over rows batch by batch. Upgrade DuckDB to "
        "1.4 or later, or give X.df() if the rows fit."
    )


@dataclass(frozen=True, eq=False)
class CalledStream(Stream):
    """The rows that a function gives: it is called for every pass."""

    function: Callable[[], Any]

    @cached_property
    def schema(self) -> Any:
        for batch, _ in self.batches():
            return batch.schema
        raise ValueError("X gave no batches when it was called. Give at least one, with columns.")

    def count(self) -> int:
        return sum(batch.num_rows for batch, _ in self.batches())

    def batches(self) -> Iterator[tuple[Any, str]]:
        given = self.function()
        if hasattr(given, "__arrow_c_stream__"):
            given = pa.RecordBatchReader.from_stream(given)
        if not isinstance(given, Iterable):
            raise TypeError(
                f"X gave a {type(given).__name__} when it was called, but must give record batches "
                "of Arrow, one after the other."
            )
        for part in given:
            yield from ((batch, "") for batch in _batches_of(part))


def _batches_of(part: Any) -> Iterable[Any]:
    if isinstance(part, pa.RecordBatch):
        return [part]
    if not any(hasattr(part, f"__arrow_c_{kind}__") for kind in ("stream", "array")):
        raise TypeError(
            f"X gave a {type(part).__name__}, but must give record batches of Arrow: "
            "pyarrow.RecordBatch.from_pandas(...) makes one of a data frame."
        )
    batches: Iterable[Any] = pa.table(part).to_batches()
    return batches


@dataclass(frozen=True, eq=False)
class ScaledStream(Stream):
    """Rows whose columns are brought to one scale as they are read."""

    stream: Stream
    offset: Floats
    spread: Floats

    @cached_property
    def schema(self) -> Any:
        return self.stream.schema

    def count(self) -> int:
        return self.stream.n_rows

    def batches(self) -> Iterator[tuple[Any, str]]:
        return self.stream.batches()

    def spoilt(self, last: str) -> str:
        return self.stream.spoilt(last)

    def matrix(self, batches: Sequence[Any]) -> Values:
        return to_scale(self.stream.matrix(batches), self.offset, self.spread)


def stream_of(X: Any) -> Stream:
    """Return a stream of the rows of X, whatever it is."""
    if isinstance(X, Stream):
        return X
    if isinstance(X, ds.Dataset):
        index = index_columns(X.schema)
        rest = tuple(name for name in X.schema.names if name not in index)
        return DatasetStream(X, rest if index else None)
    name = type(X).__name__
    if name == "LazyFrame":
        return LazyStream(X)
    if name == "DuckDBPyRelation":
        return RelationStream(X)
    if callable(X):
        return CalledStream(X)
    raise TypeError(f"X is a {name}, {_ONCE}")
