"""A GPU: whole answers, passes, degrees of freedom; beside flash-kmeans and the processor.

Run with: python benchmarks/gpu.py [answers] [passes] [small] [quality] [peer] [host]
          [sets=FOLDER] [page]
          (all of them if none is named; sets only if FOLDER has the 28 sets, see best_known.py)

Rows are mixtures of twelve Gaussian clusters, float32, and lie on the GPU unless said otherwise.
Times are the least of some calls after a first one, which compiles. `answers`: select_k(X, 30) and
its parts. `passes`: one pass of k = 1 .. 31, the first also adding up products of columns, and the
degrees of freedom of all k. `small`: select_k over the number of rows, by GPU and processor.
`quality`: inertia and degrees of freedom beside the processor's. `peer`: flash-kmeans, the best of
10 starts with 25 iterations for every k. `host`: 4e7 x 64 from pinned memory. Every line is put
down as soon as it is known: benchmarks/results/gpu.csv, headed by the device.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import RESULTS, filled, machine, provenance
from pages import markdown

FILE = RESULTS / "gpu.csv"
PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
# What was measured before, by other calls, stays.
ROWS = pd.read_csv(FILE, comment="#").to_dict("records") if FILE.exists() else []


def put(what, n, d, name, value, unit="s"):
    """Put down a number."""
    import cupy

    row = {"what": what, "n": n, "d": d, "name": name, "value": value, "unit": unit}
    ROWS[:] = [each for each in ROWS if any(each[key] != row[key] for key in list(row)[:4])]
    ROWS.append(row)
    print(f"{what:10s} {n:>9d} x {d:<3d} {name:40s} {value:12.6g} {unit}", flush=True)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    head = f"# {device}, CuPy {cupy.__version__}; {machine()}\n# python benchmarks/gpu.py\n"
    head += f"{provenance.line('benchmarks/results/gpu.csv')}\n"
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(head + pd.DataFrame(ROWS).to_csv(index=False, float_format="%.6g"))


def table():
    """Return what was measured as a table, headed by the device, for the page."""
    found = pd.read_csv(FILE, comment="#")
    device = FILE.read_text().splitlines()[0].removeprefix("# ")
    shown = pd.DataFrame(
        {
            "rows x columns": [f"{n:,} x {d}" for n, d in zip(found["n"], found["d"])],
            "what": found["what"] + ": " + found["name"],
            "": [f"{v:.3g} {unit}" for v, unit in zip(found["value"], found["unit"])],
        }
    )
    return f"{device}\n\n{markdown(shown)}"


def mixture(n, d, seed=0):
    """Twelve Gaussian clusters that overlap somewhat, drawn on the GPU."""
    import cupy

    rng = cupy.random.default_rng(seed)
    centers = cupy.asarray(1.5 * np.random.default_rng(seed).normal(size=(12, d)), "float32")
    X = cupy.empty((n, d), "float32")
    for first in range(0, n, 1_000_000):
        part = X[first : first + 1_000_000]
        part[:] = centers[rng.integers(0, 12, len(part))]
        part += rng.standard_normal(part.shape, dtype="float32")
    return X


def timed(function, calls=1):
    """Return the least time of some calls, and the last result."""
    import cupy

    least = np.inf
    for _ in range(calls):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        found = function()
        cupy.cuda.Device().synchronize()
        least = min(least, time.perf_counter() - start)
    return least, found


def parts_of(names):
    """Measure what some functions take in all: their time is added up in the mapping returned."""
    import importlib

    spent = {}
    for name in names:
        place, _, attribute = name.rpartition(".")
        owner_name, _, class_name = place.rpartition(":")
        owner = importlib.import_module(owner_name or place)
        owner = getattr(owner, class_name) if owner_name else owner
        plain = getattr(owner, attribute)

        def measured(*args, plain=plain, name=name, **kwargs):
            start = time.perf_counter()
            result = plain(*args, **kwargs)
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
            return result

        setattr(owner, attribute, measured)
    return spent


PARTS = (
    "edfkmeans.selection.open_for",
    "edfkmeans.engines.cuda:CudaSample.search",
    "edfkmeans.fits.search.refine",
    "edfkmeans.fits.search.fits_in_sample",
    "edfkmeans.criteria.information.path_excesses",
    "edfkmeans.choosing.looks:Ground.before",
    "edfkmeans.criteria.contrast:Contrast.before",
    "edfkmeans.choosing.looks:Look.make",
    "edfkmeans.selection.findings_of",
    "edfkmeans.choosing.judge.verdict",
    "edfkmeans.selection.ambiguity_of",
)


def answers():
    """Whole answers, rows being on the GPU."""
    from edfkmeans import select_k

    spent = parts_of(PARTS)
    for n, d, calls in ((10_000_000, 64, 2), (1_000_000, 16, 3), (100_000, 16, 3)):
        X = mixture(n, d)
        first, _ = timed(lambda X=X: select_k(X, 30, random_state=0))
        put("answer", n, d, "select_k(X, 30), first call", first)
        least = np.inf
        for _ in range(calls):
            spent.clear()
            seconds, found = timed(lambda X=X: select_k(X, 30, random_state=0))
            if seconds < least:
                least, kept = seconds, dict(spent)
        put("answer", n, d, "select_k(X, 30)", least)
        put("answer", n, d, "k found", found.k, "clusters")
        for name, value in kept.items():
            put("part", n, d, name.rpartition("edfkmeans.")[2], value)


def passes():
    """One pass of all k, and the degrees of freedom of all k."""
    from edfkmeans import fit_path
    from edfkmeans.dof.terms import path_excess
    from edfkmeans.engines import open_rows
    from edfkmeans.rows.assignments import Nearest
    from edfkmeans.rows.tasks import Tally, products

    n, d = 10_000_000, 64
    X = mixture(n, d)
    path = fit_path(X, 30, random_state=0)
    rows = open_rows(X, 0)
    centers = [path.fit(k).centers for k in range(1, 32)]
    tallies = [Tally(Nearest(each), each) for each in centers]
    put("pass", n, d, "all k and products", timed(lambda: rows.sums([*tallies, products]), 3)[0])
    put("pass", n, d, "all k", timed(lambda: rows.sums(tallies), 3)[0])
    for method in ("paper", "exact"):
        seconds, _ = timed(lambda method=method: path_excess(rows, path, method), 3)
        put("dof", n, d, f"all k, {method}", seconds)


def small():
    """Time over the number of rows, by GPU and by processor."""
    import cupy

    from edfkmeans import select_k

    for n in (3_000, 30_000, 300_000):
        X = mixture(n, 16)
        there = cupy.asnumpy(X)
        select_k(X, 30, random_state=0)
        put("curve", n, 16, "GPU", timed(lambda X=X: select_k(X, 30, random_state=0), 2)[0])
        cpu = timed(lambda there=there: select_k(there, 30, random_state=0), 2 - (n > 99_999))[0]
        put("curve", n, 16, "processor", cpu)


def quality():
    """Inertia and degrees of freedom beside the processor's."""
    import cupy

    from edfkmeans import degrees_of_freedom, fit_path, select_k

    n, d = 1_000_000, 16
    X = mixture(n, d)
    there = cupy.asnumpy(X)
    ours = fit_path(X, 30, random_state=0)
    seconds, theirs = timed(lambda: select_k(there, 30, random_state=0))
    put("quality", n, d, "select_k by the processor", seconds)
    there_too, _ = timed(lambda: select_k(X, 30, random_state=0), 3)
    put("quality", n, d, "the processor takes", seconds / there_too, "times as long")
    above = 100 * (ours.inertia / theirs.path.inertia - 1)
    put("quality", n, d, "inertia above the processor's, mean", above.mean(), "%")
    put("quality", n, d, "inertia above the processor's, most", above.max(), "%")
    some, n = there[:200_000], 200_000
    pilot = theirs.path.labels(31)[:n]
    for method in ("paper", "exact"):
        for k in (3, 12, 25):
            labels = theirs.path.labels(k)[:n]
            cpu = degrees_of_freedom(some.astype("float64"), labels, pilot, method=method).total
            gpu = degrees_of_freedom(X[:n], labels, pilot, method=method).total
            put("quality", n, d, f"dof {method}, k = {k}, off by", abs(gpu / cpu - 1), "part")


