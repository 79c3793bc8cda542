"""What the degrees of freedom cost, for each (point, coordinate, other cluster) and in all.

Run with: python benchmarks/dof.py
"""

from functools import partial

from common import mixture, save, timed

from edfkmeans import fit_path, select_k


def main():
    """Measure k = 2 .. 30 on one thread and on two."""
    rows = []
    select_k(mixture(500, 3), 5)  # load the kernels
    for n, d in ((1000, 10), (10_000, 10), (20_000, 100)):
        X = mixture(n, d)
        path_s = min(timed(lambda X=X: fit_path(X, 30, random_state=0))[0] for _ in range(3))
        path = fit_path(X, 30, random_state=0)
        terms = n * d * sum(k - 1 for k in range(2, 31))
        seconds = {
            jobs: min(timed(partial(select_k, X, path=path, n_jobs=jobs))[0] for _ in range(5))
            for jobs in (1, 2)
        }
        rows.append(
            {
                "n": n,
                "d": d,
                "dof_seconds_1_thread": seconds[1],
                "ns_per_term_1_thread": 1e9 * seconds[1] / terms,
                "dof_seconds_2_threads": seconds[2],
                "path_seconds_2_threads": path_s,
                "dof_percent_of_path": 100 * seconds[2] / path_s,
            }
        )
    save("dof", rows, "python benchmarks/dof.py")


if __name__ == "__main__":
    main()
