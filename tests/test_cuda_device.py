"""What only a GPU can show: packages that put rows there, memory that is full, and given back."""

import gc

import numpy as np
import pytest

cuda_simulator = pytest.importorskip("cuda_simulator", reason="needs g++, or a GPU and CuPy")

import cupy  # noqa: E402

from conftest import blobs  # noqa: E402
from edfkmeans import EDFKMeans, fit_path, select_k  # noqa: E402
from edfkmeans.engines import _cuda_passes, _cuda_source  # noqa: E402

pytestmark = pytest.mark.skipif(cuda_simulator.SIMULATED, reason="needs a GPU")


def clusters(n, columns=8, seed=0):
    rng = cupy.random.default_rng(seed)
    centers = cupy.asarray(6 * np.random.default_rng(seed).normal(size=(5, columns)), "float32")
    return centers[cupy.arange(n) % 5] + rng.standard_normal((n, columns), dtype="float32")


class Other:
    """An array of a package that knows DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_come_back_as_tensors():
    torch = pytest.importorskip("torch")
    X = torch.as_tensor(clusters(30_000), device="cuda")
    expected = select_k(cupy.asarray(X), 8, random_state=0)
    assert expected.k == 5
    for tensor in (X, X.clone().requires_grad_(), X.t().contiguous().t(), X.double()):
        found = select_k(tensor, 8, random_state=0)
        assert found.k == 5
        for column in (found.labels, found.ambiguity):
            assert isinstance(column, torch.Tensor)
            assert column.device == X.device
    half = EDFKMeans(8, random_state=0).fit(X.half())
    assert half.n_clusters_ == 5
    assert isinstance(half.predict(X.half()), torch.Tensor)
    np.testing.assert_array_equal(cupy.asnumpy(half.labels_), cupy.asnumpy(expected.labels))


def test_any_package_with_dlpack():
    X = clusters(30_000)
    found = fit_path(Other(X), 6, random_state=0)
    expected = fit_path(X, 6, random_state=0)
    np.testing.assert_array_equal(found.inertia, expected.inertia)
    assert type(found.labels(5)) is cupy.ndarray


def test_same_seed_same_answer():
    X = clusters(200_000)
    one, other = (select_k(X, 8, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.table.to_numpy(), other.table.to_numpy())
    np.testing.assert_array_equal(cupy.asnumpy(one.labels), cupy.asnumpy(other.labels))
    np.testing.assert_array_equal(cupy.asnumpy(one.ambiguity), cupy.asnumpy(other.ambiguity))


def used():
    gc.collect()
    return cupy.get_default_memory_pool().used_bytes()


def test_without_memory_it_says_so_and_holds_none():
    X = clusters(200_000)
    fit_path(X, 4, random_state=0)
    pool, before = cupy.get_default_memory_pool(), used()
    pool.free_all_blocks()
    pool.set_limit(size=pool.total_bytes() + 2**20)
    try:
        with pytest.raises(MemoryError, match="no memory left"):
            fit_path(X, 4, random_state=0)
    finally:
        pool.set_limit(size=0)
    assert used() == before
    assert len(fit_path(X, 4, random_state=0).inertia) == 5


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_breaks_off_holds_no_memory(monkeypatch, error):
    X, _ = blobs(3, n=20_000)
    X = X.astype(np.float32)
    fit_path(X, 4, random_state=0, engine="cuda")
    before, calls = used(), []

    def move(self):
        calls.append(1)
        if len(calls) == 5:
            raise error

    monkeypatch.setattr(_cuda_passes.Batch, "move", move)
    with pytest.raises(error):
        fit_path(X, 4, random_state=0, engine="cuda")
    assert used() == before


def test_an_answer_holds_no_memory_of_the_gpu():
    X = cupy.asnumpy(clusters(200_000))
    before = used()
    found = select_k(X, 8, random_state=0, engine="cuda")
    assert used() == before
    assert found.labels.shape == (200_000,)
    assert used() == before


def test_rows_sent_in_parts_give_the_same(monkeypatch):
    X = cupy.asnumpy(clusters(300_000))
    whole = select_k(X, 8, random_state=0, engine="cuda")
    monkeypatch.setattr(_cuda_source, "_AT_ONCE", 2**19)
    monkeypatch.setattr(_cuda_source, "free_bytes", lambda: 0)
    parts = select_k(X, 8, random_state=0, engine="cuda")
    assert parts.k == whole.k == 5
    np.testing.assert_allclose(parts.path.inertia, whole.path.inertia, rtol=1e-9)
    np.testing.assert_array_equal(parts.labels, whole.labels)
