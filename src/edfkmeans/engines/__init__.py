"""Engines: who makes a pass over rows. Only this page knows which one serves which X.

An engine is a module with the functions called here; `edfkmeans.rows.rows.Rows` says what the rows
that it opens can do.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from edfkmeans._extras import needs
from edfkmeans.rows.rows import Rows

# The engine for data of other packages, or for one kind of them; everything else is in memory.
_ENGINES = {
    "dask": "dask",
    "pyarrow.Dataset": "arrow",
    "pyarrow.RecordBatchReader": "arrow",
    "polars.LazyFrame": "arrow",
    "duckdb.DuckDBPyRelation": "arrow",
}
# What each of them needs.
_PACKAGES = {"dask": "dask", "arrow": "pyarrow"}


def _name(X: Any) -> str:
    """Say which engine serves X."""
    module = type(X).__module__
    if module.startswith(f"{__name__}."):  # what an engine has made is its own
        return module.removeprefix(f"{__name__}.").strip("_").partition("_")[0]
    package = module.partition(".")[0]
    for kind in (package, *(f"{package}.{each.__name__}" for each in type(X).__mro__)):
        if kind in _ENGINES:
            return _ENGINES[kind]
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
    sample_weight: Any = None,
    together: bool = False,
) -> Rows:
    """Check X, look at every row once, and draw a sample where rows are not in memory.

    Equal rows may be put `together`, and stand for several, where that saves work.
    """
    rows: Rows = _engine(X).open_rows(X, seed, n_jobs, progress, sample_weight, together)
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
