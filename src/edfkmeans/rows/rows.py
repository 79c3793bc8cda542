"""Rows: what every later step asks of a table of numbers, wherever it lies."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from edfkmeans.rows.blocks import Assignment, Task
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Units, Values
from edfkmeans.rows.weights import Spread


class Rows(ABC):
    """A table of numbers.

    Nothing above the engines knows more of it than this. Rows add up: Lloyd's passes, degrees of
    freedom, inertia and sizes are `sums`. What needs to look at single rows, or pairs of them, or
    to move them from cluster to cluster, looks at the `sample`, which is in memory.

    Attributes
    ----------
    units : Units
        How rows of X become values.
    n_samples : int
        Number of rows.
    place : str
        Where the rows are, in words.
    seed : int
        What the sample was drawn with.
    """

    units: Units
    place: ClassVar[str]
    seed: int
    whole: bool = True
    """Whether rows are counted in whole numbers; not so where they have importances."""
    spread: Spread | None = None
    """How rows that stand for several go back to those of X; None where each stands for itself."""
    absent: Values | None = None
    """Rows of X that count for nothing, as they have weight 0, in the units of the others."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows of X, of which each may stand for several."""
        return self.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns that vary."""
        return int(self.units.varying.sum())

    @property
    @abstractmethod
    def sample(self) -> "Sample":
        """The rows to look at one by one: themselves if they are in memory, else some of them."""

    @property
    def quick(self) -> "Quick | None":
        """The sample where it is worked on fastest; None where that is in memory."""
        return None

    @property
    def points(self) -> tuple[Values, Floats | None]:
        """The rows in memory that fits are made from, and their weights, if they have any."""
        return self.sample.values, None

    @property
    def inertia(self) -> float:
        """Sum of squares of these rows about the column means: the inertia of one cluster."""
        values, weights = self.points
        if weights is not None:
            return float(np.einsum("i,ij,ij->", weights, values, values))
        return float(np.einsum("ij,ij->", values, values, dtype=np.float64))

    @property
    def looked_at(self) -> str:
        """What `sample` holds, in words."""
        size = len(self.sample.values)
        if size == self.n_samples:
            return "X" if self.whole else "X, with rows as often as they weigh,"
        return f"a sample of {size:,} rows"

    @abstractmethod
    def sums(self, tasks: Sequence[Task], title: str = "a pass over the rows") -> list[Any]:
        """Call every task with every block and add up its results, in the order of the blocks.

        One pass serves all tasks. Blocks that fail are named in the error.
        """

    @abstractmethod
    def per_row(self, task: Task, dtype: Any) -> Any:
        """Return a column as long as the rows, made by a task; not yet, where rows are lazy."""

    @abstractmethod
    def total(self, column: Any, title: str = "adding up") -> float:
        """Add up a column that `per_row` made."""

    @abstractmethod
    def labelled(self, **labels: Any) -> "tuple[Rows, list[tuple[Assignment, int]]]":
        """Take known labels, of any kind, by the names to speak of them by.

        Returns the rows with which these hold, and for each the assignment and its k.
        """

    @abstractmethod
    def labels_of_sample(self, labels: Any) -> Labels:
        """Return the part of known labels that belongs to the sample, as 0 .. k-1."""

    @abstractmethod
    def kept(self) -> "Rows | None":
        """Return what a result keeps to ask rows again that are elsewhere: all but the sample."""

    @abstractmethod
    def shown(self) -> pd.DataFrame:
        """Return the rows of the sample as they are in X.

        The index holds their numbers or, where rows have names, these; then it has a name, too.
        """

    def part(self, column: Any, shown: pd.DataFrame) -> Any:
        """Return the part of a column that `per_row` made which belongs to the rows shown."""
        return np.asarray(column[shown.index.to_numpy()])


class Quick(ABC):
    """The rows of a sample, on a device that makes many passes over them in little time."""

    @abstractmethod
    def search(self, k_last: int, seed: int, report: Callable[[int, float], None]) -> list[Floats]:
        """Return the centres of good fits for k = 1 .. k_last."""

    @abstractmethod
    def sums(self, tasks: Sequence[Task]) -> list[Any]:
        """Do what `Rows.sums` does, for the rows of the sample."""

    @abstractmethod
    def labels(self, assignments: Sequence[Assignment]) -> list[Labels]:
        """Say of every row of the sample which cluster it is in, in each of some fits."""


class Sample(Rows):
    """Rows in memory, centred and of unit size: their `values`."""

    values: Values

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def sample(self) -> "Sample":
        """The rows themselves."""
        return self
