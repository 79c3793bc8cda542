"""Run kernels on the threads of one machine; they release the GIL."""

import ctypes
import math
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar

import joblib
import threadpoolctl

Task = TypeVar("Task")
Result = TypeVar("Result")


# Numbers in X: with up to so many, a path and its judging are mostly short steps of Python, and
# threads wait for each other longer than they save (iris, 150 x 4, takes half as long again with
# two of them, 400 x 4 a tenth; 800 x 4 gains a quarter).
_FEW_NUMBERS = 2500


def effective_jobs(n_jobs: int | None, X: Any = None) -> int:
    """Return the number of threads.

    A positive number is obeyed. None and -1 mean every core that this process may use, but no more
    threads than these allow: the variables OMP_NUM_THREADS and NUMBA_NUM_THREADS, and the limit of
    any OpenMP library in the calling thread, which threadpoolctl sets (limits on BLAS do not
    count). In a daemonic process, a worker of a pool that shares out the cores already, it is one
    thread, and so it is for an X of few numbers. -2 means all but one of them, and so on.
    """
    if n_jobs is None:
        n_jobs = -1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a positive number of threads, or -1 or None for all cores."
        )
    if n_jobs > 0:
        return int(n_jobs)
    if multiprocessing.current_process().daemon or _is_small(X):
        return 1
    cores = int(joblib.cpu_count())
    for library in _openmp("sklearn" in sys.modules).info():
        cores = min(cores, int(library["num_threads"]))
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        limit = os.environ.get(name, "")
        if limit.isdigit() and int(limit) > 0:
            cores = min(cores, int(limit))
    return max(1, cores + 1 + int(n_jobs))


def _is_small(X: Any) -> bool:
    """Whether X tells its shape, and that of few numbers."""
    shape: Any = getattr(X, "shape", None)
    known = isinstance(shape, tuple) and all(isinstance(length, int) for length in shape)
    return known and math.prod(shape) <= _FEW_NUMBERS


@cache
def _openmp(with_sklearn: bool) -> Any:
    """Find the OpenMP libraries, which takes milliseconds: once, and again with scikit-learn's.

    A limit that is set for all of them shows in those that were there first.
    """
    return threadpoolctl.ThreadpoolController().select(user_api="openmp")


def _load_openmp() -> None:
    """Load the OpenMP library that comes with scikit-learn, for limits to be set on.

    Limits that are set before the first call would be lost otherwise. To import scikit-learn for
    that would take a second; where it has no library of its own, limits wait until it is imported.
    """
    found = find_spec("sklearn")
    if found is None or found.origin is None:
        return
    home = Path(found.origin).parent
    places = (home.parent / "scikit_learn.libs", home / ".dylibs", home / ".libs")
    for file in [file for place in places for file in place.glob("*omp*")]:
        with suppress(OSError):
            ctypes.CDLL(str(file))


_load_openmp()


def one_thread_of_blas() -> Any:
    """Let matrix products do with one thread while many threads ask for small ones."""
    return _blas().limit(limits=1)


@cache
def _blas() -> Any:
    return threadpoolctl.ThreadpoolController().select(user_api="blas")


# Threads for what is started beside the others: enough that none has to wait for its turn.
_BESIDE = 16

# What tells the worker threads of a pool to stop; pools that are opened in a task listen to it too.
_task = threading.local()


class Stopped(Exception):  # noqa: N818 - not an error: the work is no longer wanted
    """Raised inside a task when another one failed or the user pressed Ctrl-C."""


class Threads:
    """A pool of threads for as long as a ``with`` block lasts; one thread means none."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._stop = threading.Event()
        self._stops: tuple[threading.Event, ...] = (*getattr(_task, "stops", ()), self._stop)
        self._begin = partial(setattr, _task, "stops", self._stops)
        self._pool = ThreadPoolExecutor(n_jobs, initializer=self._begin) if n_jobs > 1 else None
        self._others: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._others is not None:
            self._others.shutdown(wait=True, cancel_futures=True)

    def check(self) -> None:
        """Give up if this pool, or one in whose task it was opened, is closing.

        Long tasks call this between steps; `map` does so before every task.
        """
        for stop in self._stops:
            if stop.is_set():
                raise Stopped

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        on_done: Callable[[Task, Result], None] | None = None,
    ) -> list[Result]:
        """Apply `function` to every task; results come in the order of the tasks.

        `on_done` is called in this thread as tasks finish. A task may not use the pool itself. Of
        several tasks that fail, the error of the first is raised.
        """
        tasks = list(tasks)
        if self._pool is None or len(tasks) < 2:
            return [self._serial(function, task, on_done) for task in tasks]
        futures = {self._pool.submit(function, task): task for task in tasks}
        pending = set(futures)
        while pending and on_done is not None:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                if future.exception() is not None:
                    for each in futures:  # of several errors the first task's, whatever the clock
                        each.result()
                on_done(futures[future], future.result())
        return [future.result() for future in futures]

    def share(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Do what `map` does, the first task in the thread that calls: for short ones."""
        if self._pool is None:
            return [function(task) for task in tasks]
        futures = [self._pool.submit(function, task) for task in tasks[1:]]
        first = function(tasks[0])
        return [first, *(future.result() for future in futures)]

    def beside(self, function: Callable[[], Result]) -> Callable[[], Result]:
        """Start something that uses the pool itself, in a thread of its own, which mostly waits.

        Returns what waits for the result. With one thread it is done when it is waited for.
        """
        if self._pool is None:
            return function
        if self._others is None:
            self._others = ThreadPoolExecutor(_BESIDE, initializer=self._begin)
        return self._others.submit(function).result

    def stream(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Apply `function` to tasks that are made one by one, and hand on results in their order.

        No more tasks are taken than keep the threads busy: they may be large.
        """
        waiting: deque[Future[Result]] = deque()
        for task in tasks:
            self.check()
            if self._pool is None:
                yield function(task)
                continue
            waiting.append(self._pool.submit(function, task))
            if len(waiting) > self.n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _serial(
        self,
        function: Callable[[Task], Result],
        task: Task,
        on_done: Callable[[Task, Result], None] | None,
    ) -> Result:
        self.check()
        result = function(task)
        if on_done is not None:
            on_done(task, result)
        return result


def ordered_sum(parts: Sequence[float]) -> float:
    """Sum in the order given, as a kernel does (Python's own sum compensates for rounding)."""
    total = 0.0
    for part in parts:
        total += part
    return total
