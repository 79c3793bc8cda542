"""Rows in a stream of Arrow: every kind of it, files, what is refused, memory, Ctrl-C."""

import gc
import gzip
import pickle
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import blobs, linux_only
from edfkmeans import EDFKMeans, _progress, compare, degrees_of_freedom, fit_path, score, select_k
from edfkmeans.criteria.separation import silhouettes
from edfkmeans.fits import passes as passes_module
from edfkmeans.rows import look
from edfkmeans.rows.blocks import ChunkError
from edfkmeans.simulate import simulate
from edfkmeans.structure import find_structure

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[arrow]'")
import pyarrow.dataset as ds  # noqa: E402
from pyarrow import csv  # noqa: E402

from edfkmeans.engines import _arrow_chunks  # noqa: E402
from edfkmeans.engines._arrow_streams import DatasetStream  # noqa: E402
from edfkmeans.engines.arrow import ArrowColumn  # noqa: E402
from edfkmeans.engines.arrow_files import open_lazily, scaled, write_labels  # noqa: E402


def as_frame(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def as_dataset(X, folder):
    frame = as_frame(X)
    for part in range(5):
        rows = slice(part * len(X) // 5, (part + 1) * len(X) // 5)
        frame[rows].to_parquet(folder / f"part{part}.parquet", row_group_size=40)
    return ds.dataset(folder)


def as_lazy_frame(X, folder):
    polars = pytest.importorskip("polars", reason="needs polars")
    as_dataset(X, folder)
    return polars.scan_parquet(folder / "*.parquet")


def as_relation(X, folder):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    as_dataset(X, folder)
    return duckdb.sql(f"select * from '{folder}/*.parquet'")


def as_function(X, folder):
    table = pa.Table.from_pandas(as_frame(X))
    return lambda: table.to_batches(max_chunksize=11)


KINDS = {
    "dataset": as_dataset,
    "lazy frame": as_lazy_frame,
    "relation": as_relation,
    "function": as_function,
}


@pytest.fixture
def small_sample(monkeypatch):
    """As if only so many rows fitted in memory."""
    return lambda n: monkeypatch.setattr(look, "SAMPLE", n)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of so many rows."""

    def set_to(n):
        for name in ("_FEWEST", "_MOST"):
            monkeypatch.setattr(_arrow_chunks, name, n)

    return set_to


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_numbers_of_memory(kind, wine, tmp_path, small_chunks):
    whole = select_k(wine, 6, random_state=0)
    X = KINDS[kind](wine, tmp_path)
    small_chunks(50)
    for n_jobs in (1, 2):
        found = select_k(X, 6, random_state=0, n_jobs=n_jobs)
        assert found.k == whole.k
        np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
        np.testing.assert_array_equal(found.labels, whole.labels)
    model = EDFKMeans(4, random_state=0).fit(X)
    assert list(model.feature_names_in_) == [f"c{j}" for j in range(13)]
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    dof = degrees_of_freedom(X, found.path.labels(3), found.path.labels(7))
    want = degrees_of_freedom(wine, whole.path.labels(3), whole.path.labels(7))
    assert dof.total == pytest.approx(want.total, rel=1e-9)


def test_tables_that_fit_are_simply_read(wine):
    polars = pytest.importorskip("polars", reason="needs polars")
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    frame = as_frame(wine)
    whole = fit_path(wine, 4, random_state=0).inertia
    table = pa.Table.from_pandas(frame)
    query = "select * from frame"
    for X in (
        table,
        table.to_batches()[0],
        polars.from_pandas(frame),
        duckdb.sql(query).df(),
        duckdb.connect().execute(query),
    ):
        path = fit_path(X, 4, random_state=0)
        assert path.place == "in memory"
        np.testing.assert_array_equal(path.inertia, whole)
    result = duckdb.connect().execute(query)
    model = EDFKMeans(3, random_state=0).fit(result)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(EDFKMeans(3, random_state=0).fit(table).feature_names_in_) == list(frame.columns)
    text = table.append_column("who", pa.array(["x"] * 178))
    with pytest.raises(ValueError, match="columns that are not numbers: 'who'"):
        fit_path(text, 4)


def test_what_can_be_read_only_once_is_refused(wine):
    table = pa.Table.from_pandas(as_frame(wine))
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for X in (reader, iter(table.to_batches()), (batch for batch in table.to_batches())):
        for call in (fit_path, select_k, compare, EDFKMeans().fit):
            with pytest.raises(TypeError, match=r"can be read only once.* Give a function that op"):
                call(X)
    batches = iter(table.to_batches(max_chunksize=50))
    with pytest.raises(ValueError, match=r"did not give the same rows|gave no batches"):
        fit_path(lambda: batches, 4)


class Counted:
    """A function that counts how often it is called, and what it gives."""

    def __init__(self, X):
        self.batches = pa.Table.from_pandas(as_frame(X)).to_batches(max_chunksize=300)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return iter(self.batches)


def test_a_function_is_called_once_for_every_pass(small_sample):
    small_sample(500)
    X = Counted(simulate("uniform", 5, 4, 1200, random_state=0)[0])
    calls = []
    for k_max in (3, 25):
        X.calls = 0
        select_k(X, k_max, random_state=0)
        calls.append(X.calls)
    # For the columns, to count, to look, to refine, and for the degrees of freedom.
    assert all(5 <= each <= 4 + passes_module.MAX_PASSES for each in calls)


@pytest.mark.parametrize(
    "give, words",
    [
        (lambda: 3, "gave a int when it was called, but must give record batches"),
        (lambda: [np.zeros((3, 2))], r"gave a ndarray, but must give record .*from_pandas"),
        (list, "gave no batches"),
        (lambda: [pa.record_batch({"a": ["x", "y"]})], "columns that are not numbers: 'a'"),
        (lambda: [pa.record_batch([[1], [2]], ["a", "a"])], "several columns of the same name"),
        (
            lambda: [pa.record_batch({"a": [1.0] * 9}), pa.record_batch({"b": [1.0] * 9})],
            r"Chunk 1 of X \(.*rows 9 to 17\) .* it has columns \['b'\], but the first",
        ),
        (lambda: [pa.record_batch({"a": [1.0]})], "n_samples=1, but at least 2"),
        (
            lambda: [pa.record_batch({"a": [1.0] * 9}), pa.record_batch({"a": [2.0, None]})],
            r"contains NaN: one value, in row 10 \(counted from 0\), column 'a'",
        ),
    ],
)  # fmt: skip
def test_what_a_function_may_not_give(give, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fit_path(give, 3)


@pytest.mark.parametrize("module", ["duckdb", "_duckdb", "duckdb.duckdb"])
def test_relations_of_other_duckdbs_are_known(module):
    relation = type("DuckDBPyRelation", (), {"__module__": module, "limit": lambda self, n: self})()
    with pytest.raises(TypeError, match="Upgrade DuckDB"):
        select_k(relation)
    with pytest.raises(TypeError, match=r"Give X\.df\(\)"):
        score(relation, [0, 1])


def test_other_refusals(wine, tmp_path):
    for kind, way in (
        ("dataset", r"X\.to_table\(\)"),
        ("lazy frame", r"X\.collect\(\)"),
        ("relation", r"X\.df\(\)"),
    ):
        X = KINDS[kind](wine, tmp_path)
        for call in (lambda X: score(X, np.zeros(178)), find_structure, silhouettes_of):
            with pytest.raises(TypeError, match=rf"needs the rows in memory\. Give {way}"):
                call(X)
    with pytest.raises(ValueError, match=r"^method='bootstrap' fits all rows"):
        degrees_of_freedom(X, np.zeros(178), np.zeros(178), method="bootstrap")
    with pytest.raises(ValueError, match=r"labels has shape \(2,\), but X has 178 rows"):
        degrees_of_freedom(X, [0, 1], [0, 1])


def silhouettes_of(X):
    return silhouettes(X, np.zeros(178))


def test_numbers_of_any_type():
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 100, size=60)
    columns = {
        "whole": pa.array(whole, pa.int32()),
        "large": pa.array(whole.astype(np.uint64) + 2**60, pa.uint64()),
        "truth": pa.array(whole > 50),
        "decimal": pa.array(whole.astype(str)).cast(pa.decimal128(9, 2)),
        "half": pa.array(rng.normal(size=60).astype(np.float16)),
        "single": pa.array(rng.normal(size=60).astype(np.float32)),
    }
    table = pa.table(columns)
    want = np.column_stack([np.asarray(each.to_pandas(), float) for each in columns.values()])
    path = fit_path(ds.dataset(table), 4, random_state=0)
    np.testing.assert_allclose(path.inertia, fit_path(want, 4, random_state=0).inertia, rtol=1e-9)
    single = fit_path(ds.dataset(table.select(["single"])), 3, random_state=0)
    assert single.kept_rows.chunks.stream.dtype == np.float32


@settings(max_examples=15)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 70))
def test_batches_of_any_size_change_no_bit(sizes, chunk):
    sizes = [*sizes, 30]
    X, _ = blobs(3, n=-(-sum(sizes) // 3))
    X = X[: sum(sizes)]
    table = pa.Table.from_pandas(as_frame(X))
    starts = np.cumsum([0, *sizes])
    parts = [table.slice(a, n) for a, n in zip(starts, sizes, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_FEWEST", "_MOST"):
            patch.setattr(_arrow_chunks, name, chunk)
        one, other = (fit_path(give, 4, random_state=0) for give in (lambda: parts, lambda: table))
    np.testing.assert_array_equal(one.inertia, other.inertia)
    np.testing.assert_array_equal(one.labels(3), other.labels(3))
    np.testing.assert_allclose(one.inertia, fit_path(X, 4, random_state=0).inertia, rtol=1e-9)


def test_the_numbers_are_those_of_dask(small_sample, tmp_path, small_chunks):
    dd = pytest.importorskip("dask.dataframe", reason="needs dask")
    small_sample(400)
    X = np.round(simulate("scale varies", 6, 4, 1500, random_state=0)[0], 1).astype(np.float32)
    dataset = as_dataset(X, tmp_path)
    small_chunks(256)
    ours, theirs = (
        select_k(data, 8, random_state=0) for data in (dataset, dd.read_parquet(tmp_path))
    )
    for k in range(1, 10):
        np.testing.assert_array_equal(ours.path.labels(k), theirs.path.labels(k))
        np.testing.assert_array_equal(ours.path.centers(k), theirs.path.centers(k))
    np.testing.assert_allclose(ours.table, theirs.table, rtol=1e-12)
    assert ours.k == theirs.k


# Labels.


def test_labels_are_read_when_asked_for(wine, tmp_path, small_chunks):
    small_chunks(30)
    found = select_k(as_dataset(wine, tmp_path), 5, random_state=0)
    whole = select_k(wine, 5, random_state=0)
    labels = found.labels
    assert isinstance(labels, ArrowColumn)
    assert (labels.shape, len(labels), labels.dtype) == ((178,), 178, np.int32)
    assert repr(labels) == "ArrowColumn(shape=(178,), dtype=int32, read when asked for)"
    for key in (5, -1, slice(20, 150, 3), [170, 3, 3, 60], np.array([], int), whole.labels == 1):
        np.testing.assert_array_equal(labels[key], whole.labels[key])
    for key in (178, [-179], "a", [[1, 2]], 1.5):
        with pytest.raises(IndexError):
            labels[key]
    with pytest.raises(ValueError, match="copy=False"):
        labels.__array__(copy=False)  # what numpy 2 calls; numpy 1 means another thing by it
    np.testing.assert_array_equal(np.asarray(labels, float), whole.labels)
    np.testing.assert_array_equal(pa.table(labels)["cluster"], whole.labels)
    polars = pytest.importorskip("polars", reason="needs polars")
    np.testing.assert_array_equal(polars.DataFrame(labels)["cluster"], whole.labels)
    batches = list(pa.RecordBatchReader.from_stream(labels))
    assert [batch.num_rows for batch in batches] == [30] * 5 + [28]
    model = EDFKMeans(3, random_state=0).fit(as_dataset(wine, tmp_path))
    distances = pa.table(model.transform(as_dataset(wine, tmp_path)))
    assert distances.shape == (178, model.n_clusters_)
    write_labels(labels, tmp_path / "labels.parquet")
    written = pd.read_parquet(tmp_path / "labels.parquet")
    np.testing.assert_array_equal(written["cluster"], whole.labels)


def test_what_can_be_shown(small_sample, wine, tmp_path):
    small_sample(100)
    frame = as_frame(wine)
    found = select_k(as_dataset(wine, tmp_path), 5, random_state=0)
    shown, rows = found.sample()
    pd.testing.assert_frame_equal(rows, frame.loc[rows.index], check_index_type=False)
    np.testing.assert_array_equal(shown.labels, found.labels[rows.index])
    np.testing.assert_allclose(shown.ambiguity, np.asarray(found.ambiguity)[rows.index], rtol=1e-12)
    shown.to_html(tmp_path / "report.html", rows)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.labels, found.labels)


def test_progress_is_told(wine, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0)
    select_k(as_dataset(wine, tmp_path), 4, random_state=0, progress=True)
    told = capfd.readouterr().err
    for title in ("reading", "pass 1", "degrees of freedom"):
        assert f"{title}: 100%" in told


# Files.


def test_files_are_opened_and_scaled(tmp_path, wine):
    frame = as_frame(wine * 7 + 3).assign(same=3.0, whole=np.arange(178))
    want = (frame - frame.mean()) / frame.std(ddof=0).where(frame.nunique() > 1, 1.0)
    frame.to_parquet(tmp_path / "wine.parquet")
    frame.to_feather(tmp_path / "wine.feather")
    frame.to_csv(tmp_path / "wine.csv", index=False)
    frame.to_csv(tmp_path / "wine.csv.gz", index=False)
    frame.to_csv(tmp_path / "wine.tsv", index=False, sep="\t")
    whole = fit_path(want.to_numpy(), 4, random_state=0).inertia
    for name in ("wine.parquet", "wine.feather", "wine.csv", "wine.csv.gz", "wine.tsv"):
        ready = scaled(open_lazily(tmp_path / name))
        assert ready.names == list(frame.columns)
        np.testing.assert_allclose(ready.offset[:13], frame.mean()[:13], rtol=1e-9)
        np.testing.assert_allclose(fit_path(ready.X, 4, random_state=0).inertia, whole, rtol=1e-9)
    plain = scaled(open_lazily(tmp_path / "wine.parquet"), "none")
    assert plain.spread.tolist() == [1.0] * 15
    (tmp_path / "wine.xlsx").touch()
    with pytest.raises(ValueError, match=r"is not one of \.parquet"):
        open_lazily(tmp_path / "wine.xlsx")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_lazily(tmp_path / "no.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match=r"cut\.parquet could not be opened"):
        open_lazily(tmp_path / "cut.parquet")


def test_folders_and_patterns(tmp_path, wine):
    as_dataset(wine, tmp_path)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "readme.txt").touch()
    for source in (tmp_path, f"{tmp_path}/part*.parquet", f"file://{tmp_path}"):
        assert open_lazily(source).count_rows() == 178
    (tmp_path / "more.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="nor a folder of files of one of these kinds"):
        open_lazily(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="is a folder without a file that ends in"):
        open_lazily(tmp_path / "none")


def test_addresses_go_to_fsspec_as_they_are(wine):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    whole = fit_path(wine, 4, random_state=0)
    memory = fsspec.filesystem("memory")
    frame = as_frame(wine)
    try:
        for part in range(3):
            rows = frame[part * 60 : (part + 1) * 60]
            rows.to_parquet(f"memory://wines/part{part}.parquet")
        frame.to_csv("memory://wine.csv", index=False)
        for address in ("memory://wines", "memory://wines/*.parquet", "memory://wine.csv"):
            path = fit_path(open_lazily(address), 4, random_state=0)
            np.testing.assert_allclose(path.inertia, whole.inertia, rtol=1e-9)
            np.testing.assert_array_equal(path.labels(4), whole.labels(4))
    finally:
        memory.rm("/wines", recursive=True)
        memory.rm("/wine.csv")


def test_numbers_that_change_their_kind_in_the_middle(tmp_path):
    """Arrow guesses the type of a column from the first lines."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.integers(0, 9, 200_000).astype(float), rng.normal(size=9)])
    lines = [f"{value:g},{i % 7}" for i, value in enumerate(values)]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(lines) + "\n", encoding="utf-8")
    dataset = open_lazily(tmp_path / "t.csv")
    assert fit_path(dataset, 2, random_state=0).n_samples == 200_009
    with (tmp_path / "t.csv").open("a") as file:
        file.write("x,3\n")
    with pytest.raises(ChunkError, match=r"t\.csv\) .* CSV conversion error .*'x'"):
        fit_path(dataset, 2, random_state=0)


@pytest.mark.parametrize("how", ["no file any more", "the end cut off", "a page spoilt"])
def test_a_corrupt_file_is_named(tmp_path, how):
    rng = np.random.default_rng(0)
    for part in range(5):
        as_frame(rng.normal(size=(500, 3))).to_parquet(
            tmp_path / f"part{part}.parquet", compression="zstd"
        )
    dataset = ds.dataset(tmp_path)
    bad = tmp_path / "part2.parquet"
    content = bad.read_bytes()
    if how == "no file any more":
        bad.unlink()
    elif how == "the end cut off":
        bad.write_bytes(content[:-100])
    else:
        bad.write_bytes(content[:50] + b"\xff" * 400 + content[450:])
    with pytest.raises(ChunkError, match=r"Chunk \d of X \(.*part2\.parquet\) .* Repair it"):
        fit_path(dataset, 3, random_state=0)


def test_rows_that_change_are_noticed(wine, small_sample):
    small_sample(100)
    parts = pa.Table.from_pandas(as_frame(wine)).to_batches(max_chunksize=60)
    for other in (parts[:-1], [*parts, parts[0]]):
        count = iter(range(10**9))
        steady = 3  # for the columns, to count and to look

        def give(count=count, other=other, steady=steady):
            return parts if next(count) < steady else other

        with pytest.raises(ValueError, match=r"did not give the same rows .* instead of 178"):
            fit_path(give, 4)


# Files are read one by one, and no faster than they are needed.


def read_whole(dataset, names=None):
    return pa.Table.from_batches([batch for batch, _ in DatasetStream(dataset, names).batches()])


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files_are_read_as_the_dataset_reads_them(kind, tmp_path):
    table = pa.table({"group": [1, 1, 2, 2], "a": [1.5, 2, 3, 4], "b": [1, 2, 3, 4]})
    by_group = ds.partitioning(pa.schema([("group", pa.int64())]), flavor="hive")
    ds.write_dataset(table, tmp_path / "flat", format=kind)
    ds.write_dataset(table, tmp_path / "parted", format=kind, partitioning=by_group)
    for folder in ("flat", "parted"):
        whole = ds.dataset(tmp_path / folder, format=kind, partitioning="hive")
        some = whole.filter(ds.field("a") < 3)
        for columns in (None, ("b", "group")):
            assert read_whole(whole, columns).equals(whole.to_table(columns and list(columns)))
        assert sorted(read_whole(some)["b"].to_pylist()) == [1, 2]


def test_text_is_read_with_the_options_of_the_dataset(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;2\n3,5;4\n", encoding="utf-8")
    with gzip.open(tmp_path / "b.csv.gz", "wt", encoding="utf-8") as file:
        file.write("x;y\n5,5;6\n")
    (tmp_path / "c.csv").write_text("y\n7\n", encoding="utf-8")
    how = ds.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=";"),
        convert_options=csv.ConvertOptions(decimal_point=","),
    )
    whole = ds.dataset(tmp_path, format=how)
    for columns in (("y",), None):  # the second is not to remember the first
        assert read_whole(whole, columns).equals(whole.to_table(columns and list(columns)))
    assert whole.to_table()["x"].to_pylist() == [1.5, 3.5, 5.5, None]


