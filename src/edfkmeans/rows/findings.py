"""Findings: what is odd about the columns of a table, and what it does to clusters.

A finding holds whatever the unit and the origin of a column, so that columns may have been
standardised before; scales that differ are the exception.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from edfkmeans.rows.arguments import some
from edfkmeans.rows.shapes import Shape, all_skewed, shapes_of, some_rows
from edfkmeans.rows.units import Floats, Values

Kind = Literal[
    "number", "scales", "skewed", "tails", "far", "copy", "near", "rare", "constant", "two", "few"
]

# Columns that are looked at, and those among which copies are looked for: the first ones.
_WIDE, _COMPARED = 1000, 300
# Standard deviations that differ by so much, with a few columns that have nearly all the variance.
_APART, _NEARLY_ALL = 100.0, 0.99
# Correlations: of copies, and of columns that say nearly the same. Where so many of the columns do,
# that is how the table is made (a spectrum, a picture), and no matter.
_COPY, _NEAR, _USUAL = 1 - 1e-9, 0.98, 0.5
# Rows: of fewer, columns may go together by chance.
_FEW = 10
# What is worth a word only if it is so of one column in twenty, or more.
_OF_MANY: tuple[Kind, ...] = ("skewed", "tails", "two", "few")
_ONE_IN = 20


@dataclass(frozen=True)
class Finding:
    """Something odd about some columns.

    Attributes
    ----------
    kind : str
        What it is: "number" (numbers the rows), "scales", "skewed", "tails", "far" (single rows),
        "copy", "near" (nearly a copy), "rare" (nearly constant), "constant", "two" (0/1), "few" (a
        few different values).
    columns : tuple of int
        The columns to do something about, counted from 0.
    beside : tuple of int
        Of "copy" and "near" the columns that these are like, of "far" the rows that lie far.
    figures : tuple of float
        Of "scales" the factor between them, and the part of the variance that the columns have.
    """

    kind: Kind
    columns: tuple[int, ...]
    beside: tuple[int, ...] = ()
    figures: tuple[float, ...] = ()

    def of_rows(self, numbers: npt.NDArray[np.int64]) -> "Finding":
        """Return it for the table of which the rows that were looked at have these numbers."""
        if self.kind != "far":
            return self
        return replace(self, beside=tuple(int(numbers[row]) for row in self.beside))

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
        if self.kind in ("copy", "near"):
            word = "is" if self.kind == "copy" else "is nearly"
            pairs = [
                f"{name!r} {word} {names[j]!r}" for name, j in zip(own, self.beside, strict=True)
            ]
            more = f" and {len(pairs) - 3} more" * (len(pairs) > 3)
            if self.kind == "copy":
                told = f"Columns repeat others, up to the unit: {', '.join(pairs[:3])}{more}."
                return f"{told} They count twice."
            told = f"Columns say nearly the same as others: {', '.join(pairs[:3])}{more}."
            return f"{told} What they share counts more than once."
        return f"{some(own)} {_WORDS[self.kind][len(own) > 1]}"


Remedies = Mapping[Kind, Callable[[list[str]], str]]
"""What to do about each kind of finding, made of the names of the columns."""


def numbered_row(row: int) -> str:
    """Name a row by its number."""
    return f"row {row} (counted from 0)"


def _python(words: str) -> Callable[[list[str]], str]:
    return lambda names: words.format(columns=some(names))


def _few(names: list[str]) -> str:
    without = f"eave {some(names)} out of X and see whether the answer stays."
    return (
        f"L{without}" if len(names) == 1 else f"Add up columns that ask for the same, or l{without}"
    )


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
    "far": _python("See whether that is an error; if so, correct it or leave it out of X."),
    "copy": _python("Leave {columns} out of X unless that is meant."),
    "near": _python("Leave {columns} out of X and see whether the answer stays."),
    "rare": _python("Leave {columns} out of X and see whether the answer stays."),
    "constant": _python("Nothing need be done."),
    "two": _python("Leave {columns} out of X and see whether the answer stays."),
    "few": _few,
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
        "are heavily skewed, or nearly so: k-means cuts their long tails into clusters.",
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
    values: Values,
    names: Sequence[str] = (),
    may_log: Callable[[int], bool] = lambda column: True,
    for_all: Callable[..., Iterable[Any]] = map,
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
    for_all : callable
        Does something for every column, as `map` does; threads may.
    """
    values = values[:, :_WIDE]
    d = values.shape[1]
    looked_at = some_rows(values)
    spread = looked_at.std(axis=0)

    shapes = shapes_of(values, looked_at, names, for_all)
    by: dict[Kind, list[int]] = {}
    for j, shape in enumerate(shapes):
        if shape.kind is not None:
            kind: Kind = "tails" if shape.kind == "skewed" and not may_log(j) else shape.kind
            by.setdefault(kind, []).append(j)
    too = all_skewed([shape.kind for shape in shapes], looked_at)
    if "skewed" in by:
        by["skewed"] = sorted(
            {*by["skewed"], *(j for j in too if shapes[j].kind is None and may_log(j))}
        )
    for each in _OF_MANY:
        if len(by.get(each, [])) * _ONE_IN < d:
            by.pop(each, None)
    found = [Finding(kind, tuple(columns)) for kind, columns in by.items()]
    found += [*_scales(spread), *_far_rows(shapes)]
    found += _copies(looked_at, _usual_rows(values, shapes, looked_at))
    return tuple(sorted(found, key=lambda each: get_args(Kind).index(each.kind)))


def _far_rows(shapes: Sequence[Shape]) -> list[Finding]:
    rows = sorted({row for shape in shapes for row in shape.far})
    columns = tuple(j for j, shape in enumerate(shapes) if shape.far)
    return [Finding("far", columns, tuple(rows))] if rows else []


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


def _usual_rows(values: Values, shapes: Sequence[Shape], looked_at: Floats) -> Floats:
    """Return rows to look at, without those that are far: one of them makes any columns alike."""
    far = sorted({row for shape in shapes for row in shape.far})
    return some_rows(np.delete(values, far, axis=0)) if far else looked_at


def _copies(looked_at: Floats, usual: Floats) -> list[Finding]:
    if len(looked_at) < 3:
        return []
    alike = _alike(looked_at)
    copied = _like(alike, _COPY, np.inf)
    near: dict[int, int] = {}
    if len(usual) >= _FEW:
        alike = alike if usual is looked_at else _alike(usual)
        near = {j: other for j, other in _like(alike, _NEAR, _COPY).items() if j not in copied}
        if len(near) > _USUAL * np.count_nonzero(alike.diagonal()):
            near = {}
    kinds: tuple[tuple[Kind, dict[int, int]], ...] = (("copy", copied), ("near", near))
    return [Finding(kind, tuple(each), tuple(each.values())) for kind, each in kinds if each]


def _alike(looked_at: Floats) -> Floats:
    """Return how much the first columns go together, without sign; 0 of those that are constant."""
    rows = looked_at[:: -(-len(looked_at) // 2000), :_COMPARED]
    deviation = rows.std(axis=0)
    scores = (rows - rows.mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)
    return np.asarray(np.abs(scores.T @ scores) / len(rows))


def _like(alike: Floats, least: float, most: float) -> dict[int, int]:
    """Return the columns that go together with an earlier one so much, and the first of these."""
    found: dict[int, int] = {}
    pairs = np.triu((alike > least) & (alike <= most), 1)
    for first, second in np.argwhere(pairs).tolist():
        found.setdefault(second, first)
    return found
