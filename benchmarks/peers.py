"""The path for k = 1 .. 31 against what one would use instead, on the same data in one run.

Run with: python benchmarks/peers.py          (about 25 minutes on two cores)
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import RESULTS, alone, mixture, peak_mb, save, timed

SIZES = [(1000, 10), (10_000, 10), (100_000, 16), (20_000, 100)]
KS = range(1, 32)
LIMIT_S = 600


def inertia_of(X, labels):
    """Sum of squares about the centroids of the labels, in float64."""
    total = 0.0
    for label in np.unique(labels):
        part = X[labels == label]
        total += ((part - part.mean(axis=0)) ** 2).sum()
    return float(total)


def run_edfkmeans(X):
    """Run this package with its defaults."""
    from edfkmeans import fit_path

    fit_path(X[:200], 5)  # compiled kernels are loaded before the clock starts
    before = peak_mb()
    return before, lambda: fit_path(X, 30, random_state=0).inertia.tolist()


def run_sklearn(X):
    """Scikit-learn with ten starts."""
    from sklearn.cluster import KMeans

    KMeans(2, n_init=1).fit(X[:200])
    before = peak_mb()
    return before, lambda: [KMeans(k, n_init=10, random_state=0).fit(X).inertia_ for k in KS]


def run_faiss(X):
    """Faiss on the CPU with ten starts, every row used (its default is a sample)."""
    import faiss

    X32 = X.astype(np.float32)
    before = peak_mb()

    def fit():
        labels = []
        for k in KS:
            kmeans = faiss.Kmeans(
                X.shape[1], k, nredo=10, niter=25, seed=1, max_points_per_centroid=len(X)
            )
            kmeans.train(X32)
            labels.append(kmeans.index.search(X32, 1)[1].ravel())
        return labels

    return before, fit


R_SCRIPT = """
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2]); d <- as.integer(arguments[3])
X <- matrix(readBin(arguments[1], "double", n * d), n, d, byrow = TRUE)
set.seed(1)
started <- proc.time()[["elapsed"]]
ss <- sapply(1:31, function(k) suppressWarnings(kmeans(X, k, nstart = 10)$tot.withinss))
cat(proc.time()[["elapsed"]] - started, sum(gc()[, 6]), ss)
"""


def measure_r(X):
    """R's kmeans with ten starts, as the paper used it."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "X.bin"), Path(folder, "kmeans.R")
        X.tofile(data)
        script.write_text(R_SCRIPT)
        command = ["Rscript", str(script), str(data), *map(str, X.shape)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    seconds, memory, *inertia = map(float, out)
    return {"seconds": seconds, "memory_mb": memory, "inertia": inertia}


RUNS = {"edfkmeans": run_edfkmeans, "scikit-learn": run_sklearn, "faiss": run_faiss}


def measure(method, n, d):
    """One method on one data set, in this process."""
    X = mixture(n, d)
    if method == "R":
        return measure_r(X)
    before, fit = RUNS[method](X)
    seconds, found = timed(fit)
    memory = peak_mb() - before
    if method == "faiss":
        found = [inertia_of(X, labels) for labels in found]
    return {"seconds": seconds, "memory_mb": memory, "inertia": found}


def main():
    """Measure every method on every size, ours first and last to see how steady the machine is."""
    rows = []
    methods = ["edfkmeans", "scikit-learn", "faiss"] + (["R"] if shutil.which("Rscript") else [])
    for n, d in SIZES:
        found = {}
        for method in methods:
            try:
                found[method] = alone(__file__, method, n, d, limit_s=LIMIT_S)
            except subprocess.TimeoutExpired:
                print(f"{method} at {n} x {d}: more than {LIMIT_S} s")
        again = alone(__file__, "edfkmeans", n, d)
        found["edfkmeans"]["seconds"] = (found["edfkmeans"]["seconds"] + again["seconds"]) / 2
        best = np.min([run["inertia"] for run in found.values()], axis=0)
        ours = found["edfkmeans"]["seconds"]
        for method, run in found.items():
            excess = 100 * (np.array(run["inertia"]) / best - 1)
            rows.append(
                {
                    "n": n,
                    "d": d,
                    "method": method,
                    "seconds": run["seconds"],
                    "times_ours": run["seconds"] / ours,
                    "extra_memory_mb": run["memory_mb"],
                    "mean_excess_percent": excess.mean(),
                    "worst_excess_percent": excess.max(),
                }
            )
            print(rows[-1], flush=True)
    save("peers", rows, "python benchmarks/peers.py")
    plot()


def plot():
    """Time and excess of every method, from the table."""
    import matplotlib

    matplotlib.use("Agg")
    import pandas as pd
    from matplotlib import pyplot

    table = pd.read_csv(RESULTS / "peers.csv", comment="#")
    sizes = [f"{n:,} x {d}" for n, d in table[["n", "d"]].drop_duplicates().itertuples(index=False)]
    colours = {
        "edfkmeans": "#D55E00",
        "scikit-learn": "#0072B2",
        "faiss": "#009E73",
        "R": "#666666",
    }
    hatches = {"edfkmeans": "", "scikit-learn": "//", "faiss": "..", "R": "xx"}
    _, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for ax, column in ((left, "seconds"), (right, "mean_excess_percent")):
        for place, method in enumerate(colours):
            part = table[table.method == method]
            at = [sizes.index(f"{n:,} x {d}") + 0.2 * place for n, d in zip(part.n, part.d)]
            ax.bar(at, part[column], 0.19, label=method, color=colours[method],
                   hatch=hatches[method], edgecolor="white")  # fmt: skip
        ax.set_xticks(np.arange(len(sizes)) + 0.3, sizes)
        ax.set_xlabel("rows x columns")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    left.set_yscale("log")
    left.set_ylabel("seconds for k = 1 .. 31")
    right.set_ylabel("inertia above the best found, mean %")
    left.legend(frameon=False)
    left.figure.savefig(RESULTS / "peers.png", dpi=120)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