def peer():
    """flash-kmeans: every k, the best of 10 starts with 25 iterations, by the nearest centres."""
    import cupy
    import torch
    from flash_kmeans import batch_kmeans_Euclid

    from edfkmeans import fit_path
    from edfkmeans.engines import open_rows
    from edfkmeans.rows.assignments import Nearest
    from edfkmeans.rows.tasks import Tally

    n, d = 10_000_000, 64
    X = mixture(n, d)
    tensor = torch.as_tensor(X, device="cuda")[None]
    rows = open_rows(X, 0)
    fit_path(X, 30, random_state=0)
    ours, path = timed(lambda: fit_path(X, 30, random_state=0), 2)
    put("peer", n, d, "our fit_path, k = 1 .. 31", ours)
    spent, lower = 0.0, 0
    for k in range(2, 32):
        batch_kmeans_Euclid(tensor, k, max_iters=2)  # compiles for this k
        tallies = []
        for start in range(10):
            torch.manual_seed(1000 * k + start)
            seconds, (_, centers, *_) = timed(
                lambda k=k: batch_kmeans_Euclid(tensor, k, max_iters=25)
            )
            spent += seconds
            there = cupy.from_dlpack(centers[0].contiguous())
            where = (cupy.asnumpy(there).astype(float) - rows.units.offset) / rows.units.scale
            tallies.append(Tally(Nearest(where), where))
        best = rows.units.squared(min(found.inertia for found in rows.sums(tallies)))
        lower += bool(path.inertia[k - 1] < best)
        put("peer", n, d, f"flash-kmeans above ours, k = {k}",
            100 * (best / path.inertia[k - 1] - 1), "%")  # fmt: skip
    put("peer", n, d, "flash-kmeans, k = 2 .. 31", spent)
    put("peer", n, d, "flash-kmeans takes", spent / ours, "times as long")
    put("peer", n, d, "ours is lower", lower, "of 30 k")


