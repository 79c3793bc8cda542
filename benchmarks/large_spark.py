"""The Spark part of large.py: time and memory, and MLlib's KMeans beside it."""

import os
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from common import peak_mb

# Two executors of one core and so many MB for Java, which cannot hold 1e7 rows of 16 columns.
EXECUTOR_MB = 600


@contextmanager
def spark_cluster():
    """Driver and two executors, each a process of its own on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local-cluster[2,1,{EXECUTOR_MB}]")
    settings = {
        "spark.driver.memory": f"{EXECUTOR_MB}m",
        "spark.executor.memory": f"{EXECUTOR_MB}m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def of_children() -> tuple[float, float]:
    """Return peak memory in MB and processor time of all processes below this one, added up."""
    parents, taken = {}, {}
    tick = os.sysconf("SC_CLK_TCK")
    for place in Path("/proc").glob("[0-9]*"):
        try:
            lines = (place / "status").read_text().splitlines()
            times = (place / "stat").read_text().rpartition(")")[2].split()[11:15]
        except OSError:
            continue
        found = dict(line.split(":", 1) for line in lines if ":" in line)
        peak = int(found.get("VmHWM", "0 kB").split()[0]) / 1024
        parents[int(place.name)] = int(found["PPid"])
        taken[int(place.name)] = peak, sum(map(int, times)) / tick
    peaks = seconds = 0.0
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        for process in [each for each, above in parents.items() if above == parent]:
            peaks, seconds = peaks + taken[process][0], seconds + taken[process][1]
            waiting.append(process)
    return peaks, seconds


def grow_spark(source: Path, n: int, k_max: int) -> dict:
    """Choose k for n rows."""
    from edfkmeans import select_k

    with spark_cluster() as session:
        first = session.read.parquet(str(source / "part0000.parquet"))
        select_k(first, 3, random_state=0)  # load kernels
        start = time.perf_counter()
        found = select_k(session.read.parquet(str(source)), k_max, random_state=0)
        seconds = time.perf_counter() - start
        others, _ = of_children()
    return {
        "n": n,
        "d": 16,
        "k_max": k_max,
        "k": found.k,
        "seconds": seconds,
        "data_mb": n * 16 * 4 / 2**20,
        "executor_mb": EXECUTOR_MB,
        "peak_mb_java_and_workers": others,
        "peak_mb_caller": peak_mb(),
    }


def mllib(source: Path, n: int, k_max: int) -> list[dict]:
    """Fit and judge every k, by us at once and by MLlib one after the other.

    `select_k` asks more than MLlib does: fits beyond these k, degrees of freedom, the judge's
    evidence. `compare` is asked the same: fits and a silhouette for every k.
    """
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.evaluation import ClusteringEvaluator
    from pyspark.ml.feature import VectorAssembler

    from edfkmeans import compare, select_k

    rows = []
    with spark_cluster() as session:
        frame = session.read.parquet(str(source))
        first = session.read.parquet(str(source / "part0000.parquet"))
        assembled = VectorAssembler(inputCols=frame.columns, outputCol="features")
        select_k(first, 3, random_state=0)  # load kernels
        KMeans(k=2, seed=0, maxIter=1).fit(assembled.transform(first))

        def timed(ask, *asked):
            start = time.perf_counter()
            found = ask(frame, *asked, random_state=0)
            return found, time.perf_counter() - start

        found, before = timed(select_k, k_max)
        same, seconds_same = timed(partial(compare, k_max=k_max + 1), ["silhouette"])
        vectors = assembled.transform(frame).select("features")
        for k in range(2, k_max + 2):
            start = time.perf_counter()
            model = KMeans(k=k, seed=0).fit(vectors)
            silhouette = ClusteringEvaluator().evaluate(model.transform(vectors))
            seconds = time.perf_counter() - start
            rows.append(
                {
                    "n": n,
                    "k": k,
                    "seconds_mllib": seconds,
                    "silhouette_mllib": silhouette,
                    "inertia_edfkmeans": found.path.inertia[k - 1],
                    "recomputed_edfkmeans": inertia_of(source, found.path.centers(k)),
                    "inertia_compare": same.path.inertia[k - 1],
                    "inertia_mllib": model.summary.trainingCost,
                    "recomputed_mllib": inertia_of(source, np.array(model.clusterCenters())),
                }
            )
            print(k, f"{seconds:.1f} s, ours {before:.1f} s for all", file=sys.stderr)
        _, after = timed(select_k, k_max)
    for row in rows:
        row["seconds_mllib_these_k"] = sum(each["seconds_mllib"] for each in rows)
        row["seconds_edfkmeans_before"] = before
        row["seconds_edfkmeans_after"] = after
        row["seconds_compare"] = seconds_same
    return rows


def inertia_of(source: Path, centers) -> float:
    """Sum of squared distances to the nearest centre, file by file, in double precision."""
    total = 0.0
    for file in sorted(source.glob("*.parquet")):
        rows = pd.read_parquet(file).to_numpy(np.float64)
        best = np.full(len(rows), np.inf)
        for center in centers:
            np.minimum(best, ((rows - center) ** 2).sum(axis=1), out=best)
        total += best.sum()
    return float(total)
