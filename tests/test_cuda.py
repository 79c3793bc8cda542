"""Rows on a GPU: without one its kernels are compiled for the processor, see `cuda_simulator`."""

import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

cuda_simulator = pytest.importorskip("cuda_simulator", reason="needs g++, or a GPU and CuPy")

import cupy  # noqa: E402 - the stand-in, unless there is a GPU

import naive  # noqa: E402
from conftest import blobs  # noqa: E402
from edfkmeans import EDFKMeans, KMeansPath, degrees_of_freedom, fit_path, select_k  # noqa: E402
from edfkmeans.engines import _cuda_device, _cuda_source, cuda, open_rows  # noqa: E402
from edfkmeans.engines._cuda_place import OnDevice, is_on_device  # noqa: E402
from edfkmeans.rows import look  # noqa: E402
from edfkmeans.rows.assignments import Known, Nearest  # noqa: E402
from edfkmeans.rows.tasks import Tally  # noqa: E402
from edfkmeans.simulate import simulate  # noqa: E402


@pytest.fixture
def single(monkeypatch):
    """As if few rows were many: computing is in single precision, the search on the GPU."""
    monkeypatch.setattr(cuda, "FEW", 0)


def host(array):
    return cupy.asnumpy(array)


@pytest.mark.parametrize("method", ["paper", "exact"])
@pytest.mark.parametrize("columns", [1, 3])
def test_terms_are_the_equations(single, method, columns):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(60, columns)).astype(np.float32)
    X[20:, 0] += 2
    X[40:, -1] -= 3
    labels = np.repeat([0, 1, 2], 20)
    labels[:3] = 1
    pilot = np.arange(60) // 6
    oracle = {"paper": naive.excess_terms, "exact": naive.exact_excess}[method]
    expected = oracle(X.astype(float), labels, pilot)
    found = degrees_of_freedom(cupy.asarray(X), labels, pilot, method=method)
    np.testing.assert_allclose(host(found.per_point), expected, rtol=1e-3, atol=2e-5)
    assert found.excess == pytest.approx(sum(expected), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("method", ["paper", "exact"])
def test_terms_of_wide_rows(method):
    X, labels = blobs(3, n=50)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 67))])  # more than are staged
    pilot = np.arange(150) // 15
    whole = degrees_of_freedom(X, labels, pilot, method=method)
    found = degrees_of_freedom(cupy.asarray(X), labels, pilot, method=method)
    np.testing.assert_allclose(host(found.per_point), whole.per_point, atol=1e-9)


def test_sums_are_the_equations(single):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 1, size=(70, 5)) for m in (0, 6, 12)]).astype(np.float32)
    labels = np.repeat([0, 1, 2], 70)
    rows = open_rows(cupy.asarray(X), 0)
    centers = np.array(naive.centroids(X, labels)) / rows.units.scale
    centers -= rows.units.offset / rows.units.scale
    many = np.arange(len(X)) % 40
    tallies = [
        Tally(Nearest(centers), centers),
        Tally(Known(many), np.zeros((40, 5))),
        Tally(Nearest(centers, np.array([2, 0, 1])), centers[[1, 2, 0]]),
    ]
    nearest, known, renamed = rows.sums(tallies)
    # Every value is rounded to single precision once, in the units of the rows; sums are exact.
    rounding = np.abs(X - rows.units.offset).max() * 2.0**-24
    for found, own in ((nearest, labels), (known, many), (renamed, np.array([2, 0, 1])[labels])):
        assert found.sizes.tolist() == naive.sizes(own)
        means = rows.units.to_original(found.means)
        np.testing.assert_allclose(means, naive.centroids(X, own), rtol=1e-12, atol=rounding)
    for found in (nearest, renamed):
        inertia = rows.units.squared(found.inertia)
        assert inertia == pytest.approx(naive.inertia(X, labels), rel=1e-6)
    assert rows.units.squared(known.inertia) == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_single_precision_is_near(single):
    X = simulate("shape varies", 5, 4, 700, random_state=0)[0].astype(np.float32)
    path = fit_path(X, 8, random_state=0)
    pilot = path.labels(9)
    for method in ("paper", "exact"):
        for k in (2, 5, 8):
            labels = path.labels(k)
            whole = degrees_of_freedom(X.astype(float), labels, pilot, method=method).total
            found = degrees_of_freedom(X, labels, pilot, method=method, engine="cuda").total
            assert found == pytest.approx(whole, rel=1e-5)


