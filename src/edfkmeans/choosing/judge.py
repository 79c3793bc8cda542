"""The judge: how well the fit with k clusters will agree with the groups there are, for every k.

It has learned from simulated data (`experiments/judge.py`) what evidence goes with what agreement.
Three forests answer three questions: is there one cluster only; if not, which agreement with the
true groups will the fit with k clusters reach, as a part of the best on this path; and will it be
within 0.1 of that best.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans.choosing.evidence import NEEDS, Evidence, evidence_of
from edfkmeans.choosing.forest import Forest
from edfkmeans.criteria.criterion import Criterion, Curve, Given, Need, register
from edfkmeans.criteria.information import Dofs, bic
from edfkmeans.dof.columns import effective_columns
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

# Expected agreement: of k that lose less than this to the best, the smallest is the answer.
TIE = 0.02
# Expected agreement: k that lose less than this to the best are as good as it.
NEAR = 0.05
# Expected agreement, as a part of the best: k with less are not worth a look.
_WORTH = 0.6
# Candidates, at most.
_MOST = 5
# Part of all that is said for and against a k: what says less is not told.
_TOLD = 0.1
_FOR, _AGAINST = "for it", "against it"
# What the groups of evidence are called.
_WORDS = {
    "silhouette": "silhouette",
    "bic": "BIC",
    "gap": "gap to data without clusters",
    "inertia": "bend of the inertia",
    "saddle": "valleys between clusters",
    "stability": "stability",
    "sizes": "sizes of the clusters",
    "context": "number and kind of rows and columns",
}


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the judge says about every k.

    Attributes
    ----------
    confidence : DataFrame
        For every k: ``agreement``, the expected agreement with the best clustering of this path,
        and ``near``, the probability that it is within 0.1 of it.
    weights : DataFrame
        For every k what each group of evidence adds to the expected agreement, above that of an
        average k of an average data set. For k = 1 in units of log-odds.
    """

    confidence: pd.DataFrame
    weights: pd.DataFrame


def verdict(evidence: Evidence) -> Verdict:
    """Judge every k of a path with more than one."""
    one, one_parts = Forest.load("one").of(evidence.whole)
    chance = 1 / (1 + np.exp(-one[0]))
    agreement, parts = Forest.load("agreement").of(evidence.curves)
    near, _ = Forest.load("near").of(evidence.curves)
    expected = (1 - chance) * np.clip(agreement, 0.0, 1.0)
    close = (1 - chance) / (1 + np.exp(-near))
    # Two forests said these. Agreement is at most 1 within 0.1 of the best, and at most 0.9
    # elsewhere, so that each bounds the other: no one is told "1.00 is expected, likely at 80 %".
    close = np.clip(close, (expected - 0.9) / 0.1, expected / 0.9)
    expected[0] = close[0] = chance
    index = pd.Index(np.arange(1, len(expected) + 1), name="k")
    weights = _by_group(Forest.load("agreement").names, parts)
    weights[0] = _by_group(Forest.load("one").names, one_parts)[0]
    return Verdict(
        pd.DataFrame({"agreement": expected, "near": close}, index=index),
        pd.DataFrame(weights, index=index, columns=list(_WORDS)),
    )


def _by_group(names: tuple[str, ...], parts: Floats) -> Floats:
    """Add up what the numbers of each group of `_WORDS` add."""
    groups = np.array([name.split(".")[0] for name in names])
    return np.stack([parts[:, groups == group].sum(axis=1) for group in _WORDS], axis=1)


