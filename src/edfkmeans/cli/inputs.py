"""Inputs: how each column of a file becomes numbers, or why it cannot."""

from decimal import Decimal
from typing import Any

import pandas as pd

from edfkmeans.cli.columns import quoted, repeated
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kinds import (
    MOST_CATEGORIES,
    Written,
    encodable,
    has_many_values,
    has_parts,
    holds,
    looks_dated,
    names_rows,
    nearly_names_rows,
    of_numbers,
    unclear_dates,
    worth_a_code,
)
from edfkmeans.rows.arguments import some
from edfkmeans.rows.inputs import Input, days_of, texts_of

# Columns in a command that is shown to be copied, at most.
_LISTED = 20
# Columns that are named in words, at most.
_NAMED = 5


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
        number = pd.api.types.is_numeric_dtype(column.dtype) or holds(column, Decimal)
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
        elif encode and encodable(column):
            inputs.append(Input(name, "text", tuple(sorted(set(texts_of(column).dropna())))))
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


def _days(column: pd.Series) -> Any:
    try:
        return days_of(column)
    except ValueError as error:
        raise BadFileError(str(error)) from None


def _refusal(
    frame: pd.DataFrame, refused: list[str], encode: bool, source: str, rows_named: bool
) -> str:
    """Say which columns are not numbers, what to correct in the file, and how to go on without."""
    unnamed = [name for name in frame.columns if str(name).startswith("Unnamed: ")]
    if len(unnamed) > 1 and 2 * len(unnamed) >= frame.shape[1]:
        return (
            f"The first row of {source} names {frame.shape[1] - len(unnamed)} of "
            f"{frame.shape[1]} columns. If the names stand further down, delete the rows above "
            "them; otherwise name every column."
        )
    said = [f"{source} has columns that are not numbers: {_named(frame, refused, encode)}."]
    nameless = next((name for name in refused if name.startswith("Unnamed: ")), None)
    if nameless:
        said.append(f"{nameless!r} is the column without a name.")
    corrections = [unclear_dates(frame[name]) for name in refused]
    meant = [name for name in refused if of_numbers(frame[name])]
    corrections.append(_signs_told(frame, meant))
    said += filter(None, corrections)
    ways = _ways(frame, refused, encode, rows_named)
    if ways and (meant or any(corrections)):
        said.append(f"Otherwise {ways}.")
    elif ways:
        said.append(f"{ways[0].upper()}{ways[1:]}.")
    elif not meant:
        said.append("Give a table with at least one column of numbers.")
    return " ".join(said)


def _named(frame: pd.DataFrame, refused: list[str], encode: bool) -> str:
    """Name columns, with what is in the way of the first, and of those that are of numbers."""
    listed = []
    for nth, name in enumerate(refused[:_NAMED]):
        tell = nth == 0 or encode or of_numbers(frame[name])
        listed.append(f"{name!r} ({_not_a_number(frame[name], encode)})" if tell else repr(name))
    more = len(refused) - _NAMED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def _ways(frame: pd.DataFrame, refused: list[str], encode: bool, rows_named: bool) -> str:
    """Say how to go on: with all that can be used, in one command, or without these columns."""
    dated = [
        name for name in refused if looks_dated(frame[name]) and not unclear_dates(frame[name])
    ]
    text = [name for name in refused if not looks_dated(frame[name])]
    named = None
    if not rows_named:
        named = next((name for name in text if names_rows(frame[name])), None)
        named = named or next((name for name in text if nearly_names_rows(frame[name])), None)
    coded = [name for name in text if name != named and not encode and worth_a_code(frame[name])]
    rest = [name for name in refused if name not in (named, *dated, *coded)]
    numbers = [name for name in frame.columns if name not in refused]
    uses = []
    if named is not None and (numbers or dated or coded):
        uses.append((f"name the rows by {named!r}", f"--id {quoted(named)}"))
    if dated:
        uses.append((f"turn the dates of {some(dated)} into days", "--dates"))
    if coded:
        two = all(frame[name].nunique() == 2 for name in coded)
        what = some(coded) if two else f"the values of {some(coded)}"
        uses.append((f"turn {what} into {'0 and 1' if two else 'columns of 0 and 1'}", "--encode"))
    ways = []
    if uses:
        if rest:
            uses.append((f"leave {some(rest)} out", repeated("--drop", rest, _LISTED)))
        done = " and ".join(filter(None, [", ".join(each for each, _ in uses[:-1]), uses[-1][0]]))
        ways.append(f"{done} with {' '.join(option for _, option in uses)}")
    day = next((name for name in dated if names_rows(frame[name])), None)
    if dated == refused and day is not None and not rows_named and numbers:  # one row a day
        ways.append(f"name the rows by {day!r} with --id {quoted(day)}")
    if numbers:
        ways.append(_left_out(refused, numbers))
    return ", or ".join(ways)


def _left_out(refused: list[str], numbers: list[str]) -> str:
    """Say how to go on without columns, by the shorter of two commands, ready to copy."""
    if len(numbers) < len(refused):
        return f"take the others alone with {repeated('--columns', numbers, _LISTED)}"
    them = "them" if len(refused) > 1 else "it"
    return f"leave {them} out with {repeated('--drop', refused, _LISTED)}"


def _not_a_number(column: pd.Series, encode: bool) -> str:
    """Show the first value of a column that is no number, and say what may be meant by it."""
    if encode and has_parts(column):
        return "lists, which --encode cannot turn into numbers"
    found = Written.of(column)
    texts, bad = found.texts, found.texts[~found.stand]
    if found.of_numbers:
        wrong = texts[~found.meant]
        if len(wrong):
            return (
                f"such as {wrong.iloc[0]!r} in row {wrong.index[0] + 1}; {len(wrong)} of "
                f"{len(texts)} are no numbers: leave those empty if unknown"
                + (", or put a letter before each value if they are codes" if encode else "")
            )
        if 0 < len(bad) < len(texts):
            return (
                f"such as {bad.iloc[0]!r} in row {bad.index[0] + 1}; {len(bad)} of {len(texts)} "
                "are written so"
            )
    elif encode and has_many_values(column):
        return (
            f"{column.nunique()} different values; --encode makes a column of each, for at most "
            f"{MOST_CATEGORIES}"
        )
    if texts.empty:
        return "no value at all"
    shown = bad if len(bad) else texts
    return f"such as {shown.iloc[0]!r} in row {shown.index[0] + 1}"


def _signs_told(frame: pd.DataFrame, names: list[str]) -> str:
    """Say how to write numbers with signs, thousands separators or another decimal sign."""
    signed, shown = [], ""
    pointed, as_point = [], ""
    for name in names:
        found = Written.of(frame[name])
        signs = found.meant & ~found.stand
        if signs.any():
            first = int(signs.argmax())
            signed.append(name)
            shown = shown or f"{found.texts.iloc[first]!r} as {found.plain.iloc[first]}"
        elif found.comma and found.stand.all():
            first = int(found.texts.str.contains(",", regex=False).to_numpy(bool).argmax())
            text = found.texts.iloc[first]
            pointed.append(name)
            as_point = as_point or f"{text!r} as {text.replace(',', '.')}"
    said = []
    if signed:
        said.append(
            f"Write the numbers of {some(signed)} without signs and thousands separators: {shown}."
        )
    if pointed:
        said.append(f"Write the numbers of {some(pointed)} with a decimal point: {as_point}.")
    return " ".join(said)
