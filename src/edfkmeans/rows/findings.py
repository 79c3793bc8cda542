"""Findings: what is odd about the columns of a table, and what it does to clusters.

A finding holds whatever the unit and the origin of a column, so that columns may have been
standardised before; scales that differ are the exception.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from edfkmeans.rows.arguments import some
from edfkmeans.rows.scaling import log_shift, logarithms
from edfkmeans.rows.units import Floats, Values

Kind = Literal[
    "number", "scales", "skewed", "tails", "far", "copy", "rare", "constant", "two", "few"
]

# Rows that are looked at where all would tell no more, spread over the table; and the fewest from
# which a distribution can be told.
_MANY, _ENOUGH = 20_000, 20
# Columns that are looked at, and those among which copies are looked for: the first ones.
_WIDE, _COMPARED = 1000, 300
# Standard deviations that differ by so much, with a few columns that have nearly all the variance.
_APART, _NEARLY_ALL = 1000.0, 0.99
# Skewness from which a column is named, if a logarithm takes away half of it and the upper part,
# up to the 95 % quantile, is so many times as long as the lower.
_SKEWED = 1.5
# How much longer both tails are than the quarters in the middle; 3.8 for a normal column.
_LONG_TAILS = 7.0
# A row is far if it lies so many quartile ranges from the median, and so many times as far as the
# next one; rows beyond so small a part of all (or three) are no exceptions.
_FAR, _ALONE, _EXCEPTIONS = 8.0, 3.0, 0.002
# Part of the rows with the same value from which a column is nearly constant.
_SAME = 0.95
# What is worth a word only if it is so of one column in twenty, or more.
_OF_MANY: tuple[Kind, ...] = ("skewed", "tails", "two", "few")
_ONE_IN = 20
# Different values, at most, of a column of answers or grades.
_GRADES = 10
# Numbers of rows may have gaps where rows were deleted. Whole numbers of such a size are hashes,
# and columns of these names are ids.
_GAPS = 1.5
_LEAST_HASH, _LARGEST_HASH = 2.0**40, 2.0**64
_NAMES = re.compile(r"(?i)(^|[\W_])(id|uuid|guid|hash|key|index)$|^(row|nr|no)$|[a-z](?-i:I[Dd])$")


@dataclass(frozen=True)
class Finding:
    """Something odd about some columns.

    Attributes
    ----------
    kind : str
        What it is: "number" (numbers the rows), "scales", "skewed", "tails", "far" (single rows),
        "copy", "rare" (nearly constant), "constant", "two" (0/1), "few" (few different values).
    columns : tuple of int
        The columns to do something about, counted from 0.
    beside : tuple of int
        Of "copy" the columns that these are copies of, of "far" the rows that lie far.
    figures : tuple of float
        Of "scales" the factor between them, and the part of the variance that the columns have.
    """

    kind: Kind
    columns: tuple[int, ...]
    beside: tuple[int, ...] = ()
    figures: tuple[float, ...] = ()

    def text(self, names: Sequence[str], row_name: Callable[[int], str]) -> str:
        """Say what it is and what it does to the answer."""
        own = [names[j] for j in self.columns]
        if self.kind == "scales":
            ratio, share = self.figures
            return (
                f"The scales of columns differ by a factor of {ratio:,.0f}: {some(own)} alone "
                f"{'has' if len(own) == 1 else 'have'} {100 * share:.1f} % of the variance, and "
                "the others hardly count."
            )
        if self.kind == "far":
            rows = self.beside
            who = ", ".join(map(row_name, rows[:3]))
            who += f" and {len(rows) - 3} more" * (len(rows) > 3)
            return (
                f"{who[0].upper()}{who[1:]} {'lies' if len(rows) == 1 else 'lie'} far from all "
                f"others in {some(own)}: a cluster may be made for that alone, or all others pass "
                "for one."
            )
        if self.kind == "copy":
            pairs = [f"{copy!r} is {names[j]!r}" for copy, j in zip(own, self.beside, strict=True)]
            more = f" and {len(pairs) - 3} more" * (len(pairs) > 3)
            return (
                f"Columns repeat others, up to the unit: {', '.join(pairs[:3])}{more}. They count "
                "twice."
            )
        return f"{some(own)} {_WORDS[self.kind][len(own) > 1]}"


Remedies = Mapping[Kind, Callable[[list[str]], str]]
"""What to do about each kind of finding, made of the names of the columns."""


def numbered_row(row: int) -> str:
    """Name a row by its number."""
    return f"row {row} (counted from 0)"


def _python(words: str) -> Callable[[list[str]], str]:
    return lambda names: words.format(columns=some(names))


REMEDIES: Remedies = {
    "number": _python("Leave {columns} out of X."),
    "scales": _python(
        "Unless all columns share a unit, standardise them first: "
        "sklearn.preprocessing.StandardScaler().fit_transform(X)."
    ),
    "skewed": _python(
        "Take logarithms before you standardise: "
        "make_pipeline(edfkmeans.LogTransformer(), StandardScaler()).fit_transform(X)."
    ),
    "tails": _python(
        "Look at the values far out, or draw them in: sklearn.preprocessing.PowerTransformer()."
    ),
    "far": _python("See whether it is an error; if so, correct it or leave the row out of X."),
    "copy": _python("Leave {columns} out of X unless that is meant."),
    "rare": _python("Leave {columns} out of X and see whether the answer stays."),
    "constant": _python("Nothing need be done."),
    "two": _python("Leave {columns} out of X and see whether the answer stays."),
    "few": _python(
        "Add up columns that ask for the same, or leave {columns} out of X and see whether the "
        "answer stays."
    ),
}
"""What to do in Python."""


def remarks_of(
    findings: Sequence[Finding],
    names: Sequence[str],
    remedies: Remedies = REMEDIES,
    row_name: Callable[[int], str] = numbered_row,
    sources: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Put findings into words, each with what to do about it.

    `sources` are the columns that these were made of, where several may come from one: that is
    where something can be done.
    """
    sources = names if sources is None else sources
    return tuple(
        f"{found.text(names, row_name)} "
        + remedies[found.kind](list(dict.fromkeys(sources[j] for j in found.columns)))
        for found in findings
    )


