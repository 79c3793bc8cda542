"""Information criteria: fit plus a price for every degree of freedom."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from edfkmeans import choice
from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Floats,
    Given,
    Labelling,
    Need,
    NotApplicable,
    Work,
    register,
)
from edfkmeans.path import KMeansPath
from edfkmeans.smoothing import smooth
from edfkmeans.table import Table, check_one_of
from edfkmeans.terms import Terms, path_excess, point_terms


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

    method: Terms
    adds_up = True

    def make(self, table: Table, path: KMeansPath, given: Given, work: Work) -> Floats:
        """Make it."""
        if path.inertia[-1] <= 0:
            raise NotApplicable("the pilot fits every row without residual: lower k_max")
        excess = path_excess(table, path, self.method, work.pool)
        work.report()
        return np.add(np.arange(1, path.k_max + 1) * table.n_features, excess)


@dataclass(frozen=True)
class Information(Criterion):
    """BIC or AIC, with the effective degrees of freedom or with k d.

    Parameters
    ----------
    name : str
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
    rule: Literal["paper", "r-package", "lowest"] = "paper"
    can_say_one = True
    better = "min"
    judges_one = True
    adds_up = True

    def __post_init__(self) -> None:
        check_one_of("price", self.price, ("bic", "aic"))
        check_one_of("count", self.count, ("paper", "naive"))
        check_one_of("rule", self.rule, choice.RULES)

    def needs(self) -> tuple[Need[Any], ...]:
        """Return the effective degrees of freedom, unless they are not counted."""
        return (Dof("paper"),) if self.count == "paper" else ()

    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k."""
        ks = np.arange(1, path.k_max + 1)
        dof: Floats = (ks * path.n_features).astype(np.float64)
        if self.count == "paper":
            dof = smooth(given[Dof("paper")])
        values = self._value(path.inertia[:-1], dof, path)
        words = {
            "paper": "first local minimum",
            "r-package": "first local minimum, or 1 if the lowest",
            "lowest": "lowest",
        }
        k = choice.RULES[self.rule](values)
        others = [other for other in choice.local_minima(values) if other != k]
        others.sort(key=lambda other: values[other - 1])
        return Curve(k, values, self.better, words[self.rule], candidates=tuple(others))

    def one(self, labelling: Labelling) -> float | None:
        """Judge one clustering, without smoothing; None where there is no sensible count."""
        table, fit = labelling.table, labelling.fit
        dof = float(len(fit.sizes) * table.n_features)
        if fit.inertia <= 0:
            return None
        if self.count == "paper" and len(fit.sizes) > 1:
            if labelling.pilot.inertia <= 0 or len(labelling.pilot.sizes) <= len(fit.sizes):
                return None
            terms = point_terms(table, fit, labelling.pilot, "paper", labelling.work.pool)
            if terms.sum() < 0:  # not k-means: rows nearer to other centroids than to their own
                return None
            dof += float(terms.sum())
        return float(self._value(np.array([table.squared(fit.inertia)]), np.array([dof]), table)[0])

    def _value(self, inertia: Floats, dof: Floats, sizes: Table | KMeansPath) -> Floats:
        function = {"bic": bic, "aic": aic}[self.price]
        return function(inertia, dof, sizes.n_samples, sizes.n_features)


register(Information())
register(Information("aic", price="aic"))
register(Information("bic-naive", count="naive"))
register(Information("aic-naive", price="aic", count="naive"))
