"""A table in a file: format, encoding, separator and header are found out."""

import csv
import gzip
import io
import re
import sys
import warnings
import zlib
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.workbook import is_workbook, read_sheet
from edfkmeans.rows.arguments import some

_SEPARATORS = (",", ";", "\t", "|")
_LINES_LOOKED_AT = 200
# What pandas reads as missing.
_GAPS = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_ARROW_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather"}


def read_file(
    place: str | Path, id_column: str | None = None, sheet: str | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a table: CSV or TSV (also .gz), Excel, Parquet, Feather, NPY or NPZ.

    ``-`` is standard input. The column of ids is kept as it is written: ``007`` and ``NA`` are
    names. `sheet` names one of an Excel file, by default the first.

    Returns
    -------
    frame : DataFrame
    notes : tuple of str
        What was found out about it, in words, where it is worth a word.
    """
    source = "standard input" if str(place) == "-" else str(place)
    content = _content(place, source)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise BadFileError(
                f"{source} looks compressed by gzip but cannot be unpacked: {error}. Is the file "
                "whole?"
            ) from error
    if not content.strip():
        raise BadFileError(f"{source} is empty. Give a table with a header and rows of numbers.")
    if is_workbook(content):
        frame, notes = read_sheet(content, source, sheet, id_column)
        return _checked(frame, source), notes
    if sheet is not None:
        raise BadFileError(f"--sheet {sheet!r}: {source} is no Excel file. Leave --sheet out.")
    for magic, kind in _ARROW_MAGIC.items():
        if content.startswith(magic):
            return _checked(_arrow(content, kind, source), source), ()
    if content.startswith(b"PK\x03\x04") and b".npy" not in content[:200]:
        raise BadFileError(f"{source} is a zip archive. Unpack it.")
    if content.startswith(_OLD_EXCEL):
        raise BadFileError(f"{source} is an old Excel file. Save it as .xlsx or as CSV.")
    if content.startswith((b"\x93NUMPY", b"PK\x03\x04")):
        return _checked(_numpy(content, source), source), ()
    return _text(_as_utf8(content, source), source, id_column)


def _content(place: str | Path, source: str) -> bytes:
    if str(place) == "-":
        return sys.stdin.buffer.read()
    file = Path(place)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise BadFileError(f"There is no file {file}. Check the name and the folder.") from None
    except IsADirectoryError:
        raise BadFileError(f"{file} is a folder. Name the file with the table in it.") from None
    except OSError as error:
        raise BadFileError(f"{file} could not be read: {error.strerror}.") from error


def _arrow(content: bytes, kind: str, source: str) -> pd.DataFrame:
    stream = io.BytesIO(content)
    try:
        table: Any = import_module(f"pyarrow.{kind}").read_table(stream)
        # Not checked otherwise: places outside the file would be read, and end the process.
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas()
        return frame
    except ImportError as error:
        raise BadFileError(needs(f"{source}, a {kind} file,", "pyarrow", "cli")) from error
    except Exception as error:  # pyarrow has many, for files of any kind, cut off, wrong
        raise BadFileError(
            f"{source} could not be read as {kind}: {error}. Is the file whole?"
        ) from error


def _numpy(content: bytes, source: str) -> pd.DataFrame:
    """Read a matrix; what would have to be unpickled is refused."""
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
        if isinstance(found, np.lib.npyio.NpzFile):
            if len(found.files) != 1:
                raise BadFileError(
                    f"{source} holds {len(found.files)} arrays: {some(found.files)}. Save the one "
                    "to be clustered alone, with numpy.save."
                )
            found = found[found.files[0]]
    except BadFileError:
        raise
    except Exception as error:  # zip files of any kind, cut off, wrong
        raise BadFileError(f"{source} could not be read as a NumPy array: {error}.") from error
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        raise BadFileError(
            f"{source} holds an array of {found.ndim} dimensions and type {found.dtype}; a matrix "
            "of numbers is needed."
        )
    return pd.DataFrame(found, columns=[f"column {j + 1}" for j in range(found.shape[1])])


def _as_utf8(content: bytes, source: str) -> bytes:
    """Return text of any usual encoding in UTF-8, with plain ends of lines; mostly it is that."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        with suppress(UnicodeDecodeError):
            content = content.decode("utf-16").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode("cp1252", errors="replace").encode()
    head = content[:100_000].decode(errors="ignore")
    strange = sum(not (c.isprintable() or c in "\t\r\n\f\ufeff") for c in head[:4000])
    if "\0" in head or strange > len(head[:4000]) / 50:
        raise BadFileError(
            f"{source} is not a table in text, nor Excel, Parquet, Feather, NPY or NPZ. Save it as "
            "CSV."
        )
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def _first_lines(content: bytes) -> list[str]:
    """Return the first lines that are not blank."""
    end = 0
    for _ in range(2 * _LINES_LOOKED_AT):
        end = content.find(b"\n", end) + 1
        if not end:
            break
    lines = (content[:end] if end else content).decode().split("\n")
    return list(islice((line for line in lines if line.strip()), _LINES_LOOKED_AT))


def _text(
    content: bytes, source: str, id_column: str | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read delimited text: separator, header and decimal comma are found out."""
    start = re.match(rb"\s*\n", content)  # a first line of tabs is no header
    content = content[start.end() :] if start else content
    lines = _first_lines(content)
    if not lines:
        raise BadFileError(f"{source} is empty. Give a table with a header and rows of numbers.")
    if lines[0].lstrip()[:1] in ("{", "[", "<"):
        raise BadFileError(
            f"{source} looks like JSON or a web page, not like a table. Save it as CSV, e.g. with "
            "pandas.read_json(...).to_csv(...)."
        )
    separator = _separator(lines)
    fields = [_split(line, separator) for line in lines]
    notes = []
    comma = separator != "," and _decimal_comma(fields[1:] or fields)
    counted = len(fields[0]) > 1 and _counts_columns(fields[0])
    header = counted or not all(_is_number(field, comma) for field in fields[0])
    if counted:
        notes.append("The first line counts the columns: taken as their names.")
    if header:
        _refuse_duplicates(fields[0], source)
    else:
        names = [f"column {j + 1}" for j in range(len(fields[0]))]
        notes.append("The first line holds numbers only: taken as a row, and the columns numbered.")
    if comma:
        notes.append("Numbers are written with a decimal comma.")
    width = len(fields[0])
    too_long = next((i for i, each in enumerate(fields) if len(each) > width), None)
    if too_long is not None:
        raise BadFileError(
            f"{source}: line {too_long + 1} has {len(fields[too_long])} fields and the first "
            f"{width}. Every row needs as many fields as the header; the separator found is "
            f"{separator!r}, and numbers need a decimal point."
        )
    options: dict[str, Any] = {"sep": r"\s+" if separator == " " else separator}
    columns = [field.strip() for field in fields[0]]
    named = header and id_column is not None and id_column in columns
    if named:
        gaps = {name: _GAPS for name in columns if name != id_column}
        options |= {"dtype": {id_column: str}, "keep_default_na": False, "na_values": gaps}
    try:
        with warnings.catch_warnings():
            # Rows with more fields than the header has would be cut short with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(content),
                index_col=False,
                header=0 if header else None,
                names=None if header else names,
                decimal="," if comma else ".",
                skipinitialspace=True,
                skip_blank_lines=True,
                on_bad_lines="error",
                **options,
            )
    except (ValueError, csv.Error, pd.errors.ParserWarning) as error:
        raise BadFileError(f"{source} could not be read as a table: {_reason(error)}") from error
    if named:
        frame[id_column] = _whole_numbers(frame[id_column])
    return _checked(frame, source), tuple(notes)


def _whole_numbers(texts: pd.Series) -> pd.Series:
    """Turn texts into whole numbers if that loses nothing, such as a zero in front."""
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.isna().any() or not pd.api.types.is_integer_dtype(numbers):
        return texts
    return numbers if (numbers.astype(str) == texts).all() else texts


def _reason(error: Exception) -> str:
    text = str(error).replace("Error tokenizing data. C error: ", "").strip().rstrip(".")
    if isinstance(error, pd.errors.ParserWarning):
        text = "some rows have more fields than the first line"
    if ("Expected" in text and "saw" in text) or "more fields" in text:
        text += ". Every row needs as many fields as the header; quote those that hold a separator"
    if "EOF inside string" in text:
        text += ". A quotation mark is not closed"
    return f"{text}."


def _separator(lines: list[str]) -> str:
    """Return what cuts most lines into the same number of fields, and into more than one."""
    best, best_score = ",", 0.0
    for separator in (*_SEPARATORS, " "):
        counts = [len(_split(line, separator)) for line in lines]
        usual = max(set(counts), key=counts.count)
        if usual > 1:
            score = counts.count(usual) / len(counts) * (0.5 if separator == " " else 1)
            if score > best_score + 1e-9:
                best, best_score = separator, score
    return best


def _split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error:  # a field longer than the reader likes; pandas has no such limit
        return line.split(separator)


def _decimal_comma(rows: list[list[str]]) -> bool:
    """Whether more fields are numbers with a decimal comma than with a point."""
    fields = [field.strip() for row in rows for field in row if field.strip()]
    commas = [field for field in fields if "," in field and _is_number(field, True)]
    points = [field for field in fields if "." in field and _is_number(field, False)]
    return len(commas) > len(points)


def _counts_columns(header: list[str]) -> bool:
    """Whether these are the names that pandas gives: 0, 1, 2, ... (or 1, 2, 3, ...)."""
    names = [field.strip() for field in header]
    return any(names == [str(j + first) for j in range(len(names))] for first in (0, 1))


def _is_number(field: str, comma: bool) -> bool:
    try:
        float(field.replace(",", ".", 1) if comma else field)
    except ValueError:
        return False
    return field.strip().lower() not in ("nan", "inf", "infinity")


def _refuse_duplicates(header: list[str], source: str) -> None:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(header, start=1):
        if name.strip():
            places.setdefault(name.strip(), []).append(place)
    for name, where in places.items():
        if len(where) > 1:
            listed = ", ".join(map(str, where[:-1])) + f" and {where[-1]}"
            raise BadFileError(
                f"{source} has {len(where)} columns named {name!r} (columns {listed}). Give each "
                "column a name of its own."
            )


def _checked(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    _refuse_duplicates(names, source)
    frame.columns = pd.Index(names)
    return frame
