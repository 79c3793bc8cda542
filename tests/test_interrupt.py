"""Ctrl-C at some moments of a call, of the commands and of the reproduction of the paper."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import posix_only

pytestmark = posix_only
LIMIT = 10  # seconds; on a free machine it is two (robustness/interrupt.py)
ROBUSTNESS = Path(__file__).parents[1] / "robustness"
MOMENTS = random.Random(0)
CASES = [
    (command, how, round(MOMENTS.uniform(0.3, 3.0), 2))
    for command in ("select", "compare", "reproduce")
    for how in ("group", "process", "twice")
]


@pytest.mark.parametrize("command, how, moment", CASES)
def test_control_c_leaves_no_process_and_no_partial_file(
    command, how, moment, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(str(ROBUSTNESS))
    import interrupt

    outcome = interrupt.interrupt(command, moment, tmp_path, how)
    outcome.wrong = [fault for fault in outcome.wrong if not fault.endswith(" s")]  # a busy machine
    assert not outcome.wrong
    assert outcome.seconds < LIMIT
    assert outcome.code == (0 if outcome.finished else 130)
    assert not (outcome.finished and command == "reproduce")  # it takes two minutes


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from edfkmeans import select_k
rng = np.random.default_rng(0)
X = rng.normal(size=(150_000, 12))  # no clusters: long descents
n_jobs, limit = map(int, sys.argv[1:3])
def call(rows, k_max=25):
    found = select_k(X[:rows], k_max, random_state=0, n_jobs=n_jobs)
    return found.k, found.centers.tolist()
before = call(90, 5)
threads = threading.active_count()
for moment in map(float, sys.argv[3:]):
    sent = []
    def press():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(moment, press)
    timer.start()
    try:
        call(150_000)
        print("not interrupted")
    except KeyboardInterrupt:
        seconds = time.perf_counter() - sent[0]
        timer.join()
        while threading.active_count() > threads and time.perf_counter() - sent[0] < limit:
            time.sleep(0.01)  # on their way out
        left = threading.active_count() - threads
        print("back" if seconds < limit else seconds, left, call(90, 5) == before)
"""


@pytest.mark.parametrize("n_jobs, moments", [(1, (0.2, 1.7)), (2, (0.3, 1.4))])
def test_control_c_in_a_call(n_jobs, moments):
    """As in a notebook: KeyboardInterrupt, no thread goes on, and the next call works."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *map(str, (n_jobs, LIMIT, *moments))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "back 0 True\n" * len(moments), done.stderr
