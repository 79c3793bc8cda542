"""Rows that do not fit in memory: time and memory of every engine, dask-ml beside it, the loss.

Run with: python benchmarks/large.py FOLDER [engines[=ROWS]] [grow] [peers] [loss] [spark]
                                     [mllib[=ROWS]]
          (all of them if none is named; ROWS is 10000000 unless it is given, of mllib 1000000)

FOLDER takes the Parquet files (0.7 GB), which are kept for the next run. `engines`: the same rows
by every engine, each in a process of its own, arrow before and after dask, Spark the last. `grow`:
1e6 and 1e7 rows of 16 float32 columns, k_max = 15, on two workers with 0.75 GB each. `peers`: k = 2
.. 16 of 1e6 rows by dask-ml's KMeans with as many iterations as we made passes for all k, on the
same workers, one after the other, ours before and after; the inertia of both recomputed. `loss`:
inertia against that of the path in memory, on ten data sets that fit in the sample and on six of
300000 rows that do not. `spark`: as `grow`, on two executors of Spark with 0.6 GB each; `mllib`: k
= 2 .. 16 by MLlib's KMeans and ClusteringEvaluator on the same executors, ours before and after.
What has been measured is kept in FOLDER until the sources change, so that a run that was stopped
goes on. The tables of docs/large_data.md are made anew at the end.
"""

import hashlib
import json
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import RESULTS, alone, filled, peak_mb, provenance, save
from large_spark import grow_spark, mllib, of_children, spark_cluster
from large_tables import K_MAX, tables

COLUMNS = [f"x{j}" for j in range(16)]
ROWS_PER_FILE = 100_000
WORKER_MB = 750
# One after the other, arrow before and after dask.
ENGINES = ("arrow", "dask", "arrow,again", "memory", "spark")
PEER_KS = tuple(range(2, 17))
PAGE = Path(__file__).parents[1] / "docs" / "large_data.md"
BENCHMARK = Path(__file__).parents[2] / "shared" / "benchmark"


