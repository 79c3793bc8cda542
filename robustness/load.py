"""Fits and selections at random for a while: memory, threads and file handles stay as they were.

Run with: python robustness/load.py [SECONDS]    (300 by default; 3600 at night)

The first quarter warms up: kernels are loaded and the allocator finds its level. After that the
resident memory is noted after every call; its level at the end may exceed that after warming up by
a tenth and 20 MB at most. Prints the figures and exits with 1 if something grew.
"""

import gc
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

import edfkmeans


def resident():
    """Return the memory in use, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def handles():
    """Return the number of open files."""
    return len(os.listdir("/proc/self/fd"))


def draw(rng):
    """Draw a table: any size up to 3000 rows, clusters or none, single or double precision."""
    n, d = int(rng.integers(30, 3000)), int(rng.integers(1, 20))
    centers = rng.normal(size=(int(rng.integers(1, 8)), d)) * rng.uniform(0, 8)
    X = centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, d))
    return X.astype(rng.choice([np.float32, np.float64]))


def select(X, rng, folder):
    """Select with a random method."""
    options = {
        "method": rng.choice(["judge", "combined", "paper", "naive"]),
        "resample": rng.random() < 0.3,
    }
    edfkmeans.select_k(X, 8, random_state=int(rng.integers(99)), **options)


def fit(X, rng, folder):
    """Fit a path, by one and by several threads."""
    jobs = int(rng.choice([1, 2, 4]))
    edfkmeans.fit_path(X, 8, random_state=0, n_jobs=jobs)


def estimate(X, rng, folder):
    """Fit the estimator and predict."""
    edfkmeans.EDFKMeans(k_max=8, random_state=0).fit(X).predict(X)


def write(X, rng, folder):
    """Write a report, which draws too."""
    edfkmeans.select_k(X[:300], 6, random_state=0).to_html(folder / "report.html", X[:300])


def refuse(X, rng, folder):
    """Give what is refused."""
    bad = X.copy()
    bad[0, 0] = np.nan
    try:
        edfkmeans.select_k(bad, 8)
    except ValueError:
        return
    raise AssertionError("NaN was not refused")


ACTIONS = (select, fit, estimate, write, refuse)


def main(seconds):
    """Work for so many seconds; return whether something grew."""
    rng = np.random.default_rng(0)
    calls = Counter()
    levels = []
    before = None
    with tempfile.TemporaryDirectory() as folder:
        for action in ACTIONS:
            action(draw(rng), rng, Path(folder))
        started = time.perf_counter()
        while (now := time.perf_counter() - started) < seconds:
            action = ACTIONS[rng.choice(len(ACTIONS), p=[0.35, 0.3, 0.2, 0.1, 0.05])]
            action(draw(rng), rng, Path(folder))
            calls[action.__name__] += 1
            if now > seconds / 4:
                before = before or (threading.active_count(), handles())
                levels.append(resident())
    gc.collect()
    threads, files = threading.active_count(), handles()
    tenth = max(len(levels) // 10, 1)
    first, last = np.median(levels[:tenth]), np.median(levels[-tenth:])
    print(f"{sum(calls.values())} calls in {seconds} s: {dict(calls)}")
    print(
        f"memory: {first:.0f} MB after warming up, {last:.0f} MB at the end, {max(levels):.0f} most"
    )
    print(f"threads: {before[0]} and {threads}; open files: {before[1]} and {files}")
    grew = last > 1.1 * first + 20 or threads > before[0] or files > before[1]
    print("Something grew." if grew else "Flat.")
    return grew


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 300))
