"""Fork while other threads compute: the child must give the same numbers, and end.

Run with: python robustness/fork.py [FORKS]    (20 unless told; Linux, and macOS where fork is left)
"""

import multiprocessing
import sys
import threading

import numpy as np

from edfkmeans import fit_path

SECONDS = 120
"""How long a child may take before it counts as hung."""


def fits():
    """Return numbers that hang on every thread's work."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(6 * i, 1, (60, 3)) for i in range(3)])
    return fit_path(X, 5, random_state=0, n_jobs=2).inertia


def main(forks):
    """Fork that often while two threads call without pause."""
    expected = fits()
    stop, calls, wrong_here = threading.Event(), [], []

    def call():
        while not stop.is_set():
            (calls if np.array_equal(fits(), expected) else wrong_here).append(1)

    threads = [threading.Thread(target=call, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    system = multiprocessing.get_context("fork")
    hung = wrong = 0
    for _ in range(forks):
        answers = system.SimpleQueue()
        child = system.Process(target=lambda to=answers: to.put(fits()))
        child.start()
        child.join(SECONDS)
        if child.is_alive():
            hung += 1
            child.kill()
        elif child.exitcode or not np.array_equal(answers.get(), expected):
            wrong += 1
    stop.set()
    for thread in threads:
        thread.join()
    told = f"{forks} forks beside {len(calls)} calls in 2 threads: {hung} hung, {wrong} wrong"
    print(f"{told}, {len(wrong_here)} wrong in the threads")
    return bool(hung or wrong or wrong_here)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 20))
