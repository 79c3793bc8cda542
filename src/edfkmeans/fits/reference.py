"""References: samples without clusters, and quick fits of them for k = 1, 2, ..."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from edfkmeans._choices import Box
from edfkmeans._streams import Purpose, stream
from edfkmeans.kernels import products
from edfkmeans.kernels.climb import climb
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats, Values

# Rows drawn for each further centre; the best of them is taken.
_DRAWS = 4
# Moves per row: a fit ends when a sweep has no more.
_ENOUGH = 1 / 400
# Rows, up to so many, with more columns than this, are fitted by the products of all pairs if more
# than a few clusters are asked for, and if the inertia that is left is not lost in their rounding.
_PAIRS, _WIDE, _FEW, _DIGITS = 2048, 64, 8, 1e-9
# Columns that are sorted together.
_TOGETHER = 64


@dataclass(frozen=True, eq=False)
class Reference:
    """A distribution without clusters: uniform in the box that the data fill.

    "principal": along the principal components. "plain": along the columns. Samples along the
    principal components are not turned back: k-means does not see a rotation.
    """

    low: Floats
    high: Floats

    @classmethod
    def like(cls, values: Values, box: Box) -> "Reference":
        """Make the reference for some rows, whose columns have mean 0."""
        if box == "principal" and len(values) < values.shape[1]:
            # As many columns as rows: in the others nothing varies.
            squares, left = np.linalg.eigh(values @ values.T.astype(np.float64))
            values = left * np.sqrt(np.maximum(squares, 0.0))
        elif box == "principal":
            values = values @ np.linalg.eigh(values.T @ values.astype(np.float64))[1]
        return cls(*(np.asarray(end(axis=0), np.float64) for end in (values.min, values.max)))

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n rows, with columns of mean 0."""
        sample = rng.uniform(self.low, self.high, size=(n, len(self.low)))
        return np.asarray(sample - sample.mean(axis=0))


@dataclass(frozen=True, eq=False)
class NormalReference:
    """A distribution without clusters: normal, with the covariance of some rows of mean 0."""

    root: Floats
    """What turns independent normal numbers into rows of that covariance."""

    @classmethod
    def like(cls, rows: Floats) -> "NormalReference":
        """Make the reference for some rows, whose columns have mean 0."""
        n, d = rows.shape
        if n <= d:
            return cls(rows / np.sqrt(n))
        squares, axes = np.linalg.eigh(rows.T @ rows / n)
        return cls(np.sqrt(np.maximum(squares, 0.0))[:, None] * axes.T)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n rows, with columns of mean 0."""
        sample: Floats = rng.normal(size=(n, len(self.root))) @ self.root
        sample -= sample.mean(axis=0)
        return sample


@dataclass(frozen=True, eq=False)
class MarginsReference:
    """Every column as it is, but nothing between them except their rank correlations.

    A normal sample with the correlations of the columns' normal scores decides which row gets which
    value of a column. Skewness, tails, steps and valleys of single columns stay.
    """

    values: Floats
    """The sorted values of every column."""
    scores: NormalReference

    @classmethod
    def like(cls, rows: Floats) -> "MarginsReference":
        """Make the reference for some rows."""
        scores = _ranks(rows)
        scores -= 0.5
        scores /= len(rows)
        ndtri(scores, out=scores)
        return cls(np.sort(rows, axis=0), NormalReference.like(scores))

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n rows, with columns of mean 0."""
        sample = self.scores.sample(n, rng)
        place = np.arange(n) * len(self.values) // n
        for part in _parts(sample.shape[1]):
            columns = np.ascontiguousarray(sample[:, part].T)
            order = columns.argsort(axis=1)
            np.put_along_axis(columns, order, self.values[place, part].T, axis=1)
            sample[:, part] = columns.T
        sample -= sample.mean(axis=0)
        return sample


def _parts(d: int) -> Iterator[slice]:
    """Yield columns that are sorted together, where they lie in one piece: few take little room."""
    return (slice(first, first + _TOGETHER) for first in range(0, d, _TOGETHER))


def _ranks(rows: Floats) -> Floats:
    """Return the rank of every value in its column, from 1; equal ones share the mean of theirs."""
    ranks = np.empty(rows.shape)
    for part in _parts(rows.shape[1]):
        columns = np.ascontiguousarray(rows[:, part].T)
        order = columns.argsort(axis=1)
        ordered = np.take_along_axis(columns, order, axis=1)
        first = runs(ordered)
        last = columns.shape[1] - 1 - runs(ordered[:, ::-1])[:, ::-1]
        np.put_along_axis(columns, order, (first + last) / 2 + 1, axis=1)
        ranks[:, part] = columns.T
    return ranks


def runs(ordered: Floats) -> npt.NDArray[np.int64]:
    """Return for every number of sorted rows where the run of numbers equal to it begins."""
    begins = np.arange(ordered.shape[1]) * np.diff(ordered, axis=1, prepend=np.nan).astype(bool)
    return np.maximum.accumulate(begins, axis=1)


def some_rows(rows: Rows, most: int, seed: int) -> Floats:
    """Draw at most so many rows, centred, in double precision."""
    values = rows.units.only_varying(rows.sample.values)
    if len(values) > most:
        drawn = stream(seed, Purpose.NULL_ROWS).choice(len(values), most, replace=False)
        values = values[np.sort(drawn)]
    return np.ascontiguousarray(values - values.mean(axis=0, dtype=np.float64), dtype=np.float64)


def spanned(rows: Floats) -> Floats:
    """Return rows in the dimensions that they span, where columns are more than twice as many.

    Distances and angles are the same there.
    """
    n, d = rows.shape
    return rows if 2 * n > d else np.asarray(np.linalg.qr(rows.T, mode="r")).T.copy()


def quick_fits(
    rows: Floats, k_last: int, rng: np.random.Generator, n_labels: int = 0
) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Fit k = 1 .. k_last from one start: the inertia, and the labels of the first `n_labels` k."""
    return fits_from(rows, draws_for(k_last, rng), n_labels)


def draws_for(k_last: int, rng: np.random.Generator) -> Floats:
    """Draw the numbers by which quick fits choose their starts."""
    return np.sort(rng.random((k_last, _DRAWS)), axis=1)


def fits_from(
    rows: Floats, draws: Floats, n_labels: int = 0
) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Do what `quick_fits` does, with numbers that have been drawn."""
    inertia = np.empty(len(draws))
    labels = np.zeros((n_labels, len(rows)), np.int32)
    enough = int(_ENOUGH * len(rows))
    if len(rows) <= _PAIRS and rows.shape[1] > _WIDE and len(draws) > _FEW:
        products.climb(rows @ rows.T, draws, enough, inertia, labels)
        if inertia[-1] > _DIGITS * inertia[0]:
            return inertia, labels
    columns = np.ascontiguousarray(rows.T, dtype=np.float32)
    climb(rows, columns, draws, enough, inertia, labels)
    return inertia, labels
