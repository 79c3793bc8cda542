"""Silhouette against scikit-learn's, gap against the package gap-stat.

Run with: python benchmarks/criteria.py          (needs: pip install gap-stat)

Each in one run: silhouettes of 20000 x 10 rows in 10 clusters, three times in turn, memory beyond
the data in a process of its own; gap with 50 references at 1000 x 10, k = 1 .. 30, three times in
turn, both with all cores and compiled or warmed up before. gap-stat runs as it does by default. It
fits the data from one start too; our fits of the data are those of `fit_path`, far better and for
all criteria, so gap is timed with and without them.
"""

import json
import sys
import warnings

import numpy as np
from common import alone, mixture, peak_mb, save, timed

from edfkmeans import compare, fit_path
from edfkmeans.criteria.gap import Gap
from edfkmeans.criteria.separation import silhouettes

N, D, K = 20_000, 10, 10
REPEATS = 3


def silhouette_data():
    """Make the rows, and labels of ten clusters."""
    X = mixture(N, D)
    return X, fit_path(X, K, n_init=1, random_state=0).labels(K)


def memory(method):
    """Print how much memory a method takes beyond what was there before."""
    X, labels = silhouette_data()
    if method == "edfkmeans":
        silhouettes(X[:200], labels[:200])
        before = peak_mb()
        silhouettes(X, labels)
    else:
        from sklearn.metrics import silhouette_score

        silhouette_score(X[:200], labels[:200])
        before = peak_mb()
        silhouette_score(X, labels)
    print(json.dumps({"extra_mb": peak_mb() - before}))


def silhouette_rows():
    """Time both, in turn."""
    from sklearn.metrics import silhouette_score

    X, labels = silhouette_data()
    silhouettes(X[:200], labels[:200])
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(timed(lambda: silhouettes(X, labels).mean))
        theirs.append(timed(lambda: silhouette_score(X, labels)))
    assert abs(ours[0][1] - theirs[0][1]) < 1e-12
    yield from _rows("silhouette 20000 x 10, k = 10", "scikit-learn", ours, theirs)


def gap_rows():
    """Time both, in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gap_statistic import OptimalK
    X = mixture(1000, 10)
    path = fit_path(X, 30, random_state=0)
    criterion = Gap(box="plain", n_references=50)
    peer = OptimalK()
    compare(X, [criterion], path=path)
    peer(X, n_refs=2, cluster_array=np.arange(1, 4))
    given, whole, theirs = [], [], []
    for seed in range(REPEATS):
        given.append(timed(lambda seed=seed: compare(X, [criterion], path=path, random_state=seed)))
        whole.append(timed(lambda seed=seed: compare(X, [criterion], k_max=30, random_state=seed)))
        theirs.append(timed(lambda: peer(X, n_refs=50, cluster_array=np.arange(1, 31))))
    what = "gap 1000 x 10, k = 1 .. 30, B = 50"
    yield from _rows(what, "gap-stat", given, theirs)
    yield from _rows(f"{what}, with our fits of the data", "gap-stat", whole, theirs)


def _rows(what, peer, ours, theirs):
    own, other = (float(np.median([seconds for seconds, _ in runs])) for runs in (ours, theirs))
    yield {"what": what, "method": "edfkmeans", "seconds": own, "times_ours": 1.0}
    yield {"what": what, "method": peer, "seconds": other, "times_ours": other / own}


def main():
    """Time everything and save the table."""
    rows = [*silhouette_rows(), *gap_rows()]
    for row, method in zip(rows, ("edfkmeans", "scikit-learn")):
        row["extra_mb"] = alone(__file__, method)["extra_mb"]
    save("criteria", rows, "python benchmarks/criteria.py")


if __name__ == "__main__":
    if "--one" in sys.argv:
        memory(sys.argv[-1])
    else:
        main()
