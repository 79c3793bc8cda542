"""Scaling: how the columns of a table become those that are clustered, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.rows.units import Floats

# Part of the positive values below which the shift of a column with zeros lies.
_LOWEST = 0.05


@dataclass(frozen=True, eq=False)
class Scaling:
    """A logarithm of some columns, then an offset and a spread for each.

    Attributes
    ----------
    shift : ndarray of shape (n_features,)
        What was added to a column before its logarithm was taken; NaN where none was.
    offset, spread : ndarray of shape (n_features,)
        What was subtracted then, and what was divided by.
    """

    shift: Floats
    offset: Floats
    spread: Floats

    @classmethod
    def none(cls, d: int) -> "Scaling":
        """Leave the numbers as they are."""
        return cls(np.full(d, np.nan), np.zeros(d), np.ones(d))

    def apply(self, values: Floats, names: Sequence[str]) -> Floats:
        """Scale the columns of a table."""
        return np.asarray((logarithms(values, self.shift, names) - self.offset) / self.spread)

    def restore(self, points: Any) -> Floats:
        """Return what scaled rows were; means of logarithms are turned back as values are."""
        return exponentials(np.asarray(points) * self.spread + self.offset, self.shift)


def log_shift(column: npt.NDArray[Any]) -> float:
    """Return what to add to a column without negative values before its logarithm is taken.

    Nothing where all values are positive. Zeros have no logarithm: with them it is the 5 % quantile
    of the positive values, which for counts is mostly 1.
    """
    positive = column[column > 0]
    if len(positive) in (0, len(column)):
        return 0.0 if len(positive) else 1.0
    return float(np.quantile(positive, _LOWEST, method="lower"))


def logarithms(values: npt.NDArray[Any], shift: Floats, names: Sequence[str]) -> npt.NDArray[Any]:
    """Take the logarithm of the columns that have a shift."""
    taken: list[int] = np.flatnonzero(~np.isnan(shift)).tolist()
    if not taken:
        return values
    values = values.copy()
    for j in taken:
        low = int(values[:, j].argmin())
        if not values[low, j] + shift[j] > 0:
            less = "negative values" if values[low, j] < 0 else "zeros"
            raise ValueError(
                f"{names[j]!r} holds {less} ({values[low, j]:.6g} in row {low}, counted from 0), "
                "which have no logarithm here. Correct those rows or leave them out, or take no "
                "logarithm of that column from the start."
            )
        values[:, j] = np.log(values[:, j] + shift[j])
    return values


def exponentials(values: npt.NDArray[Any], shift: Floats) -> npt.NDArray[Any]:
    """Undo `logarithms`."""
    taken = ~np.isnan(shift)
    if taken.any():
        values = values.copy()
        values[:, taken] = np.exp(values[:, taken]) - shift[taken]
    return values