def host():
    """Rows in pinned memory of the machine."""
    import cupy
    import cupyx

    from edfkmeans import select_k

    n, d = 40_000_000, 64
    X = cupyx.empty_pinned((n, d), "float32")
    for number, first in enumerate(range(0, n, 1_000_000)):
        X[first : first + 1_000_000] = cupy.asnumpy(_block(d, number))
    seconds, found = timed(lambda: select_k(X, 30, random_state=0, engine="cuda"))
    put("host", n, d, "select_k(X, 30), X in pinned memory", seconds)
    put("host", n, d, "k found", found.k, "clusters")


def _block(d, number):
    """Rows of the same clusters, whatever the number."""
    import cupy

    rng = cupy.random.default_rng(number)
    centers = cupy.asarray(1.5 * np.random.default_rng(0).normal(size=(12, d)), "float32")
    rows = centers[rng.integers(0, 12, 1_000_000)]
    return rows + rng.standard_normal(rows.shape, dtype="float32")


def page():
    """Measure nothing: the table of docs/gpu.md is made anew after everything."""


def sets(folder):
    """Compare inertia and k of the 28 sets: as the engine does it, and with the search forced."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from edfkmeans import datasets

    names = sorted(datasets.SOURCES)
    # Every number of columns is compiled for: several processes do that at once.
    with ProcessPoolExecutor(8, get_context("spawn")) as pool:
        found = pd.concat(pool.map(one_set, names, [folder] * len(names)))
    for how, every in found.groupby("how", sort=False):
        put("sets", len(names), 0, f"inertia above the processor's, mean{how}",
            100 * every["above"].mean(), "%")  # fmt: skip
        put(
            "sets", len(names), 0, f"inertia above, worst set{how}", 100 * every["above"].max(), "%"
        )
        differ = every[every["k"] != every["by_processor"]]
        told = "; ".join(f"{x.name}: {x.k} / {x.by_processor}" for x in differ.itertuples(False))
        put("sets", len(names), 0, f"same k{how}{f' ({told})' if told else ''}",
            len(names) - len(differ), "sets")  # fmt: skip


def one_set(name, folder):
    """Return how the answers of GPU and processor compare for one set."""
    from edfkmeans import datasets, select_k
    from edfkmeans.engines import cuda

    X = datasets.load(name, folder).X.astype("float32")
    theirs = select_k(X, random_state=0)
    rows = []
    for how, cuda.FEW in (("", 20_000), (", search on the GPU", 0)):
        ours = select_k(X, random_state=0, engine="cuda")
        above = float((ours.path.inertia / theirs.path.inertia - 1).mean())
        rows.append((how, name, above, ours.k, theirs.k))
    return pd.DataFrame(rows, columns=["how", "name", "above", "k", "by_processor"])


def has_gpu():
    """Whether there is a GPU to measure."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False


if __name__ == "__main__":
    if not has_gpu():
        sys.exit(print("There is no GPU: nothing is measured."))
    asked = sys.argv[1:] or ["answers", "passes", "small", "quality", "peer", "host"]
    for each in asked:
        name, _, folder = each.partition("=")
        begun = time.perf_counter()
        try:
            sets(folder) if name == "sets" else globals()[name]()
        except Exception as error:  # the others shall be measured all the same
            print(f"{name} failed: {type(error).__name__}: {error}", flush=True)
            import traceback

            traceback.print_exc()
        if PAGE.exists():
            PAGE.write_text(filled(PAGE.read_text(), {"gpu": table()}))
        print(f"-- {name}: {time.perf_counter() - begun:.1f} s", flush=True)
