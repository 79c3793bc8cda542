"""Tables: a DataFrame of Spark, which of its columns are X, and jobs over its rows.

Only `mapInArrow` and actions on what it returns, so that it runs on a classic session and on Spark
Connect; nothing is cached. Labels that are given are joined to the rows by their ids.
"""

import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from edfkmeans._progress import progress_bar
from edfkmeans.engines._spark_partitions import FOUND, PACKED, Reader, Work, add_up
from edfkmeans.rows.blocks import ChunkError, chunk_error
from edfkmeans.rows.checks import refuse_same_names, refuse_text
from edfkmeans.rows.units import Floats

_NUMPY = {
    spark_types.BooleanType: np.bool_,
    spark_types.ByteType: np.int8,
    spark_types.ShortType: np.int16,
    spark_types.IntegerType: np.int32,
    spark_types.LongType: np.int64,
    spark_types.FloatType: np.float32,
    spark_types.DoubleType: np.float64,
    spark_types.DecimalType: np.float64,
}
_FILE = re.compile(r"\b[a-z][a-z0-9+.-]*:/[^\s,;\"'\]]+")
_RAISED = re.compile(r"[A-Za-z]\w*(Error|Exception): ")
_LEFT = (
    "The rows are in Spark, and were left there when this was pickled. Ask for them before, or "
    "give X again: EDFKMeans.predict(X), or select_k(X, path=result.path)."
)


