"""Tables and files in Spark: a session, what a name stands for, columns brought to one scale."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from edfkmeans.engines._spark_partitions import Chunk
from edfkmeans.engines._spark_tables import Table, address, reason, table_of
from edfkmeans.engines.spark import free_names, write_labels
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.checks import check_rows
from edfkmeans.rows.moments import Moments, Scaled

__all__ = [
    "Scaled",
    "Table",
    "connected",
    "free_names",
    "open_lazily",
    "scaled",
    "session",
    "write_labels",
]

_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".orc": "orc"}


@contextmanager
def connected(master: str | None = None) -> Iterator[Any]:
    """Have a session of Spark: the one that there is, or a new one, which ends with this.

    Parameters
    ----------
    master : str, optional
        As of `spark-submit`, such as ``local[4]`` or ``spark://host:7077``; ``sc://host`` is Spark
        Connect. By default what Spark's configuration says or, without one, this machine.
    """
    before = SparkSession.getActiveSession()
    # Workers on this machine must be of the same Python.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("edfkmeans")
    if master is not None:
        remote = master.startswith("sc://")
        builder = builder.remote(master) if remote else builder.master(master)
    if master is None or not master.startswith("sc://"):
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    main = threading.current_thread() is threading.main_thread()
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with warnings.catch_warnings():
            # That a later pandas is not yet supported in full: nothing of pandas is used there.
            warnings.simplefilter("ignore", FutureWarning)
            session = builder.getOrCreate()
    except Exception as error:  # of Java's side, of the network's, of the configuration
        raise ValueError(_no_session(master, error)) from error
    if main:
        # Spark has its own word for Ctrl-C, which ends the jobs of others too; ours end by tags.
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield session
    finally:
        if before is None:
            session.stop()


def _no_session(master: str | None, error: Exception) -> str:
    if "JAVA_GATEWAY_EXITED" in str(error) or "Java" in str(error):
        return (
            "Spark could not start Java. It needs version 17 or later: install it, e.g. Debian's "
            "default-jre-headless, or say with JAVA_HOME where it is."
        )
    where = "" if master is None else f" at {master}"
    return f"There is no Spark{where}: {reason(error)}. Check the address, or leave it out."


def session() -> Any:
    """Return the session that there is."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def open_lazily(session: Any, name: str | Path) -> Any:
    """Open a table of the catalogue, or files, as a DataFrame of Spark.

    Parameters
    ----------
    session : SparkSession
    name : str or Path
        A file, a folder or a pattern of Parquet, ORC, CSV or TSV with a header, by its ending, on
        any storage that Spark gets at; a folder holds Parquet. Else the name of a table.
    """
    text = str(name)
    ending = Path(text).suffix.lower()
    here = Path(text).exists()
    if not (here or "://" in text or ending in _FORMATS):
        if session.catalog.tableExists(text):
            return session.table(text)
        raise FileNotFoundError(f"There is no table or file {text}.")
    kind = _FORMATS.get(ending, "parquet")
    place = address(Path(text)) if here else text
    options: dict[str, Any] = {}
    if kind == "csv":
        separator = "\t" if ending == ".tsv" else ","
        options = {"header": True, "inferSchema": True, "sep": separator}
        # What a row holds beyond its columns would be dropped without a word.
        options |= {"mode": "FAILFAST", "columnPruning": False}
    try:
        return session.read.format(kind).options(**options).load(place)
    except Exception as error:  # of Spark and of its readers, for files of any kind, cut off, wrong
        if "PATH_NOT_FOUND" in str(error):
            raise FileNotFoundError(f"There is no file {text}.") from error
        raise ValueError(
            f"{text} could not be opened: {reason(error)}. Is it whole, and what its ending says?"
        ) from error


def scaled(X: Any, scale: str = "standard", *, progress: bool = False) -> Scaled:
    """Give every column of a DataFrame of Spark mean 0 and standard deviation 1, as it is read.

    Parameters
    ----------
    X : pyspark.sql.DataFrame or Table
        With a weight, means and deviations are those of the rows as often as they count.
    scale : {"standard", "none"}
        "none" leaves the columns as they are.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Scaled
    """
    check_one_of("scale", scale, ("standard", "none"))
    table = table_of(X, progress)
    columns: list[Any] = list(table.columns or ())
    if scale == "none":
        return Scaled(table, columns, np.zeros(len(columns)), np.ones(len(columns)))
    found = table.results(_moments, "scaling")
    if table.weight is None:  # else `select_k` counts the rows that weigh something
        check_rows(int(sum(each.count for each in found)))
    offset, spread = reduce(add, found).scale()
    return Scaled(replace(table, scale=(offset, spread)), columns, offset, spread)


# What runs inside a worker.


def _moments(chunk: Chunk) -> Moments:
    return Moments.of(chunk.rows, chunk.weights)
