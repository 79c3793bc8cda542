"""Many callers at once: threads, processes of joblib and dask, forks; and the limits they set."""

import faulthandler
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from conftest import blobs
from edfkmeans import EDFKMeans, select_k
from edfkmeans.backends.threads import effective_jobs

TIMEOUT = 30
X, _ = blobs(3, n=30)


@pytest.fixture(autouse=True)
def ends():
    """End the process, with the place of every thread, if a test does not end."""
    faulthandler.dump_traceback_later(2 * TIMEOUT, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def answer(seed, n_jobs=None):
    """What a caller sees, to the last digit."""
    found = select_k(X, k_max=5, random_state=seed, n_jobs=n_jobs)
    return found.k, found.centers.tobytes(), found.labels.tobytes()


def threads_within(_=None):
    return effective_jobs(None), os.environ.get("OMP_NUM_THREADS")


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


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_inside_the_workers_of_joblib(backend, alone):
    with joblib.Parallel(2, backend=backend, timeout=TIMEOUT) as parallel:
        found = parallel(joblib.delayed(answer)(seed) for seed in range(4))
        limits = parallel(joblib.delayed(threads_within)() for _ in range(4))
    assert found == alone
    if backend == "loky":  # joblib shares the cores among its processes by this variable
        share = max(joblib.cpu_count() // 2, 1)
        assert {threads for threads, _ in limits} == {share}
        assert {limit for _, limit in limits} == {str(share)}


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


COUNTED = """
import threading
from concurrent import futures
import joblib
joblib.cpu_count = lambda *_, **__: 8
sizes = []
class Counted(futures.ThreadPoolExecutor):
    def __init__(self, size):
        sizes.append(size)
        super().__init__(size)
from edfkmeans.backends import threads
threads.ThreadPoolExecutor = Counted
import numpy as np
from edfkmeans import select_k
select_k(np.random.default_rng(0).normal(size=(80, 2)), k_max=4, random_state=0)
print(max(sizes, default=1))
"""


@pytest.mark.parametrize(
    "limits, most",
    [
        ({}, 8),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"NUMBA_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "1"}, 1),
    ],
)
def test_no_more_threads_than_the_variables_allow(limits, most):
    names = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED],
        env=environment | limits,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.stdout == f"{most}\n", done.stderr


def test_limits_of_threadpoolctl_come_back_as_they_were(alone):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    with threadpoolctl.threadpool_limits(1):
        before = threadpoolctl.threadpool_info()
        assert answer(0) == alone[0]
        after = {one["filepath"]: one["num_threads"] for one in threadpoolctl.threadpool_info()}
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
