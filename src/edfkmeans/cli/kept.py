"""Kept: the table of a file, written again with the clusters of its rows; and other rows."""

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._spreadsheets import harmless
from edfkmeans.cli.columns import cluster_column
from edfkmeans.rows.inputs import texts_of

# Whole numbers up to here are the same as floats.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Kept:
    """The table of a file, all columns.

    Attributes
    ----------
    frame : DataFrame
        What was read.
    texts : DataFrame, or None
        The same as it stands in the file, where that is text.
    separator : str
        What stands between the values of a CSV file that it is written to. Where numbers have a
        decimal comma that is no comma.
    indexed : bool
        Whether the index is more than the numbers of the rows.
    """

    frame: pd.DataFrame
    texts: pd.DataFrame | None = None
    separator: str = ","
    indexed: bool = False

    @property
    def cluster(self) -> str:
        """The name of the column that is added."""
        return cluster_column(self.frame)

    def rows(self, places: pd.Index) -> "Kept":
        """Leave some of the rows."""
        texts = None if self.texts is None else self.texts.iloc[places]
        return replace(self, frame=self.frame.iloc[places], texts=texts)

    def write(self, file: Path, labels: Any) -> None:
        """Write it with the clusters of its rows, by the name of the file as Parquet or CSV."""
        if file.suffix.lower() != ".csv":
            table = storable(self._typed().assign(**{self.cluster: labels}))
            table.to_parquet(file, index=self.indexed)
            return
        if self.texts is None:
            frame = self.frame.assign(**{self.cluster: labels})
            if self.indexed:
                if frame.index.nlevels == 1 and frame.index.name is None:
                    frame = frame.rename_axis("row")  # as in the labels
                frame = frame.reset_index(allow_duplicates=True)
            # Gaps have made floats of whole numbers.
            for j in range(frame.shape[1]):
                if frame.iloc[:, j].hasnans:
                    frame.isetitem(j, whole(frame.iloc[:, j]).array)
            frame = _harmless(frame)
        else:
            numbers = [
                j for j in range(self.frame.shape[1])
                if _of_numbers(self.frame.iloc[:, j], self.texts.iloc[:, j])
            ]  # fmt: skip
            frame = _harmless(self.texts, numbers).assign(**{self.cluster: labels})
        frame.to_csv(file, index=False, lineterminator="\n", sep=self.separator)

    def _typed(self) -> pd.DataFrame:
        """Return the table with numbers as numbers, and text as it stands in the file."""
        frame = self.frame.copy(deep=False)
        if self.texts is not None:
            for j in range(frame.shape[1]):
                frame.isetitem(j, _numbers_or_texts(frame.iloc[:, j], self.texts.iloc[:, j]).array)
        return frame


def is_own(index: pd.Index) -> bool:
    """Whether an index is more than the numbers of the rows, as that of a Parquet file may be."""
    named = any(name is not None for name in index.names)
    return named or not index.equals(pd.RangeIndex(len(index)))


def _numbers_or_texts(column: pd.Series, texts: pd.Series) -> pd.Series:
    if pd.api.types.infer_dtype(column, skipna=True) == "boolean":
        return column
    there = column.notna()
    given = texts[there].str.strip()
    # Zeros in front, as of 00501, are of codes, and numbers would lose them.
    codes = given.str.fullmatch(r"[-+]?0\d+").any()
    if codes or not pd.api.types.is_numeric_dtype(column.dtype):
        return texts.where(texts != "")
    if not there.all() and len(given) and given.str.fullmatch(r"[-+]?\d+").all():
        numbers = given.map(int)
        if numbers.abs().max() > np.iinfo(np.int64).max:
            return texts.where(texts != "")
        filled = pd.Series(0, index=column.index, dtype="Int64")
        filled[there] = numbers.astype("Int64")
        return filled.where(there)
    return column


def _of_numbers(column: pd.Series, texts: pd.Series) -> bool:
    """Whether a column holds numbers only, which no spreadsheet takes for formulas."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return True
    return bool(pd.to_numeric(texts[texts != ""], errors="coerce").notna().all())


def whole(column: pd.Series) -> pd.Series:
    """Return floats that are whole numbers as these, and all else as it is."""
    if column.dtype.kind != "f":
        return column
    given = column.dropna()
    if given.empty or not ((given % 1 == 0) & (given.abs() < _EXACT)).all():
        return column
    return column.astype("Int64" if len(given) < len(column) else "int64")


def write_rows(frame: pd.DataFrame, file: Any) -> None:
    """Write what is said of every row, its id first: Parquet by the name of the file, else CSV."""
    if isinstance(file, Path) and file.suffix.lower() != ".csv":
        storable(frame).to_parquet(file, index=False)
        return
    frame = _harmless(frame)
    for j in range(1, frame.shape[1]):  # what is ours; the id is as it was
        if frame.dtypes.iloc[j].kind == "f":
            rounded = frame.iloc[:, j].map(lambda each: f"{each:.6g}", na_action="ignore")
            frame.isetitem(j, rounded.astype(object).array)
    frame.to_csv(file, index=False, lineterminator="\n")


def storable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with those columns as text that Parquet cannot hold: mixed, or too large."""
    frame = frame.copy(deep=False)
    array = import_module("pyarrow").array
    for j, kind in enumerate(frame.dtypes):
        if isinstance(kind, np.dtype) and kind.kind in "biufM":
            continue
        try:
            array(frame.iloc[:, j], from_pandas=True)
        except Exception:  # pyarrow has many, some of them of Python
            frame.isetitem(j, texts_of(frame.iloc[:, j]).array)
    return frame


def _harmless(frame: pd.DataFrame, numbers: list[int] | None = None) -> pd.DataFrame:
    """Keep a spreadsheet from running anything in a table, of which some columns are numbers."""
    frame = frame.copy(deep=False)
    for j, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufM" and j not in (numbers or []):
            frame.isetitem(j, frame.iloc[:, j].map(harmless).array)
    frame.columns = frame.columns.map(harmless)
    return frame
