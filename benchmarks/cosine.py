"""Embeddings: the whole path of directions against one k of scikit-learn's k-means.

Run with: python benchmarks/cosine.py

20000 x 384 rows in single precision with 12 topics: a direction that all share, one of its topic,
noise that has few main axes, and lengths that say nothing. `fit_path(X, metric="cosine")` makes 31
fits; scikit-learn fits k = 12 to rows of length one, from ten starts. In turn, twice, with all
cores, warmed up before. Of seconds on the clock and of seconds of all cores together the least
count; the latter hang less on what else the machine is doing. Then `select_k` is asked for k.
"""

import time

import numpy as np
from common import save
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from edfkmeans import fit_path, select_k

N, D, TOPICS = 20_000, 384, 12
REPEATS = 2
BAR = 3.0


def embeddings(seed=0):
    """Draw the rows and their topics, which are of unequal size."""
    rng = np.random.default_rng(seed)
    shared, *topics = normalize(rng.normal(size=(TOPICS + 1, D)))
    truth = rng.choice(TOPICS, N, p=rng.dirichlet(np.full(TOPICS, 5.0)))
    spectrum = 1 / np.sqrt(1 + np.arange(D) / 20)
    turned = np.linalg.qr(rng.normal(size=(D, D)))[0]
    noise = rng.normal(size=(N, D)) * (spectrum / np.linalg.norm(spectrum)) @ turned
    rows = 0.5 * shared + 0.7 * np.array(topics)[truth] + noise
    return (rows * rng.lognormal(0, 0.3, size=(N, 1))).astype(np.float32), truth


def main():
    """Time both in turn, ask for k, and save the table."""
    X, truth = embeddings()
    unit = normalize(X)
    ways = {
        "edfkmeans": lambda: fit_path(X, metric="cosine", random_state=0),
        "scikit-learn": lambda: KMeans(TOPICS, n_init=10, random_state=0).fit(unit),
    }
    fit_path(X[:2000], 8, metric="cosine")
    KMeans(TOPICS, n_init=1).fit(unit[:2000])
    runs = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            clock, cores = time.perf_counter(), time.process_time()
            found = way()
            runs[name].append((time.perf_counter() - clock, time.process_time() - cores))
            print(name, *runs[name][-1], flush=True)
            if name == "edfkmeans":
                path = found
            else:
                inertia = found.inertia_
    least = {name: np.min(times, axis=0) for name, times in runs.items()}
    ratios = least["edfkmeans"] / least["scikit-learn"]
    chosen = select_k(X, path=path)
    rows = [
        {
            "method": name,
            "what": what,
            "seconds": least[name][0],
            "core_seconds": least[name][1],
            "inertia_at_12": value,
        }
        for name, what, value in (
            ("edfkmeans", "31 fits, k = 1 .. 31", path.inertia[TOPICS - 1]),
            ("scikit-learn", "k = 12, ten starts", inertia),
        )
    ]
    rows[0] |= {"times_theirs": ratios[0], "times_theirs_cores": ratios[1], "k": chosen.k,
                "ari": adjusted_rand_score(truth, chosen.labels)}  # fmt: skip
    save("cosine", rows, "python benchmarks/cosine.py")
    assert chosen.k == TOPICS, chosen.headline
    assert (ratios <= BAR).all(), ratios


if __name__ == "__main__":
    main()