def test_the_search_finds_good_fits(single):
    X, _ = blobs(5, n=150)
    X = X.astype(np.float32)
    found, again = (fit_path(cupy.asarray(X), 7, random_state=3) for _ in range(2))
    whole = fit_path(X, 7, random_state=3)
    assert found.inertia.mean() <= 1.02 * whole.inertia.mean()
    np.testing.assert_allclose(found.inertia[:5], whole.inertia[:5], rtol=1e-4)
    np.testing.assert_array_equal(found.inertia, again.inertia)
    for k in range(1, 9):
        labels = host(found.labels(k))
        assert naive.sizes(labels) == found.sizes(k).tolist()
        assert naive.inertia(X, labels) == pytest.approx(found.inertia[k - 1], rel=1e-5)
        np.testing.assert_array_equal(labels, host(again.labels(k)))
        # The sample is all rows here: its clusterings are the same.
        np.testing.assert_array_equal(labels, found.sample.labels(k))
    assert select_k(cupy.asarray(X), 7, random_state=0).k == 5


def test_beyond_the_sample(single, monkeypatch):
    monkeypatch.setattr(look, "SAMPLE", 200)
    X, _ = blobs(3, n=150)
    found = select_k(X.astype(np.float32), 5, random_state=0, engine="cuda")
    assert found.k == 3
    assert found.path.sizes(3).tolist() == [150] * 3
    assert found.sample()[1].shape == (200, 3)
    assert found.with_k(2, X.astype(np.float32)).ambiguity.shape == (450,)


def test_rows_beyond_the_memory_of_the_gpu_are_sent_in_parts(monkeypatch):
    X, _ = blobs(3, n=6000)
    whole = fit_path(X, 4, random_state=0, engine="cuda")
    monkeypatch.setattr(_cuda_source, "_AT_ONCE", 2 * 8192)
    monkeypatch.setattr(_cuda_source, "free_bytes", lambda: 0)
    parts = fit_path(X, 4, random_state=0, engine="cuda")
    for k in (2, 5):
        np.testing.assert_array_equal(parts.centers(k), whole.centers(k))
        np.testing.assert_array_equal(parts.labels(k), whole.labels(k))


def test_labels_are_what_came_in():
    X, _ = blobs(3, n=60)
    there, model = cupy.asarray(X), EDFKMeans(5, random_state=0)
    found = model.fit(there)
    assert type(found.labels_) is cupy.ndarray
    assert type(found.selection_.ambiguity) is cupy.ndarray
    assert type(found.predict(there)) is cupy.ndarray
    by_cpu = select_k(X, 5, random_state=0)
    np.testing.assert_array_equal(host(found.labels_), by_cpu.labels)
    in_memory = select_k(X, 5, random_state=0, engine="cuda")
    assert type(in_memory.labels) is np.ndarray
    np.testing.assert_array_equal(in_memory.labels, by_cpu.labels)
    again = pickle.loads(pickle.dumps(in_memory))
    np.testing.assert_array_equal(again.labels, by_cpu.labels)


def test_numbers_of_every_kind():
    X, _ = blobs(3, n=50)
    for change in (
        lambda a: a.astype(np.float16),
        lambda a: a.astype(np.float32),
        lambda a: (10 * a).astype(np.int32),
        lambda a: a[::2],
        lambda a: a[:, ::-1],
    ):
        expected = fit_path(np.array(change(X), float), 3, random_state=0).inertia
        found = fit_path(change(cupy.asarray(X)), 3, random_state=0)
        np.testing.assert_allclose(found.inertia, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "X, words",
    [
        (np.ones((0, 3)), "X has shape"),
        (np.ones(5), "X has shape"),
        (np.ones((9, 2), complex), "complex"),
        (np.where(np.eye(9) > 0, np.nan, 1.0), "contains NaN: 9 values, the first in row 0"),
        (np.where(np.eye(9) > 0, np.inf, 1.0), "contains infinity"),
    ],
)
def test_what_cannot_be_clustered(X, words):
    with pytest.raises(ValueError, match=words):
        fit_path(cupy.asarray(X), 3)


def test_without_memory_it_says_what_to_do(monkeypatch):
    X, _ = blobs(3, n=30)

    def full(*args, **kwargs):
        raise cupy.cuda.memory.OutOfMemoryError(100, 0)

    monkeypatch.setattr(cuda, "Pass", full)
    with pytest.raises(MemoryError, match=r"no memory left .* engine='cuda', which sends it part"):
        fit_path(cupy.asarray(X), 3)


