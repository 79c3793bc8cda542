"""Gap: how much lower the inertia is than in data without clusters (Tibshirani et al. 2001)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans._choices import BOXES, Box
from edfkmeans._streams import Purpose, stream
from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import Criterion, Curve, Given, Need, Work, log_inertia, register
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.reference import Reference, quick_fits
from edfkmeans.rows.arguments import check_one_of, check_whole
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats


@dataclass(frozen=True)
class ReferencePaths(Need[Floats]):
    """Log inertia of samples without clusters: one row for each sample, one column for each k."""

    box: Box
    n_references: int

    def steps(self) -> int:
        return self.n_references

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Floats:
        values = np.asarray(rows.sample.values, dtype=np.float64)
        reference = Reference.like(values, self.box)

        def one(number: int) -> Floats:
            work.pool.check()
            rng = stream(work.seed, Purpose.GAP, BOXES.index(self.box), number)
            inertia, _ = quick_fits(reference.sample(len(values), rng), path.k_max, rng)
            logs: Floats = np.log(rows.units.squared(inertia))
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
        check_one_of("rule", self.rule, rules.SE_RULES)

    def needs(self) -> tuple[Need[Any], ...]:
        return (ReferencePaths(self.box, self.n_references),)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        logs = given[ReferencePaths(self.box, self.n_references)]
        values, error = gap(log_inertia(path), logs)
        k = rules.SE_RULES[self.rule](values, error)
        return Curve(k, values, self.better, self.rule, error=error)


def gap(log_inertia: Floats, reference_logs: Floats) -> tuple[Floats, Floats]:
    """Return the gaps and their standard errors."""
    n_references = len(reference_logs)
    error = np.sqrt(1 + 1 / n_references) * reference_logs.std(axis=0)
    return reference_logs.mean(axis=0) - log_inertia, error


register(Gap())
register(Gap("gap-plain", box="plain"))
