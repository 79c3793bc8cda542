"""The data of the studies: the paper's 28 sets, the simulated ones, and which are held out.

The halves were drawn before any rule was looked at: of the 28 sets by a random permutation, of the
simulated ones by their seeds.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from edfkmeans.simulate import SCHEMES, simulate

FOLDER = Path(os.environ.get("EDFKMEANS_DATA", Path(__file__).parents[2] / "shared" / "benchmark"))
CELLS = [(scheme, k, d) for scheme in SCHEMES for k in (5, 10, 15) for d in (5, 10, 15)]
DESIGN_SEEDS = range(5)
HELD_OUT_SEEDS = range(1000, 1010)
# The first half of numpy.random.default_rng(2026).permutation(names()).
DESIGN = (
    "auto",
    "bank",
    "dermatology",
    "ionosphere",
    "libras",
    "mammography",
    "parkinsons",
    "pen_digits",
    "phoneme",
    "soy_bean",
    "synth",
    "texture",
    "votes",
    "yeast",
)


def names() -> list[str]:
    """Name the 28 sets."""
    return sorted(pd.read_csv(FOLDER / "INDEX.csv")["name"])


def load(name: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Read a set: its columns standardised, constant ones dropped, and its label sets."""
    frame = pd.read_csv(FOLDER / f"{name}.csv.gz")
    X = frame.filter(regex=r"^f\d+$").to_numpy(float)
    spread = X.std(axis=0, ddof=1)
    X = (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    return X, [frame[c].to_numpy() for c in frame.columns if c.startswith("label")]


def draw(scheme: str, k: int, d: int, seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Draw a simulated set of a cell."""
    cell = CELLS.index((scheme, k, d))
    X, labels = simulate(scheme, k, d, random_state=np.random.default_rng([cell, seed]))
    return X, [labels]
