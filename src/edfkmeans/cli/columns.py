"""The columns of a file: which are asked for, and how they are named."""

import difflib
import os
import shlex
from typing import Any

from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import some


def label_columns(id_name: Any) -> tuple[str, str]:
    """Name the columns of labels that are ours: otherwise where the id bears that name."""
    cluster, ambiguity = (
        f"edfkmeans_{name}" if name == str(id_name) else name for name in ("cluster", "ambiguity")
    )
    return cluster, ambiguity


def cluster_column(frame: Any) -> str:
    """Name the column that is added to a table, by a name that is not there yet."""
    name = "cluster"
    while name in [*frame.columns, *frame.index.names]:
        name = f"edfkmeans_{name}"
    return name


def known_column(frame: Any, name: str, option: str, source: str) -> str:
    """Return the name of a column, or say which ones there are."""
    if name in frame.columns:
        return name
    names = [str(column) for column in frame.columns]
    if len(parts := split_names(names, [name])) > 1:
        raise BadFileError(
            f"{option} {name!r}: name one column, such as {option} {quoted(parts[0])}."
        )
    near = [each for each in names if each.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, names, 3, cutoff=0.5)
    raise BadFileError(
        f"{option} {name!r}: {source} has no such column. "
        + (f"Did you mean {some(near)}?" if near else f"It has {some(names, 8)}.")
    )


def split_names(columns: Any, names: list[str]) -> list[str]:
    """Take a name with commas, which no column bears, as several where columns bear all of them."""
    found = []
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        whole = name in columns or any(part not in columns for part in parts)
        found += [name] if whole else parts
    return found


def chosen_columns(
    frame: Any,
    columns: list[str] | None,
    drop: list[str] | None,
    id_column: str | None,
    source: str,
) -> Any:
    """Leave the columns of a data frame, in memory or not, that are asked for."""
    drop = split_names(frame.columns, drop or [])
    gone = {known_column(frame, name, "--drop", source) for name in drop}
    if columns:
        columns = list(dict.fromkeys(split_names(frame.columns, columns)))
        frame = frame[[known_column(frame, name, "--columns", source) for name in columns]]
    left_out = [name for name in frame.columns if name in gone or name == id_column]
    frame = frame.drop(columns=left_out)
    if frame.shape[1] == 0:
        raise BadFileError(f"No column of {source} is left to cluster. Name fewer in --drop.")
    return frame


def repeated(option: str, names: list[str], most: int) -> str:
    """Write an option for every column, ready to copy."""
    more = f" and so on for {len(names) - most} more" if len(names) > most else ""
    return " ".join(f"{option} {quoted(name)}" for name in names[:most]) + more


def quoted(name: Any) -> str:
    """Write a name as a shell takes it; that of Windows knows double quotes only."""
    text = str(name)
    if text.replace("_", "").replace("-", "").isalnum():
        return text
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)
