"""Flow: where the rows of the clusters go when there is one cluster more."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from edfkmeans.fits.path import KMeansPath

# Part of a cluster that goes to another one, from which on that counts as a piece of it.
_PIECE = 0.2
# Clusters that a sentence names; of more it tells how many there are.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Flow:
    """Rows that are in cluster c of k and in cluster e of k + 1: ``counts[c, e]``.

    Clusters are numbered by size, so that a cluster that stays may have another number in k + 1.
    Which one it is, is found from the rows: as many as can be stay.
    """

    counts: npt.NDArray[np.int64]

    @property
    def k(self) -> int:
        """The smaller number of clusters."""
        return len(self.counts)

    @cached_property
    def stays(self) -> tuple[int, ...]:
        """What each cluster of k is among the k + 1."""
        from scipy.optimize import linear_sum_assignment

        after: list[int] = linear_sum_assignment(self.counts, maximize=True)[1].tolist()
        return tuple(after)

    @property
    def new(self) -> int:
        """The cluster of k + 1 that is none of the k."""
        return next(iter(set(range(self.k + 1)) - set(self.stays)))

    @cached_property
    def splits(self) -> dict[int, list[int]]:
        """Clusters of which at least a fifth goes to each of several, the largest part first."""
        sizes = self.counts.sum(axis=1, keepdims=True)
        parts = self.counts / np.where(sizes > 0, sizes, 1)  # of a sample none may be in a cluster
        found = {}
        for c, row in enumerate(parts):
            pieces = [e for e in np.argsort(-row, kind="stable").tolist() if row[e] >= _PIECE]
            if len(pieces) > 1:
                found[c] = pieces
        return found

    @property
    def moved(self) -> int:
        """Rows that neither stay with their cluster, or a piece of it, nor go into the new one."""
        told = 0
        for c, row in enumerate(self.counts):
            told += int(row[list({self.stays[c], self.new, *self.splits.get(c, ())})].sum())
        return int(self.counts.sum()) - told

    @property
    def words(self) -> str:
        """What happens from k to k + 1, in a sentence."""
        said = [f"cluster {c} splits into {_listed(pieces)}" for c, pieces in self.splits.items()]
        said += self._on_the_new_one()
        if self.moved > 0:
            said.append(f"{_rows(self.moved, 'other ')} {'moves' if self.moved == 1 else 'move'}")
        return f"From {self.k} to {self.k + 1}: {'; '.join(said)}."

    def _on_the_new_one(self) -> list[str]:
        """Say which rows the new cluster takes, but those that are a piece of a split."""
        new, column = self.new, self.counts[:, self.new].copy()
        split = [c for c, pieces in self.splits.items() if new in pieces]
        column[split] = 0
        givers: list[int] = np.flatnonzero(column).tolist()
        if split and not givers:
            return []
        if not givers:
            return [f"none of these rows is in the new cluster, {new}"]
        number, whose = int(column.sum()), _clusters(givers)
        rows, one = _rows(number), number == 1
        if split:
            return [f"{rows} of others {'joins' if one else 'join'} {new}"]
        if len(givers) == 1:
            own = "gets a cluster of its own" if one else "get a cluster of their own"
            return [f"{rows} of {whose} {own}, {new}"]
        most = int(column.argmax())
        if column[most] > number / 2:
            whose += f", most of them of cluster {most}"
        return [f"the new cluster, {new}, takes {rows} of {whose}"]


def flow(path: KMeansPath, k: int) -> Flow:
    """Count the rows that go from each of k clusters to each of k + 1.

    Of rows that are not in memory, those of the sample; of rows with weights, their copies.
    """
    path = path.sample
    pairs = path.labels(k).astype(np.int64) * (k + 1) + path.labels(k + 1)
    return Flow(np.bincount(pairs, minlength=k * (k + 1)).reshape(k, k + 1))


def _rows(number: int, other: str = "") -> str:
    """Write how many rows there are: 1 row, 1200 rows, 12,000 rows."""
    written = f"{number:,}" if number >= 10_000 else str(number)
    return f"{written} {other}row{'s' * (number != 1)}"


def _clusters(numbers: Sequence[int]) -> str:
    if len(numbers) > _NAMED:
        return f"{len(numbers)} clusters"
    return f"cluster{'s' * (len(numbers) > 1)} {_listed(numbers)}"


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
