"""Gap: how much lower the inertia is than in data without clusters (Tibshirani et al. 2001)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans import choice
from edfkmeans._streams import Purpose, stream
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Floats,
    Given,
    Need,
    Work,
    log_inertia,
    register,
)
from edfkmeans.path import KMeansPath
from edfkmeans.reference import BOXES, Box, Reference, quick_fits
from edfkmeans.table import Table, check_one_of, check_whole


@dataclass(frozen=True)
class ReferencePaths(Need[Floats]):
    """Log inertia of samples without clusters: one row for each sample, one column for each k."""

    box: Box
    n_references: int

    def steps(self) -> int:
        """Return the number of samples."""
        return self.n_references

    def make(self, table: Table, path: KMeansPath, given: Given, work: Work) -> Floats:
        """Make it."""
        rows = np.asarray(table.values, dtype=np.float64)
        reference = Reference.like(rows, self.box)

        def one(number: int) -> Floats:
            work.pool.check()
            rng = stream(work.seed, Purpose.GAP, BOXES.index(self.box), number)
            inertia, _ = quick_fits(reference.sample(table.n_samples, rng), path.k_max, rng)
            logs: Floats = np.log(table.squared(inertia))
            return logs

        def tell(number: int, logs: Floats) -> None:
            work.report()

        return np.array(work.pool.map(one, range(self.n_references), tell))


@dataclass(frozen=True)
class Gap(Criterion):
    """``Gap(k) = mean of log SS*(k) - log SS(k)``, SS* from samples without clusters.

    The error of the gap is ``sqrt(1 + 1/B)`` times the standard deviation of log SS* (with
    divisor B).

    Parameters
    ----------
    name : str
    box : {"principal", "plain"}
        Samples are uniform in the box of the principal components, or in that of the columns.
    n_references : int
        B, the number of samples; each has its own fits for every k, from one start.
    rule : {"tibshirani", "first-se-max", "global-se-max", "first-max", "global-max"}
        "tibshirani": the first k with ``Gap(k) >= Gap(k+1) - error(k+1)``. "first-max",
        "global-max": the first local maximum, or the highest of all. "first-se-max",
        "global-se-max": the first k within one error of these.
    """

    name: str = "gap"
    box: Box = "principal"
    n_references: int = 50
    rule: Literal["tibshirani", "first-se-max", "global-se-max", "first-max", "global-max"] = (
        "tibshirani"
    )
    can_say_one = True

    def __post_init__(self) -> None:
        check_one_of("box", self.box, BOXES)
        check_whole("n_references", self.n_references, 2)
        check_one_of("rule", self.rule, choice.SE_RULES)

    def needs(self) -> tuple[Need[Any], ...]:
        """Return the paths of the samples."""
        return (ReferencePaths(self.box, self.n_references),)

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        logs = given[ReferencePaths(self.box, self.n_references)]
        values, error = gap(log_inertia(path), logs)
        k = choice.SE_RULES[self.rule](values, error)
        return Curve(k, values, self.better, self.rule, error=error)


def gap(log_inertia: Floats, reference_logs: Floats) -> tuple[Floats, Floats]:
    """Return the gaps and their standard errors."""
    n_references = len(reference_logs)
    error = np.sqrt(1 + 1 / n_references) * reference_logs.std(axis=0)
    return reference_logs.mean(axis=0) - log_inertia, error


register(Gap())
register(Gap("gap-plain", box="plain"))
