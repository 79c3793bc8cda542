"""Many callers at once: threads, processes of joblib and dask, forks; and the limits they set."""

import faulthandler
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from conftest import blobs
from edfkmeans import EDFKMeans, select_k
from edfkmeans.engines import threads

TIMEOUT = 30
X, _ = blobs(3, n=30)


@pytest.fixture(autouse=True)
def ends():
    """End the process, with the place of every thread, if a test does not end."""
    faulthandler.dump_traceback_later(2 * TIMEOUT, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def no_variables(monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def answer(seed, n_jobs=None):
    """What a caller sees, to the last digit."""
    found = select_k(X, k_max=5, random_state=seed, n_jobs=n_jobs)
    return found.k, found.centers.tobytes(), found.labels.tobytes()


def threads_used(n_jobs=None, limits=8, user_api=None):
    """The largest pool of a call under limits on a machine of eight cores, and its threads."""
    sizes, alive = [1], [1]

    class Counted(ThreadPoolExecutor):
        def __init__(self, size, **rest):
            sizes.append(size)
            super().__init__(size, thread_name_prefix="counted", **rest)

        def submit(self, *call):
            future = super().submit(*call)
            alive.append(sum(one.name.startswith("counted") for one in threading.enumerate()))
            return future

    with (
        mock.patch.object(threads, "ThreadPoolExecutor", Counted),
        mock.patch.object(threads, "_FEW_NUMBERS", 0),  # X is small, and would have one thread
        mock.patch.object(joblib, "cpu_count", return_value=8),
        threadpool_limits(8),
        threadpool_limits(limits, user_api),
    ):
        select_k(X, k_max=5, random_state=0, n_jobs=n_jobs)
    assert max(alive) <= max(sizes)
    return max(sizes)


def fitted(seed):
    return EDFKMeans(k_max=5, random_state=seed, n_jobs=2).fit(X)


def numbers(estimator):
    """What an estimator has found, to the last digit."""
    found = (estimator.cluster_centers_, estimator.labels_, estimator.predict(X[::-1]))
    return estimator.n_clusters_, *(one.tobytes() for one in found)


@pytest.fixture(scope="module")
def alone():
    return [answer(seed, n_jobs=1) for seed in range(4)]


def test_many_threads_at_once(alone):
    before = threading.active_count()
    start = threading.Barrier(8, timeout=TIMEOUT)

    def call(index):
        start.wait()
        if index % 2:
            fitted = EDFKMeans(k_max=5, random_state=index // 2, n_jobs=2).fit(X)
            return fitted.n_clusters_, fitted.cluster_centers_.tobytes(), fitted.labels_.tobytes()
        return answer(index // 2, n_jobs=2)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(call, range(8), timeout=TIMEOUT))
    assert found == [alone[index // 2] for index in range(8)]
    assert threading.active_count() == before


def test_many_estimators_on_different_data():
    shapes = [(20, 2), (30, 3), (40, 4), (25, 3), (35, 2), (45, 4)]
    data = [blobs(2 + i % 3, n=n, d=d, seed=i)[0] for i, (n, d) in enumerate(shapes)]
    data[3] = data[3].astype(np.float32)
    start = threading.Barrier(len(data), timeout=TIMEOUT)

    def fit(Y, wait=True):
        if wait:
            start.wait()
        found = EDFKMeans(k_max=5, random_state=0, n_jobs=2).fit(Y)
        return found.n_clusters_, found.cluster_centers_.tobytes(), found.labels_.tobytes()

    with ThreadPoolExecutor(len(data)) as pool:
        together = list(pool.map(fit, data, timeout=TIMEOUT))
    assert together == [fit(Y, wait=False) for Y in data]
    assert len({centers for _, centers, _ in together}) == len(data)


# joblib shares the cores among the processes of loky by OMP_NUM_THREADS; a worker of
# multiprocessing gets one; threads are as free as the caller.
@pytest.mark.parametrize(
    "backend, most",
    [("loky", max(joblib.cpu_count() // 2, 1)), ("threading", 8), ("multiprocessing", 1)],
)
def test_inside_the_workers_of_joblib(backend, most, alone, no_variables):
    with joblib.Parallel(2, backend=backend, timeout=TIMEOUT) as parallel:
        assert parallel(joblib.delayed(answer)(seed) for seed in range(4)) == alone
        assert parallel(joblib.delayed(answer)(seed, 2) for seed in range(4)) == alone
        assert parallel([joblib.delayed(threads_used)()]) == [most]
        assert parallel([joblib.delayed(threads_used)(3)]) == [3]


def test_estimators_come_back_from_the_processes_of_loky():
    found = joblib.Parallel(2, timeout=TIMEOUT)(joblib.delayed(fitted)(seed) for seed in range(4))
    assert [numbers(one) for one in found] == [numbers(fitted(seed)) for seed in range(4)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_estimators_come_back_from_a_fresh_process(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert numbers(pool.submit(fitted, 0).result(2 * TIMEOUT)) == numbers(fitted(0))


def test_inside_the_processes_of_dask(alone):
    distributed = pytest.importorskip("distributed", reason="needs dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = client.map(answer, range(4), pure=False)
        distributed.wait(futures, timeout=TIMEOUT)
        assert client.gather(futures) == alone
        assert list(client.run(threads_used).values()) == [1, 1]
        assert list(client.run(threads_used, 3).values()) == [3, 3]


def test_inside_the_workers_of_dask(alone):
    distributed = pytest.importorskip("distributed", reason="needs dask")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = client.map(answer, range(4), pure=False)
        distributed.wait(futures, timeout=TIMEOUT)
        assert client.gather(futures) == alone


FORKED = """
import multiprocessing, sys
import numpy as np
from edfkmeans import select_k
X = np.random.default_rng(0).normal(size=(90, 3)) + 12 * np.repeat(np.arange(3), 30)[:, None]
def answer(_=None):
    found = select_k(X, k_max=5, random_state=0, n_jobs=2)
    return found.k, found.centers.tolist()
here = answer()  # the parent has compiled, and has had threads
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(answer, range(4))
print(all(one == here for one in there), here[0])
"""


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
def test_after_a_fork():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.stdout == "True 3\n", done.stderr


@pytest.mark.parametrize(
    "limits, most",
    [
        ({}, 8),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"NUMBA_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "1"}, 1),
    ],
)
def test_no_more_threads_than_the_variables_allow(limits, most, no_variables):
    done = subprocess.run(
        [sys.executable, "-c", "import test_concurrency; print(test_concurrency.threads_used())"],
        env=os.environ | limits | {"PYTHONPATH": str(Path(__file__).parents[1])},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.stdout == f"{most}\n", done.stderr


@pytest.mark.parametrize(
    "n_jobs, limits, user_api, most",
    [
        (None, 1, None, 1),
        (None, 3, None, 3),
        (-1, 3, "openmp", 3),
        (-2, 3, "openmp", 2),
        (None, {"libgomp": 2, "libomp": 2, "vcomp": 2}, None, 2),
        (None, 1, "blas", 8),
        (None, 20, None, 8),
        (5, 1, None, 5),
    ],
)
def test_no_more_threads_than_threadpoolctl_allows(n_jobs, limits, user_api, most, no_variables):
    assert threads_used(n_jobs, limits, user_api) == most


def test_limits_of_threadpoolctl_hold_from_the_first_call(no_variables):
    """Naming the function loads the library that the limit is set on."""
    code = (
        "from edfkmeans import select_k; import threadpoolctl; threadpoolctl.threadpool_limits(1);"
        "from edfkmeans.engines.threads import effective_jobs as j; print(j(None), j(-1), j(2))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.stdout == "1 1 2\n", done.stderr


def test_limits_of_threadpoolctl_come_back_as_they_were(alone):
    with threadpool_limits(1):
        before = threadpool_info()
        assert answer(0) == alone[0]
        after = {one["filepath"]: one["num_threads"] for one in threadpool_info()}
        assert all(after[one["filepath"]] == one["num_threads"] for one in before)


def test_callers_do_not_share_random_numbers():
    """Calls with a seed do not see what others draw from NumPy's global state."""
    stop = threading.Event()

    def draw():
        while not stop.is_set():
            np.random.normal(size=10)  # noqa: NPY002 - others do

    noise = threading.Thread(target=draw, daemon=True)
    noise.start()
    try:
        assert answer(1) == answer(1)
    finally:
        stop.set()
        noise.join(TIMEOUT)
    assert not noise.is_alive()
