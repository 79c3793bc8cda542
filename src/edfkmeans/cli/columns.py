"""The columns of a file: which are asked for, and what kind each is of."""

import difflib
import os
import shlex
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import some
from edfkmeans.rows.inputs import Input, days_of, texts_of

# Values of a text column that --encode makes columns of, at most.
MOST_CATEGORIES = 50
# Columns in a command that is shown to be copied, at most.
_LISTED = 20


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
    if "," in name and all(part.strip() in names for part in name.split(",")):
        parts = " ".join(f"{option} {quoted(part.strip())}" for part in name.split(","))
        raise BadFileError(f"{option} {name!r}: name one column at a time: {parts}")
    near = [each for each in names if each.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, names, 3, cutoff=0.5)
    raise BadFileError(
        f"{option} {name!r}: {source} has no such column. "
        + (f"Did you mean {some(near)}?" if near else f"It has {some(names, 8)}.")
    )


def chosen_columns(
    frame: Any,
    columns: list[str] | None,
    drop: list[str] | None,
    id_column: str | None,
    source: str,
) -> Any:
    """Leave the columns of a data frame, in memory or not, that are asked for."""
    gone = {known_column(frame, name, "--drop", source) for name in drop or []}
    if columns:
        columns = list(dict.fromkeys(columns))
        frame = frame[[known_column(frame, name, "--columns", source) for name in columns]]
    left_out = [name for name in frame.columns if name in gone or name == id_column]
    frame = frame.drop(columns=left_out)
    if frame.shape[1] == 0:
        raise BadFileError(f"No column of {source} is left to cluster. Name fewer in --drop.")
    return frame


def inputs_of(
    frame: pd.DataFrame,
    encode: bool,
    dates: bool,
    source: str,
    told: list[str],
    rows_named: bool = False,
) -> list[Input]:
    """Find out how each column becomes numbers, or refuse those that cannot."""
    frame.columns = pd.Index([str(name) for name in frame.columns])
    inputs, refused = [], []
    dated, coded = [], []
    for name in frame.columns:
        column = frame[name]
        number = pd.api.types.is_numeric_dtype(column.dtype) or _holds(column, Decimal)
        if dates and _days(column) is not None:
            inputs.append(Input(name, "date"))
            dated.append(name)
        elif number:
            inputs.append(Input(name))
            if not dates and _days(column) is not None:
                told.append(
                    f"{name!r} looks like dates written as numbers, between which months and years "
                    "are no even steps: --dates turns it into days."
                )
        elif encode and not _is_date(column):
            values = _categories(column, source, rows_named)
            inputs.append(Input(name, "text", values))
            coded.append(name)
            if looks_dated(column):
                told.append(f"{name!r} looks like dates: --dates turns it into days.")
        else:
            refused.append(name)
    if refused:
        raise BadFileError(_refusal(frame, refused, encode, source, rows_named))
    made = [name for each in inputs for name in each.names]
    twice = next((name for name in made if made.count(name) > 1), None)
    if twice is not None:
        raise BadFileError(
            f"--encode would make a second column {twice!r} of {source}. Rename one in the file."
        )
    if dated:
        told.append(
            f"Turned into days since 1970-01-01: {some(dated)} (--dates). Rows of about the same "
            "time count as alike."
        )
    if coded:
        told.append(f"Encoded as columns of 0 and 1: {some(coded)}.")
    return inputs


def _is_date(column: pd.Series) -> bool:
    """Whether a column is one of dates by its type, which --encode would make a column each of."""
    kinds = pd.api.types
    return kinds.is_datetime64_any_dtype(column.dtype) or kinds.is_timedelta64_dtype(column.dtype)


def _days(column: pd.Series) -> Any:
    try:
        return days_of(column)
    except ValueError as error:
        raise BadFileError(str(error)) from None


def _refusal(
    frame: pd.DataFrame, refused: list[str], encode: bool, source: str, rows_named: bool
) -> str:
    """Say which columns are not numbers, and the ways out, the likeliest first."""
    dated = [name for name in refused if looks_dated(frame[name])]
    text = [name for name in refused if name not in dated]
    named = None
    if not rows_named:
        named = next((name for name in text if names_rows(frame[name])), None)
        named = named or next((name for name in text if _nearly_names_rows(frame[name])), None)
    others = [name for name in refused if name != named]
    ways = []
    if named is not None and not others:
        ways.append(f"name the rows by --id {quoted(named)}")
    if dated:
        ways.append(f"turn dates ({some(dated)}) into days with --dates")
        day = next((name for name in dated if names_rows(frame[name])), None)
        if named is None and day is not None and not rows_named:  # one row a day
            ways.append(f"name the rows by --id {quoted(day)}")
    left = "them" if named is None or not others else "the others"
    numbers = [name for name in frame.columns if name not in refused]
    ways.append(_left_out(others or refused, numbers, left))
    coded = (
        [] if encode else [name for name in text if name != named and _worth_a_code(frame[name])]
    )
    if coded:
        two = all(frame[name].nunique() == 2 for name in coded)
        what = some(coded) if two else f"the values of {some(coded)}"
        ways.append(f"turn {what} into {'0 and 1' if two else 'columns of 0 and 1'} with --encode")
    listed = ", ".join(ways[:-1]) + (", or " if len(ways) > 1 else "") + ways[-1]
    first = f"Name the rows by --id {quoted(named)}. " if named is not None and others else ""
    signs = [name for name in text if _disguised(frame[name])]
    if signs:
        first += f"Write the numbers of {some(signs)} without signs and thousands separators. "
    unnamed = next((name for name in refused if name.startswith("Unnamed: ")), None)
    nameless = f"{unnamed!r} is the column without a name. " if unnamed else ""
    return (
        f"{source} has columns that are not numbers: {some(refused)} "
        f"({_not_a_number(frame[refused[0]])}). {nameless}{first}{listed[0].upper()}{listed[1:]}."
    )


