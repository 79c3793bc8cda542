"""What is computed in a cell of the paper's tables and figures.

Every function goes from the keys of a cell to the other columns of its row, with one thread.
"""

from functools import lru_cache

import numpy as np
import sets
from sklearn.metrics import adjusted_rand_score

from edfkmeans import compare, degrees_of_freedom, fit_path
from edfkmeans.simulate import simulate

# The methods by the paper's names, and two more: gap without k = 1, and our default.
CRITERIA = {
    "fK": "fk",
    "Gap": "gap",
    "Silhouette": "silhouette",
    "Jump": "jump",
    "BIC": "bic-naive",
    "BIC_edf": "bic",
    "Default": "combined",
}
GAP_FROM_2 = "Gap_from_2"
JUMP_UNDERFLOW = "Jump_underflow"
METHODS = (*CRITERIA, GAP_FROM_2, JUMP_UNDERFLOW)
FITS = ("paper", "best")


def simulated(scheme, k, d, replicate, *, n, k_max):
    """One data set of Tables 1 and 2."""
    X, labels = sets.draw(scheme, k, d, sets.FRESH + replicate, n)
    return answers(X, labels, replicate, k_max)


def real(data, seed, *, k_max):
    """One data set of Table 3."""
    X, labels = sets.load(data)
    return answers(X, labels, seed, k_max)


def answers(X, labels, seed, k_max):
    """Every method's k and adjusted Rand index, on the paper's fits and on ours; Ideal; true k."""
    row = {}
    for fits in FITS:
        path = fit_path(X, k_max, fits=fits, random_state=seed, n_jobs=1)
        ari = np.array(
            [
                np.mean([adjusted_rand_score(truth, path.labels(k)) for truth in labels])
                for k in range(1, k_max + 1)
            ]
        )
        found = compare(X, CRITERIA.values(), path=path, random_state=seed, n_jobs=1)
        chosen = {name: int(found.table["k"][key]) for name, key in CRITERIA.items()}
        chosen[GAP_FROM_2] = gap_from_2(found.curves["gap"])
        chosen[JUMP_UNDERFLOW] = jump_of_raw_inertia(path)
        chosen["Ideal"] = int(ari.argmax()) + 1
        chosen["True"] = len(np.unique(labels[0]))
        for name, k in chosen.items():
            row[f"{fits}_{name}_k"] = k
            row[f"{fits}_{name}_ari"] = float(ari[k - 1])
    return row


def gap_from_2(curve):
    """Tibshirani's rule where 1 is not among the answers: what the published k look like."""
    gap, error = curve.values, curve.error
    good = np.flatnonzero(gap[1:-1] >= gap[2:] - error[2:])
    return int(good[0]) + 2 if len(good) else len(gap)


def jump_of_raw_inertia(path):
    """Jump with SS(k) instead of SS(k) / (n d): the powers underflow to 0 where d is large."""
    powers = np.power(path.inertia[:-1], -path.n_features / 2)
    return int(np.diff(powers, prepend=0.0).argmax()) + 1


def pilots(data, pilot, *, ks, k_last, seed):
    """Estimate the degrees of freedom of Figure 1 with one k'."""
    X, _ = sets.load(data)
    path = _path(data, k_last, seed)
    return {
        f"dof_{k}": degrees_of_freedom(X, path.labels(k), path.labels(pilot), n_jobs=1).total
        for k in ks
    }


@lru_cache(maxsize=4)
def _path(data, k_last, seed):
    return fit_path(sets.load(data)[0], k_last, fits="paper", random_state=seed, n_jobs=1)


def direct(clusters, d, pair, *, n, sigma, k_max):
    """Degrees of freedom over a pair of data sets with the same means (Figure 2).

    ``sum_ij Cov(M_ij, X_ij) / sigma^2`` is the expectation of half of
    ``sum_ij (M_ij - M'_ij) (X_ij - X'_ij) / sigma^2`` over two independent draws.
    """
    X, labels = simulate("assumptions met", clusters, d, n, random_state=1000 * clusters + d)
    means = np.array([X[labels == c].mean(axis=0) for c in range(clusters)])[labels]
    draws, paths = [], []
    for half in range(2):
        rng = np.random.default_rng([clusters, d, pair, half])
        draws.append(means + sigma * rng.normal(size=means.shape))
        paths.append(fit_path(draws[-1], k_max, fits="paper", random_state=pair, n_jobs=1))
    row = {}
    for k in range(1, k_max + 1):
        M, M2 = (path.centers(k)[path.labels(k)] for path in paths)
        product = (M - M2) * (draws[0] - draws[1])
        row[f"direct_{k}"] = float(product.sum() / (2 * sigma**2))
    pilot = paths[0].labels(k_max + 1)
    for k in range(1, k_max + 1):
        dof = degrees_of_freedom(draws[0], paths[0].labels(k), pilot, n_jobs=1)
        row[f"estimate_{k}"] = float(dof.total)
    return row
