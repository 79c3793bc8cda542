"""Candidate: another k worth a look, with what speaks for and against it."""

from dataclasses import dataclass

import pandas as pd

from edfkmeans.verdict import Verdict


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


def candidates_of(judged: Verdict, shares: pd.Series | None) -> tuple[Candidate, ...]:
    """Say of every other k what speaks for and against it; those chosen in resamples first."""
    table = judged.table
    others = judged.others
    if shares is not None:
        often = shares.drop(judged.k, errors="ignore").sort_values(ascending=False, kind="stable")
        chosen = [int(k) for k in often.index]
        others = chosen + [k for k in others if k not in chosen]
    elif judged.k == 1 and "silhouette_above" in table:
        others = [k for k in others if table["silhouette_above"][k] > 0]
    found = []
    for k in others:
        theirs, ours = (float(table["bic"][j]) for j in (k, judged.k))
        distance = theirs - ours if theirs != ours else 0.0  # both may be minus infinity
        reasons = [f"{'lower' if distance < 0 else 'higher'} BIC ({distance:+.1f})"]
        if "silhouette_above" in table and k > 1:
            other = table["silhouette_above"][k]
            text = f"silhouette stands out by {other:.2f}"
            if judged.k > 1:
                mine = table["silhouette_above"][judged.k]
                more = "more" if other > mine else "less"
                text = f"silhouette stands out {more} ({other:.2f}, not {mine:.2f})"
            reasons.append(text)
        if shares is not None:
            reasons.append(f"chosen in {100 * float(shares.get(k, 0.0)):.0f} % of resamples")
        found.append(Candidate(k, float(table["bic"][k]), distance, ", ".join(reasons)))
    return tuple(found)
