"""Assignments: who is in which cluster, told in one of three ways."""

from dataclasses import dataclass

import numpy as np

from edfkmeans.kernels import lloyd
from edfkmeans.rows.blocks import Block
from edfkmeans.rows.labels import Labels, SmallLabels
from edfkmeans.rows.units import Floats


@dataclass(frozen=True, eq=False)
class Known:
    """The labels themselves, one for each row, all in memory."""

    labels: Labels | SmallLabels

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        return self.labels[block.rows].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Nearest:
    """Every row has the label of the nearest of some centres."""

    centers: Floats

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        labels: Labels = block.room.array(f"labels {id(self)}", (len(block.values),), np.int32)
        lloyd.assign(block.values, self.centers, labels)
        return labels


@dataclass(frozen=True, eq=False)
class Column:
    """The labels stand in a column beside those of X."""

    number: int

    def on(self, block: Block) -> Labels:
        """Return the labels of the rows of a block."""
        labels: Labels = block.beside[:, self.number].astype(np.int32)
        return labels
