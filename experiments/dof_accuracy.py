"""How near the estimates of the degrees of freedom are to what they estimate.

Run with: python experiments/dof_accuracy.py          (resumable; some ten minutes)
          python experiments/dof_accuracy.py report   (tables and pictures for the docs)

The design of the paper's Figure 2: n = 1000, fixed means of k clusters in d columns, many draws of
the noise. What is estimated is sum_ij Cov(M_ij, X_ij) / sigma^2 for the fits with 1 .. 30 clusters,
measured over 60 draws with the true means and variance; then on each of three data sets the paper's
sum, the exact path and the bootstrap (eight draws) are taken, the bootstrap also with the fit that
`select_k` chooses as pilot instead of the one with 31 clusters.
Beside Gaussian noise, where the assumptions hold, t noise with three degrees of freedom and uniform
noise.
"""

import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pages
import pandas as pd
import provenance
from tqdm import tqdm

from edfkmeans import degrees_of_freedom, fit_path, select_k
from edfkmeans.simulate import simulate

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "dof_accuracy.csv"
PAGE = HERE.parent / "docs" / "degrees_of_freedom.md"
PICTURE = HERE.parent / "docs" / "pictures" / "degrees_of_freedom.png"
N, K_MAX, SIGMA = 1000, 30, 1 / 6
TRUTH_DRAWS, DATA_SETS = 60, 3
NOISE = {
    "Gaussian": lambda rng, size: rng.normal(size=size),
    "t with 3 df": lambda rng, size: rng.standard_t(3, size=size) / np.sqrt(3),
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size=size),
}
CELLS = [("Gaussian", k, d) for k in (5, 10, 20) for d in (5, 10, 20)]
CELLS += [(noise, 10, 10) for noise in ("t with 3 df", "uniform")]


def means_of(k, d):
    """Rows of means: a cluster for each row, without noise."""
    X, labels = simulate("assumptions met", k, d, N, random_state=1000 * k + d)
    return np.array([X[labels == c].mean(axis=0) for c in range(k)])[labels]


def truth(means, noise, seed):
    """Measure the degrees of freedom for every k over many draws of the noise."""
    products, fitted = [], np.zeros((K_MAX, *means.shape))
    for draw in range(TRUTH_DRAWS):
        rng = np.random.default_rng([seed, draw])
        e = NOISE[noise](rng, means.shape)
        path = fit_path(means + SIGMA * e, K_MAX - 1, random_state=draw, n_init=1)
        row = []
        for k in range(1, K_MAX + 1):
            m = path.centers(k)[path.labels(k)]
            fitted[k - 1] += m
            row.append((m * e).sum() / SIGMA)
        products.append(row)
    # Subtract the mean fit, which needs the noise once more.
    fitted /= TRUTH_DRAWS
    for draw in range(TRUTH_DRAWS):
        e = NOISE[noise](np.random.default_rng([seed, draw]), means.shape)
        for k in range(K_MAX):
            products[draw][k] -= (fitted[k] * e).sum() / SIGMA
    values = np.array(products) * TRUTH_DRAWS / (TRUTH_DRAWS - 1)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(TRUTH_DRAWS)


def estimates(X, seed):
    """Every method's estimate for k = 1 .. 30, and its time over that of the path."""
    start = time.perf_counter()
    path = fit_path(X, K_MAX, random_state=seed)
    path_seconds = time.perf_counter() - start
    ks = range(1, K_MAX + 1)
    found, seconds = {"k d": [float(k * X.shape[1]) for k in ks]}, {"k d": 0.0}
    last, chosen = K_MAX + 1, select_k(X, path=path, method="combined", random_state=seed).k
    # So coarse a precision ends the bootstrap with its first eight draws.
    eight = {"method": "bootstrap", "precision": 0.99, "random_state": seed}
    ways = {
        "paper": (last, {"method": "paper"}),
        "exact": (last, {"method": "exact"}),
        "bootstrap": (last, eight),
        "bootstrap, chosen k": (chosen, eight),
    }
    for name, (pilot, how) in ways.items():
        start = time.perf_counter()
        found[name] = [
            degrees_of_freedom(X, path.labels(k), path.labels(pilot), **how).total for k in ks
        ]
        seconds[name] = (time.perf_counter() - start) / path_seconds
    return found, seconds


