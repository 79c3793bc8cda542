"""The six schemes of simulated data of the paper's Tables 1 and 2.

The paper gives no parameters; these are chosen so that the adjusted Rand index at the true k is the
published one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from edfkmeans._choices import SCHEMES, Scheme
from edfkmeans.rows.arguments import check_one_of, check_whole
from edfkmeans.rows.units import Floats

__all__ = ["SCHEMES", "Scheme", "simulate"]

Labels = npt.NDArray[np.int64]


def simulate(
    scheme: Scheme, k: int, d: int, n: int = 1000, *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Draw a data set with k clusters.

    Parameters
    ----------
    scheme : str
        "assumptions met": Gaussian clusters with one variance. "scale varies": one variance for
        each cluster. "shape varies": one for each cluster and axis. "long tails": t with three
        degrees of freedom. "uniform": cubes. "non-convex": elongated Gaussian clusters, bent
        around their neighbours (Hofmeyr 2019).
    k, d, n : int
        Number of clusters, columns and rows.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
        The cluster that every row was drawn from.

    Examples
    --------
    >>> from edfkmeans.simulate import SCHEMES, simulate
    >>> X, labels = simulate("long tails", k=5, d=10, random_state=0)
    >>> X.shape, len(set(labels.tolist()))
    ((1000, 10), 5)
    """
    check_one_of("scheme", scheme, SCHEMES)
    for name, value, least in (("k", k, 2), ("d", d, 1), ("n", n, k)):
        check_whole(name, value, least)
    if not isinstance(random_state, np.random.Generator):
        random_state = check_random_state(random_state).randint(2**31 - 1)
    rng = np.random.default_rng(random_state)
    if scheme == "non-convex":
        return _non_convex(rng, k, d, n)
    labels = rng.integers(0, k, n)
    means = _means(rng, k, d) * np.sqrt(10 / d)
    X = _RESIDUALS[scheme](rng, labels, k, d)
    X += means[labels] * (1.25 if scheme in ("scale varies", "shape varies") else 1.0)
    return X @ _rotation(rng, d), labels


def _means(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Centres of k-means, from k random ones, of uniform points: apart, but not evenly so."""
    points = rng.uniform(size=(k * d, d))
    means = points[rng.choice(k * d, k, replace=False)]
    for _ in range(20):
        group = ((points[:, None, :] - means) ** 2).sum(axis=2).argmin(axis=1)
        means = np.array(
            [points[group == c].mean(axis=0) if c in group else means[c] for c in range(k)]
        )
    return means


def _rotation(rng: np.random.Generator, d: int) -> Floats:
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def _same(rng: np.random.Generator, labels: Labels, k: int, d: int) -> Floats:
    return rng.normal(size=(len(labels), d)) / 6


def _scale_varies(rng: np.random.Generator, labels: Labels, k: int, d: int) -> Floats:
    u = rng.uniform(size=k)
    scale = u / u.mean() / 2
    return np.asarray(rng.normal(size=(len(labels), d)) * scale[labels, None] / 3)


def _shape_varies(rng: np.random.Generator, labels: Labels, k: int, d: int) -> Floats:
    scale = rng.uniform(size=(k, d))
    return rng.normal(size=(len(labels), d)) * scale[labels] / 3


def _long_tails(rng: np.random.Generator, labels: Labels, k: int, d: int) -> Floats:
    return rng.standard_t(3, size=(len(labels), d)) * (2 / 3) / 6


def _uniform(rng: np.random.Generator, labels: Labels, k: int, d: int) -> Floats:
    half = np.sqrt(3) / 6  # standard deviation 1/6
    return rng.uniform(-half, half, size=(len(labels), d))


_RESIDUALS = {
    "assumptions met": _same,
    "scale varies": _scale_varies,
    "shape varies": _shape_varies,
    "long tails": _long_tails,
    "uniform": _uniform,
}


def _non_convex(rng: np.random.Generator, k: int, d: int, n: int) -> tuple[Floats, Labels]:
    """Elongated clusters, each row moved to distance d from the means of its neighbours."""
    from sklearn.cluster import KMeans

    scales = rng.uniform(size=(k, d)) ** 5 * 4 * np.sqrt(d) * rng.uniform()
    scales *= d / scales.sum(axis=0).max()
    cloud = rng.normal(size=(100 * k, d))
    centers = KMeans(k, n_init=1, random_state=int(rng.integers(2**31 - 1))).fit(cloud)
    means = centers.cluster_centers_ * np.sqrt(d / 10) / 0.5
    weights = rng.uniform(1, 2, size=k)
    labels = rng.choice(k, n, p=weights / weights.sum())
    X = means[labels] + rng.normal(size=(n, d)) * scales[labels]
    away = np.sqrt(((X[:, None, :] - means) ** 2).sum(axis=2))
    pull = np.exp(-10 * (away - away.min(axis=1, keepdims=True)))
    pull[np.arange(n), labels] = 0.0
    pull /= pull.sum(axis=1, keepdims=True)
    anchor = pull @ means
    ray = X - anchor
    X = anchor + d * ray / np.linalg.norm(ray, axis=1, keepdims=True)
    X += rng.normal(size=(n, d)) / 2
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), labels
