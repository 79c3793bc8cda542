"""The former default: is there more than one cluster; BIC proposes, silhouette disposes."""

import math
from dataclasses import dataclass
from typing import Any

from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Given,
    Need,
    Work,
    reasons_by_value,
    register,
)
from edfkmeans.criteria.information import Dof, bic
from edfkmeans.criteria.silhouettes import MeanSilhouettes, ReferenceSilhouettes
from edfkmeans.dof.columns import effective_columns
from edfkmeans.dof.smoothing import smooth
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats
from edfkmeans.structure import ENOUGH, N_REFERENCES, Structure, structure_of

# Rows: of more, silhouettes for the choice come from a sample of this size.
SILHOUETTE_ROWS = 2500


@dataclass(frozen=True)
class StructureTest(Need[Structure]):
    """The test for more than one cluster."""

    n_references: int = N_REFERENCES

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Structure:
        structure = structure_of(rows, work.seed, work.pool, self.n_references)
        work.report()
        return structure


@dataclass(frozen=True)
class Combined(Criterion):
    """What `select_k` does with method "combined", see `edfkmeans.criteria.rules.combined`.

    Parameters
    ----------
    level : float
        One cluster is the answer if the share that `find_structure` finds is above this. The number
        of its references follows: so few that the least share is at most the level.
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
        return (
            Dof("exact"),
            MeanSilhouettes(SILHOUETTE_ROWS),
            ReferenceSilhouettes(),
            self._structure(),
        )

    def _structure(self) -> StructureTest:
        return StructureTest(max(N_REFERENCES, math.ceil(1 / self.level - 1e-9) - 1))

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        raw = given[Dof("exact")]
        dof = smooth(raw)
        values = bic(path.inertia[:-1], dof, path.n_samples, effective_columns(rows, path))
        columns = {"dof_raw": raw, "dof": dof, "bic": values}
        if path.k_max == 1:
            return Curve(1, values, self.better, "the only one", columns=columns)
        silhouette, _ = given[MeanSilhouettes(SILHOUETTE_ROWS)]
        reference = given[ReferenceSilhouettes()]
        structure = given[self._structure()]
        height = rules.above(silhouette, reference)
        k, candidates = rules.combined(values, silhouette, reference)
        if structure.share > self.level:
            k = 1
            candidates = [other for other in candidates if height[other - 1] > 0]
        return Curve(
            k,
            values,
            self.better,
            "clearest valley of the BIC",
            candidates=tuple(other for other in candidates if other != k),
            columns=columns
            | {
                "silhouette": silhouette,
                "silhouette_reference": reference,
                "silhouette_above": height,
            },
            reasons=_reasons(values, height, k),
            structure=structure,
        )


def _reasons(values: Floats, height: Floats, k: int) -> dict[int, str]:
    """Say of every other k how its BIC and its silhouette stand to those of the chosen one."""
    reasons = reasons_by_value("BIC", values, k)
    for other in reasons:
        if other == 1:
            continue
        theirs, ours = height[other - 1], height[k - 1]
        text = f"silhouette stands out by {theirs:.2f}"
        if k > 1:
            more = "more" if theirs > ours else "less"
            text = f"silhouette stands out {more} ({theirs:.2f}, not {ours:.2f})"
        reasons[other] += f", {text}"
    return reasons


register(Combined())
