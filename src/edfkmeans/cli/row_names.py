"""Row names: what the rows of a file are called."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from edfkmeans.cli.columns import known_column
from edfkmeans.cli.kept import is_own, whole
from edfkmeans.cli.kinds import names_rows
from edfkmeans.rows.arguments import some

# What a first column without a name does.
COUNTS, COUNTS_PARTS = "counts the rows", "counts the rows of each part"
NAMES = "names the rows"
# Rows of a part, at least: 0, 1, 0, 1 may say something of the rows.
_PART = 3


def row_names(
    frame: pd.DataFrame, id_column: str | None, source: str, told: list[str]
) -> tuple[pd.DataFrame, pd.Series]:
    """Find out what the rows are called; returns also the table without a nameless id."""
    index, frame = frame.index, frame.reset_index(drop=True)
    ids = pd.Series(np.arange(1, len(frame) + 1), index=frame.index, name="row")
    if is_own(index) and id_column in (None, index.name):
        rows = index.to_flat_index()
        if index.nlevels > 1:
            rows = rows.map(lambda parts: " / ".join(map(str, parts)))
        ids = pd.Series(rows, index=frame.index, name=index.name or "row")
        told.append("The table's index names the rows: taken as their id.")
    elif id_column is not None:
        ids = frame[known_column(frame, id_column, "--id", source)]
        alike = int(ids.duplicated(keep=False).sum())
        if alike:
            told.append(
                f"{alike} rows of {source} share their {id_column!r} with another row: what is "
                "written of them is in the order of the file, and cannot be told apart by that "
                "alone."
            )
        first = frame.columns[0]
        what = _nameless(frame[first]) if first != id_column else None
        if what in (COUNTS, COUNTS_PARTS):
            frame = frame.drop(columns=[first])
            told.append(f"The first column has no name and {what}: left out.")
    else:
        what = _nameless(frame.iloc[:, 0])
        if what is not None:
            apart = what != COUNTS_PARTS
            ids = frame.iloc[:, 0].rename("row") if apart else ids
            frame = frame.iloc[:, 1:]
            used = "taken as their id" if apart else "left out"
            told.append(f"The first column has no name and {what}: {used}.")
    return frame, whole(ids)


def columns_aside(
    names: Sequence[str],
    index: Sequence[str],
    first_rows: Callable[[str], pd.Series],
    asked: Sequence[str],
    told: list[str],
) -> list[str]:
    """Name the columns that say which row it is, of a table that is not in memory.

    They are left out, as there is no id to be made of them. Of a first column without a name the
    `first_rows` are looked at; one that is `asked` for stays.
    """
    aside = list(index)
    if aside:
        told.append(f"The table's index names the rows: left out ({some(aside)}).")
    first = next((name for name in names if name not in index), "")
    if first.startswith("Unnamed:") and first not in asked:
        column = first_rows(first)
        # Text is read as floats there, lest a gap come later.
        if column.dtype.kind == "f" and (column % 1 == 0).all():
            column = column.astype(np.int64)
        what = _nameless(column) if len(column) > 1 else None
        if what is not None:
            aside.append(first)
            told.append(f"The first column has no name and {what}: left out.")
    return aside


def row_name(ids: pd.Series, row: int) -> str:
    """Name a row within a sentence."""
    own = ids.iloc[row]
    numbered = ids.name == "row" and not isinstance(own, str)
    return f"row {own}" if numbered else f"the row {str(own)!r}"


def _nameless(column: pd.Series) -> str | None:
    """Say what a first column without a name does, if it is what pandas and R write before a table.

    That is 0, 1, 2, ... or 1, 2, 3, ..., anew in every part of a table that was put together, or a
    text of its own for every row.
    """
    if not str(column.name).startswith("Unnamed:"):
        return None
    if column.dtype.kind not in "iu":
        return NAMES if names_rows(column) else None
    values = column.to_numpy()
    begins = np.flatnonzero(np.diff(values, prepend=values[0]) != 1)
    lengths = np.diff(begins, append=len(values))
    if values[0] not in (0, 1) or (values[begins] != values[0]).any():
        return None
    if len(begins) == 1:
        return COUNTS
    return COUNTS_PARTS if lengths.min() >= _PART else None
