"""Weights: how many rows each row stands for.

Whole numbers are counts: a row of weight 3 is three rows. Others are importances, and only how they
compare matters: they are divided by their mean, so that there are as many rows as before. Rows of
weight 0 are as good as not there. See docs/weights.md for what a weight is in every formula.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.rows import look
from edfkmeans.rows.units import Floats

Numbers = npt.NDArray[np.int64]

# What numpy turns into numbers that are none.
_NO_WEIGHTS = {
    "U": "text, not numbers",
    "S": "text, not numbers",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "V": "records",
}
# Counts add up to less than this, so that a float holds every whole number up to their sum.
_MOST = 2.0**53
# Part of a sample: no more rows than this have a copy each, however little they weigh.
_FEW = 1 / 16


@dataclass(frozen=True)
class Tally:
    """What can be told of weights as they are given; tallies of several parts add up.

    Attributes
    ----------
    total, low, high : float
        Their sum, the lowest above 0 and the highest.
    positive, zero : int
        How many are above 0, and how many are not.
    whole : bool
        Whether all are whole numbers.
    bad : str
        What is wrong with them, if something is: what tallies may be made far away, and told here.
    """

    total: float
    low: float
    high: float
    positive: int
    zero: int
    whole: bool
    bad: str = ""

    @classmethod
    def of(
        cls, weights: Floats, first: int = 0, where: Callable[[int], str] | None = None
    ) -> "Tally":
        """Take it from some weights.

        `first` is the first row's number; where rows have no numbers, `where` names one.
        """
        wrong, bad = ~((weights >= 0) & (weights < np.inf)), ""
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            place = f"row {row + first} (counted from 0)" if where is None else where(row)
            bad = (
                f"sample_weight is {weights[row]} in {place}, but weights are 0 or more, and "
                "finite. Leave such rows out, or give them weight 0."
            )
            weights = weights[~wrong]
        count = weights[weights > 0]
        whole = bool((weights == np.floor(weights)).all())
        low, high = float(count.min(initial=np.inf)), float(count.max(initial=0.0))
        zero = len(weights) - len(count)
        with np.errstate(over="ignore"):  # a sum that is too large is told about
            total = float(count.sum())
        return cls(total, low, high, len(count), zero, whole, bad)

    def checked(self) -> "Tally":
        """Raise an error where something is wrong."""
        if self.bad:
            raise ValueError(self.bad)
        return self

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.total + other.total,
            min(self.low, other.low),
            max(self.high, other.high),
            self.positive + other.positive,
            self.zero + other.zero,
            self.whole and other.whole,
            self.bad or other.bad,
        )


@dataclass(frozen=True)
class Weighing:
    """What weights mean.

    Attributes
    ----------
    total : int
        The number of rows that all rows stand for.
    scale : float
        What weights as they are given are multiplied by.
    whole : bool
        Whether they are counts.
    n_rows : int
        The number of rows that count.
    """

    total: int
    scale: float
    whole: bool
    n_rows: int

    @classmethod
    def of(cls, tally: Tally) -> "Weighing | None":
        """Tell counts from importances; None where every row counts once."""
        tally.checked()
        if tally.positive == 0:
            raise ValueError("sample_weight is zero in every row. Give some row a weight above 0.")
        even = tally.low == tally.high
        if even and not tally.zero and (tally.high == 1 or not tally.whole):
            return None
        if not tally.whole:
            size = tally.low if even else tally.total / tally.positive
            if size < np.finfo(np.float64).tiny:  # of few digits, and without an inverse
                raise ValueError(
                    f"sample_weight is {size:.3g} on average, too little to compute with. Multiply "
                    "the weights by some number: only how they compare matters."
                )
            scale = 1 / tally.low if even else tally.positive / tally.total
            return cls(tally.positive, scale, even, tally.positive)
        if tally.total >= _MOST:
            raise ValueError(
                f"sample_weight adds up to {tally.total:.3g}; counts must stay below {_MOST:.3g}. "
                f"Divide the weights by their {'mean' if np.isfinite(tally.total) else 'largest'}: "
                "they count as importances then."
            )
        return cls(int(tally.total), 1.0, True, tally.positive)

    @property
    def complete(self) -> bool:
        """Whether all copies of all rows are in the sample."""
        return self.whole and self.total <= look.SAMPLE

    @property
    def each_has_a_copy(self) -> bool:
        """Whether rows are so few that each is in the sample, however little it weighs."""
        return self.total > look.SAMPLE and self.n_rows <= _FEW * look.SAMPLE

    def copies(self, weights: Floats, before: float = 0.0) -> Numbers:
        """Return some rows, by their numbers and in their order, each as often as it weighs.

        Counts of no more than a sample are taken as they are. Else a sample is drawn in even steps
        along the sum of the weights (Madow 1949), which gives every row its due, rounded up or
        down; importances have as many copies in all as there are rows. The rows may be part of all:
        those before them weigh `before`.
        """
        if self.complete:
            return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
        step = self.total / min(self.total, look.SAMPLE)
        # Steps are counted from the first row of all, so that no part changes another.
        ends = np.floor((before + np.cumsum(weights)) / step + 0.5)
        counts = np.diff(ends, prepend=np.floor(before / step + 0.5)).astype(np.int64)
        if self.each_has_a_copy:
            counts = np.maximum(counts, weights > 0)
        return np.repeat(np.arange(len(weights)), counts)


@dataclass(frozen=True, eq=False)
class Spread:
    """How the rows that are held, each for several, go back to the rows of X and their copies.

    Attributes
    ----------
    back : ndarray of shape (n_rows,)
        The number of the row that is held for each row of X; -1 where that has weight 0.
    first : ndarray of shape (n_held,)
        The number in X of the (first) row that each is held for.
    copies : ndarray of shape (n_copies,)
        The rows of the sample, by their numbers among those that are held.
    weights : ndarray of shape (n_rows,), or None
        The weight of every row of X; None where each is one and equal rows were put together.
    """

    back: Numbers
    first: Numbers
    copies: Numbers
    weights: Floats | None

    @property
    def numbers(self) -> Numbers:
        """The numbers in X of the rows of the sample."""
        if self.weights is None and len(self.copies) == len(self.back):
            return np.arange(len(self.back))
        return self.first[self.copies]

    @property
    def absent(self) -> Numbers:
        """The numbers in X of the rows of weight 0."""
        return np.flatnonzero(self.back < 0)

    def over_rows(self, column: Any, absent: Any = 0) -> Any:
        """Return a column of the rows that are held as one of the rows of X."""
        spread = column[self.back]
        spread[self.absent] = absent
        return spread


def check_weights(sample_weight: Any, n: int) -> Floats:
    """Return weights as floats, or raise an error that says what to do."""
    refuse_masked(sample_weight)
    kind = np.asarray(sample_weight).dtype.kind
    if kind in _NO_WEIGHTS:
        raise ValueError(
            f"sample_weight is {_NO_WEIGHTS[kind]}. Give one real number for each row."
        )
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"sample_weight is not numbers: {error}. Give one number for each row."
        ) from None
    check_weight_shape(weights.shape, n)
    return weights


def refuse_masked(sample_weight: Any) -> None:
    """Refuse weights of which some are masked: what is under a mask says nothing."""
    if np.ma.is_masked(sample_weight):
        masked = int(np.ma.getmaskarray(sample_weight).sum())
        raise ValueError(
            f"sample_weight has {masked} values masked. Leave such rows out, or give them weight 0."
        )


def check_weight_shape(shape: tuple[int, ...], n: int, name: str = "sample_weight") -> None:
    """Refuse weights that are not one for each row."""
    if shape != (n,):
        raise ValueError(
            f"{name} has shape {shape}, but X has {n} rows. Give one weight for each row."
        )