def _left_out(text: list[str], numbers: list[str], them: str) -> str:
    """Say how to go on without columns of text, by the shorter of two commands, ready to copy."""
    if 0 < len(numbers) < len(text):
        return f"take the numbers alone with {repeated('--columns', numbers, _LISTED)}"
    return f"leave {them} out with {repeated('--drop', text, _LISTED)}"


def repeated(option: str, names: list[str], most: int) -> str:
    """Write an option for every column, ready to copy."""
    more = f" and so on for {len(names) - most} more" if len(names) > most else ""
    return " ".join(f"{option} {quoted(name)}" for name in names[:most]) + more


def _worth_a_code(column: pd.Series) -> bool:
    """Whether --encode would make columns of it that tell rows from rows."""
    if _holds(column, list, dict, np.ndarray) or _disguised(column):
        return False
    return not (_many_values(column) or names_rows(column) or column.nunique() < 2)


def _many_values(column: pd.Series) -> bool:
    """Whether --encode would make too many columns of it."""
    return not _holds(column, list, dict, np.ndarray) and column.nunique() > MOST_CATEGORIES


def names_rows(column: pd.Series) -> bool:
    """Whether every row has a text of its own, as names, hashes and other ids do."""
    if _holds(column, list, dict, np.ndarray) or column.dtype.kind in "iufb":
        return False
    if len(column) < 2 or column.isna().any() or column.nunique() < len(column):
        return False
    # With a few numbers that are mistyped, it is a column of numbers all the same.
    return not _disguised(column) and bool(
        pd.to_numeric(column.astype(str), errors="coerce").isna().mean() > 0.5
    )


def _nearly_names_rows(column: pd.Series) -> bool:
    """Whether most rows have a text of their own: names of which some come more than once."""
    if not _many_values(column) or column.isna().any():
        return False
    shared = column.duplicated(keep=False).mean()
    return bool(shared < 0.5) and names_rows(column.drop_duplicates())


def looks_dated(column: pd.Series) -> bool:
    """Whether a column is one of dates, also where day and month cannot be told apart."""
    try:
        return days_of(column) is not None
    except ValueError:  # dates, but which?
        return True


def _categories(column: pd.Series, source: str, rows_named: bool) -> tuple[str, ...]:
    name = str(column.name)
    if _holds(column, list, dict, np.ndarray):
        raise BadFileError(
            f"The column {name!r} of {source} has lists in it, which --encode cannot turn into "
            f"numbers. Leave it out with --drop {quoted(name)}."
        )
    values = sorted(set(texts_of(column).dropna()))
    if len(values) > MOST_CATEGORIES:
        way = f"leave it out with --drop {quoted(name)}"
        if looks_dated(column):
            way = f"turn its dates into days with --dates, or {way}"
        elif not rows_named:
            way = f"let it name the rows with --id {quoted(name)}, or {way}"
        raise BadFileError(
            f"The column {name!r} of {source} has {len(values)} different values; --encode makes a "
            f"column of each, for at most {MOST_CATEGORIES}. {way[0].upper()}{way[1:]}."
        )
    return tuple(values)


def _holds(column: pd.Series, *kinds: type) -> bool:
    """Whether all values that are not missing are Python objects of some kinds."""
    if column.dtype != object:
        return False
    values = column.dropna()
    return len(values) > 0 and all(isinstance(value, kinds) for value in values)


def _not_a_number(column: pd.Series) -> str:
    """Show the first value of a column that is no number, and say what may be meant by it."""
    values = column.dropna().astype(str)
    bad = values[pd.to_numeric(values, errors="coerce").isna()]
    if bad.empty:
        return f"such as {values.iloc[0]!r}" if len(values) else "no value at all"
    hint = ""
    if len(bad) < len(values) / 2 and not _disguised(bad):
        hint = f"; {len(bad)} of {len(values)} are no numbers: leave those empty if unknown"
    return f"such as {bad.iloc[0]!r} in row {bad.index[0] + 1}{hint}"


def _disguised(column: pd.Series) -> bool:
    """Whether all values are numbers but for thousands separators and signs: 12 %, $3,000."""
    if _holds(column, list, dict, np.ndarray):
        return False
    plain = column.dropna().astype(str).str.replace(r"[,\s'$€£¥%]", "", regex=True)
    return len(plain) > 0 and bool(pd.to_numeric(plain, errors="coerce").notna().all())


def quoted(name: Any) -> str:
    """Write a name as a shell takes it; that of Windows knows double quotes only."""
    text = str(name)
    if text.replace("_", "").replace("-", "").isalnum():
        return text
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)
