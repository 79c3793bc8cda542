"""A table in a file: format, encoding, separator and header are found out."""

import csv
import gzip
import io
import os
import re
import sys
import warnings
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kinds import looks_dated
from edfkmeans.cli.layout import GAPS, Layout, refuse_duplicates
from edfkmeans.cli.workbook import is_workbook, read_sheet
from edfkmeans.rows.arguments import some

# Bytes of a text that are looked at before it is read in a stream.
_HEAD = 2**18
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
# What comes of files that are packed and not whole, or of files that cannot be read.
_BROKEN = (OSError, EOFError, zlib.error)
_ARROW_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather"}


def read_file(
    place: str | Path,
    id_column: str | None = None,
    sheet: str | None = None,
    words: Collection[str] = (),
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a table: CSV or TSV (also .gz), Excel, Parquet, Feather, NPY or NPZ.

    ``-`` is standard input. The column of ids is kept as it is written: ``007`` and ``NA`` are
    names. `sheet` names one of an Excel file, by default the first. In columns of text that hold
    words, or are named in `words`, ``None`` is one of the words.

    Returns
    -------
    frame : DataFrame
    notes : tuple of str
        What was found out about it, in words, where it is worth a word.
    """
    source = "standard input" if str(place) == "-" else str(place)
    if _is_several(str(place)):
        return _several(str(place))
    content = _content(place, source)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except _BROKEN as error:
            raise _not_unpacked(source, error) from error
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
    return _text(_as_utf8(content, source), source, id_column, words)


def _is_several(place: str) -> bool:
    """Whether a name stands for a folder or a pattern of files."""
    if "://" not in place:
        return os.path.isdir(place) or ("*" in place and not os.path.exists(place))
    try:
        from fsspec.core import url_to_fs
    except ImportError:  # whoever reads it says so
        return False
    system, path = url_to_fs(place)
    return "*" in path or bool(system.isdir(path))


def _several(place: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the files of a folder or pattern, one after the other."""
    try:
        table, notes = open_stream(place)
        whole = table.to_table()
        whole.validate(full=True)
    except ImportError as error:
        raise BadFileError(
            needs(f"{place}, several files,", "pyarrow and fsspec", "arrow")
        ) from error
    except FileNotFoundError:
        raise BadFileError(f"There is no file {place}. Check the name and the folder.") from None
    except BadFileError:
        raise
    except ValueError as error:
        raise BadFileError(str(error)) from error
    except OSError as error:
        raise BadFileError(f"{place} could not be read: {error}. Are all files whole?") from error
    return _checked(whole.to_pandas(), place), notes


def _content(place: str | Path, source: str) -> bytes:
    if str(place) == "-":
        if sys.stdin is None:  # closed by whoever started this
            raise BadFileError("Standard input is closed. Name a file, or give a table to it.")
        return sys.stdin.buffer.read()
    try:
        if "://" in str(place):
            return bytes(_opened(str(place)).read())
        return Path(place).read_bytes()
    except FileNotFoundError:
        raise BadFileError(f"There is no file {place}. Check the name and the folder.") from None
    except OSError as error:
        raise BadFileError(f"{place} could not be read: {error.strerror or error}.") from error


def _opened(address: str) -> Any:
    """Open a file wherever it is; what is packed is unpacked."""
    try:
        import fsspec
    except ImportError:
        raise BadFileError(needs(address, "fsspec", "arrow")) from None
    return fsspec.open(address, "rb", compression="infer").open()


def open_stream(place: str) -> tuple[Any, tuple[str, ...]]:
    """Open files as a stream, having found out how text is written down.

    Returns
    -------
    table : pyarrow.dataset.Dataset
    notes : tuple of str
        What was found out about it, in words, where it is worth a word.
    """
    from edfkmeans.engines.arrow_files import files_of, open_lazily

    system, files, kind = files_of(place)
    if kind != "csv":
        return open_lazily(place), ()
    text = _written(system, files, place)
    layout = text.layout
    if layout.separator == " ":
        raise BadFileError(
            f"{place} has blanks between its columns, and text like that is not read in a stream. "
            "Convert it to Parquet first."
        )
    table = open_lazily(
        place,
        separator=layout.separator,
        decimal="," if layout.comma else ".",
        names=layout.names,
        skip=text.blank + layout.header,
        encoding=text.encoding,
        gaps=GAPS,
    )
    return table, layout.notes


def open_chunks(place: str) -> tuple[Any, tuple[str, ...], list[str]]:
    """Open files for dask, having found out how text is written down.

    Returns
    -------
    table : dask data frame, or dask array where it is Zarr
    notes : tuple of str
        What was found out about it, in words, where it is worth a word.
    index : list of str
        The index of a table of pandas in Parquet, which is no part of the table.
    """
    from edfkmeans.engines import dask_files

    if place.lower().rstrip("/").endswith(".zarr"):
        return dask_files.open_lazily(place), (), []
    from edfkmeans.engines import arrow_files

    system, files, kind = arrow_files.files_of(place)
    if kind == "feather":
        raise BadFileError(
            f"{place} is Feather, which dask does not read. Use --engine arrow, or convert it to "
            "Parquet."
        )
    if kind == "parquet":
        schema = arrow_files.open_lazily(place).schema
        index = arrow_files.index_columns(schema)
        rest = [name for name in schema.names if name not in index] if index else None
        return dask_files.open_lazily(place, rest), (), index
    if any(file.lower().endswith(".gz") for file in files):
        raise BadFileError(
            f"{place} is packed, and dask cannot read a part of it alone. Use --engine arrow, or "
            "unpack it."
        )
    text = _written(system, files, place)
    odd = "in UTF-16" if text.encoding == "utf-16" else "with the line ends of old Macs"
    if text.encoding == "utf-16" or text.old_ends:
        raise BadFileError(
            f"{place} is text {odd}, which dask cannot cut into chunks. Use --engine arrow, or "
            "save it in UTF-8 with usual line ends."
        )
    layout = text.layout
    table = dask_files.open_text(
        [system.unstrip_protocol(file) for file in files] if "://" in place else files,
        separator=layout.separator,
        decimal="," if layout.comma else ".",
        names=layout.names,
        skip=text.blank + min(layout.header, 1),  # names of several lines are one line to pandas
        encoding=text.encoding,
    )
    return table, layout.notes, []


def check_for_spark(place: str) -> None:
    """Refuse text that Spark would read in another way than it is written, as far as it is here."""
    if "://" in place or not os.path.isfile(place):
        return
    from edfkmeans.engines.arrow_files import files_of

    if not place.lower().endswith((".csv", ".tsv")):
        return
    system, files, _ = files_of(place)
    text = _written(system, files, place)
    layout = text.layout
    usual = "\t" if place.lower().endswith(".tsv") else ","
    odd = {
        f"the separator {layout.separator!r}": layout.separator != usual and len(layout.names) > 1,
        "decimal commas": layout.comma,
        "no names in its first line": layout.header == 0,
        "names of several lines": layout.header > 1,
        f"the encoding {text.encoding}": text.encoding != "utf8",
    }
    found = [what for what, so in odd.items() if so]
    if found:
        raise BadFileError(
            f"{place} has {' and '.join(found)}, which Spark would misread. Use --engine arrow, or "
            "convert it to Parquet."
        )


def _not_unpacked(source: str, error: Exception) -> BadFileError:
    return BadFileError(
        f"{source} looks compressed by gzip but cannot be unpacked: {error}. Is the file whole?"
    )


@dataclass(frozen=True)
class _Written:
    """How a text is written down.

    Attributes
    ----------
    layout : Layout
    blank : int
        How many blank lines it begins with.
    encoding : str
    old_ends : bool
        Whether lines end in a carriage return alone.
    """

    layout: Layout
    blank: int
    encoding: str
    old_ends: bool


def _written(system: Any, files: list[str], place: str) -> _Written:
    """Look at the beginning of every file, and refuse those that differ."""
    first = _first_look(system, files[0], place)
    for file in files[1:]:
        other = _first_look(system, file, file)
        _check_same_columns(first.layout.names, other.layout.names, files[0], file)
        _check_same_text(first, other, files[0], file)
    return first


def _check_same_text(one: _Written, other: _Written, file: str, another: str) -> None:
    """Refuse files of one folder that are not written in the same way: one is read as the other."""
    ways = {
        "separator": (one.layout.separator, other.layout.separator),
        "decimal sign": tuple(",."[not each.layout.comma] for each in (one, other)),
        "number of lines before the first row": tuple(
            each.blank + each.layout.header for each in (one, other)
        ),
    }
    for what, (here, there) in ways.items():
        if here != there:
            raise BadFileError(
                f"The files of {os.path.dirname(file)} differ in their {what}: "
                f"{os.path.basename(file)} has {here!r}, {os.path.basename(another)} {there!r}. "
                "Write them in one way, or name those that are alike by a pattern in quotation "
                "marks, such as 'FOLDER/2024*.csv'."
            )


def _first_look(system: Any, file: str, place: str) -> _Written:
    """Look at the beginning of a text."""
    try:
        with system.open(file, "rb", compression="infer") as stream:
            head = stream.read(_HEAD)
    except _BROKEN as error:
        source = place if os.path.basename(place) == os.path.basename(file) else file
        if isinstance(error, OSError) and error.errno is not None:
            raise BadFileError(f"{source} could not be read: {error.strerror}.") from error
        raise _not_unpacked(source, error) from error
    encoding = _encoding(head)
    text = _as_utf8(_whole_lines(head, encoding) if len(head) == _HEAD else head, place)
    start = re.match(rb"\s*\n", text)  # as in `_text`
    blank = text[: start.end()].count(b"\n") if start else 0
    layout = Layout.of(text[start.end() :] if start else text, place)
    old_ends = b"\r" in head and b"\n" not in head
    return _Written(layout, blank, encoding, old_ends)


def _check_same_columns(names: list[str], others: list[str], file: str, other: str) -> None:
    """Refuse files of one folder that differ in their columns."""
    if names == others:
        return
    one, two = os.path.basename(file), os.path.basename(other)
    parts = [
        f"{each} has {some(more)}, which {another} has not"
        for each, another, more in (
            (one, two, [name for name in names if name not in others]),
            (two, one, [name for name in others if name not in names]),
        )
        if more
    ]
    raise BadFileError(
        f"The files of {os.path.dirname(file)} differ in their columns: "
        f"{' and '.join(parts) or f'{two} has those of {one} in another order'}. Name one of the "
        "files, or by a pattern in quotation marks those that belong together, such as "
        "'FOLDER/2024*.csv'."
    )


def _encoding(head: bytes) -> str:
    """Name the encoding of a text by its beginning, as `_as_utf8` would read it."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head[: head.rfind(b"\n") + 1].decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf8"


def _whole_lines(head: bytes, encoding: str) -> bytes:
    """Leave out the last line of a beginning, which may be cut off anywhere."""
    if encoding != "utf-16":
        return head[: head.rfind(b"\n") + 1]
    # A letter has two bytes, or four, and either may look like the end of a line.
    text = head[: len(head) // 2 * 2].decode(encoding, errors="replace")
    return text[: text.rfind("\n") + 1].encode(encoding)


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


def _text(
    content: bytes, source: str, id_column: str | None, words: Collection[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read delimited text: separator, header and decimal comma are found out."""
    start = re.match(rb"\s*\n", content)  # a first line of tabs is no header
    content = content[start.end() :] if start else content
    layout = Layout.of(content, source)
    separator = layout.separator
    options: dict[str, Any] = {
        "sep": r"\s+" if separator == " " else separator,
        "index_col": False,
        "header": 0 if layout.header else None,
        "names": layout.names,
        "decimal": "," if layout.comma else ".",
        "skipinitialspace": True,
        "skip_blank_lines": True,
        "on_bad_lines": "error",
    }
    named = layout.header and id_column is not None and id_column in layout.names
    as_named: dict[str, Any] = {}
    if named:
        gaps = {name: GAPS for name in layout.names if name != id_column}
        as_named = {"dtype": {id_column: str}, "keep_default_na": False, "na_values": gaps}
    try:
        with warnings.catch_warnings():
            # Rows with more fields than the header has would be cut short with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.BytesIO(content), **options, **as_named)
    except (ValueError, csv.Error, pd.errors.ParserWarning) as error:
        raise BadFileError(f"{source} could not be read as a table: {_reason(error)}") from error
    if named:
        frame[id_column] = _whole_numbers(frame[id_column])
    notes = layout.notes
    gappy = _gappy_words(frame, words) if b"None" in content else []
    if gappy:
        texts = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, **options)
        written = [name for name in gappy if (texts[name] == "None").any()]
        for name in written:
            frame[name] = frame[name].astype(object).where(texts[name] != "None", "None")
        if written:
            told = "as one of the values, not as missing"
            notes += (f"'None' in {some([str(name) for name in written])} is read {told}.",)
    return _checked(frame, source), notes


def _gappy_words(frame: pd.DataFrame, words: Collection[str]) -> list[Any]:
    """Name the columns of words with gaps, of which "None" may be one, as R writes it."""
    return [
        name
        for name in frame
        if frame[name].isna().any() and (name in words or _holds_words(frame[name]))
    ]


def _holds_words(column: pd.Series) -> bool:
    """Whether a column holds words only, and no dates."""
    if pd.api.types.infer_dtype(column, skipna=True) != "string" or looks_dated(column):
        return False
    return bool(pd.to_numeric(column, errors="coerce").isna().all())


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


def _checked(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    refuse_duplicates(names, source)
    frame.columns = pd.Index(names)
    return frame
