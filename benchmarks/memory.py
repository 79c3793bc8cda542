"""Memory beyond the data: tall, wide and square tables, and a large CSV file.

Run with: python benchmarks/memory.py

Every measurement has a process of its own. The peak is counted from where the process stands with
the package loaded and the table made, and is given in bytes of the table. The bound is what
docs/large_data.md says.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from common import RESULTS, alone, filled, peak_mb, save
from joblib import cpu_count

SHAPES = {
    "tall": (1_000_000, 2),
    "long": (200_000, 16),
    "large": (1_000_000, 16),
    "square": (2000, 2000),
    "wide": (100, 20_000),
}
K_MAX = {"wide": 15}
PAGE = Path(__file__).parents[1] / "docs" / "large_data.md"


def bound(n, d, k_max):
    """Return the MB that the page allows beyond the table."""
    centroids = d * (k_max + 1) * (k_max + 2) // 2
    numbers = 3 * n * d + 6 * cpu_count() * min(n, 1000) * d + 3 * centroids
    return (8 * numbers + 110 * n) / 2**20 + 60


def standing():
    """Forget the peak so far, where the system can; returns the MB that are in use now."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5")
    return peak_mb()


def measure(kind):
    """Choose k for one table, in this process."""
    from edfkmeans import fit_path, select_k

    n, d = SHAPES[kind]
    k_max = K_MAX.get(kind, 30)
    select_k(np.random.default_rng(0).normal(size=(300, 3)), 5)  # load the kernels
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 5, size=(n, 1))
    before = standing()
    path = fit_path(X, k_max, random_state=0)
    after_path = peak_mb()
    select_k(X, path=path, random_state=0)
    data = X.nbytes / 2**20
    return {
        "table": kind, "n": n, "d": d, "k_max": k_max, "data_mb": data,
        "path_mb": after_path - before, "select_mb": peak_mb() - before,
        "times_data": (peak_mb() - before) / data, "bound_mb": bound(n, d, k_max),
    }  # fmt: skip


def read(rows):
    """Read a CSV file, in this process."""
    from edfkmeans.cli.preparing import prepare
    from edfkmeans.cli.reading import read_file

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.csv"
        with file.open("w") as stream:
            stream.write(",".join(f"x{j}" for j in range(10)) + "\n")
            for _ in range(rows // 10_000):
                pd.DataFrame(rng.normal(size=(10_000, 10)).round(6)).to_csv(
                    stream, header=False, index=False
                )
        size = file.stat().st_size / 2**20
        before = standing()
        frame, _ = read_file(file)
        after_read = peak_mb()
        prepare(frame, "large.csv")
    return {
        "table": "CSV file", "n": rows, "d": 10, "data_mb": size,
        "path_mb": after_read - before, "select_mb": peak_mb() - before,
        "times_data": (peak_mb() - before) / size, "bound_mb": 4 * size,
    }  # fmt: skip


def tables():
    """Make the table of the page from the results."""
    lines = ["| table | size | taken beyond it | allowed |", "|---|---|---|---|"]
    for row in pd.read_csv(RESULTS / "memory.csv", comment="#").itertuples():
        lines.append(
            f"| {row.table}, {row.n:,} x {row.d} | {row.data_mb:.0f} MB | {row.select_mb:.0f} MB "
            f"| {row.bound_mb:.0f} MB |"
        )
    return {"memory": "\n".join(lines)}


def main():
    """Measure everything; exits with 1 if something needs more than the page says."""
    rows = [alone(__file__, kind) for kind in SHAPES] + [alone(__file__, "csv")]
    save("memory", rows, "python benchmarks/memory.py")
    PAGE.write_text(filled(PAGE.read_text(), tables()))
    above = [row["table"] for row in rows if row["select_mb"] > row["bound_mb"]]
    sys.exit(f"More than docs/large_data.md says: {above}" if above else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(read(1_000_000) if sys.argv[2] == "csv" else measure(sys.argv[2])))
    else:
        main()
