"""Rows in dask's chunks: the same numbers as in memory, and clusters that fail."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from conftest import blobs, linux_only, posix_only
from edfkmeans import (
    EDFKMeans,
    KMeansPath,
    _progress,
    compare,
    degrees_of_freedom,
    fit_path,
    score,
    select_k,
)
from edfkmeans.criteria.separation import silhouettes
from edfkmeans.fits import passes as passes_module
from edfkmeans.rows import look
from edfkmeans.rows.blocks import ChunkError
from edfkmeans.simulate import simulate
from edfkmeans.structure import find_structure

dask = pytest.importorskip("dask", reason="needs dask: pip install '.[dask]'")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from edfkmeans.engines._dask_chunks import Chunks, check_workers  # noqa: E402
from edfkmeans.engines.dask_files import connected, open_lazily, scaled, write_labels  # noqa: E402


def in_chunks(X, number):
    """X as a dask array of so many chunks, as even as can be."""
    cuts = np.linspace(0, len(X), number + 1).astype(int)
    return da.from_array(X, chunks=(tuple(np.diff(cuts).tolist()), X.shape[1]))


@pytest.fixture
def small_sample(monkeypatch):
    """As if only so many rows fitted in memory."""

    def set_to(n):
        monkeypatch.setattr(look, "SAMPLE", n)

    return set_to


@pytest.mark.parametrize("method", ["paper", "exact"])
def test_degrees_of_freedom_of_labels(wine, method):
    path = fit_path(wine, 8, random_state=0)
    whole = degrees_of_freedom(wine, path.labels(3), path.labels(9), method=method)
    names = np.array(["a", "b", "c"])[path.labels(3)]
    for given_labels in (names, da.from_array(names, chunks=50), pd.Series(names)):
        found = degrees_of_freedom(
            in_chunks(wine, 7), given_labels, da.from_array(path.labels(9)), method=method
        )
        assert found.naive == whole.naive
        assert found.total == pytest.approx(whole.total, rel=1e-9)
        assert found.per_point.chunks == in_chunks(wine, 7).chunks[:1]
        np.testing.assert_allclose(found.per_point, whole.per_point, atol=1e-9)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.booleans(), st.integers(1, 3))
def test_chunks_of_any_size(sizes, single, width):
    sizes = [*sizes, 30]
    X, _ = blobs(3, n=-(-sum(sizes) // 3))
    X = X[: sum(sizes)].astype(np.float32 if single else np.float64)
    D = da.from_array(X, chunks=(tuple(sizes), width))
    path = fit_path(D, 4, random_state=0)
    assert path.labels(3).chunks == (tuple(sizes),)
    np.testing.assert_allclose(path.inertia, fit_path(X, 4, random_state=0).inertia, rtol=1e-9)
    np.testing.assert_array_equal(path.labels(3), fit_path(X, 4, random_state=0).labels(3))


def test_passes_do_not_grow_with_k_max(small_sample, monkeypatch):
    small_sample(500)
    X = simulate("uniform", 5, 4, 1200, random_state=0)[0]
    passes = []
    original = Chunks._run
    monkeypatch.setattr(
        Chunks, "_run", lambda self, *a: (passes.append(a[-1]), original(self, *a))[1]
    )
    for method in ("judge", "combined"):
        for k_max in (3, 25):
            passes.clear()
            select_k(in_chunks(X, 5), k_max, method=method, random_state=0)
            assert passes[0] == "reading"
            assert passes[-1] == "degrees of freedom"
            assert 3 <= len(passes) <= 2 + passes_module.MAX_PASSES


def test_data_frames(tmp_path, wine):
    frame = pd.DataFrame(wine, columns=[f"c{i}" for i in range(wine.shape[1])])
    for part in range(4):
        frame[part * 50 : (part + 1) * 50].to_parquet(tmp_path / f"{part}.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    whole = select_k(frame, 8, random_state=0)
    parquet = dd.read_parquet(tmp_path / "*.parquet")
    for lazy in (parquet, dd.read_csv(tmp_path / "all.csv", blocksize=9000)):
        found = select_k(lazy, 8, random_state=0)
        assert found.k == whole.k
        np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
        assert len(found.labels.chunks[0]) == lazy.npartitions
        np.testing.assert_array_equal(found.labels, whole.labels)
    mixed = frame.assign(c0=frame["c0"].round().astype("Int64"), c1=frame["c1"] > 0)
    lazy = dd.from_pandas(mixed, npartitions=3)
    np.testing.assert_allclose(
        fit_path(lazy, 4, random_state=0).inertia,
        fit_path(mixed, 4, random_state=0).inertia,
        rtol=1e-9,
    )


def test_zarr(tmp_path, wine):
    pytest.importorskip("zarr", reason="needs zarr")
    in_chunks(wine, 1).rechunk((40, 13)).to_zarr(str(tmp_path / "wine.zarr"))
    path = fit_path(open_lazily(tmp_path / "wine.zarr"), 4, random_state=0)
    np.testing.assert_allclose(path.inertia, fit_path(wine, 4, random_state=0).inertia, rtol=1e-9)


def test_every_criterion(small_sample):
    X, labels = blobs(3, n=60)
    whole = compare(X, k_max=6, labels=labels, random_state=0).table
    found = compare(in_chunks(X, 7), k_max=6, labels=labels, random_state=0).table
    columns = ["k", "value", "ari", "remark"]
    pd.testing.assert_frame_equal(found[columns], whole[columns], rtol=1e-9)
    small_sample(100)
    truth = da.from_array(labels, chunks=50)
    part = compare(in_chunks(X, 7), k_max=6, labels=truth, random_state=0).table
    linear = ["judge", "combined", "bic", "aic", "bic-naive", "aic-naive", "calinski-harabasz",
              "elbow", "jump", "fk"]  # fmt: skip
    for name, remark in part["remark"].items():
        assert ("a sample of 100 rows" in remark) == (name not in linear), name
    assert (part.loc[["bic", "silhouette", "gap"], "k"] == 3).all()


def test_how_sure_comes_from_the_sample(small_sample):
    small_sample(120)
    X, _ = blobs(3, n=100)
    found = select_k(in_chunks(X, 4), 5, resample=True, random_state=0)
    assert found.resamples[3] >= 0.95
    assert found.k == 3
    assert found.summary.startswith("3 clusters; ")


def test_estimator(wine):
    frame = pd.DataFrame(wine, columns=[f"c{i}" for i in range(wine.shape[1])])
    lazy = dd.from_pandas(frame, npartitions=4)
    model = EDFKMeans(k_max=8, random_state=0)
    whole, found = clone(model).fit(frame), clone(model).fit(lazy)
    assert found.n_clusters_ == whole.n_clusters_
    np.testing.assert_array_equal(found.feature_names_in_, whole.feature_names_in_)
    np.testing.assert_array_equal(found.labels_, whole.labels_)
    for X in (lazy, in_chunks(wine, 3)):
        fitted = clone(model).fit(X)
        for made in (fitted.predict(X), fitted.transform(X)):
            assert isinstance(made, da.Array)
        np.testing.assert_array_equal(fitted.predict(X), whole.labels_)
        np.testing.assert_allclose(
            fitted.transform(X), whole.transform(frame), rtol=1e-9, atol=1e-9
        )
    np.testing.assert_array_equal(found.predict(frame), whole.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(lazy[["c1"]])


def test_what_can_be_shown(small_sample, wine, tmp_path):
    frame = pd.DataFrame(wine).add_prefix("c")
    small_sample(100)
    found = select_k(dd.from_pandas(frame, npartitions=4), 5, random_state=0)
    shown, rows = found.sample()
    assert shown.k == found.k
    pd.testing.assert_frame_equal(rows, frame.loc[rows.index], check_index_type=False)
    np.testing.assert_array_equal(shown.labels, found.labels.compute()[rows.index])
    np.testing.assert_array_equal(shown.ambiguity, found.ambiguity.compute()[rows.index])
    shown.to_html(tmp_path / "report.html", rows)
    assert found.to_dict()["sizes"] == found.path.sizes(found.k).tolist()
    with pytest.raises(TypeError, match="rows are in memory"):
        shown.sample()


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda X: X[:, 0], r"X has shape \(178,\), but must have rows and columns"),
        (lambda X: X[:1], "n_samples=1, but at least 2 rows"),
        (lambda X: X[:5], "k_max=6 needs at least 7 distinct rows; X has 5"),
        (lambda X: X.astype("U5"), "X has dtype <U5, which is not numbers"),
        (lambda X: X.astype(complex), "which is not numbers"),
        (
            lambda X: da.where(X > 3, np.nan, X),
            r"contains NaN: 10 values, the first in row 25 \(counted from 0, in chunk 0\), column",
        ),
        (lambda X: da.where(X > 3, np.inf, X), "Input X contains infinity"),
        (
            lambda X: dd.from_pandas(pd.DataFrame({"a": [1.0] * 9, "b": ["x"] * 9}), npartitions=2),
            "X has columns that are not numbers: 'b'. Drop them, or encode them",
        ),
        (
            lambda X: dd.from_pandas(
                pd.DataFrame({"a": [1.0] * 9, "b": ["x"] * 9}).astype({"b": "category"}),
                npartitions=2,
            ),
            "X has columns that are not numbers: 'b'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_clustered_is_refused(wine, make, words):
    with pytest.raises(ValueError, match=words):
        fit_path(make(in_chunks(wine, 3)), 6)


def test_other_refusals(wine, small_sample):
    D = in_chunks(wine, 3)
    with pytest.raises(TypeError, match="must be a dask array or data frame"):
        fit_path(dask.delayed(wine))
    with pytest.raises(TypeError, match="X is a dask array of MaskedArray"):
        fit_path(da.ma.masked_greater(D, 3))
    for function in (score, silhouettes):
        with pytest.raises(TypeError, match=r"needs the rows in memory\. Give X\.compute\(\)"):
            function(D, np.zeros(178))
    for function in (find_structure, lambda X: KMeansPath.from_labels(X, {2: [0, 1]})):
        with pytest.raises(TypeError, match="X is a dask Array"):
            function(D)
    with pytest.raises(ValueError, match=r"labels has shape \(2,\), but X has 178 rows"):
        degrees_of_freedom(D, [0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"^labels contains NaN"):
        degrees_of_freedom(D, np.full(178, np.nan), np.zeros(178))
    with pytest.raises(ValueError, match=r"^pilot_labels contains NaN"):
        degrees_of_freedom(D, np.zeros(178), np.full(178, np.nan))
    told = r"^method='bootstrap' fits all rows.* for that, and X .* or a sample of the rows\.$"
    with pytest.raises(ValueError, match=told):
        degrees_of_freedom(D, np.zeros(178), np.zeros(178), method="bootstrap")
    small_sample(50)
    same = da.from_array(np.repeat(wine[:2], 60, axis=0), chunks=30)
    with pytest.raises(ValueError, match="a sample of 50 rows has 2"):
        fit_path(same, 4)
    with pytest.raises(ValueError, match="A sample of 50 rows has 2 distinct rows"):
        fit_path(same)


def test_rows_that_change_are_noticed(wine, small_sample):
    small_sample(100)
    count = iter(range(10**9))

    def unsteady(block):
        return block if next(count) < 4 else block[:-1]

    D = da.from_array(wine, chunks=(60, 13)).map_blocks(unsteady, meta=wine[:0])
    with pytest.raises(ValueError, match="did not give the same rows"):
        fit_path(D, 4)
    wrong = da.from_array(wine, chunks=(60, 13)).map_blocks(lambda block: block[1:], meta=wine[:0])
    with pytest.raises(ChunkError, match=r"Chunk 0 of X .* it holds 59 rows, but 60 were"):
        fit_path(wrong, 4)


def test_progress_is_told(wine, capfd, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0)
    select_k(in_chunks(wine, 3), 4, random_state=0, progress=True)
    told = capfd.readouterr().err
    for title in ("reading", "pass 1", "degrees of freedom"):
        assert f"{title}: 100%" in told


def test_the_cheap_imports_stay_cheap():
    import subprocess
    import sys

    script = (
        "import sys, numpy as np; from edfkmeans import select_k; "
        "select_k(np.random.default_rng(0).normal(size=(60, 2)), 3); "
        "print('dask' in sys.modules, 'distributed' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_files_are_opened_scaled_and_labelled(tmp_path):
    frame = pd.DataFrame(sklearn.datasets.load_wine().data.astype(np.float32)).add_prefix("c")
    frame["same"] = np.float32(3)
    frame.to_parquet(tmp_path / "wine.parquet")
    frame.to_csv(tmp_path / "wine.csv", index=False)
    frame.to_csv(tmp_path / "wine.tsv", index=False, sep="\t")
    want = (frame - frame.mean()) / frame.std(ddof=0).where(frame.nunique() > 1, 1.0)
    for name in ("wine.parquet", "wine.csv", "wine.tsv"):
        ready = scaled(open_lazily(tmp_path / name))
        assert ready.names == list(frame.columns)
        np.testing.assert_allclose(ready.X, want, atol=1e-5)
        np.testing.assert_allclose(ready.X * ready.spread + ready.offset, frame, rtol=1e-5)
    assert scaled(open_lazily(tmp_path / "wine.parquet"), "none").spread.tolist() == [1.0] * 14
    with connected(None):
        found = select_k(in_chunks(want.to_numpy(), 5), 6, random_state=0)
    write_labels(found.labels, tmp_path / "labels")
    written = pd.read_parquet(tmp_path / "labels")["cluster"]
    np.testing.assert_array_equal(written, found.labels)
    assert len(list((tmp_path / "labels").glob("*.parquet"))) == 5
    with pytest.raises(ValueError, match=r"exists\. Remove it first"):
        write_labels(found.labels, tmp_path / "labels")
    with pytest.raises(ValueError, match=r"is not one of \.parquet"):
        open_lazily(tmp_path / "wine.xlsx")
    nobody = connected("tcp://127.0.0.1:9", timeout=0.5)
    with pytest.raises(ValueError, match="No scheduler answers"), nobody:
        pass


def test_scaling_leaves_what_is_missing_to_be_told(wine):
    X = wine.copy()
    X[100, 4] = np.nan
    with pytest.raises(ValueError, match=r"row 100 \(counted from 0, in chunk 3\), column 4"):
        select_k(scaled(in_chunks(X, 6)).X, 4)


def corrupt(folder):
    """Write a data set of five files, of which the third is spoilt after it was opened."""
    rng = np.random.default_rng(0)
    for part in range(5):
        pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc")).to_parquet(
            folder / f"part{part}.parquet"
        )
    lazy = dd.read_parquet(folder)
    (folder / "part2.parquet").write_bytes(b"not what it was")
    return lazy


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_a_corrupt_file_is_named(tmp_path, scheduler):
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(ChunkError, match=r"Chunk 2 of X \(.*part2\.parquet\) .* Repair it"),
    ):
        fit_path(corrupt(tmp_path), 3)


# A cluster of two worker processes.

LIMIT = 600 * 2**20


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def slowly(block, seconds=0.02):
    time.sleep(seconds)
    return block


def peak_memory():
    """Largest memory this process has used, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_a_cluster_gives_the_same_numbers_and_keeps_nothing(client, wine):
    whole = select_k(wine, 8, random_state=0)
    found = select_k(in_chunks(wine, 7), 8, random_state=0)
    assert found.k == whole.k
    np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
    np.testing.assert_array_equal(found.labels, whole.labels)
    dof = degrees_of_freedom(in_chunks(wine, 7), found.path.labels(3), found.path.labels(9))
    assert dof.total > dof.naive
    deadline = time.time() + 10
    while client.who_has() and time.time() < deadline:
        time.sleep(0.05)
    assert not client.who_has()


