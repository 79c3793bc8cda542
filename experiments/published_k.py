"""The paper's method on the paper's fits: k over ten seeds, beside the published k.

Run with: python experiments/published_k.py ../shared/benchmark

The folder holds one CSV file per data set (columns f0, f1, ... and label).
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
SEEDS = range(10)


def load(folder: Path, name: str) -> pd.DataFrame:
    """Read one set and standardise its columns, constant ones dropped."""
    frame = pd.read_csv(folder / f"{name}.csv.gz").filter(regex=r"^f\d+$")
    frame = frame.loc[:, frame.std() > 0]
    return (frame - frame.mean()) / frame.std()


def main(folder: Path) -> None:
    """Print a table of k over the seeds."""
    print("| data set | published | k over seeds 0..9 | seeds that agree |")
    print("|---|---|---|---|")
    for name, published in PUBLISHED.items():
        X = load(folder, name)
        ks = [select_k(X, 30, method="paper", fits="paper", random_state=s).k for s in SEEDS]
        listed = " ".join(map(str, ks))
        print(f"| {name} | {published} | {listed} | {Counter(ks)[published]} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
