"""Moments: means and standard deviations of rows that are elsewhere, and rows brought to scale."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans.rows.units import Floats, Values


@dataclass(frozen=True, eq=False)
class Scaled:
    """Columns brought to one scale.

    Attributes
    ----------
    X
        The rows, where they were: ``X * spread + offset`` is what was given.
    names : list
        Names of the columns.
    offset, spread : ndarray of shape (n_features,)
    """

    X: Any
    names: list[Any]
    offset: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sum of squares about it, which add up without losing digits (Chan 1979).

    With weights, `count` is their sum.
    """

    count: float
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: Values, weights: Floats | None = None) -> "Moments":
        """Take them from a chunk; rows of weight 0 are not there.

        Weights that are none, as those below 0, are left for `select_k` to tell about.
        """
        if weights is not None:
            rows, weights = rows[weights > 0], weights[weights > 0]
        nothing = np.zeros(rows.shape[1])
        if not len(rows):
            return cls(0, nothing, nothing, nothing, nothing)
        with np.errstate(invalid="ignore", over="ignore"):
            if weights is None:
                count: float = len(rows)
                mean = rows.mean(axis=0, dtype=np.float64)
                squares = ((rows - mean) ** 2).sum(axis=0)
            else:
                count = float(weights.sum())
                mean = weights @ rows.astype(np.float64) / count
                squares = weights @ (rows - mean) ** 2
        low, high = (end(rows, axis=0).astype(np.float64) for end in (np.min, np.max))
        return cls(count, mean, squares, low, high)

    def __add__(self, other: "Moments") -> "Moments":
        if not (self.count and other.count):
            return self if self.count else other
        count = self.count + other.count
        with np.errstate(invalid="ignore", over="ignore"):
            step = other.mean - self.mean
            mean = self.mean + step * (other.count / count)
            between = step**2 * (self.count * (other.count / count))
        return Moments(
            count,
            mean,
            self.squares + other.squares + between,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scale(self) -> tuple[Floats, Floats]:
        """Return what to subtract from every column, and what to divide it by then."""
        with np.errstate(invalid="ignore"):
            deviation = np.sqrt(self.squares / (self.count or 1))
        # NaN and infinity are left for `select_k` to tell about.
        usable = np.isfinite(deviation)
        offset = np.where(usable, self.mean, 0.0)
        return offset, np.where(usable & (self.low < self.high), deviation, 1.0)


def to_scale(rows: Values, offset: Floats, spread: Floats) -> Values:
    """Bring some rows to scale, float32 staying float32."""
    values: Any = np.asarray((rows - offset) / spread, rows.dtype)
    return values  # type: ignore[no-any-return]
