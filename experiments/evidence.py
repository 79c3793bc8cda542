"""What every rule for k is given: for each data set, path seed and k, the fit and its criteria.

Run with: python experiments/evidence.py real|design|held-out          (resumable)

Writes experiments/results/evidence_<what>.csv.gz, a row for each k: inertia, both counts of the
degrees of freedom, mean silhouette, gap and its error, the adjusted Rand index, the effective
number of columns.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import sets
from sklearn.metrics import adjusted_rand_score
from tqdm import tqdm

from edfkmeans import compare, degrees_of_freedom, fit_path

RESULTS = Path(__file__).parent / "results"
K_MAX = 30
PATH_SEEDS = range(5)


def tasks(what: str):
    """List what there is to do: names of the set and functions that get it."""
    if what == "real":
        for name in sets.names():
            for seed in PATH_SEEDS:
                yield {"data": name, "seed": seed}, lambda name=name: sets.load(name)
    else:
        seeds = {"design": sets.DESIGN_SEEDS, "held-out": sets.HELD_OUT_SEEDS}[what]
        for scheme, k, d in sets.CELLS:
            for seed in seeds:
                key = {"data": f"{scheme} {k} {d}", "seed": seed}
                yield key, lambda cell=(scheme, k, d, seed): sets.draw(*cell)


def evidence(X: np.ndarray, labels: list[np.ndarray], seed: int) -> pd.DataFrame:
    """Fit a path and ask what the rules want to know."""
    path = fit_path(X, K_MAX, random_state=seed)
    asked = compare(X, ["silhouette", "gap"], path=path, random_state=seed).curves
    dof = {
        method: [
            degrees_of_freedom(X, path.labels(k), path.labels(K_MAX + 1), method=method).total
            for k in range(1, K_MAX + 1)
        ]
        for method in ("paper", "exact")
    }
    residual = X - path.centers(K_MAX + 1)[path.labels(K_MAX + 1)]
    eigenvalues = np.linalg.eigvalsh(residual.T @ residual)
    ari = [
        np.mean([adjusted_rand_score(truth, path.labels(k)) for truth in labels])
        for k in range(1, K_MAX + 1)
    ]
    return pd.DataFrame(
        {
            "k": range(1, K_MAX + 1),
            "n": len(X),
            "d": X.shape[1],
            "d_effective": eigenvalues.sum() ** 2 / (eigenvalues**2).sum(),
            "inertia": path.inertia[:-1],
            "pilot_inertia": path.inertia[-1],
            "dof_paper": dof["paper"],
            "dof_exact": dof["exact"],
            "silhouette": asked["silhouette"].values,
            "gap": asked["gap"].values,
            "gap_error": asked["gap"].error,
            "ari": ari,
        }
    )


def main(what: str) -> None:
    """Do what is not done yet."""
    file = RESULTS / f"evidence_{what}.csv.gz"
    found = [pd.read_csv(file)] if file.exists() else []
    done = {(row.data, row.seed) for row in (found[0] if found else pd.DataFrame()).itertuples()}
    todo = [(key, get) for key, get in tasks(what) if (key["data"], key["seed"]) not in done]
    for number, (key, get) in enumerate(tqdm(todo), start=1):
        found.append(evidence(*get(), key["seed"]).assign(**key))
        if number % 20 == 0 or number == len(todo):
            part = file.with_suffix(".part")
            pd.concat(found).to_csv(part, index=False, compression="gzip")
            part.replace(file)


if __name__ == "__main__":
    main(sys.argv[1])
