"""Criteria of separation: silhouette, Calinski-Harabasz, Davies-Bouldin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.criteria import rules
from edfkmeans.criteria.criterion import Criterion, Curve, Given, Labelling, Need, register
from edfkmeans.criteria.silhouettes import MeanSilhouettes, Silhouettes, silhouettes, silhouettes_of
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats, Values

__all__ = ["CalinskiHarabasz", "DaviesBouldin", "Silhouette", "Silhouettes", "silhouettes"]


@dataclass(frozen=True)
class Silhouette(Criterion):
    """Mean silhouette: nearer to the own cluster than to the next (Kaufman, Rousseeuw 1990).

    Parameters
    ----------
    sample_size : int, optional
        With more rows than this, a stratified sample of about so many stands for all. By default
        all rows up to 20000, above that a sample of 10000.
    """

    name: str = "silhouette"
    sample_size: int | None = None
    judges_one = True

    def __post_init__(self) -> None:
        if self.sample_size is not None:
            check_whole("sample_size", self.sample_size, 2)

    def needs(self) -> tuple[Need[Any], ...]:
        return (MeanSilhouettes(self.sample_size),)

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        values, sampled = given[MeanSilhouettes(self.sample_size)]
        remark = f"from a stratified sample of {sampled:,} rows" if sampled else ""
        return Curve(rules.highest(values), values, self.better, "highest", remark=remark)

    def one(self, labelling: Labelling) -> float | None:
        if labelling.fit.k < 2:
            return None
        labels = labelling.labels
        (found,) = silhouettes_of(
            labelling.rows.sample, [0], lambda _: labels, self.sample_size, labelling.work
        )
        return found.mean


@dataclass(frozen=True)
class DaviesBouldin(Criterion):
    """How alike the two most alike clusters are, on average (Davies, Bouldin 1979).

    The values are those of ``sklearn.metrics.davies_bouldin_score``.
    """

    name: str = "davies-bouldin"
    better = "min"
    judges_one = True

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        last = min(path.k_max, rows.n_samples - 1)
        values = np.full(path.k_max, np.nan)
        for k in range(2, last + 1):
            values[k - 1] = _davies_bouldin(rows.sample.values, path.labels(k))
        return Curve(rules.lowest(values), values, self.better, "lowest")

    def one(self, labelling: Labelling) -> float | None:
        if not 1 < labelling.fit.k < labelling.rows.n_samples:
            return None
        return _davies_bouldin(labelling.rows.sample.values, labelling.labels)


def _davies_bouldin(values: Values, labels: npt.NDArray[Any]) -> float:
    """Take distances by differences: by products, rows that repeat would be beside their mean."""
    centers, within = [], []
    for c in np.unique(labels):
        own = values[labels == c].astype(np.float64)
        centers.append(own.mean(axis=0))
        within.append(np.linalg.norm(own - centers[-1], axis=1).mean())
    ends, reach = np.array(centers), np.array(within)
    between = np.linalg.norm(ends[:, None] - ends, axis=2)
    between[between == 0] = np.inf  # a cluster and itself, or another one on the same spot
    return float(((reach[:, None] + reach) / between).max(axis=1).mean())


@dataclass(frozen=True)
class CalinskiHarabasz(Criterion):
    """Variance between the clusters over variance within them (Calinski, Harabasz 1974).

    The values are those of ``sklearn.metrics.calinski_harabasz_score``, taken from the inertia.
    """

    name: str = "calinski-harabasz"
    judges_one = True
    adds_up = True

    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        ks = np.arange(1, path.k_max + 1)
        values = _variance_ratio(path.inertia[:-1], path.inertia[0], ks, rows.n_samples)
        return Curve(rules.highest(values), values, self.better, "highest")

    def one(self, labelling: Labelling) -> float | None:
        fit, rows = labelling.fit, labelling.rows
        ks = np.array([fit.k])
        value = _variance_ratio(np.array([fit.inertia]), rows.inertia, ks, rows.n_samples)[0]
        return float(value) if np.isfinite(value) else None


def _variance_ratio(inertia: Floats, total: float, ks: npt.NDArray[np.int64], n: int) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # one cluster, or no residual
        values = (total - inertia) / (ks - 1) / (inertia / (n - ks))
    values[ks == 1] = np.nan
    return values


register(Silhouette())
register(CalinskiHarabasz())
register(DaviesBouldin())
