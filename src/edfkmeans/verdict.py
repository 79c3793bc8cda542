"""Verdict: what a method makes of a path of fits, and `judge`, which asks it."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from edfkmeans import choice
from edfkmeans.backends.threads import Threads
from edfkmeans.criteria import Criterion, Given, Work
from edfkmeans.criteria.combined import SILHOUETTE_ROWS, Combined, StructureTest
from edfkmeans.criteria.information import Dof, Information
from edfkmeans.criteria.separation import MeanSilhouettes, ReferenceSilhouettes
from edfkmeans.fitting import PATIENCE
from edfkmeans.path import KMeansPath
from edfkmeans.smoothing import smooth
from edfkmeans.structure import Structure
from edfkmeans.table import Floats, Table

Method = Literal["combined", "paper", "naive"]
METHODS: tuple[Method, ...] = ("combined", "paper", "naive")


@dataclass(frozen=True)
class Verdict:
    """What was made of the fits: k, the others worth a look, and the table behind them."""

    k: int
    others: list[int]
    table: pd.DataFrame
    structure: Structure | None


def judge(
    table: Table,
    path: KMeansPath,
    method: Method,
    rule: Any,
    seed: int,
    pool: Threads,
    progress: bool = False,
) -> Verdict:
    """Ask the criterion of a method, and put down what it looked at."""
    criterion: Criterion = Combined()
    if method != "combined":
        criterion = Information(count=method, rule=rule)
    given = Given()
    work = Work(seed, pool)
    needs = criterion.needs()
    for need in tqdm(needs, disable=not progress, desc="judging", delay=PATIENCE):
        given.provide(need, table, path, work)
    curve = criterion.curve(table, path, given)
    ks = np.arange(1, path.k_max + 1)
    dof_raw: Floats = (ks * table.n_features).astype(np.float64)
    if method != "naive":
        dof_raw = given[Dof("exact" if method == "combined" else "paper")]
    frame = pd.DataFrame(
        {
            "inertia": path.inertia[:-1],
            "dof_raw": dof_raw,
            "dof": dof_raw if method == "naive" else smooth(dof_raw),
            "bic": curve.values,
        },
        index=pd.Index(ks, name="k"),
    )
    structure = None
    if method == "combined" and path.k_max > 1:
        frame["silhouette"] = given[MeanSilhouettes(SILHOUETTE_ROWS)][0]
        frame["silhouette_reference"] = given[ReferenceSilhouettes()]
        frame["silhouette_above"] = choice.above(
            frame["silhouette"].to_numpy(), frame["silhouette_reference"].to_numpy()
        )
        structure = given[StructureTest()]
    return Verdict(curve.k, list(curve.candidates), frame, structure)
