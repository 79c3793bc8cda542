"""Shape: what one column looks like, whatever its unit and its origin."""

import re
from collections.abc import Callable, Iterable, Sequence
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
# Columns that are looked at together first, and what is left of the bounds there: rounding differs.
_TOGETHER, _SURELY = 64, 0.99
_NAMES = re.compile(r"(?i)(^|[\W_])(id|uuid|guid|hash|key|index)$|^(row|nr|no)$|[a-z](?-i:I[Dd])$")


def some_rows(values: Values) -> Floats:
    """Return rows to look at, spread over the table, with columns of about unit size."""
    step = -(-len(values) // _MANY)
    halves = np.array(values[::step], np.float64) / 2  # their sums and differences do not overflow
    # Columns are put together first: their medians are found twice as fast.
    centred = halves - np.median(np.ascontiguousarray(halves.T), axis=1)
    # One unit for all columns, a power of two: scales are still to be compared.
    largest = float(np.abs(centred).max(initial=0.0))
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1) if largest > 0 else 1.0
    return np.asarray(centred / unit * 2)


@dataclass(frozen=True)
class Shape:
    """What a column looks like: at most one kind of oddness, and rows that are far."""

    kind: Odd | None = None
    far: tuple[int, ...] = ()


def shapes_of(
    values: Values,
    looked_at: Floats,
    names: Sequence[str] = (),
    for_all: Callable[..., Iterable[Any]] = map,
) -> list[Shape]:
    """Look at every column: at many together first, as most are not odd at all."""
    d = values.shape[1]

    def some(first: int) -> list[Shape]:
        columns = range(first, min(first + _TOGETHER, d))
        with np.errstate(all="ignore"):  # values near the largest float, columns that do not vary
            plain = _plain(values[:, first : columns.stop], looked_at[:, first : columns.stop])
            return [
                Shape()
                if plain[j - first]
                else shape_of(values[:, j], looked_at[:, j], names[j] if names else "")
                for j in columns
            ]

    return [shape for shapes in for_all(some, range(0, d, _TOGETHER)) for shape in shapes]


def _plain(values: Values, looked_at: Floats) -> npt.NDArray[np.bool_]:
    """Return of every column whether nothing can be odd: what `shape_of` would find, or less."""
    n, seen = len(values), len(looked_at)
    if n < _ENOUGH:
        return np.zeros(values.shape[1], np.bool_)
    ordered = np.sort(np.ascontiguousarray(looked_at.T), axis=1)
    distinct = 1 + np.count_nonzero(ordered[:, 1:] > ordered[:, :-1], axis=1)
    same = int(np.ceil(_SAME * seen)) - 1
    often = (ordered[:, same:] == ordered[:, : seen - same]).any(axis=1)
    few = np.sort(np.ascontiguousarray(values[:1000].T, dtype=np.float64), axis=1)
    steps = np.diff(few, axis=1)
    parts = steps / steps.min(axis=1, keepdims=True)
    whole = (np.abs(parts - np.rint(parts)) < 0.05).all(axis=1) | (few == np.rint(few)).all(axis=1)

    def quantile(q: float) -> Floats:
        low, part = divmod(q * (seen - 1), 1.0)
        here, after = ordered[:, int(low)], ordered[:, min(int(low) + 1, seen - 1)]
        return np.asarray(here + part * (after - here))

    low, lower, middle, upper, high = map(quantile, (0.005, 0.25, 0.5, 0.75, 0.995))
    quarters = upper - lower
    # All rows, where others were looked at: in units of the range of these.
    reach = np.maximum(ordered[:, -1] - middle, middle - ordered[:, 0])
    if seen < n:
        ends = looked_at.argmin(axis=0), looked_at.argmax(axis=0)
        step, columns = -(-n // seen), np.arange(len(ordered))
        first, last = (values[end * step, columns].astype(np.float64) / 2 for end in ends)
        unit = (last - first) / (ordered[:, -1] - ordered[:, 0])
        above = (values.max(axis=0).astype(np.float64) / 2 - last) / unit
        below = (first - values.min(axis=0).astype(np.float64) / 2) / unit
        reach = reach + np.maximum(above, below)
    centred = ordered - ordered.mean(axis=1, keepdims=True)
    centred /= np.abs(centred).max(axis=1, keepdims=True)
    squares = centred * centred
    skewness = (squares * centred).mean(axis=1) / squares.mean(axis=1) ** 1.5
    plain = (distinct > max(2, _GRADES)) & ~often & ~((steps.min(axis=1) > 0) & whole)
    plain &= (quarters > 0) & (reach <= _SURELY * _FAR * quarters)
    plain &= np.abs(skewness) < _SURELY * _SKEWED
    tail = np.minimum(high - middle, middle - low)
    return np.asarray(plain & (tail < _SURELY * _LONG_TAILS * quarters / 2))


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
    squares = centred * centred
    return float((squares * centred).mean() / max(squares.mean() ** 1.5, 1e-300))


def _logarithm(values: Floats) -> Floats:
    """Take the logarithm of a column from its lowest value on."""
    above = values - values.min()
    return logarithms(above[:, None], np.array([log_shift(above)]), ["it"])[:, 0]


def skewed_columns(values: Values) -> npt.NDArray[np.bool_]:
    """Return of every column whether it is heavily skewed, or nearly so beside one that is."""
    looked_at = some_rows(values)
    kinds = [shape.kind for shape in shapes_of(values, looked_at)]
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
