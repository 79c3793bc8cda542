"""Glance: what the judge sees of the rows alone, which need not wait for their fits."""

from dataclasses import dataclass

import numpy as np

from edfkmeans._streams import STEADY, Purpose, stream
from edfkmeans.choosing.agreement import agreement
from edfkmeans.choosing.islands import islands
from edfkmeans.criteria.needs import EarlyNeed, Work
from edfkmeans.criteria.saddles import saddle_ratios
from edfkmeans.fits.reference import draws_for, fits_from, some_rows
from edfkmeans.kernels.lloyd import assign, centroids
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats
from edfkmeans.structure import nearest_unimodal

# Rows that are split in two to see whether both halves say the same.
_SPLIT = 4000
# Knots of the distribution function whose distance from a unimodal one is taken.
_KNOTS = 60
# Columns that are asked for it: those that look most like two groups.
_ASKED = 8
# What is told of rows along a line, see `_along`.
_LINE = ("dip", "skewness", "tails", "middle", "spread", "sides")
# Rows of which the shape of the columns is taken.
_SHAPE = 1000


@dataclass(frozen=True, eq=False)
class Glances:
    """Curves over k (entry k - 1 belongs to k, NaN where there is none), and numbers of the set.

    Attributes
    ----------
    halves, held_saddle : ndarray of shape (k_max,)
        Of the fits of two halves of the rows: their adjusted Rand index, and the mean saddle ratio
        of each half along the lines of the other, which has not been bent to it.
    line : mapping of str to float
        The rows of each half along the line between the two clusters of the other.
    shape : mapping of str to float
        What the columns look like.
    islands : mapping of str to float
        The clearest small group apart from the cloud, found without fits.
    """

    halves: Floats
    held_saddle: Floats
    line: dict[str, float]
    shape: dict[str, float]
    islands: dict[str, float]


@dataclass(frozen=True)
class Glance(EarlyNeed[Glances]):
    """Look at the rows, with the same draws for every seed."""

    def from_rows(self, rows: Rows, k_max: int, work: Work) -> Glances:
        shape = work.pool.beside(lambda: _shape(some_rows(rows, _SHAPE, STEADY)))
        apart = work.pool.beside(lambda: islands(rows, work.pool))
        halves, held, line = _halves(some_rows(rows, _SPLIT, STEADY), k_max, work)
        found = Glances(halves, held, line, shape(), apart())
        work.report()
        return found


def _halves(values: Floats, k_max: int, work: Work) -> tuple[Floats, Floats, dict[str, float]]:
    """Fit two halves of the rows, and look at each through the fits of the other."""
    alike, saddles = np.full((2, k_max), np.nan)
    rng = stream(STEADY, Purpose.LOOKED_AT, 1)
    order = rng.permutation(len(values))
    parts = [np.ascontiguousarray(values[order[half::2]]) for half in (0, 1)]
    k_last = min([k_max, *(count_distinct(part, k_max) for part in parts)])
    draws = [draws_for(k_last, rng) for _ in parts]
    fits = work.pool.map(lambda half: fits_from(parts[half], draws[half], k_last)[1], (0, 1))
    line = dict.fromkeys(_LINE, 0.0 if k_last > 1 else np.nan)

    def one(task: tuple[int, int]) -> tuple[float, float, dict[str, float]]:
        work.pool.check()
        k, own = task
        other = 1 - own
        centers, sizes = np.empty((k, values.shape[1])), np.empty(k, np.int64)
        centroids(parts[other], fits[other][k - 1], centers, sizes)
        told = np.empty(len(parts[own]), np.int32)
        assign(parts[own], centers, told)
        ratios = saddle_ratios(parts[own], told, k, centers)
        full = float(np.bincount(told, minlength=k) @ ratios) / len(told)
        along = _along(parts[own], centers) if k == 2 else {}
        return agreement(told, fits[own][k - 1]), full, along

    tasks = [(k, own) for k in range(2, k_last + 1) for own in (0, 1)]
    found = work.pool.map(one, tasks)
    both = np.array([each[:2] for each in found]).reshape(-1, 2, 2)
    alike[1:k_last], saddles[1:k_last] = both.mean(axis=1).T
    for _, _, along in found:
        for name, value in along.items():
            line[name] += value / 2
    return alike, saddles, line


