"""Flow: where the rows of the clusters go when there is one cluster more."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from edfkmeans.fits.path import KMeansPath

# Part of a cluster that goes to another one, from which on that counts as a piece of it.
_PIECE = 0.2


@dataclass(frozen=True, eq=False)
class Flow:
    """Rows that are in cluster c of k and in cluster e of k + 1: ``counts[c, e]``."""

    counts: npt.NDArray[np.int64]

    @property
    def k(self) -> int:
        """The smaller number of clusters."""
        return len(self.counts)

    @property
    def splits(self) -> dict[int, list[int]]:
        """Clusters of which at least a fifth goes to each of several, the largest part first."""
        parts = self.counts / self.counts.sum(axis=1, keepdims=True)
        found = {}
        for c, row in enumerate(parts):
            pieces = [e for e in np.argsort(-row, kind="stable").tolist() if row[e] >= _PIECE]
            if len(pieces) > 1:
                found[c] = pieces
        return found

    @property
    def moved(self) -> int:
        """Rows that go elsewhere than most of their cluster, and not to one of its pieces."""
        stay = 0
        for c, row in enumerate(self.counts):
            stay += int(row[self.splits[c]].sum() if c in self.splits else row.max())
        return int(self.counts.sum()) - stay

    @property
    def words(self) -> str:
        """What happens from k to k + 1, in a sentence."""
        splits = [
            f"cluster {c} splits into {', '.join(map(str, pieces[:-1]))} and {pieces[-1]}"
            for c, pieces in self.splits.items()
        ]
        what = "; ".join(splits) or "no cluster splits in two, the new one takes rows of several"
        rows = "other row moves" if self.moved == 1 else "other rows move"
        moved = f"; {self.moved:,} {rows}" if self.moved else ""
        return f"From {self.k} to {self.k + 1}: {what}{moved}."


def flow(path: KMeansPath, k: int) -> Flow:
    """Count the rows that go from each of k clusters to each of k + 1.

    Of rows that are not in memory, those of the sample.
    """
    path = path.sample
    pairs = path.labels(k).astype(np.int64) * (k + 1) + path.labels(k + 1)
    return Flow(np.bincount(pairs, minlength=k * (k + 1)).reshape(k, k + 1))