def parquet(folder: Path, n: int) -> Path:
    """Write n rows of twelve Gaussian clusters, unless that has been done."""
    target = folder / f"rows_{n}"
    centers = 1.5 * np.random.default_rng(0).normal(size=(12, 16))
    target.mkdir(parents=True, exist_ok=True)
    for part in range(n // ROWS_PER_FILE):
        file = target / f"part{part:04d}.parquet"
        if not file.exists():
            rng = np.random.default_rng([1, part])
            rows = centers[rng.integers(0, 12, ROWS_PER_FILE)]
            rows = (rows + rng.normal(size=rows.shape)).astype(np.float32)
            pd.DataFrame(rows, columns=COLUMNS).to_parquet(file.with_suffix(".tmp"))
            os.replace(file.with_suffix(".tmp"), file)
    return target


def by_engine(folder: Path, engine: str, n: int) -> dict:
    """Choose k for n rows by one engine; memory and processor time are those of all processes."""
    from edfkmeans import select_k

    source = parquet(folder, n)
    with opened(engine) as (open_, others):
        select_k(open_(source / "part0000.parquet"), 3, random_state=0)  # load kernels
        X = open_(source)
        start, busy = time.perf_counter(), time.process_time() + sum(others(time.process_time))
        found = select_k(X, K_MAX, random_state=0)
        seconds = time.perf_counter() - start
        busy = time.process_time() + sum(others(time.process_time)) - busy
        peak = peak_mb() + sum(others(_peak_mb))
    digest = hashlib.sha256()
    for k in range(1, K_MAX + 2):
        digest.update(found.path.centers(k).tobytes() + found.path.sizes(k).tobytes())
    return {
        "engine": engine,
        "n": n,
        "d": 16,
        "k_max": K_MAX,
        "k": found.k,
        "seconds": seconds,
        "processor_seconds": busy,
        "data_mb": n * 16 * 4 / 2**20,
        "peak_mb": peak,
        "digest_of_centers_and_sizes": digest.hexdigest()[:12],
    }


@contextmanager
def opened(engine: str):
    """Return what opens a file for an engine, and what asks its other processes something."""
    if engine == "dask":
        import dask.dataframe as dd
        from distributed import Client

        with cluster() as workers, Client(workers) as client:
            yield dd.read_parquet, lambda ask: client.run(ask).values()
    elif engine == "spark":
        with spark_cluster() as session:
            number = {_peak_mb: 0, time.process_time: 1}
            yield (
                lambda file: session.read.parquet(str(file)),
                lambda ask: [of_children()[number[ask]]],
            )
    elif engine == "arrow":
        import pyarrow.dataset as ds

        yield ds.dataset, lambda ask: ()
    else:
        yield lambda file: pd.read_parquet(file).to_numpy(), lambda ask: ()


def cluster():
    """Two worker processes of one thread and 0.75 GB each."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=WORKER_MB * 10**6, dashboard_address=None
    )


def passes_counted():
    """Return a list that every pass over the rows adds its title and time to."""
    from edfkmeans.engines._dask_chunks import Chunks

    titles, run = [], Chunks._run

    def counted(self, parts, whole, title):
        start = time.perf_counter()
        result = run(self, parts, whole, title)
        titles.append((title, time.perf_counter() - start))
        return result

    Chunks._run = counted
    return titles


def grow(folder: Path, n: int) -> dict:
    """Choose k for n rows."""
    import dask.dataframe as dd
    from distributed import Client

    from edfkmeans import select_k

    source = parquet(folder, n)
    titles = passes_counted()
    with cluster() as workers, Client(workers) as client:
        select_k(dd.read_parquet(source / "part0000.parquet"), 3, random_state=0)  # load kernels
        before = set(client.run(os.getpid).values())
        titles.clear()
        start = time.perf_counter()
        found = select_k(dd.read_parquet(source), K_MAX, random_state=0)
        seconds = time.perf_counter() - start
        peaks = list(client.run(_peak_mb).values())
        restarted = set(client.run(os.getpid).values()) != before
    refining = [s for title, s in titles if title.startswith("pass")]
    return {
        "n": n,
        "d": 16,
        "k_max": K_MAX,
        "k": found.k,
        "seconds": seconds,
        "refining_passes": len(refining),
        "seconds_refining": sum(refining),
        "seconds_dof": dict(titles)["degrees of freedom"],
        "data_mb": n * 16 * 4 / 2**20,
        "limit_mb": 2 * WORKER_MB * 10**6 / 2**20,
        "peak_mb_workers": sum(peaks),
        "peak_mb_largest_worker": max(peaks),
        "peak_mb_caller": peak_mb(),
        "workers_restarted": restarted,
    }


def _peak_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def true_inertia(array, centers) -> float:
    """Sum of squared distances to the nearest centre, chunk by chunk, in double precision."""

    def block(rows):
        rows = rows.astype(np.float64)
        best = np.full(len(rows), np.inf)
        for center in centers:
            np.minimum(best, ((rows - center) ** 2).sum(axis=1), out=best)
        return best

    return float(array.map_blocks(block, drop_axis=1, dtype=np.float64).sum().compute())


def peers(folder: Path, n: int) -> list[dict]:
    """Fit every k, by us at once and by dask-ml one after the other."""
    import dask.dataframe as dd
    from dask_ml.cluster import KMeans
    from distributed import Client

    from edfkmeans import fit_path

    source = parquet(folder, n)
    titles = passes_counted()
    rows = []
    with cluster() as workers, Client(workers):
        fit_path(dd.read_parquet(source / "part0000.parquet"), 3, random_state=0)  # load kernels
        titles.clear()

        def all_k():
            start = time.perf_counter()
            path = fit_path(dd.read_parquet(source), K_MAX, random_state=0)
            return path, time.perf_counter() - start

        path, before = all_k()
        passes = sum(title.startswith("pass") for title, _ in titles)
        lengths = [ROWS_PER_FILE] * (n // ROWS_PER_FILE)
        array = dd.read_parquet(source).to_dask_array(lengths=lengths)
        KMeans(2, max_iter=1, random_state=0).fit(array[:ROWS_PER_FILE])  # load its kernels
        for k in PEER_KS:
            start = time.perf_counter()
            model = KMeans(k, max_iter=passes, random_state=0).fit(array)
            seconds = time.perf_counter() - start
            true = true_inertia(array, model.cluster_centers_)
            rows.append(
                {
                    "n": n,
                    "k": k,
                    "passes": passes,
                    "seconds_dask_ml": seconds,
                    "inertia_edfkmeans": path.inertia[k - 1],
                    "recomputed_edfkmeans": true_inertia(array, path.centers(k)),
                    "inertia_dask_ml": model.inertia_,
                    "recomputed_dask_ml": true,
                }
            )
            print(k, f"{seconds:.1f} s, ours {before:.1f} s for all", file=sys.stderr)
        _, after = all_k()
    total = sum(row["seconds_dask_ml"] for row in rows)
    for row in rows:
        row["seconds_dask_ml_these_k"] = total
        row["seconds_edfkmeans_all_k_before"] = before
        row["seconds_edfkmeans_all_k_after"] = after
        row["above_ours_percent"] = (
            100 * row["recomputed_dask_ml"] / row["recomputed_edfkmeans"] - 100
        )
    return rows


def loss() -> list[dict]:
    """Inertia of the path on dask above that of the path in memory."""
    import dask.array as da

    from edfkmeans import fit_path
    from edfkmeans.simulate import SCHEMES

    def large(scheme):
        from edfkmeans.simulate import simulate

        return simulate(scheme, 8, 6, 300_000, random_state=1)[0].astype(np.float32)

    sets = [(name, make, 30) for name, make in small_sets().items()]
    sets += [(scheme, lambda scheme=scheme: large(scheme), K_MAX) for scheme in SCHEMES]
    rows = []
    for name, make, k_max in sets:
        X = make()
        memory = fit_path(X, k_max, random_state=0)
        chunks = (-(-len(X) // 7), X.shape[1])
        dask = fit_path(da.from_array(X, chunks=chunks), k_max, random_state=0)
        above = 100 * (dask.inertia / memory.inertia - 1)
        rows.append(
            {
                "data": name,
                "n": len(X),
                "d": X.shape[1],
                "k_last": k_max + 1,
                "mean_percent": above.mean(),
                "worst_percent": above.max(),
                "worst_k": int(above.argmax()) + 1,
            }
        )
        print(rows[-1], file=sys.stderr)
    return rows


def small_sets() -> dict:
    """Four sets of scikit-learn and six of the benchmark, or simulated ones in their place."""
    import sklearn.datasets

    from edfkmeans.simulate import SCHEMES, simulate

    def standard(X):
        X = np.asarray(X, float)
        X = X[:, X.std(axis=0) > 0]
        return (X - X.mean(axis=0)) / X.std(axis=0)

    sets = {
        name: lambda name=name: standard(getattr(sklearn.datasets, f"load_{name}")().data)
        for name in ("iris", "wine", "breast_cancer", "digits")
    }
    names = ["frogs", "mf_digits", "pen_digits", "phoneme", "satellite", "yeast_uci"]
    for name, scheme in zip(names, SCHEMES):
        file = BENCHMARK / f"{name}.csv.gz"
        if file.exists():
            sets[name] = lambda file=file: standard(
                pd.read_csv(file).filter(regex=r"^f\d+$").to_numpy()
            )
        else:
            sets[f"{scheme}, small"] = lambda scheme=scheme: simulate(
                scheme, 8, 6, 5000, random_state=1
            )[0]
    return sets


def main(folder: str, *parts: str) -> None:
    """Run the parts that are named."""
    command = "python benchmarks/large.py FOLDER"
    asked = [part for part in parts if part.startswith("engines")]
    if not parts or asked:
        n = int(asked[0].partition("=")[2] or 10_000_000) if asked else 10_000_000
        rows = [alone(__file__, "engines", folder, n, turn) for turn in ENGINES]
        save(f"large_engines_{n}", rows, f"{command} engines={n}")
    if not parts or "grow" in parts:
        rows = [alone(__file__, "grow", folder, n) for n in (1_000_000, 10_000_000)]
        rows[1]["times_a_tenth_of_the_rows"] = rows[1]["seconds"] / rows[0]["seconds"]
        save("large", rows, f"{command} grow")
    if not parts or "peers" in parts:
        save("large_peers", peers(Path(folder), 1_000_000), f"{command} peers")
    if not parts or "loss" in parts:
        save("large_loss", loss(), f"{command} loss")
    if not parts or "spark" in parts:
        rows = [alone(__file__, "spark", folder, n) for n in (1_000_000, 10_000_000)]
        rows[1]["times_a_tenth_of_the_rows"] = rows[1]["seconds"] / rows[0]["seconds"]
        save("large_spark", rows, f"{command} spark")
    asked = [part for part in parts if part.startswith("mllib")]
    if not parts or asked:
        n = int(asked[0].partition("=")[2] or 1_000_000) if asked else 1_000_000
        rows = alone(__file__, "mllib", folder, n, limit_s=7200)
        save("large_mllib", rows, f"{command} mllib={n}")
    if all((RESULTS / f"large{part}.csv").exists() for part in ("", "_peers", "_loss")):
        PAGE.write_text(filled(PAGE.read_text(), tables()))


def kept(what: str, folder: str, n: str, turn: str = "") -> Any:
    """Return one measurement: that of an earlier run with these sources, or a new one."""
    sources = provenance.digest("benchmarks/large.py", ("arrow", "dask", "spark"))
    file = Path(folder) / f"measured_{sources}" / f"{what}_{n}_{turn}.json"
    if not file.exists():
        if what == "engines":
            found: Any = by_engine(Path(folder), turn.partition(",")[0], int(n))
        elif what == "grow":
            found = grow(Path(folder), int(n))
        else:
            measure = grow_spark if what == "spark" else mllib
            found = measure(parquet(Path(folder), int(n)), int(n), K_MAX)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found))
    return json.loads(file.read_text())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(kept(*sys.argv[2:])))
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
