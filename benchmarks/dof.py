"""What the degrees of freedom cost, for each (point, coordinate, other cluster) and in all.

Run with: python benchmarks/dof.py

"paper" and "default" are `select_k` on a path that is there: everything after the fits. "exact over
paper" is the time of `degrees_of_freedom` for k = 5, 10, 20, 30 by the two methods.
"""

from functools import partial

from common import mixture, save, timed

from edfkmeans import degrees_of_freedom, fit_path, select_k


def best(function, repeats=5):
    """Least time of some calls."""
    return min(timed(function)[0] for _ in range(repeats))


def all_of(X, path, method):
    """Count the degrees of freedom of some fits."""
    for k in (5, 10, 20, 30):
        degrees_of_freedom(X, path.labels(k), path.labels(31), method=method)


def main():
    """Measure k = 2 .. 30 on one thread and on two."""
    rows = []
    for method in ("paper", "combined"):
        select_k(mixture(500, 3), 5, method=method)  # load the kernels
    for n, d in ((1000, 10), (10_000, 10), (20_000, 100)):
        X = mixture(n, d)
        path = fit_path(X, 30, random_state=0)
        terms = n * d * sum(k - 1 for k in range(2, 31))
        paper = {
            jobs: best(partial(select_k, X, path=path, method="paper", n_jobs=jobs))
            for jobs in (1, 2)
        }
        # In turn, as the machine is not always as fast.
        pairs = [
            (
                timed(partial(fit_path, X, 30, random_state=seed))[0],
                timed(partial(select_k, X, path=path, random_state=seed))[0],
            )
            for seed in range(5)
        ]
        path_s, default_s = (min(times) for times in zip(*pairs))
        exact = best(partial(all_of, X, path, "exact"), 3)
        rows.append(
            {
                "n": n,
                "d": d,
                "paper_seconds_1_thread": paper[1],
                "ns_per_term_1_thread": 1e9 * paper[1] / terms,
                "paper_seconds_2_threads": paper[2],
                "path_seconds_2_threads": path_s,
                "paper_percent_of_path": 100 * paper[2] / path_s,
                "default_percent_of_path": 100 * default_s / path_s,
                "exact_over_paper": exact / best(partial(all_of, X, path, "paper"), 3),
            }
        )
    save("dof", rows, "python benchmarks/dof.py")


if __name__ == "__main__":
    main()