def run():
    """Do what is not done yet."""
    rows = pd.read_csv(RESULTS, comment="#").to_dict("records") if RESULTS.exists() else []
    done = {(row["noise"], row["clusters"], row["d"]) for row in rows}
    for noise, k, d in tqdm([cell for cell in CELLS if cell not in done]):
        means = means_of(k, d)
        direct, error = truth(means, noise, 1)
        for number in range(DATA_SETS):
            e = NOISE[noise](np.random.default_rng([2, number]), means.shape)
            found, seconds = estimates(means + SIGMA * e, number)
            for method, values in found.items():
                for i, value in enumerate(values):
                    rows.append(
                        {
                            "noise": noise, "clusters": k, "d": d, "data": number, "k": i + 1,
                            "direct": direct[i], "direct_error": error[i], "method": method,
                            "value": value, "times_path": seconds[method],
                        }
                    )  # fmt: skip
        text = pd.DataFrame(rows).to_csv(index=False, float_format="%.5g")
        told = provenance.line("experiments/results/dof_accuracy.csv", (noise, k, d) == CELLS[-1])
        RESULTS.write_text(f"# python experiments/dof_accuracy.py\n{told}\n{text}")


def table():
    """Mean absolute relative error over k = 2 .. 30, for each cell and method."""
    found = pd.read_csv(RESULTS, comment="#").query("k >= 2")
    found["miss"] = (found["value"] / found["direct"] - 1).abs()
    miss = found.pivot_table(
        index=["noise", "clusters", "d"], columns="method", values="miss", sort=False
    )
    noise_floor = (
        (found["direct_error"] / found["direct"])
        .groupby([found["noise"], found["clusters"], found["d"]], sort=False)
        .mean()
    )
    methods = ["k d", "paper", "exact", "bootstrap", "bootstrap, chosen k"]
    lines = ["| noise | clusters | d | " + " | ".join(methods) + " | error of the yardstick |"]
    lines.append("|---" * (4 + len(methods)) + "|")
    for (noise, k, d), row in miss.iterrows():
        cells = " | ".join(f"{row[method]:.3f}" for method in methods)
        lines.append(f"| {noise} | {k} | {d} | {cells} | {noise_floor[noise, k, d]:.3f} |")
    cost = found.groupby("method", sort=False)["times_path"].mean()
    lines.append(
        "| time / time of the path | | | "
        + " | ".join(f"{cost[method]:.2f}" for method in methods)
        + " | |"
    )
    return "\n".join(lines)


def findings():
    """Say in words, with their figures, what the Gaussian cells show."""
    found = pd.read_csv(RESULTS, comment="#").query("k >= 2 and noise == 'Gaussian'")
    part = found["value"] / found["direct"]
    simple = part[found["method"] == "k d"]
    found = found.assign(miss=(part - 1).abs(), few=found["k"] <= found["clusters"])
    mean = found.groupby(["method", "few"])["miss"].mean()
    cells = found[found["few"]].groupby(["method", "clusters", "d"])["miss"].mean()
    few, many = ({m: mean[m, side] for m in ("exact", "paper")} for side in (True, False))
    sentences = [
        f"- k d is {simple.median():.2f} of the truth in the median and {simple.max():.2f} at "
        "most: k-means spends far more on who belongs to whom than on centroids.",
        "- Up to the true number of clusters the exact path is off by "
        f"{few['exact']:.2f} on average, {cells['exact'].max():.2f} in the worst cell, and the "
        f"paper's sum by {few['paper']:.2f} and {cells['paper'].max():.2f}. Above it they are off "
        f"by {many['exact']:.2f} and {many['paper']:.2f}, too low, as one row's move makes others "
        "move when a cluster is cut at an arbitrary place. The exact path does not make up for "
        "that by counting some switches twice.",
    ]
    return "\n".join(textwrap.fill(each, 105, subsequent_indent="  ") for each in sentences)


def picture():
    """Draw the estimates against k in every Gaussian cell."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = pd.read_csv(RESULTS, comment="#").query("noise == 'Gaussian'")
    colours = {
        "k d": "#999999",
        "paper": "#E69F00",
        "exact": "#0072B2",
        "bootstrap": "#009E73",
        "bootstrap, chosen k": "#CC79A7",
    }
    figure, axes = pyplot.subplots(3, 3, figsize=(9, 7.5), layout="constrained", sharex=True)
    for ax, ((k, d), cell) in zip(axes.ravel(), found.groupby(["clusters", "d"]), strict=True):
        direct = cell.query("method == 'paper' and data == 0")
        ax.plot(direct["k"], direct["direct"], color="black", linewidth=2, label="measured")
        for method, colour in colours.items():
            mean = cell[cell["method"] == method].groupby("k")["value"].mean()
            ax.plot(mean.index, mean, color=colour, linewidth=1.2, label=method)
        ax.set_title(f"{k} clusters, {d} columns", fontsize=9, loc="left")
        ax.tick_params(labelsize=7)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    for ax in axes[-1]:
        ax.set_xlabel("k", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("degrees of freedom", fontsize=8)
    figure.savefig(PICTURE, dpi=120)


def tables():
    """Make every part of the page, by the name of its mark."""
    return {"accuracy": table(), "findings": findings()}


def report():
    """Put the table and the picture into the docs."""
    PAGE.write_text(pages.filled(PAGE.read_text(), tables()))
    picture()


if __name__ == "__main__":
    report() if sys.argv[1:] == ["report"] else run()