def test_text_keeps_the_encoding_of_the_dataset(tmp_path):
    (tmp_path / "a.csv").write_text("größe,b\n1,2\n3,4\n", encoding="utf-16")
    how = ds.CsvFileFormat(read_options=csv.ReadOptions(encoding="utf-16"))
    table = read_whole(ds.dataset(tmp_path, format=how))
    assert table.to_pydict() == {"größe": [1, 3], "b": [2, 4]}


def test_a_broken_file_behind_a_filter_is_an_error_of_its_own(wine, tmp_path):
    as_dataset(wine, tmp_path)
    dataset = ds.dataset(tmp_path).filter(ds.field("c0") > -100)
    file = tmp_path / "part2.parquet"
    file.write_bytes(file.read_bytes()[:-400] + b"x" * 400)
    with pytest.raises(ChunkError, match=r"part2|magic|Parquet"):
        fit_path(dataset, 3, random_state=0)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_no_one_reads_ahead_of_slow_work(kind, tmp_path):
    n, d = 30_000, 10
    for part in range(20):
        X = np.random.default_rng(part).normal(size=(d, n))
        table = pa.table(list(X), [f"c{j}" for j in range(d)])
        ds.write_dataset(table, tmp_path / str(part), format=kind)
    gc.collect()
    before = pa.total_allocated_bytes()
    most = 0
    for _ in DatasetStream(ds.dataset(tmp_path, format=kind)).batches():
        time.sleep(0.02)
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 0.4 * 20 * n * d * 8  # bytes; a scanner of the whole would hold all of them


