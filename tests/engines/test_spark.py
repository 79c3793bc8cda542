"""Rows in Spark: no order, other partitions, executors and files that fail, Connect."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import blobs, linux_only, posix_only
from edfkmeans import EDFKMeans, compare, degrees_of_freedom, fit_path, score, select_k
from edfkmeans.engines import open_rows
from edfkmeans.rows import look
from edfkmeans.rows.blocks import ChunkError
from test_engines import DATA

pytest.importorskip("pyspark", reason="needs pyspark: pip install '.[spark]'")
from edfkmeans.engines import _spark_draws as draws
from edfkmeans.engines._arrow_streams import matrix_of
from edfkmeans.engines.spark import SparkColumn, Table, write_labels
from edfkmeans.engines.spark_files import open_lazily, scaled
from in_spark import Slow, frame_of, need_java, numbers_of, session, table_of

TESTS = Path(__file__).parents[1]


@pytest.fixture
def small_sample(monkeypatch):
    """As if only so many rows fitted in memory."""
    return lambda n: monkeypatch.setattr(look, "SAMPLE", n)


# The sample, without Spark.


def drawn(parts, size, seed=0, ids=None):
    """The sample of rows that lie in parts, one chunk each."""
    import pyarrow as pa

    salt = draws.salt_of(seed)
    ids = [None] * len(parts) if ids is None else [pa.array(each) for each in ids]
    seen = [
        draws.Census.at(part, own, 0, salt, "")
        for part, own in zip(parts, ids, strict=True)
        if len(part)
    ]
    recipe = sum(seen[1:], seen[0]).recipe(size, salt)
    found = [recipe.draw(part, own) for part, own in zip(parts, ids, strict=True) if len(part)]
    return recipe.taken(sum(found[1:], found[0]))


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([30, 900, 6000]),
    st.sampled_from([2, 40, 10**6]),
    st.integers(1, 9),
    st.booleans(),
)
def test_the_sample_hangs_on_the_rows_alone(seed, n, kinds, number, single):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, kinds, size=(n, 2)).astype(np.float32 if single else float)
    whole, _ = drawn([X], 700)
    mixed = rng.permutation(X)
    cuts = np.sort(rng.integers(0, n + 1, number - 1))
    again, _ = drawn(np.split(mixed, cuts), 700)
    np.testing.assert_array_equal(again, whole)
    assert len(whole) == min(n, 700)
    if n <= 700:
        np.testing.assert_array_equal(np.sort(whole, axis=0), np.sort(X, axis=0))


def test_no_row_is_drawn_twice_that_is_there_once():
    X = np.random.default_rng(0).normal(size=(20000, 3))
    rows, ids = drawn([X[:9000], X[9000:]], 5000, ids=[np.arange(9000), np.arange(9000, 20000)])
    assert len(np.unique(ids)) == 5000
    assert (np.diff(ids) > 0).all()
    np.testing.assert_array_equal(rows, X[ids])
    alone, none = drawn([X], 5000)
    assert none is None
    assert len(np.unique(alone, axis=0)) == 5000
    other, _ = drawn([X], 5000, seed=1)
    assert len(np.intersect1d(alone[:, 0], other[:, 0])) < 1500


def test_rows_that_are_common_are_as_common_in_the_sample():
    rng = np.random.default_rng(0)
    single = rng.normal(size=(40000, 2))
    zeros, ones = np.zeros((30000, 2)), np.ones((1000, 2))
    few = np.repeat(rng.normal(size=(2900, 2)), 10, axis=0)
    X = rng.permutation(np.concatenate([single, zeros, ones, few]))
    sample, _ = drawn(np.array_split(X, 5), 10000)
    parts = [(sample == value).all(axis=1).mean() for value in (0.0, 1.0)]
    assert parts == pytest.approx([0.3, 0.01], abs=2e-4)
    # Those that are there ten times are drawn together: more by chance, but not more or less.
    often = np.isin(sample[:, 0], few[:, 0]).mean()
    assert often == pytest.approx(0.29, abs=0.03)


def test_means_of_samples_are_those_of_all_rows():
    X = np.random.default_rng(1).exponential(size=(30000, 1))
    means = [drawn([X], 3000, seed=seed)[0].mean() for seed in range(40)]
    assert np.mean(means) == pytest.approx(X.mean(), abs=4 * X.std() / np.sqrt(3000 * 40))
    assert 0.5 < np.std(means) / (X.std() / np.sqrt(3000)) < 1.5


def test_few_kinds_of_rows_are_drawn_in_proportion():
    X = np.repeat(np.arange(50.0), np.arange(1, 51) * 20)[:, None]
    sample, _ = drawn([X[:7000], X[7000:]], 2550)
    np.testing.assert_array_equal(np.bincount(sample[:, 0].astype(int)), np.arange(1, 51) * 2)


# The same numbers as in memory.


@pytest.mark.parametrize("name", DATA)
def test_ten_sets_in_1_7_and_40_partitions(name):
    X = DATA[name]()
    whole = select_k(X, 4, method="paper", random_state=0)
    for parts in (1, 7, 40):
        found = select_k(table_of(X, parts), 4, method="paper", random_state=0)
        assert found.k == whole.k
        columns = ["inertia", "dof_raw", "dof", "bic"]
        np.testing.assert_allclose(found.table[columns], whole.table[columns], rtol=1e-9)


def test_neither_order_nor_partitions_change_a_bit(small_sample):
    small_sample(300)
    X = np.round(blobs(4, n=200, d=2)[0] / 3)  # many rows are equal
    paths = []
    for parts, order in ((1, np.arange(800)), (5, np.random.default_rng(0).permutation(800))):
        frame = frame_of(X[order], parts).drop("id")
        paths.append(fit_path(frame, 4, random_state=0))
    for k in range(1, 6):
        for name in ("centers", "sizes"):
            one, other = (getattr(path, name)(k) for path in paths)
            np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(paths[0].inertia, paths[1].inertia, rtol=1e-12)


@pytest.mark.parametrize(
    "kinds",
    [
        ("float", "float"),
        ("double", "double"),
        ("float", "smallint", "boolean"),
        ("double", "bigint", "int", "float"),
        ("double", "decimal(30, 17)"),
    ],
)
def test_numbers_of_any_kind_reach_workers_as_arrow_has_them(kinds):
    missing = "IF(id % 7 = 3, NULL, 1e4 * sin(1 + id * {}))"
    columns = [f"CAST({missing.format(j)} AS {kind}) AS x{j}" for j, kind in enumerate(kinds)]
    frame = session().range(0, 500, 1, 2).selectExpr(*columns)
    table = Table(frame)
    found = np.concatenate(table.results(numbers_of, "reading"))
    known = matrix_of(frame.toArrow().to_batches(), frame.columns, table.dtype)
    assert found.dtype == known.dtype == ("float32" if "double" not in kinds else "float64")
    np.testing.assert_array_equal(found, known)
    assert np.isnan(found[3]).all()


def test_rows_without_ids_are_those_in_memory():
    X, truth = blobs(3, n=30)
    frame = frame_of(X, 3).drop("id")
    found = select_k(frame, 3, method="paper", random_state=0)
    shown, rows = found.sample()
    assert (shown.labels.shape, rows.index.name) == ((90,), None)
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(X, axis=0))
    whole = select_k(rows.to_numpy(), 3, method="paper", random_state=0)
    np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
    np.testing.assert_allclose(shown.ambiguity, whole.ambiguity, atol=1e-9)
    labels = found.labels.frame.toPandas()
    assert list(labels.columns) == ["c0", "c1", "c2", "cluster"]
    assert labels.groupby("cluster").size().sort_index().tolist() == found.path.sizes(3).tolist()
    with pytest.raises(TypeError, match="have no order that an array could have"):
        np.asarray(found.labels)
    with pytest.raises(TypeError, match=r"labels: rows in Spark have no order.*Table\(X, id=...\)"):
        degrees_of_freedom(frame, truth, truth)


# Labels.


def test_labels_stand_beside_the_id_of_your_choice():
    X, _ = blobs(2, n=20)
    frame = frame_of(X, 2).selectExpr("concat('row ', lpad(id, 2, '0')) as who", "c0", "c1", "c2")
    table = Table(frame, id="who", columns=["c0", "c2"])
    found = select_k(table, 3, random_state=0)
    assert (found.k, found.path.n_features) == (2, 2)
    assert isinstance(found.labels, SparkColumn)
    labels = found.labels.frame.toPandas().sort_values("who")
    assert list(labels.columns) == ["who", "cluster"]
    assert labels["who"].tolist() == [f"row {i:02d}" for i in range(40)]
    np.testing.assert_array_equal(labels["cluster"], np.asarray(found.labels))
    shown, rows = found.sample()
    assert (rows.index.name, rows.index[3]) == ("who", "row 03")
    np.testing.assert_array_equal(shown.labels, labels["cluster"])
    # Labels of the same kind are taken, joined by the id.
    path = found.path
    whole = fit_path(X[:, [0, 2]], 3, random_state=0)
    given = degrees_of_freedom(table, path.labels(2), path.labels(4).frame)
    known = degrees_of_freedom(X[:, [0, 2]], whole.labels(2), whole.labels(4))
    assert given.total == pytest.approx(known.total, rel=1e-9)
    ari = compare(table, ["bic"], k_max=3, labels=path.labels(2), random_state=0).table["ari"]
    assert ari["bic"] == 1.0
    with pytest.raises(ValueError, match="must have 'who' and one for the labels"):
        degrees_of_freedom(table, frame, frame)
    half = path.labels(2).frame.where("cluster = 0")
    with pytest.raises(ValueError, match="give 20 rows when joined to X by 'who', but X has 40"):
        degrees_of_freedom(table, half, path.labels(4))


def test_an_estimator_is_pickled_without_the_rows():
    X, _ = blobs(2, n=20)
    table = table_of(X, 2)
    model = EDFKMeans(k_max=3, random_state=0).fit(table)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(np.asarray(again.predict(table)), np.asarray(model.labels_))
    assert list(again.transform(table).frame.columns) == ["id", "value0", "value1"]


# What cannot be done.


def test_what_is_no_table_of_numbers_is_refused():
    frame = session().createDataFrame(
        [(1, "a", 0.5), (2, "b", 1.5)], "id long, who string, x double"
    )
    with pytest.raises(ValueError, match="columns that are not numbers: 'who'"):
        fit_path(frame, 1)
    with pytest.raises(ValueError, match=r"id='nope' is no column of X. Its columns: id, who, x"):
        Table(frame, id="nope")
    with pytest.raises(ValueError, match=r"columns=.'y'. are not in X"):
        Table(frame, columns=["x", "y"])
    with pytest.raises(ValueError, match="X has no columns"):
        Table(frame.select("id"), id="id")
    with pytest.raises(TypeError, match=r"rows in memory. Give X.toPandas\(\) if they fit"):
        score(frame.select("x"), [0, 1])
    with pytest.raises(TypeError, match="must be a DataFrame of Spark"):
        fit_path(frame["x"], 1)
    with pytest.raises(ValueError, match="n_samples=0, but at least 2 rows"):
        fit_path(frame.select("x").where("x > 9"), 1)


def test_a_value_that_is_missing_is_named_by_partition_or_id():
    frame = session().createDataFrame([(7, 0.5), (8, None), (9, 1.5)], "id long, x double")
    with pytest.raises(
        ValueError, match=r"contains NaN: one value, in row 8 \(its id\), column 'x'"
    ):
        fit_path(Table(frame, id="id"), 1)
    with pytest.raises(ValueError, match=r"one value, in row 1 \(counted from 0, in partition 0\)"):
        fit_path(frame.select("x").coalesce(1), 1)


def test_a_corrupt_file_is_named(tmp_path):
    for part in range(3):
        frame = pd.DataFrame({"x": np.arange(50.0) + part, "y": np.arange(50.0) % 7})
        frame.to_parquet(tmp_path / f"part{part}.parquet", index=False)
    whole = open_lazily(session(), tmp_path)
    assert open_rows(whole, seed=0).n_samples == 150
    spoilt = tmp_path / "part1.parquet"
    content = bytearray(spoilt.read_bytes())
    content[4:60] = b"\xff" * 56
    spoilt.write_bytes(content)
    with pytest.raises(ChunkError, match=r"could not be computed \(file:.*part1\.parquet\)"):
        open_rows(open_lazily(session(), tmp_path), seed=0)


@posix_only
def test_an_interrupt_leaves_no_job(monkeypatch):
    frame = frame_of(blobs(2, n=20)[0], 4)
    slow = frame.mapInArrow(Slow(30), frame.schema)
    tracker = session().sparkContext.statusTracker()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # not Spark's, which ends all

    def interrupt():
        until = time.monotonic() + 300
        while not tracker.getActiveJobsIds() and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fit_path(Table(slow, id="id"), 2)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    until = time.monotonic() + 20
    while tracker.getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.1)
    assert not tracker.getActiveJobsIds()


LOST = """
import json, os, signal, sys, threading, time
from pathlib import Path
import numpy as np
from conftest import blobs
from edfkmeans import fit_path
from edfkmeans.engines.spark import Table
from in_spark import Slow, builder, frame_of

