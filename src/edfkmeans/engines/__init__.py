"""Engines: who makes a pass over rows. Only this page knows which one serves which X.

An engine is a module with the functions called here; `edfkmeans.rows.rows.Rows` says what the rows
that it opens can do.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from edfkmeans._choices import BROUGHT, Brought, Metric
from edfkmeans._extras import needs
from edfkmeans.engines._cuda_place import OnDevice, is_on_device
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.checks import NotFiniteError
from edfkmeans.rows.directions import refuse_bad
from edfkmeans.rows.rows import Rows

# The engine for data of other packages, or for one kind of them; everything else is in memory.
_ENGINES = {
    "dask": "dask",
    "pyarrow.Dataset": "arrow",
    "pyarrow.RecordBatchReader": "arrow",
    "polars.LazyFrame": "arrow",
    "duckdb.DuckDBPyRelation": "arrow",
    "pyspark": "spark",
}
# What each of them needs.
_PACKAGES = {"dask": "dask", "arrow": "pyarrow", "spark": "pyspark"}


def _name(X: Any) -> str:
    """Say which engine serves X."""
    module = type(X).__module__
    if module.startswith(f"{__name__}."):  # what an engine has made is its own
        return module.removeprefix(f"{__name__}.").strip("_").partition("_")[0]
    package = module.partition(".")[0].lstrip("_")  # DuckDB 1.4 and 1.5 are in _duckdb
    for kind in (package, *(f"{package}.{each.__name__}" for each in type(X).__mro__)):
        if kind in _ENGINES:
            return _ENGINES[kind]
    if is_on_device(X):
        return "cuda"
    return "arrow" if callable(X) or isinstance(X, Iterator) else "memory"


def _engine(X: Any) -> Any:
    name = _name(X)
    try:
        return import_module(f"{__name__}.{name}")
    except ImportError as error:
        raise ImportError(needs(f"X, a {type(X).__name__},", _PACKAGES[name], name)) from error


def in_memory(X: Any) -> bool:
    """Whether the rows of X are in memory, found out without reading them."""
    return _name(X) == "memory"


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int = 1,
    progress: bool = False,
    metric: Metric = "euclidean",
    engine: Brought | None = None,
    sample_weight: Any = None,
    together: bool = False,
) -> Rows:
    """Check X, look at every row once, and draw a sample where rows are not in memory.

    With the metric "cosine" the rows are those of X scaled to length one. With an `engine`, rows in
    memory are brought to that one. Equal rows may be put `together`, and stand for several, where
    that saves work.
    """
    name = _name(X)
    if engine is not None:
        check_one_of("engine", engine, BROUGHT)
        if name not in ("memory", engine):
            raise TypeError(
                f"engine={engine!r} takes rows in memory or on a GPU, and X, a "
                f"{type(X).__name__}, is neither. Leave engine out, or read the rows first."
            )
    if metric == "cosine":
        X = _engine(X).directions(X)
    X = OnDevice(X) if engine is not None and name == "memory" else X
    try:
        rows: Rows = _engine(X).open_rows(X, seed, n_jobs, progress, sample_weight, together)
    except NotFiniteError as error:
        if metric == "cosine":
            refuse_bad(error)
        raise
    return rows


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """Return ``function(rows, *common)`` for X as it is: one number a row, or `n_columns`."""
    return _engine(X).map_rows(X, function, *common, dtype=dtype, n_columns=n_columns)


def header(X: Any) -> Any:
    """Return what has the columns of X, having made sure that X is a matrix of numbers."""
    return _engine(X).header(X)


def write_labels(labels: Any, place: Any) -> None:
    """Write labels that are not in memory, by the engine that made them."""
    _engine(labels).write_labels(labels, place)
