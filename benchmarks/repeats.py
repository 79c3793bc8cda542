"""What rows that repeat cost: many rows of few kinds beside the few kinds alone.

Run with: python benchmarks/repeats.py. Seconds are those of the processor, in one thread, so that
other work on the machine does not count. With --as-they-are the many rows are also fitted without
holding equal ones once, which takes minutes.
"""

import argparse
import time

import numpy as np
from common import mixture, save

from edfkmeans import fit_path, select_k
from edfkmeans.rows import repeats


def measured(what, function):
    """Print and return the least of two times, as kernels may have to be compiled in the first."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        found = function()
        seconds.append(time.process_time() - start)
    print(
        f"{what}: {min(seconds):.2f} s, k = {found.k if hasattr(found, 'k') else '-'}", flush=True
    )
    return min(seconds), found


def main():
    """Time fits and whole answers, and compare them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--different", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--as-they-are", action="store_true")
    given = parser.parse_args()
    few = np.round(mixture(given.different, given.columns), 2)
    few = np.unique(few, axis=0)
    rng = np.random.default_rng(0)
    kinds = np.concatenate([np.arange(len(few)), rng.integers(0, len(few), given.rows - len(few))])
    many = few[rng.permutation(kinds)]
    print(f"{len(many):,} rows, {len(few):,} different ones, {given.columns} columns")
    rows = []
    for name, function in (("fit_path", fit_path), ("select_k", select_k)):
        alone, _ = measured(f"{name}, different rows alone", lambda: function(few, n_jobs=1))  # noqa: B023
        held, one = measured(f"{name}, all rows", lambda: function(many, n_jobs=1))  # noqa: B023
        print(f"  {held / alone:.2f} times as long")
        rows.append(
            {
                "what": name,
                "rows": len(many),
                "different": len(few),
                "columns": given.columns,
                "seconds_different_alone": alone,
                "seconds_all": held,
                "times": held / alone,
            }
        )
        if given.as_they_are:
            repeats.LEAST = len(many) + 1
            _, other = measured(f"{name}, all rows, as they are", lambda: function(many, n_jobs=1))  # noqa: B023
            repeats.LEAST = 131_073
            paths = [getattr(each, "path", each) for each in (one, other)]
            off = np.abs(paths[0].inertia / paths[1].inertia - 1).max()
            print(f"  inertia differs by {off:.1e} at most")
    save("repeats", rows, "python benchmarks/repeats.py")


if __name__ == "__main__":
    main()
