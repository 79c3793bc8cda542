"""Opening: the rows of a file or a table, ready for the engine that is to read them."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edfkmeans import _choices as choices
from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.running import shown, stop

if TYPE_CHECKING:
    import pandas as pd

    from edfkmeans.cli.preparing import Prepared

# Rows of a first column without a name that are looked at, where the table is not in memory.
_LOOKED_AT = 1000


def check_streamed(
    engine: str, labels: Path | None, scale: choices.Scale, given: dict[str, Any]
) -> None:
    """Refuse what is only done to rows in memory: `given` by the names of the options."""
    for option, value in {**given, f"--scale {scale}": scale in ("robust", "log")}.items():
        if value:
            stop(f"{option} is for rows in memory. Do it before, or use --engine memory.")
    if labels is not None and labels.suffix.lower() == ".csv":
        stop(f"--labels {labels}: with --engine {engine} labels are Parquet. Name a .parquet file.")


def have_gpu() -> None:
    """Stop before anything is read where there is no GPU, or nothing to use it with."""
    from edfkmeans.engines._cuda_device import cupy

    try:
        cupy()
    except (ImportError, RuntimeError) as error:
        stop(str(error).replace("engine='cuda'", "--engine cuda"))


@contextmanager
def connected(engine: str, address: str | None) -> Iterator[None]:
    """Have an engine ready, on the cluster at an address if there is one, or say how to get it."""
    package = {"arrow": "pyarrow", "spark": "pyspark"}.get(engine, engine)
    try:
        files = import_module(f"edfkmeans.engines.{engine}_files")
    except ImportError:
        stop(needs(f"--engine {engine}", package, engine))
    if engine == "arrow":
        yield
        return
    with files.connected(address):
        yield


def open_table(
    file: str,
    engine: str,
    columns: list[str] | None,
    drop: list[str] | None,
    scale: choices.Scale,
    jobs: int | None,
    id_column: str | None = None,
    weights: str | None = None,
    why: str = "",
) -> "Prepared":
    """Open a file that need not fit in memory; `why` is noted."""
    import numpy as np
    import pandas as pd

    from edfkmeans.cli.preparing import Prepared
    from edfkmeans.rows.inputs import Input
    from edfkmeans.rows.scaling import Scaling

    source = shown(file)
    notes = [why] if why else []
    weighed = None
    try:
        if engine == "dask":
            ready, weighed = _in_chunks(file, columns, drop, scale, weights, notes)
        elif engine == "spark":
            ready = _in_spark(file, columns, drop, scale, id_column, weights, notes)
        else:
            ready, weighed = _in_a_stream(file, columns, drop, scale, jobs, weights, notes)
    except FileNotFoundError:
        stop(f"There is no file {source}. Check the name and the folder.")
    if weights is not None and engine != "arrow":
        notes.append(f"Rows count as {weights!r} says (--weights).")
    notes.append(
        f"Columns {'standardised' if scale == 'standard' else 'as they are'} (--scale {scale})."
    )
    names = [str(name) for name in ready.names]
    return Prepared(
        X=ready.X,
        names=names,
        scaling=Scaling(np.full(len(names), np.nan), ready.offset, ready.spread),
        inputs=tuple(Input(name) for name in names),
        fill=np.full(len(names), np.nan),
        ids=pd.Series(name="row", dtype=int),
        kept=pd.RangeIndex(0),
        source=source,
        notes=tuple(notes),
        remarks=None,
        weights=weighed,
    )


def _in_chunks(
    file: str,
    columns: list[str] | None,
    drop: list[str] | None,
    scale: choices.Scale,
    weights: str | None,
    notes: list[str],
) -> tuple[Any, Any]:
    from edfkmeans.cli.columns import chosen_columns, known_column, split_names
    from edfkmeans.cli.row_names import columns_aside
    from edfkmeans.cli.streaming import open_chunks
    from edfkmeans.cli.weights import check_numbers
    from edfkmeans.engines.dask_files import first_rows, scaled

    frame, told, index = open_chunks(file)
    weighed = None
    notes.extend(told)
    if weights is not None:
        if not hasattr(frame, "columns"):
            stop(f"--weights {weights!r}: {shown(file)} has columns without names.")
        weighed = frame[known_column(frame, weights, "--weights", shown(file))]
        check_numbers(weighed.dtype, weights, shown(file))
        frame = frame.drop(columns=[weights])
    if hasattr(frame, "columns"):
        names = list(map(str, frame.columns))
        asked = split_names(names, columns or [])
        first = partial(lambda table, name: first_rows(table[name], _LOOKED_AT), frame)
        aside = columns_aside(names, index, first, asked, notes)
        frame = frame.drop(columns=[name for name in aside if name in names])
        drop = [name for name in drop or [] if name not in aside]
    if columns or drop:
        frame = chosen_columns(frame, columns, drop, None, file)
    ready = scaled(frame, scale, sample_weight=weighed, progress=sys.stderr.isatty())
    return ready, weighed


def _in_spark(
    name: str,
    columns: list[str] | None,
    drop: list[str] | None,
    scale: choices.Scale,
    id_column: str | None,
    weights: str | None,
    notes: list[str],
) -> Any:
    import pandas as pd

    from edfkmeans.cli.columns import chosen_columns, known_column
    from edfkmeans.cli.row_names import columns_aside
    from edfkmeans.cli.streaming import check_for_spark
    from edfkmeans.engines.spark_files import Table, free_names, open_lazily, scaled, session

    check_for_spark(name)
    frame = open_lazily(session(), name)
    header = pd.DataFrame(columns=frame.columns)
    for option, given in (("--id", id_column), ("--weights", weights)):
        if given is not None:
            known_column(header, given, option, name)
    if weights is not None:
        header = header.drop(columns=[weights])
    # Spark does not know what pandas calls its index, unless it has no name.
    index = [each for each in header.columns if re.fullmatch(r"__index_level_\d+__", each)]
    index = [each for each in index if each != id_column]
    columns_aside(index, index, lambda each: header[each], [], notes)
    header = header.drop(columns=index)
    drop = [each for each in drop or [] if each not in index]
    used = chosen_columns(header, columns, drop, id_column, name)
    table = Table(frame, id=id_column, columns=list(used.columns), weight=weights)
    (ours,) = free_names(table, ["cluster"])
    if ours != "cluster":
        notes.append(f"A column is called 'cluster': in the labels our column is {ours!r}.")
    return scaled(table, scale, progress=sys.stderr.isatty())


def _in_a_stream(
    file: str,
    columns: list[str] | None,
    drop: list[str] | None,
    scale: choices.Scale,
    jobs: int | None,
    weights: str | None,
    notes: list[str],
) -> tuple[Any, Any]:
    import pandas as pd

    from edfkmeans.cli.columns import chosen_columns, known_column, split_names
    from edfkmeans.cli.row_names import columns_aside
    from edfkmeans.cli.streaming import open_stream
    from edfkmeans.cli.weights import check_numbers, told_of, weights_in
    from edfkmeans.engines.arrow_files import DatasetStream, column_of, index_columns, scaled

    def first_rows(name: str) -> pd.Series:
        column: pd.Series = table.head(_LOOKED_AT, columns=[name]).to_pandas()[name]
        return column

    table, told = open_stream(file)
    notes.extend(told)
    header, weighed = pd.DataFrame(columns=table.schema.names), None
    if weights is not None:
        known_column(header, weights, "--weights", shown(file))
        header = header.drop(columns=[weights])
        check_numbers(pd.ArrowDtype(table.schema.field(weights).type), weights, shown(file))
        column = pd.Series(column_of(table, weights, jobs), name=weights)
        weighed = weights_in(column, scale, None, shown(file))
        notes.append(told_of(weighed, weights))
    index = index_columns(table.schema)
    names = list(header.columns)
    asked = split_names(names, columns or [])
    aside = columns_aside(names, index, first_rows, asked, notes)
    header = header.drop(columns=[name for name in aside if name in header.columns])
    drop = [name for name in drop or [] if name not in aside]
    used = chosen_columns(header, columns, drop, None, file)
    rows = DatasetStream(table, tuple(used.columns))
    show = sys.stderr.isatty()
    return scaled(rows, scale, sample_weight=weighed, n_jobs=jobs, progress=show), weighed


def read_table(
    file: str,
    truth: str | None = None,
    sheet: str | None = None,
    weights: str | None = None,
    keep: bool = False,
    **how: Any,
) -> "tuple[Prepared, pd.Series | None]":
    """Read a file and prepare its rows; also a column with a known grouping.

    The table is kept as it is where it is to be written again.
    """
    from edfkmeans.cli.columns import known_column
    from edfkmeans.cli.preparing import prepare
    from edfkmeans.cli.reading import read_and_keep, read_file

    source = "standard input" if file == "-" else shown(file)
    grouping = None
    table = None
    if keep:
        frame, notes, table = read_and_keep(file, how.get("id_column"), sheet)
    else:
        frame, notes = read_file(file, how.get("id_column"), sheet)
    if truth is not None:
        grouping = frame.pop(known_column(frame, truth, "--truth", source))
    weighed = None
    if weights is not None:
        weighed = frame.pop(known_column(frame, weights, "--weights", source))
    try:
        prepared = prepare(frame, source, notes=notes, weights=weighed, truth=grouping, **how)
    except BadFileError as error:
        # The table that is meant may be on another sheet.
        sheets = [note for note in notes if "--sheet" in note]
        raise BadFileError(" ".join([str(error), *sheets])) from error
    if table is not None:
        prepared = replace(prepared, table=table.rows(prepared.kept))
    if grouping is None:
        return prepared, None
    grouping = grouping.iloc[prepared.kept]
    kinds = grouping.nunique()
    if kinds > len(grouping) / 2:
        told = f"{truth!r} has {kinds} different values in {len(grouping)} rows: hardly a grouping."
        prepared = replace(prepared, notes=(*prepared.notes, told))
    return prepared, grouping
