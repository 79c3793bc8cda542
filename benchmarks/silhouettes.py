"""Exact silhouettes of 100000 rows against scikit-learn's: seconds and memory.

Run with: python benchmarks/silhouettes.py

100000 x 10 rows in 10 clusters. Each method in a process of its own, in turn, twice, with all
cores and compiled or warmed up before; the least of the times counts, by the clock and of all cores
together, which hangs less on what else the machine is doing. Memory is what the process took beyond
the data.
"""

import json
import sys
import time

from common import alone, mixture, peak_mb, save, timed

from edfkmeans import silhouettes

N, D, K = 100_000, 10, 10
REPEATS = 2
METHODS = ("edfkmeans", "scikit-learn")


def measure(method):
    """Print seconds, memory and the mean silhouette of one method."""
    from sklearn.cluster import KMeans

    X = mixture(N, D)
    labels = KMeans(K, n_init=1, random_state=0).fit_predict(X)
    if method == "edfkmeans":

        def mean(X, labels):
            return silhouettes(X, labels).mean
    else:
        from sklearn.metrics import silhouette_score as mean
    mean(X[:500], labels[:500])
    before = peak_mb()
    cores = time.process_time()
    seconds, value = timed(lambda: mean(X, labels))
    found = {
        "seconds": seconds,
        "core_seconds": time.process_time() - cores,
        "extra_mb": peak_mb() - before,
        "mean": float(value),
    }
    print(json.dumps(found))


def main():
    """Time both in turn and save the table."""
    runs = [(m, alone(__file__, m, limit_s=7200)) for _ in range(REPEATS) for m in METHODS]
    assert max(run["mean"] for _, run in runs) - min(run["mean"] for _, run in runs) < 1e-12
    least = {
        m: {name: min(run[name] for each, run in runs if each == m) for name in runs[0][1]}
        for m in METHODS
    }
    ours = least["edfkmeans"]
    rows = [
        {
            "what": f"silhouettes of {N} x {D}, k = {K}, exact",
            "method": method,
            "seconds": found["seconds"],
            "times_ours": found["seconds"] / ours["seconds"],
            "core_seconds": found["core_seconds"],
            "times_ours_cores": found["core_seconds"] / ours["core_seconds"],
            "extra_mb": found["extra_mb"],
        }
        for method, found in least.items()
    ]
    save("silhouettes", rows, "python benchmarks/silhouettes.py")


if __name__ == "__main__":
    if "--one" in sys.argv:
        measure(sys.argv[-1])
    else:
        main()
