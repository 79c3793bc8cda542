"""Run kernels on the threads of one machine; they release the GIL."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import joblib

Task = TypeVar("Task")
Result = TypeVar("Result")

# Rows in one piece of work: fixed, so that sums do not depend on the number of threads.
BLOCK = 4096


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads: None and -1 mean every core that this process may use."""
    if n_jobs is None:
        n_jobs = -1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a positive number of threads, or -1 or None for all cores."
        )
    if n_jobs > 0:
        return int(n_jobs)
    cores = int(joblib.cpu_count())
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        limit = os.environ.get(name, "")
        if limit.isdigit() and int(limit) > 0:
            cores = min(cores, int(limit))
    return max(1, cores + 1 + int(n_jobs))


def row_blocks(n: int) -> Iterator[slice]:
    """Split n rows into blocks that do not depend on who works on them."""
    for first in range(0, n, BLOCK):
        yield slice(first, min(first + BLOCK, n))


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_jobs: int,
    on_done: Callable[[Task, Result], None] | None = None,
) -> list[Result]:
    """Apply `function` to every task; results come in the order of the tasks.

    `on_done` is called in this thread as tasks finish. After an error or Ctrl-C no new task
    starts.
    """
    if n_jobs == 1 or len(tasks) < 2:
        results = []
        for task in tasks:
            results.append(function(task))
            if on_done is not None:
                on_done(task, results[-1])
        return results
    pool = ThreadPoolExecutor(min(n_jobs, len(tasks)))
    try:
        futures: dict[Future[Result], Task] = {pool.submit(function, task): task for task in tasks}
        pending = set(futures)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                result = future.result()
                if on_done is not None:
                    on_done(futures[future], result)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
