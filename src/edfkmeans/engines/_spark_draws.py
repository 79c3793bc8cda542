"""Draws: a sample of rows that have no order, which hangs on nothing but the rows themselves.

Every row has a key, a hash of its id and its numbers. Rows that are equal have the same key and
cannot be told apart; a sample that treats them all alike needs to know how many there are of each.
So two passes are made. A `Census` counts rows and estimates how many keys there are (from the
smallest ones), and lists keys that may be common. The `Draw` then takes the keys below a bound,
which are a random part of all keys, and those that are common, each with the number of its rows,
and gives rows to the sample in proportion to these numbers. No step hangs on the order of rows or
on how they are cut into partitions: sets of keys and sums of counts do not. A row that stands for
several counts as often: where weights are whole, the sample is that of the repeated rows. Others
are counted in small units, because sums of floats would hang on their order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans._streams import Purpose, stream
from edfkmeans.rows.look import Look, Place
from edfkmeans.rows.units import Floats, Values
from edfkmeans.rows.weights import Weighing

Keys = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

# So many of the smallest keys tell how many there are, to about three in a hundred.
_SMALLEST = 1024
# A key is common if it has more than this part of the rows; there are fewer such keys than this.
_COMMON = 1024
# More keys are drawn than rows are wanted, because their number is an estimate.
_MORE = 1.2
# Importances, whose mean is one, are counted in units of this.
_UNIT = 2.0**-30


def salt_of(seed: int) -> int:
    """Return what keys of a seed are told from those of another seed by."""
    return int(stream(seed, Purpose.SAMPLE).integers(2**63))


def keys_of(raw: Values, ids: Any, salt: int) -> Keys:
    """Hash rows: equal ones have equal keys, all others different ones, as good as surely."""
    keys = np.full(len(raw), salt, np.uint64)
    columns = [] if ids is None else [pd.util.hash_array(_plain(ids), categorize=False)]
    kind = np.uint32 if raw.dtype == np.float32 else np.uint64
    for j in range(raw.shape[1]):
        columns.append((raw[:, j] + raw.dtype.type(0)).view(kind))  # turns -0.0 into 0.0
    for column in columns:
        keys ^= column.astype(np.uint64)
        _mix(keys)
    return keys


def _plain(ids: Any) -> Any:
    return np.asarray(ids.to_pandas())


def _mix(keys: Keys) -> None:
    """Mix the bits of every key (the last step of splitmix64, Steele et al. 2014)."""
    keys += np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)


@dataclass(frozen=True, eq=False)
class Common:
    """Keys that may be common: none with more than one in 1025 of the rows is missing.

    These are the summaries of Misra and Gries (1982), which add up (Agarwal et al. 2013).
    """

    keys: Keys
    counts: Counts

    def __add__(self, other: "Common") -> "Common":
        keys, counts = _added(
            np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts])
        )
        return Common(keys, counts).short()

    def short(self) -> "Common":
        """Keep few."""
        if len(self.keys) <= _COMMON:
            return self
        less = self.counts - np.partition(self.counts, -_COMMON - 1)[-_COMMON - 1]
        return Common(self.keys[less > 0], less[less > 0])


def _added(keys: Keys, counts: Counts) -> tuple[Keys, Counts]:
    """Add up the counts of every key."""
    distinct, _, total = _first(keys, counts)
    return distinct, total


def _first(keys: Keys, counts: Counts) -> tuple[Keys, npt.NDArray[np.intp], Counts]:
    """Return every key once, where it comes first, and the sum of its counts."""
    distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, which, counts)
    return distinct, first, total


def _counts_of(n: int, weights: Floats | None, unit: float) -> Counts:
    """Say as how many each of n rows counts."""
    return np.ones(n, np.int64) if weights is None else np.rint(weights / unit).astype(np.int64)


def unit_of(weighing: Weighing | None) -> float:
    """Return the units that rows are counted in."""
    return 1.0 if weighing is None or weighing.whole else _UNIT


@dataclass(frozen=True, eq=False)
class Census:
    """What the first pass sees: bounds and bad values, how many rows and about how many keys."""

    look: Look
    n_rows: int
    count: int
    """What the rows count as together."""
    smallest: Keys
    common: Common

    @classmethod
    def at(
        cls,
        raw: Values,
        ids: Any,
        start: int,
        salt: int,
        where: str,
        weights: Floats | None = None,
        unit: float = 1.0,
    ) -> "Census":
        """Look at a chunk; `start` is the number of its first row in the partition."""
        look = Look.at(raw, Place(None, start, len(raw), np.zeros(0, np.int64)), weights)
        if look.bad is not None:
            row, words = look.bad.row, f"counted from 0, {where}"
            if ids is not None:
                row, words = ids[row - start].as_py(), "its id"
            look = Look(look.low, look.high, look.bad.moved(row, words), look.sample)
        counts = _counts_of(len(raw), weights, unit)
        there = counts > 0
        keys, own = _added(keys_of(raw, ids, salt)[there], counts[there])
        return cls(look, len(raw), int(counts.sum()), keys[:_SMALLEST], Common(keys, own).short())

    def __add__(self, other: "Census") -> "Census":
        return Census(
            self.look + other.look,
            self.n_rows + other.n_rows,
            self.count + other.count,
            np.union1d(self.smallest, other.smallest)[:_SMALLEST],
            self.common + other.common,
        )

    def recipe(self, size: int, salt: int, weighing: Weighing | None = None) -> "Recipe":
        """Say how to draw a sample of a size, if there are more rows than that.

        Importances have a sample of as many rows as there are, all the same.
        """
        unit, bound = unit_of(weighing), None
        size = min(size, weighing.total) if weighing is not None else size
        if self.count * unit > size and len(self.smallest) == _SMALLEST:
            keys = (_SMALLEST - 1) / (float(self.smallest[-1]) / 2.0**64)
            part = _MORE * size / keys
            bound = int(part * 2**64) if part < 1 else None
        common = self.common.keys if bound is not None else self.common.keys[:0]
        each = weighing is not None and weighing.each_has_a_copy
        return Recipe(salt, self.n_rows, self.count, size, bound, common, unit, each)


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to draw a sample, the same whenever it is asked for."""

    salt: int
    n_rows: int
    count: int
    """What the rows count as together."""
    size: int
    bound: int | None
    """Keys below it are drawn; None for all."""
    common: Keys
    """Keys that may be common, which are drawn too."""
    unit: float = 1.0
    """What weights are counted in."""
    each: bool = False
    """Whether rows of little weight are in the sample all the same."""

    def draw(self, raw: Values, ids: Any, weights: Floats | None = None) -> "Draw":
        """Draw from a chunk."""
        keys, counts = keys_of(raw, ids, self.salt), _counts_of(len(raw), weights, self.unit)
        wanted = counts > 0
        if self.bound is not None:
            wanted &= (keys < np.uint64(self.bound)) | np.isin(keys, self.common)
        chosen = np.flatnonzero(wanted)
        found, first, own_counts = _first(keys[chosen], counts[chosen])
        rows = chosen[first]
        own = None if ids is None else _plain(ids.take(rows))
        return Draw(found, own_counts, raw[rows], own)

    def taken(self, draw: "Draw") -> tuple[Values, pd.Index | None]:
        """Return the rows of the sample, and their ids: in the order of these, or of the keys."""
        which = self._chosen(draw)
        rows = draw.rows[which]
        if draw.ids is None:
            return rows, None
        ids = pd.Index(draw.ids[which])
        order = ids.to_series().reset_index(drop=True).sort_values(kind="stable").index.to_numpy()
        return rows[order], ids[order]

    def _chosen(self, draw: "Draw") -> Any:
        """Say which of the rows drawn are in the sample, and how often."""
        n, counts = self.count, draw.counts
        if n <= self.size and self.unit == 1:
            return np.repeat(np.arange(len(counts)), counts)
        weights = counts.astype(np.float64)
        if self.bound is not None:
            common = weights * (_COMMON + 1) > n
            others = ~common & (draw.keys < np.uint64(self.bound))
            # The others that were drawn stand for all others.
            share = max(float(weights[others].sum()), 1.0)
            weights[others] *= (n - weights[common].sum()) / share
            weights[~common & ~others] = 0.0
        # Every so many rows of all, in the order of the keys.
        ends = np.cumsum(weights)
        places = (np.arange(self.size) + 0.5) * (ends[-1] / self.size)
        which = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
        if self.each:
            times = np.maximum(np.bincount(which, minlength=len(ends)), 1)
            which = np.repeat(np.arange(len(ends)), times)
        return which


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows that were drawn, one of every key, in the order of the keys, and how many there are."""

    keys: Keys
    counts: Counts
    rows: Values
    ids: Any

    def __add__(self, other: "Draw") -> "Draw":
        keys = np.concatenate([self.keys, other.keys])
        distinct, first, counts = _first(keys, np.concatenate([self.counts, other.counts]))
        ids = None
        if self.ids is not None:
            ids = np.concatenate([self.ids, other.ids])[first]
        return Draw(distinct, counts, np.concatenate([self.rows, other.rows])[first], ids)
