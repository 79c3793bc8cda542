"""Many clusters: what one more k costs, beside what it would if every row were asked about all.

Run with: python benchmarks/many.py          (about two minutes on one core)

One thread, kernels loaded before, seconds of the processor, the less of two runs. From the seconds
up to one k_max and those up to the one before comes what a k in between has cost.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
from common import RESULTS, alone, filled, mixture, save

SIZES = {(5000, 10): (30, 60, 90, 120, 160, 200), (20_000, 2): (30, 45, 60, 80, 100)}
PAGE = RESULTS.parents[1] / "docs" / "speed.md"
PICTURE = PAGE.parent / "pictures" / "many.png"


def measure(n, d, k_max):
    """Seconds of the processor for a path up to k_max, in this process."""
    from edfkmeans import fit_path

    X = mixture(n, d)
    fit_path(X[:300], 5, n_jobs=1)
    seconds = []
    for _ in range(2):
        before = time.process_time()
        fit_path(X, k_max, random_state=0, n_jobs=1)
        seconds.append(time.process_time() - before)
    return {"n": n, "d": d, "k_max": k_max, "processor_s": min(seconds)}


def steps(table):
    """Middle of every step of k_max, what one k in it cost in ms, and as part of that of k n d."""
    k = table.k_max.to_numpy()
    middle = (k[1:] + k[:-1]) / 2
    cost = 1000 * np.diff(table.processor_s) / np.diff(k)
    return middle, cost, cost[0] * middle / middle[0]


def tables():
    """Make the table of the page."""
    table = pd.read_csv(RESULTS / "many.csv", comment="#")
    lines = [
        "| data | k_max | processor seconds | one more k, ms | if it grew as k, ms |",
        "|---" * 5 + "|",
    ]
    for (n, d), rows in table.groupby(["n", "d"], sort=False):
        _, cost, straight = steps(rows)
        extra = ["", *(f"{ms:.1f} | {line:.1f}" for ms, line in zip(cost, straight, strict=True))]
        lines += [
            f"| {n:,} x {d} | {row.k_max} | {row.processor_s:.2f} | {more or ' |'} |"
            for row, more in zip(rows.itertuples(), extra, strict=True)
        ]
    return {"many": "\n".join(lines)}


def plot():
    """Draw the cost of one more k, and a straight line through the first."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    table = pd.read_csv(RESULTS / "many.csv", comment="#")
    figure, axes = pyplot.subplots(1, len(SIZES), figsize=(9, 3.4), layout="constrained")
    for ax, ((n, d), rows) in zip(axes, table.groupby(["n", "d"], sort=False), strict=True):
        middle, cost, straight = steps(rows)
        ax.plot(middle, cost, "o-", color="#D55E00", label="measured")
        ax.plot(middle, straight, "--", color="#666666", label="as k n d")
        ax.set(title=f"{n:,} x {d}", xlabel="k", ylabel="one more k, ms")
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(PICTURE, dpi=120)


def main():
    """Measure every k_max in a process of its own, and write the page."""
    rows = [alone(__file__, n, d, k_max) for (n, d), ks in SIZES.items() for k_max in ks]
    save("many", rows, "python benchmarks/many.py")
    plot()
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), tables()), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*map(int, sys.argv[2:]))))
    else:
        main()