spark = builder().master("local-cluster[2,1,700]").config("spark.executor.memory", "700m")
spark = spark.getOrCreate()
frame = frame_of(blobs(3, n=50)[0], 6, spark)
table = Table(frame.mapInArrow(Slow(0.3), frame.schema), id="id")
whole = fit_path(table, 3, random_state=0)
app = spark.sparkContext.applicationId

def executors():
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\\0")
        except OSError:
            continue
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and app in words:
            found.append(int(process.name))
    return sorted(found)

first = executors()

def kill():
    tracker = spark.sparkContext.statusTracker()
    while not tracker.getActiveJobsIds():
        time.sleep(0.02)
    time.sleep(0.5)
    os.kill(first[0], signal.SIGKILL)

thread = threading.Thread(target=kill)
thread.start()
found = fit_path(table, 3, random_state=0)
thread.join()
same = all(np.array_equal(found.centers(k), whole.centers(k)) for k in (1, 2, 3, 4))
close = np.allclose(found.inertia, whole.inertia, rtol=1e-12)
print(json.dumps({"before": first, "after": executors(), "same": bool(same), "close": bool(close)}))
spark.stop()
"""

CONNECT = """
import json
import numpy as np
from conftest import blobs
from edfkmeans import degrees_of_freedom, select_k
from edfkmeans.engines.spark import Table
from in_spark import builder, frame_of

