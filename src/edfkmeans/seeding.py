"""Where a fit starts: random rows or greedy k-means++, one random stream for each (k, start)."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from edfkmeans.kernels.plusplus import greedy_plusplus
from edfkmeans.table import Floats


def entropy(random_state: Any) -> int:
    """One number that every stream of a run is made from."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def stream(seed: int, k: int, start: int) -> np.random.Generator:
    """Return the random stream of one start, the same whoever runs it and when."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k, start)))


def random_rows(X: Floats, k: int, rng: np.random.Generator) -> Floats:
    """K rows at random; X must hold distinct rows for these to be distinct."""
    return X[rng.choice(X.shape[0], k, replace=False)]


def plusplus_rows(X: Floats, k: int, rng: np.random.Generator) -> Floats:
    """K distinct rows by greedy k-means++."""
    trials = 2 + int(math.log(k))
    chosen: npt.NDArray[np.int64] = np.empty(k, np.int64)
    greedy_plusplus(X, rng.random((k, trials)), chosen)
    return X[chosen]
