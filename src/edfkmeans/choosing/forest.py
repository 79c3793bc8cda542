"""Forest: the sum of many small trees, read from a file of plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.kernels.trees import fall
from edfkmeans.rows.units import Floats

_FILE = "judge.npz"


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays over their nodes; a row goes left where its number is at most the threshold.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,)
        The node at which each tree begins.
    feature, threshold : ndarray of shape (n_nodes,)
        Which number is asked, and the bound; a leaf asks number 0, in vain.
    left, right : ndarray of shape (n_nodes,)
        Where it goes on; a leaf leads to itself.
    value : ndarray of shape (n_nodes,)
        What a tree adds if it ends here: in a leaf its value, elsewhere the mean over the rows that
        it was grown on and that come through.
    names : tuple of str
        What the numbers of a row are.
    """

    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int16]
    threshold: Floats
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]
    names: tuple[str, ...]

    @classmethod
    @cache
    def load(cls, name: str) -> "Forest":
        """Read one of the forests that come with the package."""
        stored = _stored()
        parts: dict[str, Any] = {
            field.name: stored[f"{name}_{field.name}"] for field in fields(cls)
        }
        return cls(**parts | {"names": tuple(map(str, parts["names"]))})

    def of(self, numbers: Mapping[str, Any]) -> tuple[Floats, Floats]:
        """Return the sum of the trees for every row, and what each number adds to it.

        What a number adds is the sum, over the nodes that ask for it, of the step from a node's
        value to that of the next one. The rest is the sum of the values of the roots.
        """
        columns = [np.asarray(numbers[name], np.float32) for name in self.names]
        rows = np.atleast_2d(np.stack(columns, axis=-1))
        sums, parts = np.zeros(len(rows)), np.zeros(rows.shape)
        fall(
            rows, self.roots, self.feature, self.threshold, self.left, self.right, self.value,
            sums, parts,
        )  # fmt: skip
        return sums, parts


@cache
def _stored() -> dict[str, npt.NDArray[Any]]:
    with (files("edfkmeans.choosing") / _FILE).open("rb") as file:
        found = np.load(file, allow_pickle=False)
        return {name: found[name] for name in found.files}
