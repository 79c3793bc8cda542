"""Repeats: rows that are equal are held once, where that saves work."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans.kernels import repeats as kernels
from edfkmeans.rows.units import Values
from edfkmeans.rows.weights import Numbers

# Rows: fewer are all in the sample, not much is saved, and every engine has the same fits.
LEAST = 131_073
# Part of all rows: with more different ones than this, all are held.
_FEW = 0.25
# Rows that are looked at first, and the part of them that must be repeats for a look at all.
_GLANCE, _SOME = 2048, 0.01


@dataclass(frozen=True, eq=False)
class Repeats:
    """Which rows are equal.

    Attributes
    ----------
    first : ndarray of shape (n_different,)
        The first row of every kind.
    back : ndarray of shape (n_rows,)
        The kind of every row; kinds are numbered by their first rows.
    """

    first: Numbers
    back: Numbers


def find_repeats(raw: Values) -> Repeats | None:
    """Find equal rows; None where they are too few, or all rows are too few, to save much."""
    n = len(raw)
    if n < LEAST:
        return None
    some: Any = np.ascontiguousarray(raw[:: -(-n // _GLANCE)])
    glance = _digests(some)
    if len(np.unique(glance)) > (1 - _SOME) * len(glance):
        return None
    back, kinds = pd.factorize(_digests(raw))
    if len(kinds) > _FEW * n:
        return None
    # Kinds have their numbers in the order in which they come.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(back), prepend=-1))
    # Two rows may share a digest and not be equal; it is rare enough that all are held then.
    return Repeats(first, back) if kernels.are_repeats(raw, first, back) else None


def _digests(raw: Values) -> npt.NDArray[np.uint64]:
    """Return a number for every row, the same for equal rows."""
    out = np.empty(len(raw), np.uint64)
    kernels.digests(raw, raw.view(f"u{raw.dtype.itemsize}"), out)
    return out