def test_workers_of_another_version_are_refused_before_the_work(client, wine, monkeypatch):
    monkeypatch.setattr("edfkmeans.__version__", "99.0")
    with pytest.raises(ImportError, match=r"has edfkmeans 0.* here it is 99\.0.* every worker"):
        fit_path(in_chunks(wine, 3), 3)
    monkeypatch.undo()
    monkeypatch.setattr(np, "__version__", "99.1")
    with pytest.raises(ImportError, match=r"has numpy .* Install numpy 99\.1 on every worker"):
        fit_path(in_chunks(wine, 3), 3)


def test_workers_without_the_package_are_named():
    class Client:
        answers: ClassVar = {"edfkmeans": ModuleNotFoundError("No module named 'edfkmeans'")}

        def run(self, function, name, on_error):
            return {"tcp://a": function(name), "tcp://b": self.answers[name.split(":")[0]]}

    with pytest.raises(ImportError, match=r"tcp://b has no edfkmeans .*Install edfkmeans 0"):
        check_workers(Client())
    Client.answers = {"edfkmeans": OSError("it has just ended"), "numpy": np.__version__}
    check_workers(Client())


@posix_only
def test_a_killed_worker_changes_nothing(client, wine):
    D = in_chunks(wine, 30).map_blocks(slowly, meta=wine[:0])
    want = select_k(D, 5, random_state=0)
    victim = next(iter(client.run(os.getpid).values()))
    # Each of three passes or more takes two workers 0.3 seconds: this is in the second one.
    threading.Timer(0.45, os.kill, (victim, signal.SIGKILL)).start()
    got = select_k(D, 5, random_state=0)
    client.wait_for_workers(2, timeout=20)
    assert victim not in client.run(os.getpid).values()
    assert got.k == want.k
    np.testing.assert_array_equal(got.path.inertia, want.path.inertia)
    np.testing.assert_allclose(got.table, want.table, rtol=1e-12)


