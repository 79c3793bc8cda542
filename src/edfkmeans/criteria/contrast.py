"""Contrast: what fits look like in samples without clusters, of three kinds.

The judge compares the data with all of them. Its samples are the same for every seed: an answer
should not move because other samples were drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edfkmeans._streams import STEADY, Purpose, stream
from edfkmeans.criteria.criterion import Early, Work
from edfkmeans.criteria.silhouettes import silhouettes_of
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.reference import (
    MarginsReference,
    NormalReference,
    Reference,
    quick_fits,
    some_rows,
    spanned,
)
from edfkmeans.kernels.saddle import mean_saddles
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

# Rows of a sample, at most.
_ROWS = 1000
# Samples of each kind, and how many of them are looked at for silhouettes and saddles.
_SAMPLES, _LOOKED_AT = 4, 2
# Kinds: uniform in the box of the principal components; normal with the data's covariance; the
# data's own columns with their rank correlations.
KINDS = ("box", "normal", "margins")
LOOKED_AT_KINDS = ("box", "margins")
# Many more samples are drawn for the first k, to tell a difference from chance: kinds, samples, the
# last of these k, and fits of the data in the same quick way.
EARLY_KINDS = ("normal", "margins")
_NAMES = (*EARLY_KINDS, "data")
_EARLY, EARLY_LAST, _DATA_FITS = 20, 4, 4
# The logarithm of a part of the inertia that counts as nothing.
NOTHING = -30.0


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Curves of samples without clusters; entry k - 1 belongs to k, NaN where there is none.

    Attributes
    ----------
    logs : mapping of kind to ndarray of shape (n_samples, k_max)
        Logarithm of the inertia as a part of that of one cluster.
    silhouettes, saddles : mapping of kind to ndarray of shape (k_max,)
        Mean silhouette, and mean saddle ratio over the rows.
    early : mapping of kind to ndarray of shape (EARLY_LAST - 1,)
        By how many standard deviations of many samples the logarithm for k = 2, 3, ... of the data,
        fitted in the same way, lies below their mean.
    """

    logs: Mapping[str, Floats]
    silhouettes: Mapping[str, Floats]
    saddles: Mapping[str, Floats]
    early: Mapping[str, Floats]


@dataclass(frozen=True)
class Contrast(Early[Contrasts]):
    """Samples without clusters, fitted in the quick way."""

    def before(self, rows: Rows, k_max: int, work: Work) -> Contrasts:
        some = some_rows(rows, _ROWS, STEADY)
        references: dict[str, Reference | NormalReference | MarginsReference] = {
            "box": Reference.like(some, "principal"),
            "normal": NormalReference.like(spanned(some)),
            "margins": MarginsReference.like(some),
        }

        def one(task: tuple[str, int]) -> tuple[Floats, Floats, Floats]:
            work.pool.check()
            kind, number = task
            rng = stream(STEADY, Purpose.CONTRAST, KINDS.index(kind), number)
            looked_at = kind in LOOKED_AT_KINDS and number < _LOOKED_AT
            return _curves(references[kind].sample(len(some), rng), k_max, rng, looked_at)

        tasks = [(kind, number) for kind in KINDS for number in range(_SAMPLES)]
        found = dict(zip(tasks, work.pool.map(one, tasks), strict=True))
        work.report()

        def early_one(task: tuple[str, int]) -> Floats:
            work.pool.check()
            kind, number = task
            rng = stream(STEADY, Purpose.CONTRAST, len(KINDS) + _NAMES.index(kind), number)
            sample = some if kind == "data" else references[kind].sample(len(some), rng)
            return _early(sample, rng)

        tasks = [(kind, number) for kind in EARLY_KINDS for number in range(_EARLY)]
        tasks += [("data", number) for number in range(_DATA_FITS)]
        firsts = dict(zip(tasks, work.pool.map(early_one, tasks), strict=True))
        data = np.mean([firsts["data", number] for number in range(_DATA_FITS)], axis=0)

        def below(kind: str) -> Floats:
            logs = np.array([firsts[kind, number] for number in range(_EARLY)])
            return np.asarray((logs.mean(axis=0) - data) / np.maximum(logs.std(axis=0), 1e-4))

        def curves(kind: str, which: int, last: int) -> Floats:
            return np.array([found[kind, number][which] for number in range(last)])

        return Contrasts(
            logs={kind: curves(kind, 0, _SAMPLES) for kind in KINDS},
            silhouettes={k: curves(k, 1, _LOOKED_AT).mean(axis=0) for k in LOOKED_AT_KINDS},
            saddles={k: curves(k, 2, _LOOKED_AT).mean(axis=0) for k in LOOKED_AT_KINDS},
            early={kind: below(kind) for kind in EARLY_KINDS},
        )


def _early(sample: Floats, rng: np.random.Generator) -> Floats:
    """Return the logarithm of the inertia of the first k after one, NaN where there is none."""
    logs = np.full(EARLY_LAST - 1, np.nan)
    k_last = min(EARLY_LAST, count_distinct(sample, EARLY_LAST))
    logs[: k_last - 1] = log_parts(quick_fits(sample, k_last, rng)[0])[1:]
    return logs


def _curves(
    sample: Floats, k_max: int, rng: np.random.Generator, looked_at: bool
) -> tuple[Floats, Floats, Floats]:
    """Fit one sample: logarithms of the inertia, mean silhouettes, mean saddle ratios."""
    logs, silhouettes, saddles = np.full((3, k_max), np.nan)
    k_last = min(k_max, count_distinct(sample, k_max))
    inertia, labels = quick_fits(sample, k_last, rng, k_last if looked_at else 0)
    logs[:k_last] = log_parts(inertia)
    ks = range(2, k_last + 1)
    if looked_at and ks:
        mean_saddles(spanned(sample), labels, saddles)
        rows = read_rows(sample)
        del sample  # as large as the data may be, and no one else holds it
        found = silhouettes_of(rows, ks, lambda k: labels[k - 1], None, Work(STEADY, Threads(1)))
        silhouettes[1:k_last] = [one.mean for one in found]
    return logs, silhouettes, saddles


def log_parts(inertia: Floats) -> Floats:
    """Return the logarithm of the inertia as a part of that of one cluster."""
    parts = inertia / inertia[0] if inertia[0] > 0 else np.ones_like(inertia)
    with np.errstate(divide="ignore"):  # every row has its own cluster: nothing is left
        return np.asarray(np.maximum(np.log(parts), NOTHING))
