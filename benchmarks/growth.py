"""How time and memory grow with the rows: n = 1e4, 1e5, 1e6 at d = 16, k_max = 30.

Run with: python benchmarks/growth.py          (about four minutes on two cores)
"""

import json
import sys

from common import alone, mixture, peak_mb, save, timed


def measure(n):
    """Path and degrees of freedom of n rows, in this process."""
    from edfkmeans import fit_path, select_k

    select_k(mixture(500, 3), 5)  # load the kernels
    before = peak_mb()
    X = mixture(n, 16)
    path_s, path = timed(lambda: fit_path(X, 30, random_state=0))
    dof_s, _ = timed(lambda: select_k(X, 30, path=path))
    return {
        "n": n,
        "d": 16,
        "path_seconds": path_s,
        "dof_seconds": dof_s,
        "data_mb": X.nbytes / 2**20,
        "peak_mb_with_data": peak_mb() - before,
        "peak_times_data": (peak_mb() - before) / (X.nbytes / 2**20),
    }


def main():
    """Measure each size in a process of its own."""
    rows = [alone(__file__, n) for n in (10_000, 100_000, 1_000_000)]
    for row, fewer in zip(rows[1:], rows, strict=False):
        row["times_a_tenth_of_the_rows"] = (row["path_seconds"] + row["dof_seconds"]) / (
            fewer["path_seconds"] + fewer["dof_seconds"]
        )
    save("growth", rows, "python benchmarks/growth.py")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main()
