"""From a criterion's curve to a k. Entry k - 1 of a curve belongs to k."""

from collections.abc import Callable

import numpy as np

from edfkmeans._choices import Rule
from edfkmeans.dof.smoothing import interior_minima
from edfkmeans.rows.units import Floats


def local_minima(curve: Floats) -> list[int]:
    """Every k whose value is no larger than its neighbours', the ends included."""
    walled = np.concatenate([[np.inf], curve, [np.inf]])
    return [int(k) for k in interior_minima(walled)]


def paper(curve: Floats) -> int:
    """Return the smallest interior local minimum; if there is none, the lower end."""
    inner = interior_minima(curve)
    if inner.size:
        return int(inner[0]) + 1
    return 1 if curve[0] <= curve[-1] else len(curve)


def r_package(curve: Floats) -> int:
    """As `paper`, but 1 at once where k = 1 has the lowest value of all."""
    return 1 if curve[0] <= curve.min() else paper(curve)


def lowest(curve: Floats) -> int:
    """Return the smallest k with the lowest value; NaN never counts."""
    return int(np.nanargmin(curve)) + 1


def highest(curve: Floats) -> int:
    """Return the smallest k with the highest value; NaN never counts."""
    return int(np.nanargmax(curve)) + 1


RULES: dict[Rule, Callable[[Floats], int]] = {
    "paper": paper,
    "r-package": r_package,
    "lowest": lowest,
}


# Part of the height of the clearest k: a valley of the BIC whose silhouette stands out by less is
# passed over for the clearest k.
NEAR = 0.6


def above(silhouette: Floats, reference: Floats) -> Floats:
    """Return how far silhouettes lie above a reference, as a part of the way from there to 1."""
    return np.asarray((silhouette - reference) / np.maximum(1 - reference, 1e-12))


def combined(bic: Floats, silhouette: Floats, reference: Floats) -> tuple[int, list[int]]:
    """BIC proposes, silhouette disposes; returns k, and all that are worth a look, clearest first.

    Candidates are the local minima of the BIC between 1 and k_max; where it has none it says
    nothing, and every k from 2 is a candidate. The best is the one whose mean silhouette lies
    furthest above that of samples without clusters, as a part of the way from there to 1: some
    numbers of clusters have high silhouettes even there. Where no candidate comes near the highest
    of all, that one is the best: with few rows the BIC misses clear clusters. It is worth a look in
    any case.
    """
    proposed = interior_minima(bic)
    if not proposed.size:
        proposed = np.arange(1, len(bic))
    height = above(silhouette, reference)
    order = np.argsort(-height[proposed], kind="stable")
    candidates = [int(k) + 1 for k in proposed[order]]
    clearest = highest(height[1:]) + 1
    near = height[candidates[0] - 1] >= NEAR * height[clearest - 1]
    k = candidates[0] if near else clearest
    return k, candidates if clearest in candidates else [clearest, *candidates]


# Rules for a curve that is high at the right k and comes with standard errors. They bear the names
# of `maxSE` in the R package cluster.


def first_max(curve: Floats, error: Floats) -> int:
    """Return the first k that the next one does not beat."""
    held = np.flatnonzero(curve[1:] <= curve[:-1])
    return int(held[0]) + 1 if held.size else len(curve)


def global_max(curve: Floats, error: Floats) -> int:
    """Return the first k of the highest value."""
    return highest(curve)


def tibshirani(curve: Floats, error: Floats) -> int:
    """Return the first k that the next one does not beat by more than its standard error."""
    held = np.flatnonzero(curve[:-1] >= curve[1:] - error[1:])
    return int(held[0]) + 1 if held.size else len(curve)


def first_se_max(curve: Floats, error: Floats) -> int:
    """Return the first k within a standard error of the first local maximum."""
    return _within(curve, error, first_max(curve, error))


def global_se_max(curve: Floats, error: Floats) -> int:
    """Return the first k within a standard error of the highest value."""
    return _within(curve, error, global_max(curve, error))


def _within(curve: Floats, error: Floats, k: int) -> int:
    return int(np.flatnonzero(curve[:k] >= curve[k - 1] - error[k - 1])[0]) + 1


SE_RULES: dict[str, Callable[[Floats, Floats], int]] = {
    "tibshirani": tibshirani,
    "first-se-max": first_se_max,
    "global-se-max": global_se_max,
    "first-max": first_max,
    "global-max": global_max,
}
