"""What the tests need of Spark: one session for all, and rows brought to it."""

import os
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.python.daemon.module": "spark_daemon",
}
KINDS = {"float64": "double", "float32": "float", "int64": "long", "<U": "string"}


def need_java():
    """Skip a test where there is no Java and none can be installed, and say so."""
    if os.name == "nt":
        pytest.skip("Spark needs more than Java on Windows")
    if not Path(os.environ.get("JAVA_HOME", ""), "bin", "java").exists():
        from conftest import need  # not in Spark's workers, which load this module too

        need("java")


def builder():
    """How every session of the tests begins; workers find the modules of the tests, too."""
    pytest.importorskip("pyspark", reason="needs pyspark: pip install '.[spark]'")
    need_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    from pyspark.sql import SparkSession

    found = SparkSession.builder.appName("tests")
    for name, value in SETTINGS.items():
        found = found.config(name, value)
    return found


@cache
def session():
    """The session of all tests of this process: two threads."""
    found = builder().master("local[2]").getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


class Rows:
    """Gives the rows of a matrix to the ids of a partition."""

    def __init__(self, X):
        self.X = X

    def __call__(self, batches):
        for batch in batches:
            ids = batch.column("id").to_numpy()
            columns = {f"c{j}": self.X[ids, j].copy() for j in range(self.X.shape[1])}
            yield pa.record_batch({"id": ids, **columns})


class Slow:
    """Gives rows after a while."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, batches):
        for batch in batches:
            time.sleep(self.seconds)
            yield batch


def numbers_of(chunk):
    """The numbers of a chunk, as a worker has them."""
    return chunk.rows


def frame_of(X, number, spark=None):
    """X as a DataFrame of so many partitions, with the number of the row as id."""
    X = np.asarray(X.astype(str) if X.dtype.kind == "c" else X)
    kind = KINDS["<U" if X.dtype.kind == "U" else X.dtype.name]
    schema = ", ".join(["id long", *(f"c{j} {kind}" for j in range(X.shape[1]))])
    spark = spark or session()
    return spark.range(0, len(X), 1, number).mapInArrow(Rows(X), schema)


def table_of(X, number):
    """The same as a table that knows its id."""
    found = frame_of(X, number)
    from edfkmeans.engines.spark import Table

    return Table(found, id="id")
