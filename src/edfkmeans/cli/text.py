"""Text: a table that is written in letters, of any encoding, as a data frame."""

import csv
import io
import re
import unicodedata
import warnings
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import pandas as pd

from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kept import Kept
from edfkmeans.cli.kinds import looks_dated
from edfkmeans.cli.layout import GAPS, Layout
from edfkmeans.rows.arguments import some

_MARK = "\ufeff".encode()


def as_utf8(content: bytes, source: str) -> bytes:
    """Return text of any usual encoding in UTF-8, with plain ends of lines; mostly it is that."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        with suppress(UnicodeDecodeError):
            content = content.decode("utf-16").encode()
    while content.startswith(_MARK):  # some programs put one before another
        content = content.removeprefix(_MARK)
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode("cp1252", errors="replace").encode()
    head = content[:100_000].decode(errors="ignore")
    strange = sum(map(_is_strange, head[:4000]))
    if "\0" in head or strange > len(head[:4000]) / 50:
        raise BadFileError(
            f"{source} is not a table in text, nor Excel, Parquet, Feather, NPY or NPZ. Save it as "
            "CSV."
        )
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def _is_strange(letter: str) -> bool:
    """Whether a letter is not of text; blanks and marks of any kind are, such as U+202F."""
    if letter.isprintable() or letter in "\t\r\n\f":
        return False
    return unicodedata.category(letter) not in ("Zs", "Zl", "Zp", "Cf")


def begun(content: bytes) -> bytes:
    """Leave out the blank lines before a table: a first line of tabs is no header."""
    start = re.match(rb"\s*\n", content)
    return content[start.end() :] if start else content


def _options(layout: Layout) -> dict[str, Any]:
    """Tell pandas how a text is written down."""
    return {
        "sep": r"\s+" if layout.separator == " " else layout.separator,
        "index_col": False,
        "header": 0 if layout.header else None,
        "names": layout.names,
        "decimal": "," if layout.comma else ".",
        "skipinitialspace": True,
        "skip_blank_lines": True,
        "on_bad_lines": "error",
    }


def texts_in(content: bytes, layout: Layout) -> pd.DataFrame:
    """Read every value as it is written."""
    how = _options(layout)
    texts = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, **how)
    return pd.DataFrame(texts.fillna(""))


def separator_of(layout: Layout) -> str:
    """Return what is to stand between values that are written again."""
    if not layout.comma:
        return ","
    return ";" if layout.separator == " " else layout.separator


def read_text(
    content: bytes, source: str, id_column: str | None, words: Collection[str], keep: bool
) -> tuple[pd.DataFrame, tuple[str, ...], Kept | None]:
    """Read delimited text: separator, header and decimal comma are found out."""
    content = begun(content)
    layout = Layout.of(content, source)
    named = layout.header and id_column is not None and id_column in layout.names
    as_named: dict[str, Any] = {}
    if named:
        gaps = {name: GAPS for name in layout.names if name != id_column}
        as_named = {"dtype": {id_column: str}, "keep_default_na": False, "na_values": gaps}
    try:
        with warnings.catch_warnings():
            # Rows with more fields than the header has would be cut short with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.BytesIO(content), **_options(layout), **as_named)
    except (ValueError, csv.Error, pd.errors.ParserWarning) as error:
        raise BadFileError(f"{source} could not be read as a table: {_reason(error)}") from error
    if named:
        frame[id_column] = whole_numbers(frame[id_column])
    notes = layout.notes
    gappy = _gappy_words(frame, words) if b"None" in content else []
    texts = texts_in(content, layout) if keep or gappy else None
    if gappy and texts is not None:
        written = [name for name in gappy if (texts[name] == "None").any()]
        for name in written:
            frame[name] = frame[name].astype(object).where(texts[name] != "None", "None")
        if written:
            told = "as one of the values, not as missing"
            notes += (f"'None' in {some([str(name) for name in written])} is read {told}.",)
    if not keep:
        return frame, notes, None
    return frame, notes, Kept(frame.copy(deep=False), texts, separator_of(layout))


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


def whole_numbers(texts: pd.Series) -> pd.Series:
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