def test_a_sample_without_memory_says_so_too(monkeypatch):
    def take(self, numbers):
        raise cupy.cuda.memory.OutOfMemoryError(100, 0)

    monkeypatch.setattr(_cuda_source.Source, "take", take)
    with pytest.raises(MemoryError, match="no memory left for this"):
        fit_path(cupy.asarray(blobs(3)[0]), 4)


def test_a_tensor_that_refuses_to_say_where_it_is():
    class Tensor:
        def __dlpack_device__(self):
            return 2, 0

        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("requires grad")

    assert is_on_device(Tensor())


def test_what_a_result_keeps_is_not_on_the_gpu():
    X, _ = blobs(3)
    rows = open_rows(OnDevice(X), 0)
    rows.sums([Tally(Nearest(X[:3]), X[:3])])
    assert "_there" in vars(rows.layout)
    assert "_there" not in vars(rows.kept().layout)


def test_many_clusters_are_left_to_the_processor():
    X, _ = blobs(3, n=100)
    labels = np.arange(300) // 4  # 75 clusters: more than the kernel for terms takes
    pilot = np.arange(300) // 2
    whole = degrees_of_freedom(X, labels, pilot)
    found = degrees_of_freedom(X, labels, pilot, engine="cuda")
    assert found.total == pytest.approx(whole.total, rel=1e-12)


def test_words_that_engine_does_not_take():
    X, labels = blobs(3, n=30)
    with pytest.raises(ValueError, match=r"engine='tpu' .*cuda"):
        fit_path(X, 3, engine="tpu")
    with pytest.raises(TypeError, match="takes rows in memory or on a GPU"):
        fit_path(iter([]), 3, engine="cuda")
    with pytest.raises(ValueError, match="must be in memory"):
        degrees_of_freedom(X, labels, labels, method="bootstrap", engine="cuda")


def test_a_path_of_ones_own_and_a_gpu():
    X, labels = blobs(3, n=30)
    path = KMeansPath.from_labels(X, {2: labels % 2, 3: labels})
    with pytest.raises(TypeError, match="path was fitted to rows in memory, but X is on a GPU"):
        select_k(X, path=path, engine="cuda")


def test_without_cupy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    for X, how in ((np.ones((9, 2)), {"engine": "cuda"}), (Elsewhere(), {})):
        with pytest.raises(ImportError, match=r"needs CuPy\. Install .*\[gpu\]"):
            fit_path(X, 3, **how)


class Elsewhere:
    """An array on a GPU, as far as can be told without reading it."""

    def __dlpack_device__(self):
        return 2, 0


def test_without_a_gpu_it_says_so(monkeypatch):
    error = type("CUDARuntimeError", (RuntimeError,), {})

    def none():
        raise error("cudaErrorNoDevice: no CUDA-capable device is detected")

    runtime = types.SimpleNamespace(getDeviceCount=none, CUDARuntimeError=error)
    empty = types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", empty)
    with pytest.raises(RuntimeError, match=r"found no CUDA device: .* leave engine out"):
        select_k(np.ones((9, 2)), engine="cuda")
    runtime.getDeviceCount = lambda: 0
    with pytest.raises(RuntimeError, match="it counts none"):
        select_k(np.ones((9, 2)), engine="cuda")


def test_the_command_says_so_before_it_reads(tmp_path):
    pytest.importorskip("typer")
    hidden = "import sys; sys.modules['cupy'] = None; from edfkmeans.__main__ import main; main()"
    command = [sys.executable, "-c", hidden, "select", str(tmp_path / "none.csv")]
    done = subprocess.run([*command, "--engine", "cuda"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "--engine cuda" in done.stderr
    assert "needs CuPy" in done.stderr


def test_the_core_does_without_cupy():
    code = "import sys, edfkmeans; edfkmeans.select_k; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_groups_of_fits_fit_into_a_block():
    for columns in (2, 16, 64, 300):
        ks = list(range(1, 32))
        groups = _cuda_device.groups_of(ks, columns)
        assert groups[0] == 0
        assert groups[-1] == 31
        assert max(np.diff(groups)) <= _cuda_device.teams_of(columns)
        assert _cuda_device.held_by_sums(ks, groups, columns) <= 96 * 1024