spark = builder().remote("local[2]").getOrCreate()
table = Table(frame_of(blobs(3, n=30)[0], 3, spark), id="id")
found = select_k(table, 3, random_state=0)
dof = degrees_of_freedom(table, found.path.labels(2), found.path.labels(4))
print(json.dumps({
    "session": type(spark).__module__,
    "table": found.table.to_numpy().tolist(),
    "labels": np.asarray(found.labels).tolist(),
    "dof": dof.total,
}))
"""


def alone(script):
    """Run a script in a process of its own, and read what it prints last."""
    need_java()
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@linux_only
def test_an_executor_that_is_lost_changes_nothing():
    told = alone(LOST)
    assert (told["same"], told["close"]) == (True, True)
    assert len(told["before"]) == 2
    assert told["before"][0] not in told["after"]


def test_spark_connect_says_the_same():
    pytest.importorskip("grpc", reason="needs grpcio: pip install 'pyspark[connect]'")
    told = alone(CONNECT)
    assert told["session"] == "pyspark.sql.connect.session"
    X, _ = blobs(3, n=30)
    whole = select_k(X, 3, random_state=0)
    np.testing.assert_allclose(told["table"], whole.table, rtol=1e-9)
    assert told["labels"] == whole.labels.tolist()
    path = fit_path(X, 3, random_state=0)
    dof = degrees_of_freedom(X, whole.path.labels(2), whole.path.labels(4))
    assert path.k_max == 3
    assert told["dof"] == pytest.approx(dof.total, rel=1e-9)


# Files and tables.


def test_tables_files_and_scales(tmp_path):
    X, _ = blobs(2, n=20, d=2)
    frame = pd.DataFrame(X * [1, 50], columns=["a", "b.c"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    spark = session()
    own = open_lazily(spark, tmp_path / "t.csv")
    ready = scaled(own)
    assert ready.names == ["a", "b.c"]
    np.testing.assert_allclose(ready.offset, frame.mean())
    np.testing.assert_allclose(ready.spread, frame.std(ddof=0))
    inertia = fit_path(ready.X, 1, random_state=0).inertia[0]
    assert inertia == pytest.approx(80.0)
    own.createOrReplaceTempView("numbers")
    assert open_lazily(spark, "numbers").columns == ["a", "b.c"]
    assert scaled(own, "none").spread.tolist() == [1.0, 1.0]
    labels = fit_path(ready.X, 2, random_state=0).labels(2)
    write_labels(labels, tmp_path / "labels")
    written = pd.read_parquet(tmp_path / "labels")
    assert sorted(written["cluster"].value_counts()) == [20, 20]
    for missing in ("nothing", "nothing.parquet"):
        with pytest.raises(FileNotFoundError, match=f"There is no .*{missing}"):
            open_lazily(spark, missing)
    (tmp_path / "no.parquet").write_text("this is no table", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no\.parquet could not be opened"):
        open_lazily(spark, tmp_path / "no.parquet")


def test_an_error_of_spark_is_told_in_one_line():
    from edfkmeans.engines._spark_tables import reason

    for text, words in (
        (
            "An error occurred while calling o2.load.\n: a.b.SparkException: [BAD] it is.\n\tat x",
            "a.b.SparkException: [BAD] it is",
        ),
        (
            "[X] Thrown from the Python worker. See below.\nTraceback\n  File\nOSError: no\n",
            "OSError: no",
        ),
        ("one line.", "one line"),
        ("", "ValueError"),
    ):
        assert reason(ValueError(text)) == words


# Weights.


def weighted_table(X, w, number, named=True):
    frame = frame_of(np.column_stack([X, w]).astype(float), number)
    frame = frame.withColumnRenamed(f"c{X.shape[1]}", "w")
    return Table(frame, id="id", weight="w") if named else Table(frame.drop("id"), weight="w")


def test_weights_are_a_column(small_sample):
    X, labels = blobs(3, n=30, d=2)
    rng = np.random.default_rng(0)
    w, pilot = rng.integers(0, 4, len(X)), rng.integers(0, 8, len(X))
    table = weighted_table(X, w, 3)
    held, found = (
        select_k(data, 5, random_state=0, sample_weight=own)
        for data, own in ((X, w), (table, None))
    )
    told = ["agreement", "near"]
    np.testing.assert_allclose(
        found.table.drop(columns=told), held.table.drop(columns=told), rtol=1e-9, atol=1e-9
    )
    assert (found.k, found.path.n_samples, found.path.n_rows) == (3, w.sum(), len(X))
    assert np.asarray(found.labels).tolist() == held.labels.tolist()
    whole = degrees_of_freedom(X, labels, pilot, sample_weight=w)
    assert degrees_of_freedom(table, labels, pilot).total == pytest.approx(whole.total, rel=1e-9)
    small_sample(60)  # with counts, the sample is that of the repeated rows
    repeated = frame_of(np.repeat(X, w, axis=0), 2).drop("id")
    one, other = (fit_path(data, 4, random_state=0) for data in
                  (weighted_table(X, w, 3, named=False), repeated))  # fmt: skip
    np.testing.assert_allclose(one.inertia, other.inertia, rtol=1e-9)


def test_what_is_no_column_of_weights():
    X, _ = blobs(3, n=20, d=2)
    with pytest.raises(TypeError, match=r"Table\(X, weight="):
        fit_path(table_of(X, 2), 3, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match=r"is -1.0 in row 7 \(its id\)"):
        fit_path(weighted_table(X, np.where(np.arange(60) == 7, -1.0, 1.0), 2), 3)
    frame = frame_of(X, 2)
    for how, words in (
        ({"weight": "v"}, "weight='v' is no column"),
        ({"weight": "id", "id": "id"}, "is the id too"),
        ({"weight": "c0", "columns": ["c0", "c1"]}, "is one of columns too"),
    ):
        with pytest.raises(ValueError, match=words):
            Table(frame, **how)
