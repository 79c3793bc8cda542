"""A sheet of an Excel file as a table."""

import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import some

# The largest sheet that is unpacked, in bytes: what a workbook of the largest size holds.
_MOST_BYTES = 2_000_000_000


def is_workbook(content: bytes) -> bool:
    """Whether this is an Excel file (.xlsx or .xlsm)."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def read_sheet(
    content: bytes, source: str, sheet: str | None, id_column: str | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a sheet: the first row that is not empty holds the names, unless it holds numbers only.

    Returns the table, and what was found out about it in words.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > _MOST_BYTES:
        raise BadFileError(
            f"{source} unpacks to {size / 1e9:.1f} GB, more than {_MOST_BYTES / 1e9:g} GB. Save "
            "the sheet as CSV or Parquet."
        )
    try:
        with pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
            names = [str(name) for name in book.sheet_names]
            if sheet is not None and sheet not in names:
                raise BadFileError(
                    f"--sheet {sheet!r}: {source} has no such sheet. It has {some(names, 8)}."
                )
            cells = pd.read_excel(book, sheet_name=sheet or names[0], header=None, dtype=object)
    except ImportError as error:
        raise BadFileError(needs(f"{source}, an Excel file,", "openpyxl", "excel")) from error
    except BadFileError:
        raise
    except Exception as error:  # openpyxl has many, for files of any kind, cut off, wrong
        raise BadFileError(
            f"{source} could not be read as an Excel file: {error}. Is the file whole?"
        ) from error
    notes = []
    if sheet is None and len(names) > 1:
        notes.append(
            f"The first of {len(names)} sheets, {names[0]!r}; --sheet takes another: "
            f"{some(names[1:], 8)}."
        )
    return _table(cells, source, id_column, notes), tuple(notes)


def _table(
    cells: pd.DataFrame, source: str, id_column: str | None, notes: list[str]
) -> pd.DataFrame:
    """Take the names from the first row, and the kinds of the columns from the others."""
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if cells.empty:
        raise BadFileError(f"{source} has an empty sheet. Name another one with --sheet.")
    first = cells.iloc[0]
    if all(_is_number(cell) for cell in first):
        notes.append("The first row holds numbers only: the columns are numbered.")
        cells.columns = pd.Index([f"column {j + 1}" for j in range(cells.shape[1])])
    else:
        names = [
            f"Unnamed: {j}" if pd.isna(cell) else str(cell).strip() for j, cell in enumerate(first)
        ]
        cells = cells.iloc[1:]
        cells.columns = pd.Index(names)
    if cells.columns.has_duplicates:  # told by the reader of files
        return cells
    table = cells.reset_index(drop=True).infer_objects()
    if id_column in table and table[id_column].dtype.kind == "f":
        whole = table[id_column].dropna()
        if (whole % 1 == 0).all() and len(whole) == len(table):
            table[id_column] = table[id_column].astype(np.int64)
    return table


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and not pd.isna(cell)
