"""Draw the pictures of the README and of the gallery. Run with: make docs-pictures.

The data of the gallery are those of its pages: their blocks of Python are run.
"""

import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from edfkmeans import select_k
from edfkmeans.plots import plot_comparison, plot_profiles, plot_scatter

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COLOURS = np.array(["#0072B2", "#D55E00", "#009E73"])


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(exist_ok=True)
    for draw in (wine, customers, images, genes, texts, one_cluster, too_many_features, gpu):
        figure = draw()
        # The title is kept in the file too: a test holds it to what the library says now.
        told = {"Title": figure.axes[0].get_title(loc="left")} if draw is wine else {}
        file = FOLDER / f"{draw.__name__}.png"
        figure.savefig(file, dpi=130 if draw is wine else 110, metadata=told)
        pyplot.close("all")


def page(name: str) -> dict[str, Any]:
    """Run the blocks of a page of the gallery, and return what they leave."""
    left: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.findall((HERE / "gallery" / f"{name}.md").read_text(encoding="utf-8")):
        exec(compile(block, name, "exec"), left)
    pyplot.close("all")
    return left


def wine() -> Any:
    """Draw the choice for scikit-learn's wine data."""
    X = StandardScaler().fit_transform(load_wine().data)
    result = select_k(X, random_state=0)
    ax = result.plot()
    ax.set_title(f"178 wines, 13 measurements: {result.headline}", loc="left")
    return ax.figure


def customers() -> Any:
    """Draw the profiles of the four kinds of customer."""
    left = page("customers")
    figure, ax = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    plot_profiles(left["result"], left["customers"].columns, ax=ax)
    ax.tick_params(axis="x", rotation=20)
    ax.set_title("650 customers, four clusters", loc="left")
    return figure


def images() -> Any:
    """Draw the centroids as images, with the digit that most of their rows show."""
    left = page("images")
    result, target = left["result"], left["digits"].target
    meant = [np.bincount(target[result.labels == c]).argmax() for c in range(result.k)]
    columns = -(-result.k // 2)
    figure, axes = pyplot.subplots(2, columns, figsize=(7, 2.3), layout="constrained")
    for ax in axes.ravel():
        ax.axis("off")
    for ax, c in zip(axes.ravel(), np.argsort(meant, kind="stable"), strict=False):
        ax.imshow(result.centers[c].reshape(8, 8), cmap="gray_r")
        ax.set_title(str(meant[c]), fontsize=9)
    figure.suptitle(
        f"{result.k} centroids, and the digit that most rows of the cluster show",
        x=0.01, ha="left", fontsize=10,
    )  # fmt: skip
    return figure


def genes() -> Any:
    """Draw the samples by principal components, clustered by eight of them."""
    left = page("genes")
    X = left["ways"]["8 components"]
    figure, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
    plot_scatter(select_k(X, random_state=0), X, ax=ax)
    ax.set_title("90 samples by eight components", loc="left")
    return figure


def texts() -> Any:
    """Draw how many texts of every module each cluster has."""
    shared = page("texts")["shared"]
    figure, ax = pyplot.subplots(figsize=(7, 2.4), layout="constrained")
    ax.imshow(np.sqrt(shared.T), cmap="Blues", aspect="auto")
    for (c, m), count in np.ndenumerate(shared.to_numpy()):
        if count:
            dark = count > shared.to_numpy().max() / 3
            ax.text(c, m, count, ha="center", va="center", color="w" if dark else "k", fontsize=8)
    ax.set_yticks(range(shared.shape[1]), shared.columns)
    ax.set_xticks(range(len(shared)))
    ax.set_xlabel("cluster")
    ax.set_title("Texts of four modules, by cluster", loc="left", fontsize=10)
    return figure


def one_cluster() -> Any:
    """Draw the cloud, and three curves with what they choose."""
    left = page("one_cluster")
    figure, axes = pyplot.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    axes[0].plot(*left["people"].T, ".", color="#666666", markersize=3)
    axes[0].set_title("400 people", loc="left", fontsize=9)
    axes[0].set_xlabel("height, cm", fontsize=7)
    axes[0].set_ylabel("weight, kg", fontsize=7)
    axes[0].tick_params(labelsize=7)
    found = left["found"]
    chosen = {name: found.curves[name] for name in ("silhouette", "elbow", "bic-naive")}
    plot_comparison(type(found)(found.table, chosen, found.path), axes[1:])
    return figure


def too_many_features() -> Any:
    """Draw the rows by the useful columns and by components of all columns."""
    left = page("too_many_features")
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    places = PCA(2, random_state=0).fit_transform(left["X"])
    for ax, rows, title in (
        (axes[0], left["useful"], "by the two useful columns"),
        (axes[1], places, "by two principal components of all twelve"),
    ):
        ax.scatter(*rows.T, s=9, color=COLOURS[left["truth"]])
        ax.set_title(title, loc="left", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def gpu() -> Any:
    """Draw the time of an answer over the number of rows, from what benchmarks/gpu.py measured."""
    found = pd.read_csv(HERE.parent / "benchmarks" / "results" / "gpu.csv", comment="#")
    same = found[found["d"] == 16].replace(
        {"select_k(X, 30)": "GPU", "select_k by the processor": "processor"}
    )
    figure, ax = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    shown = same[same["what"].isin(("curve", "answer", "quality")) & (same["n"] <= 1_000_000)]
    for name, colour in zip(("processor", "GPU"), COLOURS, strict=False):
        rows = shown[shown["name"] == name].sort_values(["n", "value"]).drop_duplicates("n")
        ax.loglog(rows["n"], rows["value"], "o-", color=colour)
        ax.annotate(name, rows[["n", "value"]].iloc[-1], (6, 0), textcoords="offset points")
    ax.set(xlabel="rows of 16 columns", ylabel="seconds of select_k(X, 30)", xlim=(2e3, 3e6))
    ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main()
