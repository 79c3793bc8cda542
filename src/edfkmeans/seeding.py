"""Where randomness comes from: one stream for each (k, start), whoever runs it and when."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from edfkmeans.table import Floats, Values


def entropy(random_state: Any) -> int:
    """One number that every stream of a run is made from."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} must be a whole number from 0 to 2**32 - 1, a "
            f"RandomState, a Generator or None: {error}."
        ) from None


def stream(seed: int, k: int, start: int) -> np.random.Generator:
    """Return the random stream of one start, or of one chain's step, for k clusters."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k, start)))


def random_rows(X: Values, k: int, rng: np.random.Generator) -> Floats:
    """Take k rows at random; X must hold distinct rows for these to be distinct."""
    return X[rng.choice(X.shape[0], k, replace=False)].astype(np.float64)
