"""Units: how the rows of X become the values that are computed with, and back."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.float64] | npt.NDArray[np.float32]

# Rows that are brought into units at a time.
_BLOCK = 16384
# Values: no more than so many are held in double precision, which takes 32 MB at most.
_FEW = 2**22


@dataclass(frozen=True, eq=False)
class Units:
    """Rows of X are ``values * scale + offset``.

    Centred, because squared distances far from zero lose digits; divided by a power of two (which
    costs none), because those of values near 1e-150 or 1e150 leave the range of a float.
    """

    unit: float
    """What X is divided by first, so that its values are near 1."""
    mean: Floats
    rest: Floats
    """What is left of the mean: that of large numbers is off by a little."""
    shrink: float
    """What centred values are divided by."""
    varying: npt.NDArray[np.bool_]
    """Which columns vary. A constant one says nothing about clusters and is not counted."""

    @classmethod
    def of(cls, raw: Values, low: Floats, high: Floats, weights: Floats | None = None) -> "Units":
        """Centre at the mean of some rows; `low` and `high` bound the columns of all rows."""
        constant = low == high
        sizes = np.maximum(np.abs(low), np.abs(high))
        # A constant column plays no part, but must not leave the range of a float either.
        unit = _power_of_two(sizes.max(initial=0.0, where=~constant))
        unit = max(unit, _power_of_two(sizes.max()) * 2.0**-1000)
        mean = np.where(constant, low / unit, _mean(raw, unit, np.zeros(raw.shape[1]), weights))
        rest = np.where(constant, 0.0, _mean(raw, unit, mean, weights))
        shrink = _power_of_two(max((high / unit - mean).max(), (mean - low / unit).max()))
        return cls(unit, mean, rest, shrink, ~constant)

    @property
    def offset(self) -> Floats:
        """What is subtracted, in the units of X."""
        return (self.mean + self.rest) * self.unit

    @property
    def scale(self) -> float:
        """What the rest is divided by."""
        return self.unit * self.shrink

    def values(self, raw: Values) -> Values:
        """Bring rows into the form the kernels want, float32 staying float32."""
        values = np.empty_like(raw)
        room = np.empty(raw[:_BLOCK].shape)
        for rows in _row_blocks(len(raw)):
            part = raw[rows]
            self.fill(part, values[rows], room[: len(part)])
        return values

    def fill(self, raw: Values, values: Values, room: Floats) -> None:
        """Do it for a block of rows, with room for as many in double precision."""
        np.divide(raw, self.unit, out=room, dtype=np.float64)
        room -= self.mean
        room -= self.rest
        room /= self.shrink
        values[:] = room

    def only_varying(self, columns: Any) -> Any:
        """Leave the constant columns out of some rows or centres."""
        return columns if self.varying.all() else np.ascontiguousarray(columns[:, self.varying])

    def to_original(self, points: Floats) -> Floats:
        """Undo the scaling and centring."""
        return points * self.scale + self.offset

    def squared(self, squares: Any) -> Any:
        """Squared lengths in the units of X; infinite or zero where a float cannot hold them."""
        with np.errstate(over="ignore", under="ignore"):
            return np.multiply(np.multiply(squares, self.scale, dtype=np.float64), self.scale)


def widened(values: Values) -> Values:
    """Return values in double precision where they are few, so that no kernel waits for float32.

    They stay the numbers they were.
    """
    return np.asarray(values, np.float64) if values.size <= _FEW else values


def _mean(raw: Values, unit: float, about: Floats, weights: Floats | None) -> Floats:
    """Column means of ``raw / unit - about``, without a copy of the whole."""
    total = np.zeros(raw.shape[1])
    for rows in _row_blocks(len(raw)):
        part = np.divide(raw[rows], unit, dtype=np.float64) - about
        total += part.sum(axis=0) if weights is None else weights[rows] @ part
    return total / (len(raw) if weights is None else weights.sum())


def _row_blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, _BLOCK):
        yield slice(first, first + _BLOCK)


def _power_of_two(size: float) -> float:
    return float(np.ldexp(1.0, np.frexp(size)[1] - 1)) if size > 0 else 1.0
