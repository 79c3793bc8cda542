"""Information criteria: fit plus a price for every degree of freedom."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans._choices import RULES, Count, Rule
from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Given,
    Labelling,
    Need,
    NotApplicable,
    Work,
    reasons_by_value,
    register,
)
from edfkmeans.dof.smoothing import smooth
from edfkmeans.dof.terms import path_excess, path_excesses, terms_of
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats


def bic(inertia: Floats, dof: Floats, n_samples: int, n_features: float) -> Floats:
    """``n d log SS(k) + log(n d) df(k)``, up to a constant; lower is better."""
    return _priced(inertia, dof, n_samples * n_features, np.log(n_samples * n_features))


def aic(inertia: Floats, dof: Floats, n_samples: int, n_features: float) -> Floats:
    """``n d log SS(k) + 2 df(k)``, up to a constant; lower is better."""
    return _priced(inertia, dof, n_samples * n_features, 2.0)


def _priced(inertia: Floats, dof: Floats, residuals: float, price: float) -> Floats:
    with np.errstate(divide="ignore"):  # a perfect fit has log 0
        return np.asarray(residuals * np.log(inertia) + price * dof)


@dataclass(frozen=True)
class Dof(Need[Floats]):
    """Effective degrees of freedom for every k, as estimated."""

    method: Count
    adds_up = True
    needs_residuals = True

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Floats:
        if path.inertia[-1] <= 0:
            raise NotApplicable("the pilot fits every row without residual: lower k_max")
        excess = path_excess(rows, path, self.method)
        work.report()
        return np.add(np.arange(1, path.k_max + 1) * rows.n_features, excess)


@dataclass(frozen=True)
class Dofs(Need[dict[Count, Floats]]):
    """Effective degrees of freedom for every k, by both counts, in one pass over the rows."""

    adds_up = True
    needs_residuals = True

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> dict[Count, Floats]:
        if path.inertia[-1] <= 0:
            raise NotApplicable("the pilot fits every row without residual: lower k_max")
        counts: tuple[Count, ...] = ("exact", "paper")
        excess = path_excesses(rows, path, counts)
        work.report()
        plain = np.arange(1, path.k_max + 1) * rows.n_features
        return {count: np.add(plain, part) for count, part in zip(counts, excess, strict=True)}


@dataclass(frozen=True)
class Information(Criterion):
    """BIC or AIC, with the effective degrees of freedom or with k d.

    Parameters
    ----------
    price : {"bic", "aic"}
    count : {"paper", "naive"}
        "paper": Hofmeyr's (2020) effective degrees of freedom, smoothed. "naive": k d.
    rule : {"paper", "r-package", "lowest"}
        "paper": the first local minimum between 1 and k_max; if there is none, the lower of the
        two. "r-package": the same, but 1 where that is the lowest of all. "lowest": the lowest.
    """

    name: str = "bic"
    price: Literal["bic", "aic"] = "bic"
    count: Literal["paper", "naive"] = "paper"
    rule: Rule = "paper"
    can_say_one = True
    better = "min"
    judges_one = True
    adds_up = True

    def __post_init__(self) -> None:
        check_one_of("price", self.price, ("bic", "aic"))
        check_one_of("count", self.count, ("paper", "naive"))
        check_one_of("rule", self.rule, RULES)

    def needs(self) -> tuple[Need[Any], ...]:
        return (Dof("paper"),) if self.count == "paper" else ()

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        raw: Floats = (np.arange(1, path.k_max + 1) * path.n_features).astype(np.float64)
        dof = raw
        if self.count == "paper":
            raw = given[Dof("paper")]
            dof = smooth(raw)
        values = self._value(path.inertia[:-1], dof, path)
        words = {
            "paper": "first local minimum",
            "r-package": "first local minimum, or 1 if the lowest",
            "lowest": "lowest",
        }
        k = rules.RULES[self.rule](values)
        others = [other for other in rules.local_minima(values) if other != k]
        others.sort(key=lambda other: values[other - 1])
        return Curve(
            k,
            values,
            self.better,
            words[self.rule],
            candidates=tuple(others),
            columns={"dof_raw": raw, "dof": dof, self.price: values},
            reasons=reasons_by_value(self.price.upper(), values, k),
        )

    def one(self, labelling: Labelling) -> float | None:
        """Judge one clustering, without smoothing; None where there is no sensible count."""
        rows, fit, pilot = labelling.rows, labelling.fit, labelling.pilot
        dof = float(fit.k * rows.n_features)
        if fit.inertia <= 0:
            return None
        if self.count == "paper" and fit.k > 1:
            if pilot.inertia <= 0 or pilot.k <= fit.k:
                return None
            excess = rows.total(rows.per_row(terms_of(rows, fit, pilot, "paper"), np.float64))
            if excess < 0:  # not k-means: rows nearer to other centroids than to their own
                return None
            dof += excess
        inertia = rows.units.squared(np.array([fit.inertia]))
        return float(self._value(inertia, np.array([dof]), rows)[0])

    def _value(self, inertia: Floats, dof: Floats, sizes: Rows | KMeansPath) -> Floats:
        function = {"bic": bic, "aic": aic}[self.price]
        return function(inertia, dof, sizes.n_samples, sizes.n_features)


register(Information())
register(Information("aic", price="aic"))
register(Information("bic-naive", count="naive"))
register(Information("aic-naive", price="aic", count="naive"))