@dataclass(frozen=True, eq=False)
class Table:
    """A DataFrame of Spark, and which of its columns are what.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    id : str, optional
        The column that names the rows; each name should occur once. It is no part of X. Labels
        stand beside it.
    columns : sequence of str, optional
        The columns of X; by default all but the id and the weight.
    weight : str, optional
        The column that says how many rows each row stands for: what `sample_weight` is for rows
        that have an order. It is no part of X.

    Examples
    --------
    The session must be there already::

        from edfkmeans import select_k
        from edfkmeans.engines.spark import Table

        result = select_k(Table(spark.table("customers"), id="customer", weight="orders"))
        result.labels.frame.write.parquet("labels")
    """

    frame: Any
    id: str | None = None
    columns: Sequence[str] | None = None
    weight: str | None = None
    scale: tuple[Floats, Floats] | None = None
    """What is subtracted from the columns, and what they are divided by then, as they are read."""
    beside: tuple[str, ...] = ()
    """Columns that stand beside those of X."""
    progress: bool = False
    weight_scale: float = 1.0
    """What weights are multiplied by as they are read."""

    def __post_init__(self) -> None:
        known = list(self.frame.columns)
        refuse_same_names(known)
        for word, given in (("id", self.id), ("weight", self.weight)):
            if given is not None and given not in known:
                raise ValueError(
                    f"{word}={given!r} is no column of X. Its columns: {', '.join(known)}."
                )
        names = self.columns
        if names is None:
            names = [name for name in known if name not in (self.id, self.weight)]
        missing = [name for name in names if name not in known]
        if missing:
            raise ValueError(f"columns={missing} are not in X. Its columns: {', '.join(known)}.")
        if not names:
            raise ValueError("X has no columns. Give at least one column of numbers.")
        kinds = {field.name: type(field.dataType) for field in self.frame.schema.fields}
        refuse_text([name for name in names if kinds[name] not in _NUMPY])
        if self.weight is not None:
            self._check_weight(names, kinds)
        object.__setattr__(self, "columns", tuple(names))

    def _check_weight(self, names: Sequence[str], kinds: dict[str, type]) -> None:
        """Refuse a column of weights that is something else too, or no numbers."""
        if self.weight == self.id or self.weight in names:
            other = "the id" if self.weight == self.id else "one of columns"
            raise ValueError(f"weight={self.weight!r} is {other} too. Name another column.")
        if kinds[str(self.weight)] not in _NUMPY:
            raise ValueError(
                f"weight={self.weight!r} is a column of {kinds[str(self.weight)].__name__}, which "
                "is not numbers. Name a column of numbers, 0 or more."
            )

    @cached_property
    def dtype(self) -> Any:
        """What the numbers are computed in: float32 stays, all others become float64."""
        kinds = {field.name: type(field.dataType) for field in self.frame.schema.fields}
        types = [_NUMPY[kinds[name]] for name in self.columns or ()]
        return np.dtype(np.float32 if np.result_type(*types) == np.float32 else np.float64)

    @property
    def names(self) -> list[str]:
        """Names of the columns that are needed: id and weight, if there are any, come first."""
        first = [name for name in (self.id, self.weight) if name is not None]
        return [*first, *(self.columns or ()), *self.beside]

    @property
    def reader(self) -> Reader:
        """How workers read `rows`."""
        names = plain(self.names)
        id = names.pop(0) if self.id is not None else None
        weight = names.pop(0) if self.weight is not None else None
        return Reader(tuple(names), self.dtype, id, self.scale, weight, self.weight_scale)

    @cached_property
    def rows(self) -> Any:
        """The DataFrame, with no more columns than are needed, under plain names."""
        if self.frame is None:
            raise ValueError(_LEFT)
        return self.frame.select(*map(quoted, self.names)).toDF(*plain(self.names))

    @cached_property
    def _packed(self) -> tuple[Any, Reader]:
        """The same rows with their numbers in one array each, and how workers read that.

        Spark hands them over in two thirds of the time that columns of numbers take. Decimals stay
        as they are, so that Arrow makes floats of them, as it does elsewhere.
        """
        rows, reader = self.rows, self.reader
        numbers = [*(self.columns or ()), *self.beside]
        kinds = {field.name: type(field.dataType) for field in self.frame.schema.fields}
        if any(kinds[name] is spark_types.DecimalType for name in numbers):
            return rows, reader
        kind = {"float32": "float", "float64": "double"}[self.dtype.name]
        first = len(rows.columns) - len(numbers)
        array = ", ".join(f"CAST({name} AS {kind})" for name in rows.columns[first:])
        packed = rows.selectExpr(*rows.columns[:first], f"array({array}) AS {PACKED}")
        return packed, replace(reader, packed=True)

    def results(
        self, work: Work, title: str, together: Callable[[Any, Any], Any] = add
    ) -> list[Any]:
        """Return the sum of ``work(chunk)`` of every partition that has rows, in their order."""
        rows, reader = self._packed
        job = rows.mapInArrow(partial(add_up, reader, work, together), FOUND)
        with progress_bar(self.progress, title, 1, "job") as bar:
            found = collected(job)
            bar.update()
        results = []
        pairs = zip(found["partition"].to_pylist(), found["found"].to_pylist(), strict=True)
        for number, pickled in sorted(pairs):
            result, error = pickle.loads(pickled)
            if error is not None:
                raise chunk_error(number, error, None, "")
            if result is not None:
                results.append(result)
        return results

    def __getstate__(self) -> dict[str, Any]:
        # The schema tells what is left to know of a frame that cannot come along.
        return {**self.__dict__, "dtype": self.dtype, "frame": None, "rows": None, "_packed": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        del state["rows"], state["_packed"]
        self.__dict__.update(state)


def table_of(X: Any, progress: bool = False) -> Table:
    """Return X, a table or a DataFrame, as a table."""
    if isinstance(X, Table):
        return replace(X, progress=progress)
    if isinstance(X, DataFrame):
        return Table(X, progress=progress)
    if hasattr(X, "to_spark"):
        raise TypeError(
            f"X is a pandas-on-Spark {type(X).__name__}, but must be a DataFrame of Spark. Give "
            "X.to_spark()."
        )
    raise TypeError(
        f"X is a {type(X).__name__} of pyspark, but must be a DataFrame of Spark, or a Table of "
        "one."
    )


def quoted(name: str) -> str:
    """Write the name of a column so that Spark does not read more into it."""
    return "`" + name.replace("`", "``") + "`"


def plain(names: Sequence[str]) -> list[str]:
    """Return other names for columns: `mapInArrow` fails where there is a dot in one."""
    return [f"c{j}" for j in range(len(names))]


def address(place: Path) -> str:
    """Write the name of a file on this machine; without that, it may be anywhere for Spark."""
    return f"file:///{place.absolute().as_posix().lstrip('/')}"


def collected(frame: Any) -> Any:
    """Bring a DataFrame into memory; whatever happens, no job goes on when this has ended."""
    session = frame.sparkSession
    tag = f"edfkmeans-{uuid4()}"
    session.addTag(tag)
    try:
        return frame.toArrow()
    except BaseException as error:
        session.interruptTag(tag)
        if isinstance(error, Exception):
            raise _told(error) from error
        raise
    finally:
        session.removeTag(tag)


def _told(error: Exception) -> Exception:
    """Say in a few words what failed, and name the file, if there is one."""
    text = str(error)
    if "No module named 'edfkmeans'" in text:
        return ImportError(
            "Spark's workers cannot import edfkmeans. Install it where they run, in the "
            "environment that PYSPARK_PYTHON names."
        )
    file = _FILE.search(text)
    place = f" ({file.group().rstrip('.')})" if file else ""
    return ChunkError(
        f"X could not be computed{place}: {reason(error)}. Repair it or leave it out."
    )


def reason(error: Exception) -> str:
    """Return the one line of an error that says what it is about."""
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("An error occurred while calling")]
    # What a worker has to say stands at the end of its traceback.
    raised = [line for line in lines if _RAISED.match(line)]
    return ([*lines[:1], *raised] or [type(error).__name__])[-1].rstrip(".")
