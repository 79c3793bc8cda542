"""A table in a file: format, encoding, separator and header are found out."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kept import Kept
from edfkmeans.cli.layout import GAPS, Layout, refuse_duplicates
from edfkmeans.cli.text import as_utf8, begun, read_text, separator_of, texts_in
from edfkmeans.cli.workbook import is_workbook, read_sheet, refuse_other_zip
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
    frame, notes, _ = _read(place, id_column, sheet, words, keep=False)
    return frame, notes


def read_and_keep(
    place: str | Path, id_column: str | None = None, sheet: str | None = None
) -> tuple[pd.DataFrame, tuple[str, ...], Kept]:
    """Read a table as `read_file` does; returns also what to write where it is written again."""
    frame, notes, kept = _read(place, id_column, sheet, (), keep=True)
    return frame, notes, kept or Kept(frame.copy(deep=False))


def _read(
    place: str | Path, id_column: str | None, sheet: str | None, words: Collection[str], keep: bool
) -> tuple[pd.DataFrame, tuple[str, ...], Kept | None]:
    source = "standard input" if str(place) == "-" else str(place)
    if _is_several(str(place)):
        return _several(str(place), keep)
    content = _content(place, source)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except _BROKEN as error:
            raise _not_unpacked(source, error) from error
    if not content.strip():
        raise BadFileError(f"{source} is empty. Give a table with a header and rows of numbers.")
    if is_workbook(content):
        frame, notes, cells = read_sheet(content, source, sheet, id_column)
        frame = _checked(frame, source)
        return frame, notes, Kept(cells)
    if sheet is not None:
        raise BadFileError(f"--sheet {sheet!r}: {source} is no Excel file. Leave --sheet out.")
    for magic, kind in _ARROW_MAGIC.items():
        if content.startswith(magic):
            return _checked(_arrow(content, kind, source), source), (), None
    if content.startswith(b"PK\x03\x04") and b".npy" not in content[:200]:
        refuse_other_zip(content, source)
    if content.startswith(_OLD_EXCEL):
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise BadFileError(f"{source} is protected by a password. Save it without one.")
        raise BadFileError(f"{source} is an old Excel file. Save it as .xlsx or as CSV.")
    if content.startswith((b"\x93NUMPY", b"PK\x03\x04")):
        return _checked(_numpy(content, source), source), (), None
    frame, notes, kept = read_text(as_utf8(content, source), source, id_column, words, keep)
    return _checked(frame, source), notes, kept


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


def _several(place: str, keep: bool) -> tuple[pd.DataFrame, tuple[str, ...], Kept | None]:
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
    frame = _checked(whole.to_pandas(), place)
    return frame, notes, _texts_of_several(frame, place) if keep else None


def _texts_of_several(frame: pd.DataFrame, place: str) -> Kept | None:
    """Read the files of a folder of text once more, as they are written."""
    from edfkmeans.engines.arrow_files import files_of

    system, files, kind = files_of(place)
    if kind != "csv":
        return None
    parts = []
    for file in files:
        with system.open(file, "rb", compression="infer") as stream:
            content = begun(as_utf8(stream.read(), file))
        layout = Layout.of(content, file)
        parts.append(texts_in(content, layout))
    texts = pd.concat(parts, ignore_index=True)
    if len(texts) != len(frame):  # rows that Arrow sees in another way
        return None
    return Kept(frame.copy(deep=False), texts, separator_of(layout))


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
    text = as_utf8(_whole_lines(head, encoding) if len(head) == _HEAD else head, place)
    table = begun(text)
    blank = text[: len(text) - len(table)].count(b"\n")
    old_ends = b"\r" in head and b"\n" not in head
    return _Written(Layout.of(table, place), blank, encoding, old_ends)


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
    """Name the encoding of a text by its beginning, as `as_utf8` would read it."""
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
    if found.dtype.kind == "f" and found.dtype.itemsize not in (4, 8):  # pandas knows no others
        found = found.astype(np.float64)
    found = found.astype(found.dtype.newbyteorder("="), copy=False)
    return pd.DataFrame(found, columns=[f"column {j + 1}" for j in range(found.shape[1])])


def _checked(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    refuse_duplicates(names, source)
    frame.columns = pd.Index(names)
    for j, kind in enumerate(frame.dtypes):
        if kind == np.float16:  # in which few numbers can be reckoned with
            frame.isetitem(j, frame.iloc[:, j].astype(np.float32).array)
    return frame
