"""Input: one column of a table, and how it becomes columns of numbers."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from edfkmeans.rows.arguments import some
from edfkmeans.rows.units import Floats

# How dates are written, besides ISO 8601. Those with strokes may have the day or the month first.
_FORMATS = ("ISO8601", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d")
_STROKES = ("%m/%d/%Y", "%d/%m/%Y"), ("%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M")
# Dates as numbers, such as 20240131, lie between these.
_FIRST, _LAST = 19_000_101, 21_001_231
# What pandas takes for numbers without a word.
_NO_NUMBERS = {
    **dict.fromkeys(("datetime64", "datetime", "date"), "dates"),
    **dict.fromkeys(("timedelta64", "timedelta", "period"), "durations"),
    "bytes": "bytes",
    "complex": "complex numbers",
}
_EPOCH = pd.Timestamp("1970-01-01")


@dataclass(frozen=True)
class Input:
    """One column of a table.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "text"}
        A date becomes the days since 1970-01-01. Of text, each value becomes a column of 0 and 1;
        of two values, one column does for both.
    values : tuple of str
        Of text: its values.
    """

    name: str
    kind: Literal["number", "date", "text"] = "number"
    values: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that are made of it."""
        return [f"{self.name}={value}" for value in self._coded] or [self.name]

    @property
    def _coded(self) -> tuple[str, ...]:
        return self.values[1:] if len(self.values) == 2 else self.values

    def numbers(self, column: pd.Series) -> Floats:
        """Turn such a column into numbers, of shape (n_samples, n_names); NaN where it is empty."""
        if self.kind == "text":
            return self._zeros_and_ones(column)
        if self.kind == "date":
            days = days_of(column)
            if days is None:
                raise ValueError(
                    f"The column {self.name!r} holds no dates, such as {_first(column)}. Write "
                    "them as 2024-01-31."
                )
            return days[:, None]
        other = _NO_NUMBERS.get(pd.api.types.infer_dtype(column, skipna=True))
        if other is not None:
            raise ValueError(
                f"The column {self.name!r} holds {other}, and held numbers before. Give numbers as "
                "they were then."
            )
        try:
            numbers = pd.to_numeric(column)
            return np.asarray(numbers.to_numpy(np.float64, na_value=np.nan)[:, None])
        except (ValueError, TypeError):
            raise ValueError(
                f"The column {self.name!r} holds what is not a number, such as {_first(column)}. "
                "Leave it empty if it is not known."
            ) from None

    def _zeros_and_ones(self, column: pd.Series) -> Floats:
        words = texts_of(column)
        known = np.isin(words.to_numpy(object).astype(str), self.values) | words.isna().to_numpy()
        if not known.all():
            new = list(dict.fromkeys(words[~known]))
            raise ValueError(
                f"The column {self.name!r} holds {some(new, 3)}, which is none of the values it "
                f"had when the model was made: {some(list(self.values))}. Correct that, or take "
                "such rows out of the table."
            )
        if not self.values:
            return np.full((len(column), 1), np.nan)
        made = np.stack([(words == value).to_numpy(np.float64) for value in self._coded], axis=1)
        made[words.isna()] = np.nan
        return np.asarray(made, np.float64)


def texts_of(column: pd.Series) -> pd.Series:
    """Return the values of a column as text, those that are missing staying so."""
    return column.astype(object).map(str, na_action="ignore")


def days_of(column: pd.Series) -> Floats | None:
    """Return the days since 1970-01-01 of a column of dates, or None where it holds others.

    Raises ValueError where the day and the month cannot be told apart.
    """
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return np.asarray(column.dt.total_seconds(), np.float64) / 86_400
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _days(column)
    if pd.api.types.is_bool_dtype(column.dtype):
        return None
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _days_of_numbers(column)
    given = column.dropna()
    if given.empty or not given.map(lambda value: _may_be_date(value)).all():
        return None
    for written in _FORMATS:
        dates = pd.to_datetime(column, format=written, errors="coerce", utc=True)
        if dates[given.index].notna().all():
            return _days(dates)
    for month_first, day_first in _STROKES:
        both = [pd.to_datetime(column, format=f, errors="coerce") for f in (month_first, day_first)]
        fitting = [dates for dates in both if dates[given.index].notna().all()]
        if len(fitting) == 2 and not fitting[0].equals(fitting[1]):
            raise ValueError(
                f"In the column {column.name!r} the day cannot be told from the month, such as in "
                f"{given.iloc[0]!r}. Write dates as 2024-01-31."
            )
        if fitting:
            return _days(fitting[0])
    return None


def _may_be_date(value: Any) -> bool:
    """Whether a value is no number in disguise and has enough digits for a date."""
    if isinstance(value, str):
        return sum(letter.isdigit() for letter in value) >= 4 and not value.isdigit()
    return not isinstance(value, bool | int | float | Decimal | list | dict | np.ndarray)


def _days_of_numbers(column: pd.Series) -> Floats | None:
    given = column.dropna()
    if given.empty or given.min() < _FIRST or given.max() > _LAST or (given % 1 != 0).any():
        return None
    dates = pd.to_datetime(given.astype(np.int64).astype(str), format="%Y%m%d", errors="coerce")
    if dates.isna().any() or dates.nunique() < 2:
        return None
    return _days(dates.reindex(column.index))


def _days(dates: pd.Series) -> Floats:
    if getattr(dates.dtype, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray((dates - _EPOCH) / pd.Timedelta(1, "D"), np.float64)


def _first(column: pd.Series) -> str:
    """Show the first value that is not a number."""
    given = column.dropna()
    bad = given[pd.to_numeric(given.astype(str), errors="coerce").isna()]
    return repr(str((bad if len(bad) else given).iloc[0]))
