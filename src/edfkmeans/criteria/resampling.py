"""Criteria that ask whether other rows would say the same: prediction strength, stability."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Given,
    Need,
    NotApplicable,
    Work,
    judge,
    register,
)
from edfkmeans.criteria.information import Information
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.search import fit_rows
from edfkmeans.kernels import lloyd
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats, Values


@dataclass(frozen=True, eq=False)
class Half:
    """Half of the rows and the path fitted to them; its k_max may be less than that of all rows."""

    values: Values
    rows: Sample
    path: KMeansPath

    def nearest(self, values: Values, k: int) -> npt.NDArray[np.int32]:
        """Give other rows to the centroids of the fit with k clusters."""
        labels = np.empty(len(values), np.int32)
        lloyd.assign(values, self.path.centers(k), labels)
        return labels


@dataclass(frozen=True)
class Halves(Need[list[tuple[Half, Half]]]):
    """The rows split in two at random, again and again, and a path for every half."""

    n_splits: int

    def steps(self) -> int:
        return self.n_splits

    def make(
        self, rows: Rows, path: KMeansPath, given: Given, work: Work
    ) -> list[tuple[Half, Half]]:

        def split(number: int) -> tuple[Half, Half]:
            work.pool.check()
            rng = stream(work.seed, Purpose.HALVES, number)
            order = rng.permutation(rows.n_samples)
            middle = rows.n_samples // 2
            first, second = (
                _half(rows.sample.values[np.sort(part)], path.k_max, rng)
                for part in (order[:middle], order[middle:])
            )
            return first, second

        def tell(number: int, halves: tuple[Half, Half]) -> None:
            work.report()

        return work.pool.map(split, range(self.n_splits), tell)


def _half(values: Values, k_max: int, rng: np.random.Generator) -> Half:
    distinct = count_distinct(values, k_max + 2)
    nothing = NotApplicable("half of the rows are too few, or too much alike, to fit anything to")
    if distinct < 4:
        raise nothing
    rows = read_rows(values)
    try:
        path = fit_rows(rows, min(k_max, distinct - 2), seed_of(rng), n_init=1)
    except ValueError as error:  # beside the other half these rows are as good as one
        raise nothing from error
    return Half(values, rows, path)


@dataclass(frozen=True)
class Strengths(Need[Floats]):
    """Prediction strength for every k, twice for every split: each half predicts the other."""

    n_splits: int

    def needs(self) -> tuple[Need[Any], ...]:
        return (Halves(self.n_splits),)

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Floats:

        def one(pair: tuple[Half, Half]) -> Floats:
            known, new = pair
            values = np.full(path.k_max, np.nan)
            for k in range(1, min(known.path.k_max, new.path.k_max) + 1):
                predicted = known.nearest(new.values, k)
                values[k - 1] = prediction_strength(new.path.labels(k), predicted, k)
            return values

        pairs = [pair for a, b in given[Halves(self.n_splits)] for pair in ((a, b), (b, a))]
        strengths = np.array(work.pool.map(one, pairs))
        work.report()
        return strengths


def prediction_strength(
    labels: npt.NDArray[np.int32], predicted: npt.NDArray[np.int32], k: int
) -> float:
    """Return how often two rows of a cluster are predicted to be together, for the worst cluster.

    A cluster of a single row has no pair to foretell: nothing speaks for it, its part is 0.
    """
    together = np.zeros((k, k))
    np.add.at(together, (labels, predicted), 1)
    sizes = together.sum(axis=1)
    sizes, together = sizes[sizes > 0], together[sizes > 0]
    pairs = np.maximum(sizes * (sizes - 1), 1)
    return float(((together * (together - 1)).sum(axis=1) / pairs).min())


@dataclass(frozen=True)
class PredictionStrength(Criterion):
    """The most clusters that one half of the rows can foretell in the other.

    Tibshirani, Walther (2005). Half of the rows are clustered, the rows of the other half are given
    to the nearest centroid, and pairs that were clustered together there are counted: the strength
    of k is the part of them that is together here too, for the worst cluster.

    Parameters
    ----------
    least : float
        The largest k whose mean strength, plus its standard error, is at least this is chosen.
    n_splits : int
        How often the rows are split; each half predicts the other.
    """

    name: str = "prediction-strength"
    least: float = 0.8
    n_splits: int = 20
    can_say_one = True

    def __post_init__(self) -> None:
        check_whole("n_splits", self.n_splits, 2)
        if not 0 < self.least <= 1:
            raise ValueError(f"least={self.least!r} must be above 0 and at most 1.")

    def needs(self) -> tuple[Need[Any], ...]:
        return (Strengths(self.n_splits),)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        strengths = given[Strengths(self.n_splits)]
        usable = ~np.isnan(strengths).any(axis=0)
        values = np.where(usable, strengths.mean(axis=0), np.nan)
        # The two directions of a split share their rows: a split counts once.
        by_split = strengths.reshape(self.n_splits, 2, -1).mean(axis=1)
        error = by_split.std(axis=0, ddof=1) / np.sqrt(self.n_splits)
        k = int(np.flatnonzero(usable & (values + error >= self.least))[-1]) + 1
        rule = f"largest k within an error of {self.least:g}"
        return Curve(k, values, self.better, rule, error=error)


@dataclass(frozen=True)
class Choices(Need[tuple[int, ...]]):
    """The k that a criterion chooses on every half of the rows."""

    of: Criterion
    n_splits: int

    def needs(self) -> tuple[Need[Any], ...]:
        return (Halves(self.n_splits),)

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> tuple[int, ...]:

        def one(half: Half) -> int:
            work.pool.check()
            return judge(self.of, half.rows, half.path, Work(work.seed, Threads(1))).k

        halves = [half for pair in given[Halves(self.n_splits)] for half in pair]
        choices = work.pool.map(one, halves)
        work.report()
        return tuple(choices)


@dataclass(frozen=True)
class Stability(Criterion):
    """How often another criterion chooses each k when it sees half of the rows.

    Parameters
    ----------
    of : Criterion
        The one that chooses; by default the effective BIC.
    n_splits : int
        How often the rows are split into two halves, each of which gives one rules.
    """

    name: str = "stability"
    of: Criterion = field(default_factory=Information)
    n_splits: int = 20

    def __post_init__(self) -> None:
        check_whole("n_splits", self.n_splits, 1)
        if not isinstance(self.of, Criterion):
            raise TypeError(f"of={self.of!r} must be a Criterion, such as Silhouette().")

    @property
    def can_say_one(self) -> bool:  # type: ignore[override]
        """Whether the other criterion can."""
        return self.of.can_say_one

    def needs(self) -> tuple[Need[Any], ...]:
        return (Choices(self.of, self.n_splits),)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        choices = given[Choices(self.of, self.n_splits)]
        values = np.bincount(choices, minlength=path.k_max + 1)[1:] / len(choices)
        return Curve(
            rules.highest(values), values, self.better, f"most often chosen by {self.of.name}"
        )


register(PredictionStrength())
register(Stability())
