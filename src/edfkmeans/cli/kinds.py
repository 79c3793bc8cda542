"""Kinds: what the columns of a file hold that are not of numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans.rows.inputs import days_of

# Values of a text column that --encode makes columns of, at most.
MOST_CATEGORIES = 50
# Part of the values of a column that are numbers from which it is one of numbers.
_MOSTLY = 0.5
# What may stand in and beside a number.
_SIGNS = r"[\s'’$€£¥%]"


@dataclass(frozen=True, eq=False)
class Written:
    """How the numbers among the values of a column are written.

    Attributes
    ----------
    texts : Series
        The values that are not missing.
    stand : ndarray of bool
        Which of them are numbers as they stand.
    meant : ndarray of bool
        Which of them are numbers, without signs and thousands separators.
    plain : Series
        The values without these.
    comma : bool
        Whether the decimal sign is a comma.
    """

    texts: pd.Series
    stand: npt.NDArray[np.bool_]
    meant: npt.NDArray[np.bool_]
    plain: pd.Series
    comma: bool

    @classmethod
    def of(cls, column: pd.Series) -> "Written":
        """Look at every value of a column once."""
        texts = column.dropna().astype(str)
        places, different = pd.factorize(texts)
        each, counts = pd.Series(different, dtype=object), np.bincount(places)
        bare = each.str.replace(_SIGNS, "", regex=True)
        comma = bool(
            counts[_surely(bare, ",", r"\.")].sum() > counts[_surely(bare, r"\.", ",")].sum()
        )
        point, group = (",", r"\.") if comma else (r"\.", ",")
        grouped = bare.str.fullmatch(
            rf"[-+]?\d{{1,3}}({group}\d{{2,3}})*{group}\d{{3}}({point}\d+)?"
        ).astype(bool)
        plain = bare.where(~grouped, bare.str.replace(group, "", regex=True))
        stand = _are_numbers(each, comma)
        meant = stand | _are_numbers(plain, comma)
        plain = pd.Series(plain.to_numpy()[places], index=texts.index)
        return cls(texts, stand[places], meant[places], plain, comma)

    @property
    def of_numbers(self) -> bool:
        """Whether most values are meant as numbers, but not all are numbers as they stand."""
        if len(self.texts) == 0 or (self.stand.all() and not self.comma):
            return False
        return bool(self.meant.mean() >= _MOSTLY)


def _surely(bare: pd.Series, point: str, group: str) -> npt.NDArray[np.bool_]:
    """Return which texts are numbers with this decimal sign and cannot be others."""
    pattern = (
        rf"[-+]?(\d{{1,3}}({group}\d{{3}})+{point}\d+|\d*{point}(\d{{1,2}}|\d{{4,}})|0{point}\d+)"
    )
    return bare.str.fullmatch(pattern).to_numpy(bool)


def _are_numbers(texts: pd.Series, comma: bool) -> npt.NDArray[np.bool_]:
    if comma:
        texts = texts.where(~texts.str.contains(".", regex=False).astype(bool), "")
        texts = texts.str.replace(",", ".", regex=False)
    return pd.to_numeric(texts, errors="coerce").notna().to_numpy(bool)


def of_numbers(column: pd.Series) -> bool:
    """Whether a column of text is meant as one of numbers: 12 %, $3,000, or a few that are not."""
    if has_parts(column):
        return False
    # Letters, but for the e of an exponent, are in no number: mostly there is no need to look on.
    letters = column.dropna().astype(str).str.contains("[A-DF-Za-df-z]")
    return bool(letters.mean() <= 1 - _MOSTLY) and Written.of(column).of_numbers


def holds(column: pd.Series, *kinds: type) -> bool:
    """Whether all values that are not missing are Python objects of some kinds."""
    if column.dtype != object:
        return False
    values = column.dropna()
    return len(values) > 0 and all(isinstance(value, kinds) for value in values)


def has_parts(column: pd.Series) -> bool:
    """Whether the values are lists and the like."""
    return holds(column, list, dict, np.ndarray)


def is_date(column: pd.Series) -> bool:
    """Whether a column is one of dates by its type, which --encode would make a column each of."""
    kinds = pd.api.types
    return kinds.is_datetime64_any_dtype(column.dtype) or kinds.is_timedelta64_dtype(column.dtype)


def looks_dated(column: pd.Series) -> bool:
    """Whether a column is one of dates, also where day and month cannot be told apart."""
    return unclear_dates(column) is not None or days_of(column) is not None


def unclear_dates(column: pd.Series) -> str | None:
    """Say of a column of dates, where day and month cannot be told apart, what to do."""
    try:
        days_of(column)
    except ValueError as error:
        return str(error)
    return None


def encodable(column: pd.Series) -> bool:
    """Whether --encode makes columns of it."""
    return not (
        is_date(column) or has_parts(column) or has_many_values(column) or of_numbers(column)
    )


def worth_a_code(column: pd.Series) -> bool:
    """Whether --encode would make columns of it that tell rows from rows."""
    return encodable(column) and not names_rows(column) and column.nunique() > 1


def has_many_values(column: pd.Series) -> bool:
    """Whether --encode would make too many columns of it."""
    return not has_parts(column) and column.nunique() > MOST_CATEGORIES


def names_rows(column: pd.Series) -> bool:
    """Whether every row has a text of its own, as names, hashes and other ids do."""
    if has_parts(column) or column.dtype.kind in "iufb":
        return False
    if len(column) < 2 or column.isna().any() or column.nunique() < len(column):
        return False
    # With a few numbers that are mistyped, it is a column of numbers all the same.
    numbers: Any = pd.to_numeric(column.astype(str), errors="coerce").notna()
    return bool(numbers.mean() < _MOSTLY) and not of_numbers(column)


def nearly_names_rows(column: pd.Series) -> bool:
    """Whether most rows have a text of their own: names of which some come more than once."""
    if not has_many_values(column) or column.isna().any():
        return False
    shared = column.duplicated(keep=False).mean()
    return bool(shared < 0.5) and names_rows(column.drop_duplicates())
