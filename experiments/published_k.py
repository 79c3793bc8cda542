"""The paper's method on the paper's fits: k over some seeds, beside the published k.

Run with: python experiments/published_k.py FOLDER [SEEDS]          (SEEDS is 10 if not given)

FOLDER holds one CSV file per data set (columns f0, f1, ... and label).
"""

import sys
from collections import Counter
from pathlib import Path

import pandas as pd

from edfkmeans import select_k

PUBLISHED = {
    "iris": 3,
    "wine": 3,
    "seeds": 3,
    "glass": 4,
    "breast_cancer": 4,
    "votes": 4,
    "mammography": 4,
}


def load(folder: Path, name: str) -> pd.DataFrame:
    """Read one set and standardise its columns, constant ones dropped."""
    frame = pd.read_csv(folder / f"{name}.csv.gz").filter(regex=r"^f\d+$")
    frame = frame.loc[:, frame.std() > 0]
    return (frame - frame.mean()) / frame.std()


def main(folder: Path, seeds: int) -> None:
    """Print a table of k over the seeds."""
    print(f"| data set | published | k: seeds that chose it, of {seeds} |")
    print("|---|---|---|")
    for name, published in PUBLISHED.items():
        X = load(folder, name)
        ks = Counter(
            select_k(X, 30, method="paper", fits="paper", random_state=seed).k
            for seed in range(seeds)
        )
        listed = ", ".join(f"{k}: {count}" for k, count in ks.most_common())
        print(f"| {name} | {published} | {listed} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int((sys.argv[2:] or [10])[0]))
