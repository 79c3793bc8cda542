"""Candidate: another k worth a look, with what speaks for and against it."""

from dataclasses import dataclass

import pandas as pd

from edfkmeans.criteria.criterion import Curve, distance


@dataclass(frozen=True)
class Candidate:
    """Another k worth a look, which was not chosen.

    Attributes
    ----------
    k : int
    bic : float
    distance : float
        Its BIC less that of the chosen k; negative where it is lower.
    reason : str
        What speaks for and against it, in words.
    """

    k: int
    bic: float
    distance: float
    reason: str


def candidates_of(curve: Curve, shares: pd.Series | None) -> tuple[Candidate, ...]:
    """Say of every other k what speaks for and against it; those chosen in resamples first."""
    others = list(curve.candidates)
    if shares is not None:
        often = shares.drop(curve.k, errors="ignore").sort_values(ascending=False, kind="stable")
        chosen = [int(k) for k in often.index]
        others = chosen + [k for k in others if k not in chosen]
    found = []
    for k in others:
        reason = curve.reasons[k]
        if shares is not None:
            reason += f", chosen in {100 * float(shares.get(k, 0.0)):.0f} % of resamples"
        away = distance(curve.values, k, curve.k)
        found.append(Candidate(k, float(curve.values[k - 1]), away, reason))
    return tuple(found)