# Memory and Ctrl-C, in processes of their own.

MEMORY = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa
import pyarrow.dataset as ds
from edfkmeans import fit_path

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

def rows(n):
    for part in range(n // 50_000):
        X = np.random.default_rng(part).normal(size=(20, 50_000)).astype(np.float32)
        yield pa.record_batch(list(X), [f"c{j}" for j in range(20)])

sizes = []
for n in (150_000, 2_000_000):
    fit_path(lambda: rows(n), 2, random_state=0, n_jobs=2, n_init=1)
    sizes.append(peak())
print(*sizes)
"""


@linux_only
def test_the_table_is_never_held():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    small, large = map(float, done.stdout.split())
    assert large - small < 60  # MB; the table has 153


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, pyarrow as pa
from edfkmeans import fit_path

def rows(pause):
    for part in range(40):
        time.sleep(pause)
        X = np.random.default_rng(part).normal(size=(4, 20_000))
        yield pa.record_batch(list(X), list("abcd"))

fit_path(lambda: rows(0), 2, random_state=0, n_init=1)
threads = threading.active_count()
for moment in (0.3, 3.5):
    threading.Timer(moment, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        fit_path(lambda: rows(0.05), 8, random_state=0, n_jobs=2)
        print("not interrupted")
    except KeyboardInterrupt:
        late = time.perf_counter() - start - moment
        while threading.active_count() > threads and time.perf_counter() - start < moment + 10:
            time.sleep(0.01)  # on their way out
        print("back" if late < 10 else late, threading.active_count() - threads)
"""


def test_control_c_leaves_no_thread():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "back 0\n" * 2, done.stderr


def test_import_is_light():
    script = (
        "import sys, numpy as np; from edfkmeans import select_k; "
        "select_k(np.random.default_rng(0).normal(size=(60, 2)), 3); "
        "print({'pyarrow.dataset', 'polars', 'duckdb'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_a_report_is_of_the_sample(tmp_path):
    pytest.importorskip("jinja2", reason="needs jinja2")
    X, _ = blobs(3, n=30)
    found = select_k(as_dataset(X, tmp_path), 5, random_state=0)
    with pytest.raises(ValueError, match=r"rows of this selection are elsewhere.*shown, rows = "):
        found.to_html(tmp_path / "r.html")
    shown, rows = found.sample()
    shown.to_html(tmp_path / "r.html", rows, n_rows=found.path.n_rows)
    assert (tmp_path / "r.html").exists()
