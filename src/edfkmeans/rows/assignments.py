"""Assignments: who is in which cluster, told in one of three ways."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.kernels import lloyd
from edfkmeans.rows.blocks import Block
from edfkmeans.rows.labels import Labels, SmallLabels
from edfkmeans.rows.units import Floats, Values

Numbers = npt.NDArray[np.intp]
# Times as far from the centres as these are from each other: squares lose what tells them apart.
_FAR = 1e6


@dataclass(frozen=True, eq=False)
class Known:
    """The labels themselves, one for each row, all in memory."""

    labels: Labels | SmallLabels

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        return self.labels[block.rows].astype(np.int32)

    def renumbered(self, numbers: Numbers) -> "Known":
        """Return the same clusters under other numbers: c becomes ``numbers[c]``."""
        labels: Any = numbers.astype(self.labels.dtype)[self.labels]
        return Known(labels)


@dataclass(frozen=True, eq=False)
class Nearest:
    """Every row has the label of the nearest of some centres."""

    centers: Floats
    numbers: Numbers | None = None
    """What the clusters are called, in the order of the centres; None for 0 .. k-1.

    Centres stay in their order: of two that are equally near, the first has the row.
    """

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        labels: Labels = block.room.array(f"labels {id(self)}", (len(block.values),), np.int32)
        lloyd.assign(block.values, self.centers, labels)
        if self.numbers is not None:
            labels[:] = self.numbers[labels]
        return labels

    def renumbered(self, numbers: Numbers) -> "Nearest":
        """Return the same clusters under other numbers: c becomes ``numbers[c]``."""
        return Nearest(self.centers, numbers if self.numbers is None else numbers[self.numbers])


@dataclass(frozen=True, eq=False)
class Column:
    """The labels stand in a column beside those of X."""

    number: int

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        labels: Labels = block.beside[:, self.number].astype(np.int32)
        return labels


def nearest(rows: Values, centers: Floats) -> Labels:
    """Return the number of the nearest centre of every row, both in the same units."""
    labels: Labels = np.empty(rows.shape[0], np.int32)
    origin = centers.mean(axis=0)  # squared distances far from zero lose digits
    rows, centers = rows - origin, centers - origin
    lloyd.assign(rows, centers, labels)
    reach = _FAR * np.abs(centers).max()
    if len(rows) and 0 < reach < max(rows.max(), -rows.min()):
        far = np.flatnonzero(np.abs(rows).max(axis=1) > reach)
        size = np.abs(rows[far]).max(axis=1, keepdims=True)
        # Squared distances less the row's own square, as parts of its size.
        nearer = (centers**2).sum(axis=1) / size - 2 * (rows[far] / size) @ centers.T
        labels[far] = nearer.argmin(axis=1)
    return labels
