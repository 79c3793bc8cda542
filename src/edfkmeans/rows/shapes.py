"""Shape: what one column looks like, whatever its unit and its origin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from edfkmeans.rows.scaling import log_shift, logarithms
from edfkmeans.rows.units import Floats, Values

Odd = Literal["number", "skewed", "tails", "rare", "constant", "two", "few"]

# Rows that are looked at where all would tell no more, spread over the table; and the fewest from
# which a distribution can be told.
_MANY, _ENOUGH = 20_000, 20
# Skewness from which a column is named, if a logarithm takes away half of it and the upper part,
# up to the 95 % quantile, is so many times as long as the lower.
_SKEWED = 1.5
# The same of a column beside others that are heavily skewed: what is measured together is alike.
_SKEWED_TOO = 0.75
# How much longer both tails are than the quarters in the middle; 3.8 for a normal column.
_LONG_TAILS = 7.0
# A row is far if it lies so many quartile ranges from the median, and so many times as far as the
# next one; rows beyond so small a part of all (or three) are no exceptions.
_FAR, _ALONE, _EXCEPTIONS = 8.0, 3.0, 0.002
# Part of the rows with the same value from which a column is nearly constant.
_SAME = 0.95
# Different values, at most, of a column of answers or grades.
_GRADES = 10
# Numbers of rows may have gaps where rows were deleted. Whole numbers of such a size are hashes,
# and columns of these names are ids.
_GAPS = 1.5
_LEAST_HASH, _LARGEST_HASH = 2.0**40, 2.0**64
_NAMES = re.compile(r"(?i)(^|[\W_])(id|uuid|guid|hash|key|index)$|^(row|nr|no)$|[a-z](?-i:I[Dd])$")


def some_rows(values: Values) -> Floats:
    """Return rows to look at, spread over the table, with columns of about unit size."""
    step = -(-len(values) // _MANY)
    halves = np.array(values[::step], np.float64) / 2  # their sums and differences do not overflow
    centred = halves - np.median(halves, axis=0)
    # One unit for all columns, a power of two: scales are still to be compared.
    largest = float(np.abs(centred).max(initial=0.0))
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1) if largest > 0 else 1.0
    return np.asarray(centred / unit * 2)


@dataclass(frozen=True)
class Shape:
    """What a column looks like: at most one kind of oddness, and rows that are far."""

    kind: Odd | None = None
    far: tuple[int, ...] = ()


def shape_of(column: npt.NDArray[Any], looked_at: Floats, name: str) -> Shape:
    """Look at a column: all of it, and the rows of it that `some_rows` gives."""
    n = len(column)
    if column.min() == column.max():
        return Shape("constant")
    if n < _ENOUGH:
        return Shape("number" if n > 5 and _numbers_rows(column, name) else None)
    distinct, counts = np.unique(looked_at, return_counts=True)
    if counts.max() >= _SAME * len(looked_at):
        return Shape("rare")
    if len(distinct) == 2:
        return Shape("two")
    if len(distinct) <= min(_GRADES, n / 5):
        return Shape("few")
    if _numbers_rows(column, name):
        return Shape("number")
    far = _far(column)
    values = looked_at
    if far:
        near = np.setdiff1d(np.arange(n), far)
        values = some_rows(column[near][:, None])[:, 0]
        if values.min() == values.max():
            return Shape("rare")
    return Shape(_tail(values), far)


def _numbers_rows(column: npt.NDArray[Any], name: str) -> bool:
    """Whether a column holds whole numbers of some unit, each once, with next to no gaps.

    Also whole numbers of any size, each once, if the column is called an id or they are so large
    that nothing is counted by them.
    """
    n = len(column)
    few = np.sort(np.asarray(column[:1000], np.float64))
    steps = np.diff(few)
    if steps.min() <= 0:
        return False
    called = _NAMES.search(name) is not None or _LEAST_HASH < float(few[-1]) < _LARGEST_HASH
    if not _multiples(steps) and not (called and _whole(few)):
        return False
    ordered = np.sort(np.asarray(column, np.float64))
    steps = np.diff(ordered)
    if steps.min() <= 0:
        return False
    if _multiples(steps):
        places = (ordered[-1] - ordered[0]) / steps.min() + 1
        if places < (_GAPS if n >= 30 else 1.0) * n + 0.5:
            return True
    return called and _whole(ordered)


def _whole(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())


def _multiples(steps: Floats) -> bool:
    """Whether steps are whole multiples of the smallest, so far as single precision can tell."""
    parts = steps / steps.min()
    return bool((np.abs(parts - np.rint(parts)) < 0.05).all())


def _far(column: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the rows, if any, that lie alone and far out."""
    unit = np.ldexp(1.0, np.frexp(float(np.abs(column).max()))[1] - 1)
    low, middle, high = np.quantile(column[:: -(-len(column) // _MANY)] / unit, [0.25, 0.5, 0.75])
    away = np.abs(column / unit - middle)
    if high > low and away.max() <= _FAR * (high - low):
        return ()
    most = min(len(away) - 1, max(3, int(_EXCEPTIONS * len(away))))
    order = np.argpartition(-away, most)[: most + 1]
    order = order[np.argsort(-away[order], kind="stable")]
    distances = away[order]
    # Where half of the rows are alike, the farthest of the others serves.
    usual = max(high - low, distances[-1] / _FAR)
    alone = distances[:-1] >= _ALONE * np.maximum(distances[1:], 1e-300)
    last = np.flatnonzero(alone & (distances[:-1] > _FAR * usual))
    return tuple(sorted(int(row) for row in order[: last[-1] + 1])) if len(last) else ()


def _tail(values: Floats) -> Odd | None:
    """Say whether a column is skewed in a way that a logarithm mends, or has long tails."""
    spread = float(np.abs(values).max())
    values = values / spread
    if _is_skewed(values):
        return "skewed"
    if _is_skewed(-values):
        return "tails"
    low, lower, middle, upper, high = np.quantile(values, [0.005, 0.25, 0.5, 0.75, 0.995])
    quarter = (upper - lower) / 2
    return "tails" if min(high - middle, middle - low) > _LONG_TAILS * quarter else None


def _is_skewed(values: Floats, least: float = _SKEWED) -> bool:
    """Whether the upper part of a column is far longer than the lower, and a logarithm helps."""
    skewness = _skewness(values)
    if skewness < least:  # most are not, and quantiles take longer
        return False
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    if high - middle < least * (middle - low):
        return False
    return abs(_skewness(_logarithm(values))) < skewness / 2


def _skewness(values: Floats) -> float:
    centred = values - values.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, 1e-300))


def _logarithm(values: Floats) -> Floats:
    """Take the logarithm of a column from its lowest value on."""
    above = values - values.min()
    return logarithms(above[:, None], np.array([log_shift(above)]), ["it"])[:, 0]


def skewed_columns(values: Values) -> npt.NDArray[np.bool_]:
    """Return of every column whether it is heavily skewed, or nearly so beside one that is."""
    looked_at = some_rows(values)
    kinds = [shape_of(values[:, j], looked_at[:, j], "").kind for j in range(values.shape[1])]
    return np.isin(np.arange(len(kinds)), all_skewed(kinds, looked_at))


def all_skewed(kinds: Sequence[str | None], looked_at: Floats) -> list[int]:
    """Return the skewed columns, and those beside them that are nearly so and not odd otherwise."""
    found = [j for j, kind in enumerate(kinds) if kind == "skewed"]
    if found:
        found += [
            j for j, kind in enumerate(kinds) if kind is None and _skewed_too(looked_at[:, j])
        ]
    return sorted(found)


def _skewed_too(column: Floats) -> bool:
    return _is_skewed(column / float(np.abs(column).max()), _SKEWED_TOO)
