"""The default: is there more than one cluster; BIC proposes, silhouette disposes."""

from dataclasses import dataclass
from typing import Any

from edfkmeans import choice
from edfkmeans.criteria.criterion import Criterion, Curve, Given, Need, Work, register
from edfkmeans.criteria.information import Dof, bic
from edfkmeans.criteria.separation import MeanSilhouettes, ReferenceSilhouettes
from edfkmeans.dof import effective_columns
from edfkmeans.path import KMeansPath
from edfkmeans.smoothing import smooth
from edfkmeans.structure import ENOUGH, Structure, structure_of
from edfkmeans.table import Table

# Silhouettes for the choice come from a sample of this size where there are more rows.
SILHOUETTE_ROWS = 2500


@dataclass(frozen=True)
class StructureTest(Need[Structure]):
    """The test for more than one cluster."""

    def make(self, table: Table, path: KMeansPath, given: Given, work: Work) -> Structure:
        """Make it."""
        structure = structure_of(table, work.seed, work.pool)
        work.report()
        return structure


@dataclass(frozen=True)
class Combined(Criterion):
    """What `select_k` does by default, see `edfkmeans.choice.combined`.

    Parameters
    ----------
    name : str
    level : float
        One cluster is the answer if the p-value of `find_structure` is above this.
    """

    name: str = "combined"
    level: float = ENOUGH
    can_say_one = True
    better = "min"
    adds_up = True

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise ValueError(f"level={self.level!r} must be above 0 and at most 1.")

    def needs(self) -> tuple[Need[Any], ...]:
        """Return degrees of freedom, silhouettes and the test for structure."""
        return (
            Dof("exact"),
            MeanSilhouettes(SILHOUETTE_ROWS),
            ReferenceSilhouettes(),
            StructureTest(),
        )

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        columns = effective_columns(table, path)
        values = bic(path.inertia[:-1], smooth(given[Dof("exact")]), path.n_samples, columns)
        if path.k_max == 1:
            return Curve(1, values, self.better, "the only one")
        silhouette, _ = given[MeanSilhouettes(SILHOUETTE_ROWS)]
        k, candidates = choice.combined(values, silhouette, given[ReferenceSilhouettes()])
        if given[StructureTest()].p_value > self.level:
            k = 1
        others = tuple(other for other in candidates if other != k)
        return Curve(k, values, self.better, "what select_k answers", candidates=others)


register(Combined())
