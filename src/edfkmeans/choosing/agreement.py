"""Agreement: how alike two clusterings are."""

import numpy as np
import numpy.typing as npt

from edfkmeans.kernels.counting import count_pairs
from edfkmeans.rows.labels import Labels


def agreement(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index of two clusterings, 1 for two of one cluster."""
    counts = np.zeros((int(one.max()) + 1, int(other.max()) + 1), np.int64)
    count_pairs(one, other, counts)
    table = counts.astype(np.float64)
    pairs = _pairs(table)
    first, second = _pairs(table.sum(axis=1)), _pairs(table.sum(axis=0))
    expected = first * second / max(_pairs(np.array([float(len(one))])), 1.0)
    most = (first + second) / 2
    return 1.0 if most == expected else float((pairs - expected) / (most - expected))


def _pairs(counts: npt.NDArray[np.float64]) -> float:
    return float((counts * (counts - 1)).sum() / 2)
