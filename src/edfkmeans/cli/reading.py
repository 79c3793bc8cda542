"""A table in a file: format, encoding, separator and header are found out."""

import gzip
import io
import os
import sys
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._extras import needs
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kept import Kept, is_own
from edfkmeans.cli.layout import Layout, refuse_duplicates
from edfkmeans.cli.streaming import BROKEN, not_unpacked, open_stream
from edfkmeans.cli.text import as_utf8, begun, read_text, separator_of, texts_in, whole_numbers
from edfkmeans.cli.workbook import is_workbook, read_sheet, refuse_other_zip
from edfkmeans.rows.arguments import some

_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
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
    kept = kept or Kept(frame.copy(deep=False), indexed=is_own(frame.index))
    return frame, notes, kept


def _read(
    place: str | Path, id_column: str | None, sheet: str | None, words: Collection[str], keep: bool
) -> tuple[pd.DataFrame, tuple[str, ...], Kept | None]:
    source = "standard input" if str(place) == "-" else str(place)
    if _is_several(str(place)):
        return _several(str(place), id_column, keep)
    content = _content(place, source)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except BROKEN as error:
            raise not_unpacked(source, error) from error
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


def _several(
    place: str, id_column: str | None, keep: bool
) -> tuple[pd.DataFrame, tuple[str, ...], Kept | None]:
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
    named = id_column is not None and id_column in frame
    kept = _texts_of_several(frame, place) if keep or named else None
    if named and kept is not None and kept.texts is not None:
        frame[id_column] = whole_numbers(kept.texts[id_column])
    return frame, notes, kept if keep else None


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
