"""A sheet of an Excel file as a table."""

import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.layout import GAPS, all_named
from edfkmeans.rows.arguments import some

# The largest sheet that is unpacked, in bytes: what a workbook of the largest size holds.
_MOST_BYTES = 2_000_000_000
# What the names of the first files in a workbook begin with.
_PARTS = (b"[Content_Types].xml", b"docProps/", b"xl/")
_NO_LINKS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'


def is_workbook(content: bytes) -> bool:
    """Whether this is an Excel file (.xlsx or .xlsm)."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def refuse_other_zip(content: bytes, source: str) -> None:
    """Refuse a zip archive that is neither a workbook that can be read nor arrays of NumPy."""
    head = content[:3000]
    if b"opendocument.spreadsheet" in head:
        raise BadFileError(f"{source} is an OpenDocument sheet. Save it as .xlsx or as CSV.")
    if zipfile.is_zipfile(io.BytesIO(content)):
        if b"xl/workbook.bin" in content:
            raise BadFileError(f"{source} is a binary Excel file. Save it as .xlsx or as CSV.")
        raise BadFileError(f"{source} is a zip archive. Unpack it.")
    if source.lower().endswith((".xlsx", ".xlsm")) or any(part in head for part in _PARTS):
        raise BadFileError(
            f"{source} is an Excel file that is not whole: its end is missing. Save or copy it "
            "again."
        )
    raise BadFileError(f"{source} is a zip archive. Unpack it.")


def read_sheet(
    content: bytes, source: str, sheet: str | None, id_column: str | None
) -> tuple[pd.DataFrame, tuple[str, ...], pd.DataFrame]:
    """Read a sheet: the first row that is not empty holds the names, unless it holds numbers only.

    Returns the table, what was found out about it in words, and the table with texts such as NA
    that stand for nothing in the first.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > _MOST_BYTES:
        raise BadFileError(
            f"{source} unpacks to {size / 1e9:.1f} GB, more than {_MOST_BYTES / 1e9:g} GB. Save "
            "the sheet as CSV or Parquet."
        )
    try:
        with pd.ExcelFile(_with_links(content), engine="openpyxl") as book:
            names = [str(name) for name in book.sheet_names]
            if sheet is not None and sheet not in names:
                raise BadFileError(
                    f"--sheet {sheet!r}: {source} has no such sheet. It has {some(names, 8)}."
                )
            if not names:
                raise BadFileError(f"{source} has no sheet with cells. Name another file.")
            # What is missing is told from what is empty below.
            cells = pd.read_excel(
                book, sheet_name=sheet or names[0], header=None, dtype=object, na_filter=False
            )
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
    table, kept = _table(cells, source, id_column, notes)
    return table, tuple(notes), kept


def _with_links(content: bytes) -> io.BytesIO:
    """Give every sheet that is a chart a list of links: openpyxl fails where there is none."""
    book = io.BytesIO(content)
    with zipfile.ZipFile(book) as archive:
        names = set(archive.namelist())
    folder = "xl/chartsheets/"
    lists = [
        f"{folder}_rels/{name.removeprefix(folder)}.rels"
        for name in names
        if name.startswith(folder) and name.endswith(".xml")
    ]
    if any(each not in names for each in lists):
        with zipfile.ZipFile(book, "a") as archive:
            for each in lists:
                if each not in names:
                    archive.writestr(each, _NO_LINKS)
    book.seek(0)
    return book


def _table(
    cells: pd.DataFrame, source: str, id_column: str | None, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take the names from the first row, and the kinds of the columns from the others.

    An empty cell is an empty text here, and one with an error, such as #N/A, is NaN.
    """
    empty = cells == ""
    cells = cells.loc[~empty.all(axis=1), ~empty.all(axis=0)]
    # A row of errors is a row, but holds no names.
    told = ((cells != "") & cells.notna()).any(axis=1).to_numpy()
    if not told.any():
        raise BadFileError(f"{source} has an empty sheet. Name another one with --sheet.")
    cells = cells.iloc[int(told.argmax()) :]
    first = cells.iloc[0]
    if all(_is_number(cell) for cell in first):
        notes.append("The first row holds numbers only: the columns are numbered.")
        cells.columns = pd.Index([f"column {j + 1}" for j in range(cells.shape[1])])
    else:
        names = all_named(["" if pd.isna(cell) else str(cell).strip() for cell in first])
        cells = cells.iloc[1:]
        cells.columns = pd.Index(names)
    if cells.columns.has_duplicates:  # told by the reader of files
        return cells, cells
    cells = cells.reset_index(drop=True)
    kept, table = _with_gaps(cells, [""]), _with_gaps(cells, GAPS)
    if id_column in table:
        table[id_column] = kept[id_column]  # NA is a name
    for name in table:
        if table[name].dtype.kind in "biufmM":
            kept[name] = table[name]
    return table, kept


def _with_gaps(cells: pd.DataFrame, words: list[str]) -> pd.DataFrame:
    """Return the cells with NaN for some texts, and of each column the kind that it is of."""
    made = cells.copy()
    made[made.isin(words)] = np.nan  # pandas 2 warns where `mask` does it
    return made.infer_objects()


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and not pd.isna(cell)
