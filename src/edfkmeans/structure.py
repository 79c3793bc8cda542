"""Structure: whether there is more than one cluster at all.

The fall of the inertia over k is compared with that of uniform samples in the box of the principal
components, fitted in the same way. Of all distributions with one mode the uniform one is the most
easily taken for clusters, and the box allows for correlation. Skewed columns and long tails would
still pass for clusters; so every column is first given the shape of a normal distribution, by the
unimodal distribution nearest to its own. That takes away skewness and tails, but not the valley
between two modes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from edfkmeans.backends.threads import Threads, effective_jobs
from edfkmeans.reference import Reference, quick_fits, some_rows
from edfkmeans.seeding import entropy
from edfkmeans.table import Floats, Table, check_whole, read_table

# With more rows than this a random sample of them is tested.
MANY_ROWS = 1000
N_REFERENCES = 24
_K_LAST = 16
# The unimodal distributions: knots of the distribution function, and places tried for the mode.
_KNOTS, _MODES = 80, 12
# Streams of this test: no one else shares them.
_KEY = 7


@dataclass(frozen=True)
class Structure:
    """Whether there is more than one cluster.

    Attributes
    ----------
    p_value : float
        How often data without clusters look as clustered as these, or more.
    n_references : int
        Number of samples without clusters; no p-value is below ``1 / (n_references + 1)``.
    n_rows : int
        Number of rows that were tested.
    """

    p_value: float
    n_references: int
    n_rows: int


def find_structure(
    X: Any,
    *,
    n_references: int = N_REFERENCES,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Structure:
    """Test whether there is more than one cluster.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_references : int
        Number of samples without clusters. The default of 24 allows for p-values down to 0.04.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.

    Returns
    -------
    Structure

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans.structure import find_structure
    >>> find_structure(load_iris().data, random_state=0).p_value
    0.04
    >>> cloud = np.random.default_rng(0).normal(size=(150, 4))
    >>> find_structure(cloud, random_state=0).p_value > 0.05
    True
    """
    check_whole("n_references", n_references, 1)
    with Threads(effective_jobs(n_jobs)) as pool:
        return structure_of(read_table(X), entropy(random_state), pool, n_references)


def structure_of(
    table: Table, seed: int, pool: Threads, n_references: int = N_REFERENCES
) -> Structure:
    """Do what `find_structure` does, with data that have been read."""
    rows = some_rows(table, MANY_ROWS, seed)
    spread = rows.std(axis=0)
    rows = np.stack([normalised(column) for column in rows.T], axis=1) * spread
    rows -= rows.mean(axis=0)
    # A fit of few rows with many clusters says nothing.
    k_last = max(2, min(_K_LAST, len(rows) // 3))
    reference = Reference.like(rows, "principal")

    def fall(number: int) -> Floats:
        pool.check()
        key = np.random.SeedSequence(seed, spawn_key=(_KEY, number))
        rng = np.random.default_rng(key)
        sample = reference.sample(len(rows), rng) if number else rows
        with np.errstate(divide="ignore"):  # few distinct rows: nothing is left
            logs = np.log(quick_fits(sample, k_last, rng)[0])
        return np.asarray(logs[0] - np.maximum(logs[1:], -500.0))

    falls = np.array(pool.map(fall, range(1 + n_references)))
    return Structure(_p_value(falls), n_references, len(rows))


def _p_value(falls: Floats) -> float:
    """Return the part of all curves that stand out as much as the first, the data's.

    Each stands out by the most that it lies above the mean of all, in standard deviations.
    """
    spread = np.maximum(falls.std(axis=0), 1e-12)
    out = ((falls - falls.mean(axis=0)) / spread).max(axis=1)
    return float((out >= out[0]).mean())


def normalised(column: Floats) -> Floats:
    """Give a column the shape of a normal distribution, by the nearest unimodal one."""
    values = np.unique(column)
    if len(values) == 1:  # constant in these rows
        return np.zeros_like(column)
    few = len(values) <= _KNOTS
    if not few:
        values = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS + 1)))
    # What lies at the lowest value is spread over a step of the usual width.
    knots = np.append(values[0] - np.median(np.diff(values)), values)
    heights = np.append(0.0, np.searchsorted(np.sort(column), values, side="right") / len(column))
    nearest = nearest_unimodal(knots, heights)
    if few:
        place = np.searchsorted(values, column)
        height = (nearest[place] + nearest[place + 1]) / 2
    else:
        height = np.interp(column, knots, nearest)
    least = 0.5 / len(column)
    scores = ndtri(np.clip(height, least, 1 - least))
    return np.asarray(scores / max(scores.std(), 1e-12))


def nearest_unimodal(knots: Floats, heights: Floats) -> Floats:
    """Return the unimodal distribution function nearest to one that is given at some knots.

    Of those that rise ever faster up to a mode and ever slower from there (least squares on the
    density between the knots), the one whose largest distance is least.
    """
    widths = np.diff(knots)
    density = np.diff(heights) / widths
    best, least = heights, np.inf
    for mode in np.unique(np.linspace(0, len(widths), _MODES).astype(int)):
        parts = [
            isotonic_regression(density[part], weights=widths[part], increasing=rising).x
            for part, rising in ((slice(mode), True), (slice(mode, None), False))
            if density[part].size
        ]
        fitted = np.append(0.0, np.cumsum(np.concatenate(parts) * widths))
        distance = float(np.abs(fitted - heights).max())
        if distance < least:
            best, least = fitted / fitted[-1], distance
    return best
