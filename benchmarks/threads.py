"""Threads: how much sooner a path is done with 2, 4, ... of them, up to the cores there are.

Run with: python benchmarks/threads.py          (about two minutes on two cores)

Every number of threads has a process of its own; the less of two runs counts, with kernels loaded
before. The small table is there to show that more threads do not slow it down.
"""

import json
import os
import sys

import pandas as pd
from common import RESULTS, alone, filled, mixture, save, timed

SIZES = ((1000, 10), (100_000, 16))
PAGE = RESULTS.parents[1] / "docs" / "speed.md"


def measure(n, d, threads):
    """Seconds of a path up to 30 with so many threads, in this process."""
    from edfkmeans import fit_path

    X = mixture(n, d)
    fit_path(X[:300], 5, n_jobs=1)
    seconds, paths = zip(
        *(timed(lambda: fit_path(X, 30, random_state=0, n_jobs=threads)) for _ in range(2)),
        strict=True,
    )
    found = {"n": n, "d": d, "threads": threads, "seconds": min(seconds)}
    return {**found, "inertia": paths[0].inertia.sum()}


def numbers_of_threads():
    """Return 1, 2, 4 and so on, and the cores there are."""
    cores = len(os.sched_getaffinity(0))
    return sorted({cores, *(2**i for i in range(cores.bit_length()) if 2**i <= cores)})


def tables():
    """Make the table of the page."""
    table = pd.read_csv(RESULTS / "threads.csv", comment="#")
    lines = ["| data | threads | seconds | times as fast as one |", "|---" * 4 + "|"]
    for (n, d), rows in table.groupby(["n", "d"], sort=False):
        one = rows.seconds[rows.threads == 1].item()
        lines += [
            f"| {n:,} x {d} | {row.threads} | {row.seconds:.3g} | {one / row.seconds:.1f} |"
            for row in rows.itertuples()
        ]
    return {"threads": "\n".join(lines)}


def main():
    """Measure every number of threads; the fits must be the same."""
    rows = [alone(__file__, n, d, t) for n, d in SIZES for t in numbers_of_threads()]
    for n, _ in SIZES:
        assert len({row["inertia"] for row in rows if row["n"] == n}) == 1, "other fits"
    save("threads", rows, "python benchmarks/threads.py")
    PAGE.write_text(filled(PAGE.read_text(), tables()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(*map(int, sys.argv[2:5]))))
    else:
        main()
