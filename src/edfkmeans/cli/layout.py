"""Layout: how a table in text is written down; its first lines tell."""

import csv
from dataclasses import dataclass

from edfkmeans.cli.errors import BadFileError

_SEPARATORS = (",", ";", "\t", "|")
_LINES_LOOKED_AT = 200
# What pandas reads as missing.
GAPS = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """How a table in text is written down.

    Attributes
    ----------
    separator : str
        What stands between fields; a blank stands for any number of them.
    comma : bool
        Whether numbers have a decimal comma.
    point : bool
        Whether any has a decimal point; where there is neither, all are whole.
    header : int
        How many lines hold the names of the columns: none, one, or more in quotation marks.
    names : list of str
        The names of the columns, found or given.
    notes : tuple of str
        What was found out, in words, where it is worth a word.
    """

    separator: str
    comma: bool
    point: bool
    header: int
    names: list[str]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, content: bytes, source: str) -> "Layout":
        """Look at the first lines of a text in UTF-8."""
        numbers, lines, whole = _first_lines(content)
        if not lines:
            raise BadFileError(
                f"{source} is empty. Give a table with a header and rows of numbers."
            )
        if lines[0].lstrip()[:1] in ("{", "[", "<"):
            raise BadFileError(
                f"{source} looks like JSON or a web page, not like a table. Save it as CSV, e.g. "
                "with pandas.read_json(...).to_csv(...)."
            )
        separator = _separator(lines, whole)
        fields = _split(lines, separator, whole)
        notes = []
        commas, points = _decimal_signs(fields[1:] or fields)
        comma = separator != "," and commas > points
        counted = len(fields[0]) > 1 and _counts_columns(fields[0])
        header = 0
        if counted or not all(_is_number(field, comma) for field in fields[0]):
            header = 1 + sum(field.count("\n") for field in fields[0])
        names = [field.strip() for field in fields[0]]
        if counted:
            notes.append("The first line counts the columns: taken as their names.")
        if header:
            refuse_duplicates(names, source)
            names = all_named(names)
        else:
            names = [f"column {j + 1}" for j in range(len(names))]
            notes.append(
                "The first line holds numbers only: taken as a row, and the columns numbered."
            )
        if comma:
            notes.append("Numbers are written with a decimal comma.")
        _refuse_long_lines(fields, numbers, separator, source)
        return cls(separator, comma, points > 0, header, names, tuple(notes))


def _refuse_long_lines(
    fields: list[list[str]], numbers: list[int], separator: str, source: str
) -> None:
    width = len(fields[0])
    too_long = next((i for i, each in enumerate(fields) if len(each) > width), None)
    if too_long is not None:
        hint = ""
        if len(fields) > 1 and all(len(each) == width + 1 for each in fields[1:]):
            hint = (
                " Where the header lacks the name of the first column, as in files by R's "
                "write.table, put one in front of it, or write the file with col.names = NA."
            )
        elif too_long == 1 and len({len(each) for each in fields[1:]}) == 1:
            hint = " If the names of the columns stand further down, delete the lines above them."
        # A row may go on over several lines.
        before = sum(1 + sum(field.count("\n") for field in each) for each in fields[:too_long])
        raise BadFileError(
            f"{source}: line {numbers[before]} has {len(fields[too_long])} fields and the first "
            f"{width}. Every row needs as many fields as the header; the separator found is "
            f"{separator!r}, and numbers need a decimal point.{hint}"
        )


def _first_lines(content: bytes) -> tuple[list[int], list[str], bool]:
    """Return the first lines that are not blank, their numbers, and whether these are all."""
    end = 0
    for _ in range(2 * _LINES_LOOKED_AT):
        end = content.find(b"\n", end) + 1
        if not end:
            break
    text = (content[:end] if end else content).decode()
    numbered = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    whole = not end and len(numbered) <= _LINES_LOOKED_AT
    numbered = numbered[:_LINES_LOOKED_AT]
    return [i for i, _ in numbered], [line for _, line in numbered], whole


def _separator(lines: list[str], whole: bool) -> str:
    """Return what cuts most lines into the same number of fields, and into more than one."""
    best, best_score = ",", 0.0
    for separator in (*_SEPARATORS, " "):
        counts = [len(fields) for fields in _split(lines, separator, whole)]
        usual = max(set(counts), key=counts.count)
        if usual > 1:
            score = counts.count(usual) / len(counts) * (0.5 if separator == " " else 1)
            if score > best_score + 1e-9:
                best, best_score = separator, score
    return best


def _split(lines: list[str], separator: str, whole: bool) -> list[list[str]]:
    """Return the fields of every row; one in quotation marks may go on over several lines."""
    if separator == " ":
        return [line.split() for line in lines]
    ended = [f"{line}\n" for line in lines]
    usual = csv.field_size_limit(2**31 - 1)  # pandas knows no limit
    try:
        rows = list(csv.reader(ended, delimiter=separator, skipinitialspace=True))
    finally:
        csv.field_size_limit(usual)
    # Where more follows, the last row may go on in it.
    return rows if whole or len(rows) == 1 else rows[:-1]


def _decimal_signs(rows: list[list[str]]) -> tuple[int, int]:
    """Count the fields that are numbers with a decimal comma, and those with a point."""
    fields = [field.strip() for row in rows for field in row if field.strip()]
    commas = [field for field in fields if "," in field and _is_number(field, True)]
    points = [field for field in fields if "." in field and _is_number(field, False)]
    return len(commas), len(points)


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


def all_named(names: list[str]) -> list[str]:
    """Give names to columns without one: those of pandas, unless another column has them."""
    found = list(names)
    for j, name in enumerate(names):
        if not name:
            own = f"Unnamed: {j}"
            while own in found:
                own += ".1"
            found[j] = own
    return found


def refuse_duplicates(header: list[str], source: str) -> None:
    """Refuse columns that share a name."""
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