# What is said of one column, and of several, after their names.
_WORDS: Mapping[Kind, tuple[str, str]] = {
    "number": (
        "numbers the rows, each its own: it says nothing about what they are like, but sets them "
        "apart.",
        "number the rows, each its own: they say nothing about what they are like, but set them "
        "apart.",
    ),
    "skewed": (
        "is heavily skewed: k-means cuts its long tail into clusters.",
        "are heavily skewed: k-means cuts their long tails into clusters.",
    ),
    "tails": (
        "has long tails: the few rows far out pull centres to them, or get clusters of their own.",
        "have long tails: the few rows far out pull centres to them, or get clusters of their own.",
    ),
    "rare": (
        "has the same value in nearly all rows: once standardised, the few others lie far away and "
        "may get a cluster of their own.",
        "have the same value in nearly all rows: once standardised, the few others lie far away "
        "and may get clusters of their own.",
    ),
    "constant": ("is constant and has no say.", "are constant and have no say."),
    "two": (
        "has two values only, which split the rows by themselves: clusters may be no more than "
        "that.",
        "have two values only, which split the rows by themselves: clusters may be no more than "
        "their combinations.",
    ),
    "few": (
        "has few different values: rows pile up on them, and piles may pass for clusters.",
        "have few different values: rows pile up on a grid, and piles may pass for clusters.",
    ),
}


