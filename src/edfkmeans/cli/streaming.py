"""Streaming: files that are read part by part, by an engine; how they are written is found out."""

import os
import zlib
from dataclasses import dataclass, replace
from typing import Any

from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.layout import GAPS, Layout
from edfkmeans.cli.text import as_utf8, begun
from edfkmeans.rows.arguments import some

# Bytes of a text that are looked at before it is read in a stream.
_HEAD = 2**18
# What comes of files that are packed and not whole, or of files that cannot be read.
BROKEN = (OSError, EOFError, zlib.error)


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


def not_unpacked(source: str, error: Exception) -> BadFileError:
    """Say of a file that it is packed and not whole."""
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
        if other.layout.comma:  # the first may hold whole numbers only
            first = replace(first, layout=replace(first.layout, comma=True))
    return first


def _check_same_text(one: _Written, other: _Written, file: str, another: str) -> None:
    """Refuse files of one folder that are not written in the same way: one is read as the other."""
    ways = {
        "separator": (one.layout.separator, other.layout.separator),
        "number of lines before the first row": tuple(
            each.blank + each.layout.header for each in (one, other)
        ),
    }
    signs = tuple("," if each.layout.comma else "." * each.layout.point for each in (one, other))
    if "" not in signs:  # with whole numbers only it may be either
        ways["decimal sign"] = signs
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
    except BROKEN as error:
        source = place if os.path.basename(place) == os.path.basename(file) else file
        if isinstance(error, OSError) and error.errno is not None:
            raise BadFileError(f"{source} could not be read: {error.strerror}.") from error
        raise not_unpacked(source, error) from error
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