def test_a_cluster_can_be_named(client, wine):
    with connected(client.scheduler.address):
        assert fit_path(in_chunks(wine, 3), 4, random_state=0).k_max == 4


def test_a_corrupt_file_is_named_on_a_cluster(client, tmp_path):
    with pytest.raises(ChunkError, match=r"Chunk 2 of X \(.*part2\.parquet\) .* Repair it"):
        fit_path(corrupt(tmp_path), 3)
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3


@posix_only
def test_cancelling_leaves_the_cluster_usable(client, wine):
    D = in_chunks(wine, 40).map_blocks(slowly, 0.2, meta=wine[:0])

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.6)
        with pytest.raises(KeyboardInterrupt):
            fit_path(D, 4, random_state=0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    start = time.perf_counter()
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3
    assert fit_path(in_chunks(wine, 3), 4, random_state=0).k_max == 4
    assert time.perf_counter() - start < 5  # all of D would take longer
    assert not any(client.processing().values())


@linux_only
def test_a_memory_limit_far_below_the_data_is_respected(client, small_sample):
    small_sample(20_000)
    rows, number = 125_000, 100

    def block(block_info=None):
        rng = np.random.default_rng(block_info[None]["chunk-location"][0] % 3)
        return np.tile(rng.normal(size=(500, 16)), (rows // 500, 1))

    D = da.map_blocks(
        block, chunks=((rows,) * number, (16,)), dtype=np.float64, meta=np.empty((0, 0))
    )
    assert D.nbytes > 2.4 * LIMIT
    before = set(client.run(os.getpid).values())
    path = fit_path(D, 1, n_init=1, random_state=0)
    assert sum(path.sizes(2)) == rows * number
    assert set(client.run(os.getpid).values()) == before  # none was restarted
    assert all(peak < LIMIT for peak in client.run(peak_memory).values())


def test_scaling_passes_over_empty_chunks(wine):
    empty = da.from_array(wine[:0], chunks=(1, 13))
    whole = da.concatenate([empty, in_chunks(wine, 3), empty])
    np.testing.assert_allclose(scaled(whole).offset, wine.mean(axis=0), atol=1e-12)


def test_weights_score_rows_of_chunks_that_are_not_counted():
    frame = pd.DataFrame(blobs(3, n=20)[0], columns=list("abc")).assign(w=np.arange(60) % 3 + 1)
    model = EDFKMeans(4, random_state=0).fit(frame[["a", "b", "c"]], sample_weight=frame["w"])
    lazy = dd.from_pandas(frame, npartitions=4)
    given = lazy[["a", "b", "c"]]
    whole = model.score(frame[["a", "b", "c"]], sample_weight=frame["w"])
    assert model.score(given, sample_weight=lazy["w"]) == pytest.approx(whole)
    assert model.score(given, sample_weight=frame["w"].to_numpy()) == pytest.approx(whole)
