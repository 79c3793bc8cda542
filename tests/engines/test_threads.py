import threading
import time
from functools import partial

import numpy as np
import pytest
import threadpoolctl

from edfkmeans.engines import threads
from edfkmeans.engines.threads import Stopped, Threads
from edfkmeans.rows.blocks import row_blocks, row_spans


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def slow_for_the_first(task):
        time.sleep(0.02 if task == 0 else 0)
        return task * task

    done = []
    with Threads(n_jobs) as pool:
        results = pool.map(slow_for_the_first, range(8), lambda task, _: done.append(task))
    assert results == [task * task for task in range(8)]
    assert sorted(done) == list(range(8))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_stops_the_rest(n_jobs):
    before = set(threading.enumerate())  # dask keeps threads of its own
    started = []

    def fail(task):
        started.append(task)
        time.sleep(0.005)
        if task == 1:
            raise RuntimeError("task 1 is broken")

    def run():
        with Threads(n_jobs) as pool:
            pool.map(fail, range(200))

    with pytest.raises(RuntimeError, match="task 1 is broken"):
        run()
    assert len(started) < 200
    assert not [t for t in set(threading.enumerate()) - before if "ThreadPool" in t.name]


def test_a_long_task_gives_up_when_another_fails():
    started, gave_up = threading.Event(), threading.Event()

    def work(pool, task):
        if task == 0:
            started.wait(10)
            raise RuntimeError("broken")
        started.set()
        try:
            for _ in range(2000):
                time.sleep(0.005)
                pool.check()
        except Stopped:
            gave_up.set()
            raise

    def run():
        with Threads(2) as pool:
            pool.map(partial(work, pool), range(2))

    with pytest.raises(RuntimeError, match="broken"):
        run()
    assert gave_up.is_set()


def test_pools_within_a_task_give_up_too():
    started, gave_up = threading.Event(), threading.Event()

    def slow(_):
        started.set()
        time.sleep(0.005)

    def work(task):
        if task == 0:
            started.wait(10)
            raise RuntimeError("broken")
        try:
            with Threads(1) as within:
                within.map(slow, range(2000))
        except Stopped:
            gave_up.set()
            raise

    def run():
        with Threads(2) as pool:
            pool.map(work, range(2))

    with pytest.raises(RuntimeError, match="broken"):
        run()
    assert gave_up.is_set()
    with Threads(1) as later:
        assert later.map(abs, [-1]) == [1]


def test_number_of_threads(monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads.joblib, "cpu_count", lambda: 8)
    no_openmp = threadpoolctl.ThreadpoolController().select(user_api="none")
    monkeypatch.setattr(threads, "_openmp", lambda with_sklearn: no_openmp)
    assert threads.effective_jobs(3) == 3
    assert threads.effective_jobs(None) == threads.effective_jobs(-1) == 8
    assert threads.effective_jobs(-2) == 7
    assert threads.effective_jobs(-99) == 1
    small, large = np.empty((625, 4)), np.empty((626, 4))
    assert threads.effective_jobs(None, small) == 1
    assert threads.effective_jobs(3, small) == 3
    assert threads.effective_jobs(None, large) == threads.effective_jobs(None, [[1.0]]) == 8
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert threads.effective_jobs(None) == 4


def test_blocks_cover_the_rows_once():
    blocks = row_blocks(20_000)
    assert [(b.start, b.stop) for b in blocks] == [(0, 8192), (8192, 16384), (16384, 20_000)]


@pytest.mark.parametrize("n", [1, 8192, 8193, 100_000, 1_000_000])
@pytest.mark.parametrize("parts", [1, 3, 16])
def test_spans_cover_the_rows_once(n, parts):
    spans = row_spans(n, parts)
    assert np.array_equal(np.concatenate([np.arange(n)[span] for span in spans]), np.arange(n))
    lengths = [span.stop - span.start for span in spans]
    assert min(lengths) > 0
    assert max(lengths) <= 2**17
    assert len(spans) <= max(parts, -(-n // 2**17))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_what_is_shared_comes_in_order_the_first_by_who_asks(n_jobs):
    with Threads(n_jobs) as pool:
        found = pool.share(lambda task: (task, threading.get_ident()), [1, 2, 3])
    assert [task for task, _ in found] == [1, 2, 3]
    assert found[0][1] == threading.get_ident()


def test_of_several_errors_the_first_task_counts():
    def fail(seconds):
        time.sleep(seconds)
        raise ValueError(str(seconds))

    with Threads(3) as pool, pytest.raises(ValueError, match=r"0\.2"):
        pool.map(fail, [0.2, 0.1, 0.0])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_what_is_started_beside_may_use_the_pool(n_jobs):
    with Threads(n_jobs) as pool:
        doubled = pool.beside(lambda: pool.map(lambda x: 2 * x, range(5)))
        failing = pool.beside(lambda: pool.map(lambda x: 1 // x, [0, 1]))
        assert pool.map(lambda x: x + 1, range(3)) == [1, 2, 3]
        assert doubled() == [0, 2, 4, 6, 8]
        with pytest.raises(ZeroDivisionError):
            failing()