def _along(values: Floats, centers: Floats) -> dict[str, float]:
    """Describe some rows by where they lie along the line between two centres."""
    places = values @ (centers[1] - centers[0])
    z = (places - places.mean()) / max(float(places.std()), 1e-300)
    spread = float(np.median(np.abs(z - np.median(z))))
    return {
        "dip": _dip(places),
        "skewness": abs(float((z**3).mean())),
        "tails": float(np.log(max((z**4).mean(), 1e-300))),
        "middle": float((np.abs(z) < 0.25).mean()),
        "spread": spread,
        "sides": abs(float((z > 0).mean()) - 0.5),
    }


def _shape(rows: Floats) -> dict[str, float]:
    """Describe some rows: steps, ties, skewness, tails, correlation, far rows."""
    n = len(rows)
    spread = rows.std(axis=0)
    varying = spread > 1e-12 * spread.max()  # some columns may vary in other rows only
    rows, spread = rows[:, varying], spread[varying]
    z, d = rows / spread, rows.shape[1]
    skew, tails = (z**3).mean(axis=0), (z**4).mean(axis=0)
    bimodal = (skew**2 + 1) / np.maximum(tails, 1e-12)
    ordered = np.sort(rows, axis=0)
    steps = (np.diff(ordered, axis=0) > 1e-9 * spread).sum(axis=0) + 1
    most = np.array([_most_frequent(column) for column in ordered.T]) / n
    tails_first, tails_next, dip_of_components = _components(rows)
    narrow = z @ z.T if n < d else z.T @ z
    correlation = np.linalg.eigvalsh(narrow) / (n * d)
    squares = (rows**2).sum(axis=1)
    far = np.sort(squares) / max(squares.mean(), 1e-300)
    return {
        "distinct_rows": count_distinct(rows, n) / n,
        "two_values": float((steps <= 2).mean()),
        "few_values": float((steps <= 10).mean()),
        "ties": float(1 - steps.mean() / n),
        "most_frequent": float(most.mean()),
        "skewness": float(np.abs(skew).mean()),
        "highest_skewness": float(np.abs(skew).max()),
        "tails": float(np.log(tails.mean())),
        "lowest_tails": float(np.log(tails.min())),
        "bimodal": float(bimodal.mean()),
        "highest_bimodal": float(bimodal.max()),
        "first_component": float(correlation[-1]),
        "components": float(1 / max((correlation**2).sum(), 1e-300)) / min(n, d),
        "unequal_spread": float(np.log(spread.max() / np.median(spread))),
        "farthest": float(np.log(max(far[-1], 1e-300))),
        "highest_dip": max(_dip(rows[:, j]) for j in np.argsort(-bimodal)[:_ASKED]),
        "dip_of_components": dip_of_components,
        "tails_of_first_component": tails_first,
        "tails_of_next_components": tails_next,
        "far_share": float(far[-max(1, n // 100) :].sum() / n),
    }


def _components(rows: Floats) -> tuple[float, float, float]:
    """Return how long the tails of the first component and of the next four are, and the dip."""
    n, d = rows.shape
    if n < d:
        places = np.linalg.eigh(rows @ rows.T)[1][:, ::-1]
    else:
        places = rows @ np.linalg.eigh(rows.T @ rows)[1][:, ::-1]
    places = places[:, :5]
    spread = np.maximum(places.std(axis=0), 1e-300)
    tails = np.log(
        np.maximum((((places - places.mean(axis=0)) / spread) ** 4).mean(axis=0), 1e-300)
    )
    dips = [_dip(places[:, j]) for j in range(min(2, places.shape[1]))]
    return float(tails[0]), float(tails[1:].mean() if len(tails) > 1 else tails[0]), max(dips)


def _dip(column: Floats) -> float:
    """Return how far a column is from the nearest unimodal one, in standard errors."""
    knots = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS + 1)))
    if len(knots) < 4 or np.diff(knots).min() < 1e-12 * (knots[-1] - knots[0]):
        return 0.0
    heights = np.searchsorted(np.sort(column), knots, side="right") / len(column)
    heights = (heights - heights[0]) / (1 - heights[0])
    return float(np.abs(nearest_unimodal(knots, heights) - heights).max() * np.sqrt(len(column)))


def _most_frequent(ordered: Floats) -> int:
    """Count how often the most frequent value of a sorted column occurs."""
    edges = np.flatnonzero(np.diff(ordered, prepend=-np.inf, append=np.inf))
    return int(np.diff(edges).max())
