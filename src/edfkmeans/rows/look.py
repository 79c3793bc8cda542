"""Look: the first pass over rows that are elsewhere, which finds their bounds and what is bad.

Every chunk also hands over its part of the sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._streams import Purpose, stream
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows.checks import Bad, find_bad, raise_bad
from edfkmeans.rows.units import Floats, Units, Values

# Rows: with more than this, so many drawn at random stand for all where single rows are looked at.
SAMPLE = 16 * BLOCK


def sample_numbers(n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the rows that stand for all, in their order."""
    if n <= SAMPLE:
        return np.arange(n)
    return np.sort(stream(seed, Purpose.SAMPLE).choice(n, SAMPLE, replace=False))


@dataclass(frozen=True)
class Place:
    """Where a chunk is in the whole: its number, first row and size; and its rows of the sample.

    Chunks that were not cut by whoever gave the rows have no number.
    """

    number: int | None
    start: int
    size: int
    wanted: npt.NDArray[np.int64]


def places(sizes: Sequence[int], sampled: npt.NDArray[np.int64]) -> list[Place]:
    """Tell every chunk of some sizes where it is."""
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    cuts = np.searchsorted(sampled, starts)
    return [
        Place(number, int(start), size, sampled[first:last] - start)
        for number, (start, size, first, last) in enumerate(
            zip(starts[:-1], sizes, cuts[:-1], cuts[1:], strict=True)
        )
    ]


@dataclass(frozen=True, eq=False)
class Look:
    """What there is to see in a chunk."""

    low: Floats
    high: Floats
    bad: Bad | None
    sample: list[Values]

    @classmethod
    def at(cls, raw: Values, place: Place, weights: Floats | None = None) -> "Look":
        """Look at a chunk; rows of weight 0 do not widen the bounds."""
        if len(raw) != place.size:
            raise ValueError(f"it holds {len(raw)} rows, but {place.size} were announced")
        d = raw.shape[1]
        low, high = np.full(d, np.inf), np.full(d, -np.inf)
        bad = None
        if len(raw):
            low, high = (end(raw, axis=0).astype(np.float64) for end in (np.min, np.max))
            # NaN goes through to the ends.
            bad = None if np.isfinite([low, high]).all() else find_bad(raw)
            if weights is not None and bad is None:
                count = raw[weights > 0].astype(np.float64)
                low, high = count.min(axis=0, initial=np.inf), count.max(axis=0, initial=-np.inf)
        if bad is not None:
            where = "counted from 0"
            if place.number is not None:
                where += f", in chunk {place.number}"
            bad = bad.moved(bad.row + place.start, where)
        return cls(low, high, bad, [raw[place.wanted]])

    def __add__(self, other: "Look") -> "Look":
        bad = self.bad or other.bad
        if self.bad is not None and other.bad is not None:
            bad = replace(
                self.bad,
                count=self.bad.count + other.bad.count,
                nan=self.bad.nan | other.bad.nan,
                infinite=self.bad.infinite | other.bad.infinite,
            )
        return Look(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            bad,
            self.sample + other.sample,
        )

    def taken(self, columns: Any) -> tuple[Values, Units]:
        """Return the sample, in the units of all rows, or tell what cannot be clustered."""
        if self.bad is not None:
            raise_bad(self.bad, columns)
        raw: Any = np.concatenate(self.sample)
        units = Units.of(raw, self.low, self.high)
        return units.values(raw), units
