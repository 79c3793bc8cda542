"""The paper, reproduced: its three tables and five figures, beside the published numbers.

Run with: python experiments/reproduce.py [--profile full|smoke] [--jobs N] [--out FOLDER]

"full" takes about an hour on two cores and needs the 28 data sets in the folder that EDFKMEANS_DATA
names; "smoke" takes two minutes and needs nothing. Interrupt it when you like: the next run goes on
where this one ended. The rows are written to experiments/results/reproduction (full) or
build/reproduction (smoke); the tables, figures and a page to read go to build/reproduction-full or
build/reproduction, and those of the full study into docs/reproduction.md too.
"""

import leave

if __name__ == "__main__":
    leave.on_interrupt(cleaning_up=False)  # before the other imports, which take a second

import argparse
import importlib.metadata
import itertools
import json
import os
import platform
import sys
import tomllib
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import cells
import provenance
import runner
import sets
from whole import whole

HERE = Path(__file__).parent
PROFILES = ("full", "smoke")
STUDIES = ("simulations", "real", "pilots", "direct")
PACKAGES = ("edfkmeans", "numpy", "scipy", "scikit-learn", "numba", "pandas")


def grid_of(profile):
    """Read the grid with the profile's changes."""
    grid = tomllib.loads((HERE / "grids.toml").read_text())
    for study, changes in grid.pop("profiles")[profile].items():
        grid[study].update(changes)
    return grid


def studies(grid):
    """List the studies: name, cells, and the function that computes one of them."""
    s, r, p, q = (grid[name] for name in ("simulations", "real", "pilots", "direct"))
    k_max = grid["k_max"]
    yield (
        "simulations",
        [
            {"scheme": scheme, "k": k, "d": d, "replicate": replicate}
            for scheme, k, d, replicate in itertools.product(
                s["schemes"], s["k"], s["d"], range(s["replicates"])
            )
        ],
        partial(cells.simulated, n=s["n"], k_max=k_max),
    )
    yield (
        "real",
        [{"data": name, "seed": seed} for name in r["sets"] for seed in range(r["seeds"])],
        partial(cells.real, k_max=k_max),
    )
    yield (
        "pilots",
        [{"data": name, "pilot": k + 1} for name in p["sets"] for k in range(p["pilots"])],
        partial(cells.pilots, ks=p["k"], k_last=k_max, seed=p["seed"]),
    )
    yield (
        "direct",
        [
            {"clusters": k, "d": d, "pair": pair}
            for k, d, pair in itertools.product(q["k"], q["d"], range(q["pairs"]))
        ],
        partial(cells.direct, n=q["n"], sigma=q["sigma"], k_max=k_max),
    )


def only_available(grid):
    """Leave out the data sets that are not here, and say how to get them."""
    for study in ("real", "pilots"):
        for name in list(grid[study]["sets"]):
            try:
                sets.load(name)
            except FileNotFoundError as error:
                grid[study]["sets"].remove(name)
                print(f"Left out: {error}", file=sys.stderr)
    return grid


def environment():
    """Tell what the rows are computed with."""
    return {
        "commit": provenance.commit(),
        "sources": provenance.digest("experiments/reproduce.py"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **{name: importlib.metadata.version(name) for name in PACKAGES},
    }


def main(profile, jobs, out, rows, only=None):
    """Compute the missing rows, then write tables, figures and the page."""
    grid = only_available(grid_of(profile))
    runs_file = rows / "runs.json"
    started = datetime.now(UTC).isoformat(timespec="seconds")
    for name, todo, compute in studies(grid):
        if not todo or only not in (None, name):
            continue
        file = rows / f"{name}.csv"
        before = len(runner.rows_of(file))
        seconds = runner.run(todo, compute, file, jobs, name)
        made = len(runner.rows_of(file)) - before
        if made:
            run = {"study": name, "rows": made, "started": started, "seconds": round(seconds)}
            runs = json.loads(runs_file.read_text()) if runs_file.exists() else []
            runs.append(run | environment())
            with whole(runs_file) as part:
                part.write_text(json.dumps(runs, indent=1) + "\n")
    if only is not None:
        return
    import paper_page

    print(f"Read {paper_page.write(profile, grid, rows, out)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--profile", choices=PROFILES, default="full")
    parser.add_argument("--study", choices=STUDIES, help="compute the rows of this one only")
    parser.add_argument("--jobs", type=int, help="number of threads, by default all cores")
    parser.add_argument("--out", type=Path, help="folder for tables, figures and the page")
    parser.add_argument("--rows", type=Path, help="folder for the rows")
    given = parser.parse_args()
    build = HERE.parent / "build"
    default = {"full": HERE / "results" / "reproduction", "smoke": build / "reproduction"}
    given.rows = given.rows or default[given.profile]
    given.out = given.out or build / f"reproduction{'-full' * (given.profile == 'full')}"
    leave.on_interrupt(cleaning_up=True)
    try:
        main(given.profile, given.jobs, given.out, given.rows, given.study)
    except KeyboardInterrupt:
        leave.at_once()
