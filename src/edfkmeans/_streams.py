"""Where randomness comes from: a stream of its own for every purpose, declared here.

A run has one seed. What is drawn for a purpose depends on the seed, the purpose and some numbers,
such as k and the start: never on who draws, or when.
"""

from enum import IntEnum, unique
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

# The seed of all that the judge draws, and of the fits it looks at, whatever the seed of a run.
STEADY = 0


@unique
class Purpose(IntEnum):
    """What numbers are drawn for, and by which numbers the streams of a purpose are told apart."""

    SAMPLE = 0
    """The rows of a large table that stand for all."""
    STARTS = 1
    """Greedy k-means++ starts, by k and start."""
    STEPS = 2
    """Centres added by a chain, by k and chain."""
    RANDOM_STARTS = 3
    """The paper's random starts, by k and start."""
    BOOTSTRAP = 4
    """Data drawn from the pilot, by draw."""
    NULL_ROWS = 5
    """The rows that a comparison with samples without clusters looks at."""
    GAP = 6
    """Samples without clusters for the gap, by box and sample."""
    NULL_SILHOUETTES = 7
    """Samples without clusters for silhouettes, by sample."""
    STRUCTURE = 8
    """Samples without clusters for the test for structure, by shape and sample."""
    SILHOUETTE_ROWS = 9
    """The order in which rows are taken into a sample for silhouettes."""
    HALVES = 10
    """The rows split in two, by split."""
    RESAMPLES = 11
    """Parts of the rows on which k is chosen again, by part."""
    CONTRAST = 12
    """Samples without clusters that the judge sees, by kind and sample."""
    LOOKED_AT = 13
    """The rows that the judge looks at."""
    STABILITY = 14
    """Rows drawn again to see whether clusters hold, by resample."""
    RULES = 15
    """The rows that rules for clusters are looked for in."""
    ISLANDS = 16
    """The rows split in two to look for small groups apart."""
    COMPONENTS = 19
    """The principal components of wide rows."""
    CLUSTERER = 20
    """The seed of an estimator that is fitted in place of k-means, by k."""


def stream(seed: int, purpose: Purpose, *numbers: int) -> np.random.Generator:
    """Return the random stream of a purpose."""
    words: Any = _words(seed, int(purpose), *map(int, numbers))
    return np.random.Generator(np.random.PCG64(words))


class _Words(ISeedSequence):
    """The words that a stream begins with."""

    def __init__(self, words: Any) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> Any:
        """Return them: as many as PCG64 asks for."""
        return self.words


# A small table draws from some two hundred streams, mostly the same ones for every table. To make
# their words takes ten times as long as the rest.
@lru_cache(maxsize=1024)
def _words(seed: int, *key: int) -> _Words:
    return _Words(np.random.SeedSequence(seed, spawn_key=key).generate_state(4, np.uint64))


def seed_of(random_state: Any) -> int:
    """Return the one number that every stream of a run is made from."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(_legacy(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} must be a whole number from 0 to 2**32 - 1, a "
            f"RandomState, a Generator or None: {error}."
        ) from None


def _legacy(random_state: Any) -> np.random.RandomState:
    """Do what scikit-learn does with a random_state; to import that takes a second."""
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, Integral):
        return np.random.RandomState(int(random_state))
    raise ValueError("it is none of them")
