"""Prepared: the rows of a file as numbers, with what was done to them; `prepare` does it."""

import difflib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._choices import MISSING, SCALES, Missing, Scale
from edfkmeans.cli.layout import BadFileError
from edfkmeans.rows.arguments import check_one_of, some
from edfkmeans.rows.units import Floats

# Values of a text column that --encode makes columns of, at most.
MOST_CATEGORIES = 50


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows of a file, ready to be clustered.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The numbers, scaled.
    names : list of str
        The columns of X.
    offset, spread : ndarray of shape (n_features,)
        ``X * spread + offset`` is what the file holds.
    ids : Series
        What each row is called: a column of the file, or its number, counted from 1.
    kept : Index
        The places of the rows in the file, counted from 0, without those left out.
    source : str
        Where the rows come from.
    notes : tuple of str
        What was done to them, in words.
    """

    X: Floats
    names: list[str]
    offset: Floats
    spread: Floats
    ids: pd.Series
    kept: pd.Index
    source: str
    notes: tuple[str, ...]


def prepare(
    frame: pd.DataFrame,
    source: str,
    *,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    id_column: str | None = None,
    encode: bool = False,
    missing: Missing | None = None,
    scale: Scale = "standard",
    notes: tuple[str, ...] = (),
) -> Prepared:
    """Choose columns, turn them into numbers, fill or drop what is missing, and scale."""
    check_one_of("scale", scale, SCALES)
    told = list(notes)
    index, frame = frame.index, frame.reset_index(drop=True)
    if frame.empty:
        raise BadFileError(
            f"{source} has a header but no rows. Give at least a few rows of numbers."
        )
    ids = pd.Series(np.arange(1, len(frame) + 1), index=frame.index, name="row")
    # A Parquet file of pandas may have an index that is more than the number of the row.
    own_index = index.name is not None or not index.equals(pd.RangeIndex(len(index)))
    if own_index and id_column in (None, index.name):
        rows = index.to_flat_index()
        if index.nlevels > 1:
            rows = rows.map(lambda parts: " / ".join(map(str, parts)))
        ids = pd.Series(rows, index=frame.index, name=index.name or "row")
        told.append("The table's index names the rows: taken as their id.")
    elif id_column is not None:
        ids = frame[known_column(frame, id_column, "--id", source)]
    elif _counts_rows(frame.iloc[:, 0]):
        ids = frame.iloc[:, 0].rename("row")
        frame = frame.iloc[:, 1:]
        told.append("The first column has no name and counts the rows: taken as the row's id.")
    for ours, name in zip(label_columns(ids.name), ("cluster", "ambiguity"), strict=True):
        if ours != name:
            told.append(f"The id is called {name!r}: in the labels our column is {ours!r}.")
    frame = chosen_columns(frame, columns, drop, id_column, source)
    frame = _numbers(frame, encode, source, told)
    frame = _without_missing(frame, missing, source, told)
    ids = ids.loc[frame.index]
    values = np.array(frame.to_numpy(np.float64), order="C")  # ours, to be scaled in place
    same = (values == values[0]).all(axis=0)
    if same.all():
        raise BadFileError(
            f"In {source} every column holds a single value: there is nothing to cluster. Check "
            "that the file holds what you meant to cluster."
        )
    constant = [str(name) for name in frame.columns[same]]
    if constant:
        told.append(f"Constant, and so without a say: {some(constant)}.")
    offset, spread = _scale(values, scale)
    names = {"standard": "standardised", "robust": "by median and quartiles", "none": "as they are"}
    told.append(f"Columns {names[scale]} (--scale {scale}).")
    return Prepared(
        X=values,
        names=[str(name) for name in frame.columns],
        offset=offset,
        spread=spread,
        ids=ids.reset_index(drop=True),
        kept=frame.index,
        source=source,
        notes=tuple(told),
    )


def label_columns(id_name: Any) -> tuple[str, str]:
    """Name the columns of labels that are ours: otherwise where the id bears that name."""
    cluster, ambiguity = (
        f"edfkmeans_{name}" if name == str(id_name) else name for name in ("cluster", "ambiguity")
    )
    return cluster, ambiguity


def _counts_rows(column: pd.Series) -> bool:
    """Whether this is the index that pandas writes: no name, and 0, 1, 2, ... or 1, 2, 3, ..."""
    if not str(column.name).startswith("Unnamed:") or column.dtype.kind not in "iu":
        return False
    values = column.to_numpy()
    return bool(values[0] in (0, 1) and (np.diff(values) == 1).all())


def known_column(frame: Any, name: str, option: str, source: str) -> str:
    """Return the name of a column, or say which ones there are."""
    if name in frame.columns:
        return name
    names = [str(column) for column in frame.columns]
    if "," in name and all(part.strip() in names for part in name.split(",")):
        parts = " ".join(f"{option} {_quoted(part.strip())}" for part in name.split(","))
        raise BadFileError(f"{option} {name!r}: name one column at a time: {parts}")
    near = difflib.get_close_matches(name, names, 3, cutoff=0.5)
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
    if columns:
        columns = list(dict.fromkeys(columns))
        frame = frame[[known_column(frame, name, "--columns", source) for name in columns]]
    gone = [known_column(frame, name, "--drop", source) for name in drop or []]
    if id_column is not None and id_column in frame:
        gone.append(id_column)
    frame = frame.drop(columns=gone)
    if frame.shape[1] == 0:
        raise BadFileError(f"No column of {source} is left to cluster. Name fewer in --drop.")
    return frame


def _numbers(frame: pd.DataFrame, encode: bool, source: str, told: list[str]) -> pd.DataFrame:
    """Turn truth values into 0 and 1, and text into one column for each of its values."""
    decimals = [name for name in frame.columns if _holds(frame[name], Decimal)]
    frame = frame.astype(dict.fromkeys(decimals, np.float64))
    kinds = {name: frame[name].dtype for name in frame.columns}
    text = [name for name, kind in kinds.items() if not pd.api.types.is_numeric_dtype(kind)]
    if not text:
        return frame.astype(np.float64)
    if not encode:
        raise BadFileError(
            f"{source} has columns that are not numbers: {some([str(name) for name in text])} "
            f"({_not_a_number(frame[text[0]])}). Leave them out with "
            f"{' '.join(f'--drop {_quoted(name)}' for name in text[:5])}, or turn each of their "
            "values into a column of 0 and 1 with --encode."
        )
    for name in text:
        if _holds(frame[name], list, dict, np.ndarray):
            raise BadFileError(
                f"The column {str(name)!r} of {source} has lists in it, which --encode cannot turn "
                f"into numbers. Leave it out with --drop {_quoted(name)}."
            )
        count = frame[name].nunique()
        if count > MOST_CATEGORIES:
            raise BadFileError(
                f"The column {str(name)!r} of {source} has {count} different values; --encode "
                f"makes a column of each, for at most {MOST_CATEGORIES}. Leave it out with --drop "
                f"{_quoted(name)}, or name it as the rows' id with --id {_quoted(name)}."
            )
    blank = frame[text].isna()
    coded = pd.get_dummies(frame, columns=text, prefix_sep="=", dtype=np.float64)
    for name in text:  # what is missing is missing in every column of it
        made = [c for c in coded.columns if c not in frame.columns and c.startswith(f"{name}=")]
        coded.loc[blank[name], made] = np.nan
    told.append(f"Encoded as columns of 0 and 1: {some([str(name) for name in text])}.")
    return coded.astype(np.float64)


def _holds(column: pd.Series, *kinds: type) -> bool:
    """Whether all values that are not missing are Python objects of some kinds."""
    if column.dtype != object:
        return False
    values = column.dropna()
    return len(values) > 0 and all(isinstance(value, kinds) for value in values)


def _without_missing(
    frame: pd.DataFrame, missing: Missing | None, source: str, told: list[str]
) -> pd.DataFrame:
    infinite = np.isinf(frame).sum()
    if infinite.any():
        raise BadFileError(
            f"{source} has infinite values in {_counts(infinite)}. Correct them, leave them empty "
            "and choose --missing, or leave the columns out with --drop."
        )
    counts = frame.isna().sum()
    if not counts.any():
        return frame
    rows = int(frame.isna().any(axis=1).sum())
    if missing is None:
        empty = [name for name in frame.columns if counts[name] == len(frame)]
        hint = f" {some([str(e) for e in empty])} holds nothing at all: --drop it." if empty else ""
        raise BadFileError(
            f"{source} has missing values in {rows} of {len(frame)} rows: {_counts(counts)}."
            f"{hint} Choose --missing drop (leave those rows out), --missing mean or --missing "
            "median (fill them)."
        )
    check_one_of("missing", missing, MISSING)
    if missing == "drop":
        frame = frame.dropna()
        if frame.empty:
            raise BadFileError(
                f"Every row of {source} has a missing value: {_counts(counts)}. Leave columns out "
                "with --drop, or fill them with --missing mean."
            )
        told.append(f"{rows} rows with missing values left out, {len(frame)} kept.")
        return frame
    nothing = [str(name) for name in frame.columns if counts[name] == len(frame)]
    if nothing:
        raise BadFileError(
            f"{some(nothing)} of {source} holds no value at all. Leave it out: --drop."
        )
    told.append(f"{int(counts.sum())} missing values in {rows} rows filled by the {missing}.")
    # In units of a power of two, where the sum of huge values is no infinity.
    exponent = np.frexp(frame.abs().max().to_numpy(np.float64))[1]
    scaled = pd.DataFrame(np.ldexp(frame.to_numpy(np.float64), -exponent))
    middle = scaled.mean() if missing == "mean" else scaled.median()
    return frame.fillna(dict(zip(frame.columns, np.ldexp(middle, exponent), strict=True)))


def _counts(counts: pd.Series) -> str:
    named = [f"{str(name)!r} ({int(count)})" for name, count in counts.items() if count]
    return ", ".join(named[:6]) + (f" and {len(named) - 6} more columns" if len(named) > 6 else "")


def _not_a_number(column: pd.Series) -> str:
    """Show the first value of a column that is no number, and say what may be meant by it."""
    values = column.dropna().astype(str)
    bad = values[pd.to_numeric(values, errors="coerce").isna()]
    if bad.empty:
        return f"such as {values.iloc[0]!r}" if len(values) else "no value at all"
    plain = bad.str.replace(r"[,\s']", "", regex=True)
    hint = ""
    if pd.to_numeric(plain, errors="coerce").notna().all():
        hint = "; write numbers without thousands separators"
    elif len(bad) < len(values) / 2:
        hint = f"; {len(bad)} of {len(values)} are no numbers: leave those empty if unknown"
    return f"such as {bad.iloc[0]!r} in row {bad.index[0] + 1}{hint}"


def _quoted(name: Any) -> str:
    text = str(name)
    return text if text.replace("_", "").replace("-", "").isalnum() else repr(text)


def _scale(values: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Scale columns in place; returns their offset and spread; a constant one has spread 1."""
    d = values.shape[1]
    if scale == "none":
        return np.zeros(d), np.ones(d)
    low, high, first = values.min(axis=0), values.max(axis=0), values[0].copy()
    # A power of two costs no digits; squares of very large or small numbers would leave the range
    # of a float.
    unit = np.ldexp(1.0, np.frexp(np.maximum(-low, high))[1] - 1)
    values /= unit
    offset, spread = values.mean(axis=0), values.std(axis=0)
    if scale == "robust":
        lower, offset, upper = np.percentile(values, [25, 50, 75], axis=0)
        spread = np.where(upper > lower, upper - lower, spread)
    same = low == high
    spread[same] = 1.0
    values -= offset
    values /= spread
    values[:, same] = 0.0
    return np.where(same, first, offset * unit), np.where(same, 1.0, spread * unit)