@dataclass(frozen=True)
class Judge(Criterion):
    """What `select_k` does by default: the k of the highest expected agreement.

    Of several k that are within 0.02 of the highest, the smallest from 2 on.

    Parameters
    ----------
    k_most : int, optional
        The largest k to answer. The evidence is taken from the whole path all the same.
    """

    name: str = "judge"
    k_most: int | None = None
    can_say_one = True
    adds_up = True
    looks_beyond = True

    def needs(self) -> tuple[Need[Any], ...]:
        return NEEDS

    def bounded(self, k_max: int) -> "Judge":
        return replace(self, k_most=k_max)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        last = path.k_max if self.k_most is None else min(self.k_most, path.k_max)
        if path.k_max == 1:
            return _only_one(rows, path, given)
        evidence = evidence_of(rows, path, given)
        said = verdict(evidence)
        confidence, weights = said.confidence.loc[:last], said.weights.to_numpy()
        k = chosen(said.confidence["agreement"].to_numpy(), last)
        agreement = confidence["agreement"].to_numpy()
        reasons = {other: _reason(weights, other, k) for other in range(1, last + 1)}
        return Curve(
            k,
            agreement,
            self.better,
            "highest, or the first near it",
            candidates=_candidates(agreement, k, reasons),
            columns={name: values[:last] for name, values in evidence.table.items()}
            | {"agreement": agreement, "near": confidence["near"].to_numpy()},
            reasons=reasons,
            confidence=confidence,
        )


def _only_one(rows: Rows, path: KMeansPath, given: Given) -> Curve:
    """Return the curve of a path on which there is nothing to choose."""
    dof = given[Dofs()]["exact"]
    values = bic(path.inertia[:-1], dof, path.n_samples, effective_columns(rows, path))
    sure = {"agreement": np.ones(1), "near": np.ones(1)}
    return Curve(
        1,
        np.ones(1),
        Judge.better,
        "the only one",
        columns={"dof_raw": dof, "dof": dof, "bic": values} | sure,
        confidence=pd.DataFrame(sure, index=pd.Index([1], name="k")),
    )


def chosen(agreement: Floats, k_most: int | None = None) -> int:
    """Return the smallest k that is about as good as the best; 1 only if no other is.

    A bound that this k keeps to does not change it; under a lower one, the k up to there count.
    """
    near = np.flatnonzero(agreement[1:] >= agreement.max() - TIE)
    k = int(near[0]) + 2 if near.size else 1
    return k if k_most is None or k <= k_most else chosen(agreement[:k_most])


def as_good(agreement: npt.ArrayLike, k: int) -> tuple[int, ...]:
    """Return the k whose expected agreement is near to that of k, and k itself."""
    values = np.asarray(agreement)
    return tuple(int(other) + 1 for other in np.flatnonzero(values >= values[k - 1] - NEAR))


def _candidates(agreement: Floats, k: int, reasons: Mapping[int, str]) -> tuple[int, ...]:
    """Return the other k worth a look, best first.

    They are as good as k, or local maxima that more speaks for in some way than for k.
    """
    walled = np.concatenate([[-np.inf], agreement, [-np.inf]])
    peak = (agreement > walled[:-2]) & (agreement > walled[2:])
    peak &= [_FOR in reasons[other] for other in range(1, len(agreement) + 1)]
    worth = (peak & (agreement >= _WORTH * agreement[k - 1])) | (
        agreement >= agreement[k - 1] - NEAR
    )
    order = np.argsort(-agreement, kind="stable") + 1
    return tuple(int(other) for other in order if worth[other - 1] and other != k)[:_MOST]


def _reason(weights: Floats, other: int, k: int) -> str:
    """Say what speaks for and against a k: the chosen one by itself, others beside it."""
    parts = weights[other - 1]
    if other != k and 1 not in (other, k):
        parts = parts - weights[k - 1]
    elif other != k and other != 1:  # one cluster was chosen: what is said for it is against k
        parts = -weights[0]
    sizes = np.abs(parts)
    order = np.argsort(-sizes, kind="stable")
    told = order[sizes[order] >= _TOLD * sizes.sum()].tolist()
    words = list(_WORDS.values())
    texts = []
    for side, sign in ((_FOR, 1), (_AGAINST, -1)):
        named = [words[number] for number in told if sign * parts[number] > 0]
        if named:
            texts.append(f"{side}: {', '.join(named)}")
    return "; ".join(texts)


register(Judge())
