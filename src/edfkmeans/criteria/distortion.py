"""Criteria that look at the inertia alone: jump, fK, the elbow."""

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Given,
    NotApplicable,
    log_inertia,
    register,
)
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.rows import Rows


@dataclass(frozen=True)
class Jump(Criterion):
    """Where the distortion, to a negative power, jumps most (Sugar, James 2003).

    ``J(k) = D(k)^-y - D(k-1)^-y`` with ``D(k) = SS(k) / (n d)`` and ``D(0)^-y = 0``. The values are
    given as parts of ``D(k_max)^-y``, which changes no choice and stays within a float's range.

    Parameters
    ----------
    power : float, optional
        y, by default half the number of columns.
    """

    name: str = "jump"
    power: float | None = None
    can_say_one = True
    adds_up = True

    def __post_init__(self) -> None:
        if self.power is not None:
            _check_positive("power", self.power)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        power = rows.n_features / 2 if self.power is None else self.power
        logs = -power * log_inertia(path)
        values = np.diff(np.exp(logs - logs.max()), prepend=0.0)
        return Curve(rules.highest(values), values, self.better, "highest")


@dataclass(frozen=True)
class FK(Criterion):
    """Inertia against what it would be without clusters (Pham, Dimov, Nguyen 2005).

    ``f(1) = 1`` and ``f(k) = SS(k) / (a(k) SS(k-1))`` with ``a(2) = 1 - 3 / (4 d)`` and
    ``a(k) = a(k-1) + (1 - a(k-1)) / 6``.

    Parameters
    ----------
    below : float
        1 is the answer unless f falls below this somewhere; then the lowest. Pham et al. advise
        0.85 where one cluster is to be told from several; those who compare methods take 1.
    """

    name: str = "fk"
    below: float = 1.0
    can_say_one = True
    better = "min"
    adds_up = True

    def __post_init__(self) -> None:
        _check_positive("below", self.below)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        weight = 1 - 0.75 / rows.n_features
        values = np.ones(path.k_max)
        for k in range(2, path.k_max + 1):
            before = path.inertia[k - 2]
            values[k - 1] = path.inertia[k - 1] / (weight * before) if before > 0 else 1.0
            weight += (1 - weight) / 6
        k = rules.lowest(values)
        rule = f"lowest, 1 unless below {self.below:g}"
        return Curve(k if values[k - 1] < self.below else 1, values, self.better, rule)


@dataclass(frozen=True)
class Elbow(Criterion):
    """The bend of the inertia, as the library kneed finds it (Satopaa et al. 2011).

    Parameters
    ----------
    sensitivity : float
        How much flatter than a straight line the curve must become; kneed's S.
    """

    name: str = "elbow"
    sensitivity: float = 1.0
    better = "min"
    adds_up = True

    def __post_init__(self) -> None:
        _check_positive("sensitivity", self.sensitivity)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        from kneed import KneeLocator

        values = path.inertia[:-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no knee is said below
            knee = KneeLocator(
                range(1, path.k_max + 1),
                values / values[0],
                S=self.sensitivity,
                curve="convex",
                direction="decreasing",
            ).knee
        if knee is None:
            raise NotApplicable("the inertia has no elbow")
        return Curve(int(knee), values, self.better, "sharpest bend")


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a positive number.")


register(Elbow())
register(Jump())
register(FK())
