"""How far the path is from the best known inertia on the 28 benchmark sets, and how long it takes.

Run with: python benchmarks/best_known.py FOLDER REFERENCE

FOLDER holds the sets as CSV files (columns f0, f1, ... and label), REFERENCE the best known inertia
of the standardised columns (data_set, k1, k2, ...).
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from common import save, timed

from edfkmeans import fit_path, select_k

SEEDS = (0, 1, 2)


def standardised(file):
    """Columns of one set at unit variance, constant ones dropped."""
    frame = pd.read_csv(file).filter(regex=r"^f\d+$")
    frame = frame.loc[:, frame.std() > 0]
    return ((frame - frame.mean()) / frame.std()).to_numpy()


def main(folder, reference):
    """Write a row for each set and print the figures over all of them."""
    known = pd.read_csv(reference, index_col="data_set")
    fit_path(np.random.default_rng(0).normal(size=(100, 2)), 5)  # load the kernels
    rows, records = [], []
    for name, best in known.iterrows():
        X = standardised(folder / f"{name}.csv.gz")
        runs = [timed(lambda X=X, seed=seed: select_k(X, 30, random_state=seed)) for seed in SEEDS]
        inertia = np.array([selection.path.inertia for _, selection in runs])
        excess = 100 * (inertia.mean(axis=0) / best.to_numpy() - 1)
        for k, (ours, theirs) in enumerate(zip(inertia.min(axis=0), best, strict=True), start=1):
            if ours < theirs * (1 - 1e-6):
                records.append({"data_set": name, "k": k, "inertia": ours, "before": theirs})
        rows.append(
            {
                "data_set": name,
                "n": X.shape[0],
                "d": X.shape[1],
                "seconds_path_and_dof": np.mean([seconds for seconds, _ in runs]),
                "mean_excess_percent": excess.mean(),
                "worst_excess_percent": excess.max(),
                "new_bests": sum(record["data_set"] == name for record in records),
            }
        )
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    rows.append(
        {
            "data_set": "all",
            "n": table.n.sum(),
            "seconds_path_and_dof": table.seconds_path_and_dof.sum(),
            "mean_excess_percent": table.mean_excess_percent.mean(),
            "worst_excess_percent": table.worst_excess_percent.max(),
            "new_bests": table.new_bests.sum(),
        }
    )
    save(
        "best_known", rows, "python benchmarks/best_known.py FOLDER REFERENCE, mean of three seeds"
    )
    save("new_bests", records, "python benchmarks/best_known.py FOLDER REFERENCE")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
