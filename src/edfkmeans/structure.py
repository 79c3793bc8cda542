"""Structure: whether there is more than one cluster at all.

The fall of the inertia over k is compared with that of uniform samples in the box of the principal
components, fitted in the same way: of all distributions with one mode the uniform one is the most
easily taken for clusters. Still, skewed columns pass for clusters, and long tails hide them behind
a box that is far too large. So the data are asked in three shapes:

- as they are;
- with every column made uniform by the unimodal distribution nearest to its own, which takes away
  skewness and tails but not the valley between two modes (correlated columns now look clustered);
- with every column made normal in the same way (that is safe, but valleys become shallow).

There is structure if the second, and the first or the third, fall faster than the samples.

The share of samples that look as clustered as the data is no p-value: the box is taken from the
data, and its error is not in the samples. In uniform boxes of unequal sides shares of 0.05 come up
in a tenth to a fifth of all draws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.reference import Reference, quick_fits, some_rows
from edfkmeans.kernels import unimodal
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import check_distinct
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

# Rows: of more, a random sample is tested.
MANY_ROWS = 1000
# Samples without clusters; with so many the lowest share is 0.05.
N_REFERENCES = 19
# Clusters, at most, in the fits that are compared.
_K_LAST = 16
# Shares up to this count as small.
ENOUGH = 0.05
# Knots of the unimodal distribution function that is fitted to a column.
_KNOTS = 80
# Places that are tried for its mode.
_MODES = 12
# Values that differ by less than this part of their range are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Structure:
    """Whether there is more than one cluster.

    Attributes
    ----------
    share : float
        How often data without clusters look as clustered as these, or more: the larger of
        `share_uniform` and the lesser of `share_plain` and `share_normal`.
    share_plain, share_uniform, share_normal : float
        The same for the data as they are, with uniform and with normal columns; NaN where the
        others have decided.
    n_references : int
        Number of samples without clusters; no share is below ``1 / (n_references + 1)``.
    n_rows : int
        Number of rows that were tested.
    """

    share_plain: float
    share_uniform: float
    share_normal: float
    n_references: int
    n_rows: int

    @property
    def share(self) -> float:
        """How often data without clusters look as clustered as these, or more."""
        # NaN is passed over: that shape was not asked.
        return float(np.fmax(self.share_uniform, np.fmin(self.share_plain, self.share_normal)))


def find_structure(
    X: Any, *, n_references: int = N_REFERENCES, random_state: Any = None, n_jobs: int | None = None
) -> Structure:
    """Test whether there is more than one cluster.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_references : int
        Number of samples without clusters. The default of 19 allows for shares down to 0.05.
    random_state, n_jobs
        See `fit_path`.

    Returns
    -------
    Structure

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans.structure import find_structure
    >>> find_structure(load_iris().data, random_state=0).share
    0.05
    >>> cloud = np.random.default_rng(0).normal(size=(150, 4))
    >>> find_structure(cloud, random_state=0).share > 0.05
    True
    """
    check_whole("n_references", n_references, 1)
    table = read_rows(X)
    check_distinct(table.values, 4, "look for clusters")
    with Threads(effective_jobs(n_jobs)) as pool:
        return structure_of(table, seed_of(random_state), pool, n_references)


def structure_of(
    table: Rows, seed: int, pool: Threads, n_references: int = N_REFERENCES
) -> Structure:
    """Do what `find_structure` does, with data that have been read."""
    rows = some_rows(table, MANY_ROWS, seed)
    spread = rows.std(axis=0)
    heights = np.stack([unimodal_heights(column) for column in rows.T], axis=1)
    least = 1 / (n_references + 1)

    def ask(shape: int, values: Floats) -> float:
        return _share_of(_falls(values, seed, shape, n_references, pool))

    def scaled(scores: Floats) -> Floats:
        return np.asarray(scores / np.maximum(scores.std(axis=0), 1e-12) * spread)

    share_plain = share_normal = np.nan
    share_uniform = ask(0, scaled(heights - 0.5))
    if share_uniform <= max(least, ENOUGH):
        share_plain = ask(1, rows)
        if share_plain > max(least, ENOUGH):
            edge = 0.5 / len(rows)
            share_normal = ask(2, scaled(ndtri(np.clip(heights, edge, 1 - edge))))
    return Structure(share_plain, share_uniform, share_normal, n_references, len(rows))


def _falls(rows: Floats, seed: int, shape: int, n_references: int, pool: Threads) -> Floats:
    """Return how the log inertia falls from k = 1, for the rows and for the samples."""
    rows = rows - rows.mean(axis=0)
    # A fit of few rows with many clusters says nothing.
    k_last = max(2, min(_K_LAST, len(rows) // 3))
    reference = Reference.like(rows, "principal")

    def fall(number: int) -> Floats:
        pool.check()
        rng = stream(seed, Purpose.STRUCTURE, shape, number)
        sample = reference.sample(len(rows), rng) if number else rows
        with np.errstate(divide="ignore"):  # few distinct rows: nothing is left
            logs = np.log(quick_fits(sample, k_last, rng)[0])
        return np.asarray(logs[0] - np.maximum(logs[1:], -500.0))

    return np.array(pool.map(fall, range(1 + n_references)))


def _share_of(falls: Floats) -> float:
    """Return the part of all curves that stand out as much as the first, the data's.

    Each stands out by the most that it lies above the mean of all, in standard deviations.
    """
    spread = np.maximum(falls.std(axis=0), 1e-12)
    out = ((falls - falls.mean(axis=0)) / spread).max(axis=1)
    return float((out >= out[0]).mean())


def unimodal_heights(column: Floats) -> Floats:
    """Return the nearest unimodal distribution function at every value of a column."""
    values = np.unique(column)
    if len(values) == 1:  # constant in these rows
        return np.full_like(column, 0.5)
    span = values[-1] - values[0]
    if np.diff(values).min() < max(_ROUNDING * span, 1e-290):  # no gaps: the density would overflow
        column = np.round((column - values[0]) / span, 12)
        values = np.unique(column)
    few = len(values) <= _KNOTS
    if not few:
        values = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS + 1)))
    # What lies at the lowest value is spread over a step of the usual width.
    knots = np.append(values[0] - np.median(np.diff(values)), values)
    heights = np.append(0.0, np.searchsorted(np.sort(column), values, side="right") / len(column))
    nearest = nearest_unimodal(knots, heights)
    if not few:
        return np.asarray(np.interp(column, knots, nearest))
    place = np.searchsorted(values, column)
    return np.asarray((nearest[place] + nearest[place + 1]) / 2)


def nearest_unimodal(knots: Floats, heights: Floats) -> Floats:
    """Return the unimodal distribution function nearest to one that is given at some knots."""
    modes = np.unique(np.linspace(0, len(knots) - 1, _MODES).astype(int))
    return np.asarray(unimodal.nearest_unimodal(knots, heights, modes))
