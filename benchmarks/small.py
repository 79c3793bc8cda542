"""Small data: how long `select_k` takes once kernels are loaded, and where the time goes.

Run with: python benchmarks/small.py          (half a minute; it fills the tables of docs/speed.md)

Every function that is named here is timed while it runs in the main thread, less what others of
them take within it. What is left over is the first line.
"""

import time
from collections import Counter
from functools import wraps
from pathlib import Path

import numpy as np
import pandas as pd
from common import RESULTS, filled, save
from sklearn.datasets import load_iris, load_wine

from edfkmeans import select_k, selection
from edfkmeans.choosing import judge, looks
from edfkmeans.criteria import contrast, information

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
CALLS = 20
REST = "the rest"
# Who does what: places where a function is looked up.
STAGES = {
    "reading and checking X": [(selection, "open_for"), (selection, "check_k_max")],
    "fits": [(selection, "fit_rows")],
    "degrees of freedom": [(information.Dofs, "make"), (selection, "ambiguity_of")],
    "silhouettes": [(looks, "_silhouettes"), (contrast, "silhouettes_of")],
    "valleys between clusters": [(looks, "_saddles"), (contrast, "mean_saddles")],
    "samples without clusters, drawn and fitted": [(contrast.Contrast, "before")],
    "halves of the rows, shapes of columns, islands": [
        (looks.Ground, "before"),
        (looks.Look, "make"),
    ],
    "evidence": [(judge, "evidence_of")],
    "trees": [(judge, "verdict")],
    "words for every k": [(judge, "_reason"), (selection, "candidates_of")],
    "what is odd about columns": [(selection, "findings_of"), (selection, "remarks_of")],
    "pandas": [(pd.DataFrame, "__init__"), (pd.DataFrame, "__getitem__")],
}


class Stages:
    """Seconds of every stage; of those that are under way, the innermost one counts."""

    def __init__(self):
        self.seconds = Counter()
        self.under_way = [REST]
        self.since = time.process_time()

    def enter(self, stage):
        """Stop one clock, and start another."""
        now = time.process_time()
        self.seconds[self.under_way[-1]] += now - self.since
        self.under_way.append(stage)
        self.since = now

    def leave(self):
        """Go back to the one before."""
        now = time.process_time()
        self.seconds[self.under_way.pop()] += now - self.since
        self.since = now

    def watched(self, stage, function):
        """Return a function that tells when it begins and ends."""

        @wraps(function)
        def watching(*arguments, **options):
            self.enter(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.leave()

        return watching


def calls(X, n_jobs):
    """Seconds of the clock and of the processors, for every call."""
    found = []
    for _ in range(CALLS):
        begun, before = time.perf_counter(), time.process_time()
        select_k(X, random_state=0, n_jobs=n_jobs)
        found.append((time.perf_counter() - begun, time.process_time() - before))
    return np.array(found)


def by_stage(X):
    """Processor milliseconds of every stage, the median over calls, in one thread."""
    found = []
    for _ in range(CALLS):
        stages = Stages()
        put_back = []
        for stage, places in STAGES.items():
            for owner, name in places:
                own = owner.__dict__[name]
                put_back.append((owner, name, own))
                setattr(owner, name, stages.watched(stage, own))
        try:
            stages.since = time.process_time()
            select_k(X, random_state=0, n_jobs=1)
            stages.leave()
        finally:
            for owner, name, own in put_back:
                setattr(owner, name, own)
        found.append(stages.seconds)
    return {stage: 1000 * np.median([one[stage] for one in found]) for stage in (*STAGES, REST)}


def main():
    """Measure, and fill the tables of the page."""
    whole, parts = [], []
    for name, X in (("iris", load_iris().data), ("wine", load_wine().data)):
        select_k(X, random_state=0)  # load the kernels
        for n_jobs, threads in ((None, "as many as cores"), (1, "one")):
            seconds = 1000 * calls(X, n_jobs)
            whole.append({
                "data": f"{name}, {len(X)} x {X.shape[1]}",
                "threads": threads,
                "ms_median": np.median(seconds[:, 0]),
                "ms_least": seconds[:, 0].min(),
                "cpu_ms_median": np.median(seconds[:, 1]),
                "cpu_ms_least": seconds[:, 1].min(),
            })  # fmt: skip
        stages = by_stage(X)
        total = sum(stages.values())
        parts += [
            {"data": name, "what": stage, "ms": ms, "percent": 100 * ms / total}
            for stage, ms in stages.items()
        ]
    save("small", whole, "python benchmarks/small.py")
    save("small_parts", parts, "python benchmarks/small.py")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), tables()), encoding="utf-8")


def tables():
    """Make the tables of the page, by their marks."""
    whole = pd.read_csv(RESULTS / "small.csv", comment="#")
    lines = ["| data | threads | ms, median | ms, least | processor ms, least |", "|---" * 5 + "|"]
    for row in whole.itertuples():
        lines.append(
            f"| {row.data} | {row.threads} | {row.ms_median:.0f} | {row.ms_least:.0f} "
            f"| {row.cpu_ms_least:.0f} |"
        )
    parts = pd.read_csv(RESULTS / "small_parts.csv", comment="#")
    shown = ["| what | iris, processor ms | % | wine, processor ms | % |", "|---" * 5 + "|"]
    for what, rows in parts.groupby("what", sort=False):
        cells = [f"{row.ms:.1f} | {row.percent:.0f}" for row in rows.itertuples()]
        shown.append(f"| {what} | {' | '.join(cells)} |")
    start = pd.read_csv(RESULTS / "start.csv", comment="#")
    waits = ["| what | seconds | processor seconds | with the second process |", "|---" * 4 + "|"]
    waits += [
        f"| {row.what} | {row.seconds:.2f} | {row.own_cpu_seconds:.2f} | {row.cpu_seconds:.2f} |"
        for row in start.itertuples()
    ]
    return {"start": "\n".join(waits), "small": "\n".join(lines), "parts": "\n".join(shown)}


if __name__ == "__main__":
    main()
