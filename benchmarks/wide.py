"""Tables of every width: the path and the judging against scikit-learn's loop over k.

Run with: python benchmarks/wide.py [TABLE ...]

One thread each, in turn in one process per table, kernels loaded before; seconds of the processor,
which hang less on what else the machine is doing, and seconds on the clock. scikit-learn makes ten
starts for each k = 1 .. 31. Of large tables only for some of these k: the seconds of the others are
interpolated, and the column "asked" says how many were asked. Rows that are there are not measured
again, as long as their sources are the same.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
from common import RESULTS, alone, mixture, provenance, save

KS = np.arange(1, 32)
SOME = (1, 2, 6, 12, 20, 31)
FILE = "benchmarks/results/wide.csv"


def noise(n, d):
    """Draw rows without structure."""
    return np.random.default_rng(0).normal(size=(n, d))


def topics(n, d, k):
    """Draw groups that overlap in every column and lie apart in all together."""
    rng = np.random.default_rng(1)
    centers = 0.35 * rng.normal(size=(k, d))
    return centers[rng.integers(0, k, n)] + rng.normal(size=(n, d))


def genes(n, d):
    """Draw four groups that differ in every tenth of many columns."""
    rng = np.random.default_rng(2)
    centers = np.zeros((4, d))
    centers[:, : d // 10] = rng.normal(size=(4, d // 10))
    return centers[rng.integers(0, 4, n)] + rng.normal(size=(n, d))


def digits(n):
    """Enlarge scikit-learn's digits to 28 x 28, shifted a little, with grain."""
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(3)
    images = zoom(load_digits().images, (1, 3.5, 3.5), order=1)
    rows = np.empty((n, 784))
    for row, number in zip(rows, rng.integers(0, len(images), n), strict=True):
        row[:] = np.roll(images[number], rng.integers(-2, 3, 2), (0, 1)).ravel()
    return np.clip(rows + 0.5 * rng.normal(size=rows.shape), 0, 16).round()


# For every table: how it is made, how many times quicker the path should be, and which k are asked.
TABLES = {
    "mixture 1000 x 10": (lambda: mixture(1000, 10), 10, KS),
    "mixture 10000 x 10": (lambda: mixture(10_000, 10), 10, KS),
    "noise 2000 x 384": (lambda: noise(2000, 384), 5, KS),
    "topics 2000 x 384": (lambda: topics(2000, 384, 8), 5, KS),
    "genes 300 x 5000": (lambda: genes(300, 5000), 5, KS),
    "digits 5000 x 784": (lambda: digits(5000), 5, SOME),
    "mixture 20000 x 100": (lambda: mixture(20_000, 100), 10, SOME),
    "topics 20000 x 384": (lambda: topics(20_000, 384, 12), 5, SOME),
    "mixture 100000 x 16": (lambda: mixture(100_000, 16), 10, SOME),
}


def spent(function):
    """Return what a call returns, and its seconds of the processor and on the clock."""
    clock, processor = time.perf_counter(), time.process_time()
    result = function()
    return result, time.process_time() - processor, time.perf_counter() - clock


def measure(name):
    """Measure one table, in this process."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    from edfkmeans import fit_path, select_k

    make, bar, asked = TABLES[name]
    X = make()
    with threadpool_limits(1):
        KMeans(2, n_init=1).fit(X[:200])
        select_k(X[:100], 12, n_jobs=1)
        path, processor, clock = spent(lambda: fit_path(X, 30, random_state=0, n_jobs=1))
        _, judging, _ = spent(lambda: select_k(X, path=path, random_state=0, n_jobs=1))
        theirs = [
            spent(lambda k=k: KMeans(k, n_init=10, random_state=0).fit(X).inertia_) for k in asked
        ]
    inertia, processors, clocks = np.array(theirs).T
    their_processor, their_clock = (
        float(np.interp(KS, asked, seconds).sum()) for seconds in (processors, clocks)
    )
    excess = 100 * (path.inertia[np.asarray(asked) - 1] / inertia - 1)
    return {
        "table": name, "asked": len(asked), "path_s": processor, "sklearn_s": their_processor,
        "times": their_processor / processor, "times_clock": their_clock / clock, "bar": bar,
        "mean_excess_percent": excess.mean(), "worst_excess_percent": excess.max(),
        "judging_s": judging, "judging_of_path": judging / processor,
    }  # fmt: skip


def main(names):
    """Measure what is not there yet, a row at a time."""
    file = RESULTS / "wide.csv"
    script, _, parts = provenance.RESULTS[FILE]
    rows = {}
    if provenance.told(file)[1] == provenance.digest(script, parts):
        rows = {row["table"]: row for row in pd.read_csv(file, comment="#").to_dict("records")}
    for name in names or TABLES:
        if name in rows:
            continue
        rows[name] = alone(__file__, name, limit_s=3600)
        save("wide", [rows[each] for each in TABLES if each in rows], "python benchmarks/wide.py")
        if len(rows) < len(TABLES):
            file.write_text(file.read_text().replace(", sources ", ", unfinished "))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
