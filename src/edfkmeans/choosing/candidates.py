"""Candidate: another k worth a look, with what speaks for and against it."""

from dataclasses import dataclass

import pandas as pd

from edfkmeans.criteria.criterion import Curve, distance
from edfkmeans.rows.units import Floats


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
        What speaks for and against it, in words, largest first.
    agreement : float or None
        Its expected agreement with the best clustering of the path; only with method "judge".
    """

    k: int
    bic: float
    distance: float
    reason: str
    agreement: float | None = None


def candidates_of(curve: Curve, bic: Floats, shares: pd.Series | None) -> tuple[Candidate, ...]:
    """Say of every other k that is worth a look what speaks for and against it, best first.

    Those that are chosen in resamples are, too.
    """
    others = list(curve.candidates)
    if shares is not None:
        often = shares.sort_values(ascending=False, kind="stable").index
        others += [int(k) for k in often if k not in (curve.k, *others)]
    found = []
    for k in others:
        agreement = None
        parts = []
        if curve.confidence is not None:
            agreement = float(curve.confidence["agreement"][k])
            parts.append(f"expected agreement {agreement:.2f}")
        parts.append(curve.reasons[k])
        if shares is not None:
            parts.append(f"chosen in {100 * float(shares.get(k, 0.0)):.0f} % of resamples")
        reason = "; ".join(filter(None, parts))
        away = distance(bic, k, curve.k)
        found.append(Candidate(k, float(bic[k - 1]), away, reason, agreement))
    return tuple(found)
