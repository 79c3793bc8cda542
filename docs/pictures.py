"""Draw the pictures of the README. Run with: make docs-pictures."""

from pathlib import Path

import matplotlib
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from edfkmeans import select_k

matplotlib.use("Agg")
FOLDER = Path(__file__).parent / "pictures"


def main() -> None:
    """Draw the BIC curve of scikit-learn's wine data."""
    FOLDER.mkdir(exist_ok=True)
    X = StandardScaler().fit_transform(load_wine().data)
    ax = select_k(X, random_state=0).plot()
    ax.set_title("178 wines, 13 measurements: how many clusters?", loc="left")
    ax.figure.savefig(FOLDER / "wine.png", dpi=130)


if __name__ == "__main__":
    main()