def findings_of(
    values: Values, names: Sequence[str] = (), may_log: Callable[[int], bool] = lambda column: True
) -> tuple[Finding, ...]:
    """Look for what is odd about columns, the worst first.

    Of very many columns the first thousand are looked at.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
    names : sequence of str
        Names of the columns, where there are any: some are called an id.
    may_log : callable
        Whether a column, by its number, has a logarithm.
    """
    values = values[:, :_WIDE]
    d = values.shape[1]
    looked_at = _some_rows(values)
    spread = looked_at.std(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # values near the largest float
        shapes = [
            _shape(values[:, j], looked_at[:, j], names[j] if names else "") for j in range(d)
        ]
    by: dict[Kind, list[int]] = {}
    for j, shape in enumerate(shapes):
        if shape.kind is not None:
            kind: Kind = "tails" if shape.kind == "skewed" and not may_log(j) else shape.kind
            by.setdefault(kind, []).append(j)
    for each in _OF_MANY:
        if len(by.get(each, [])) * _ONE_IN < d:
            by.pop(each, None)
    found = [Finding(kind, tuple(columns)) for kind, columns in by.items()]
    found += [*_scales(spread), *_far_rows(shapes), *_copies(looked_at, spread)]
    return tuple(sorted(found, key=lambda each: get_args(Kind).index(each.kind)))


def _far_rows(shapes: "Sequence[_Shape]") -> list[Finding]:
    rows = sorted({row for shape in shapes for row in shape.far})
    columns = tuple(j for j, shape in enumerate(shapes) if shape.far)
    return [Finding("far", columns, tuple(rows))] if rows else []


def skewed_columns(values: Values) -> npt.NDArray[np.bool_]:
    """Return of every column whether it is heavily skewed and a logarithm would mend that."""
    looked_at = _some_rows(values)
    columns = range(values.shape[1])
    return np.array([_shape(values[:, j], looked_at[:, j], "").kind == "skewed" for j in columns])


def _some_rows(values: Values) -> Floats:
    """Return rows to look at, spread over the table, with columns of about unit size."""
    step = -(-len(values) // _MANY)
    rows = np.array(values[::step], np.float64)
    with np.errstate(over="ignore"):
        middle = np.median(rows, axis=0)
        size = np.abs(rows / 2 - middle / 2).max(axis=0)
    # One unit for all columns, a power of two: scales are still to be compared.
    largest = float(size.max(initial=0.0))
    unit = np.ldexp(1.0, np.frexp(largest)[1]) if largest > 0 else 1.0
    return np.asarray(rows / unit - middle / unit)


@dataclass(frozen=True)
class _Shape:
    """What a column looks like: at most one kind of oddness, and rows that are far."""

    kind: Kind | None = None
    far: tuple[int, ...] = ()


def _shape(column: npt.NDArray[Any], looked_at: Floats, name: str) -> _Shape:
    n = len(column)
    if column.min() == column.max():
        return _Shape("constant")
    if n < _ENOUGH:
        return _Shape("number" if n > 5 and _numbers_rows(column, name) else None)
    distinct, counts = np.unique(looked_at, return_counts=True)
    if counts.max() >= _SAME * len(looked_at):
        return _Shape("rare")
    if len(distinct) == 2:
        return _Shape("two")
    if len(distinct) <= min(_GRADES, n / 5):
        return _Shape("few")
    if _numbers_rows(column, name):
        return _Shape("number")
    far = _far(column)
    values = looked_at
    if far:
        near = np.setdiff1d(np.arange(n), far)
        values = _some_rows(column[near][:, None])[:, 0]
        if values.min() == values.max():
            return _Shape("rare")
    return _Shape(_tail(values), far)


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
    unit = np.ldexp(1.0, np.frexp(float(np.abs(column).max()))[1])
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


def _tail(values: Floats) -> Kind | None:
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


def _is_skewed(values: Floats) -> bool:
    """Whether the upper part of a column is far longer than the lower, and a logarithm helps."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    skewness = _skewness(values)
    if skewness < _SKEWED or high - middle < _SKEWED * (middle - low):
        return False
    return abs(_skewness(_logarithm(values))) < skewness / 2


def _skewness(values: Floats) -> float:
    centred = values - values.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, 1e-300))


def _logarithm(values: Floats) -> Floats:
    """Take the logarithm of a column from its lowest value on."""
    above = values - values.min()
    return logarithms(above[:, None], np.array([log_shift(above)]), ["it"])[:, 0]


def _scales(spread: Floats) -> list[Finding]:
    varying = np.flatnonzero(spread > 0)
    if len(varying) < 2:
        return []
    order = varying[np.argsort(-spread[varying], kind="stable")]
    ratio = float(spread[order[0]] / spread[order[-1]])
    parts = np.cumsum((spread[order] / spread[order[0]]) ** 2)
    count = int(np.searchsorted(parts / parts[-1], _NEARLY_ALL)) + 1
    if ratio < _APART or count > max(1, len(varying) // 3):
        return []
    figures = (ratio, float(parts[count - 1] / parts[-1]))
    return [Finding("scales", tuple(order[:count].tolist()), figures=figures)]


def _copies(looked_at: Floats, spread: Floats) -> list[Finding]:
    varying = np.flatnonzero(spread > 0)[:_COMPARED]
    if len(looked_at) < 3:
        return []
    rows = looked_at[:: -(-len(looked_at) // 2000), varying]
    deviation = rows.std(axis=0)
    varying, rows = varying[deviation > 0], rows[:, deviation > 0]
    scores = (rows - rows.mean(axis=0)) / deviation[deviation > 0]
    alike = np.triu(np.abs(scores.T @ scores) > (1 - 1e-9) * len(rows), 1)
    copied: dict[int, int] = {}
    for first, second in zip(*np.nonzero(alike), strict=True):
        copied.setdefault(int(varying[second]), int(varying[first]))
    return [Finding("copy", tuple(copied), tuple(copied.values()))] if copied else []
