"""Kernels that a second process compiles."""

import contextlib
import gc
import os
import subprocess
import sys

import numba
import pytest
import sklearn.datasets
from numba.core import event
from numba.core.errors import TypingError
from numba.core.sigutils import normalize_signature

from edfkmeans import select_k
from edfkmeans.kernels import ahead


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, without starting them; as if nothing had been compiled."""
    commands = []

    class Process:
        def __init__(self, command, **_):
            commands.append(command)

        def wait(self):
            return 0

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(ahead, "_called", ahead.threading.Lock())
    monkeypatch.setattr(ahead, "_in_cache", lambda: False)
    monkeypatch.setattr(ahead.joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(ahead.multiprocessing, "parent_process", lambda: None)
    monkeypatch.setattr(sys, "executable", "python3")
    return commands


def test_what_is_compiled_is_what_an_answer_uses():
    select_k(sklearn.datasets.load_iris().data, random_state=0)
    for kernel, types in ahead.JUDGING:
        assert normalize_signature(types)[0] in kernel.signatures, kernel


def test_help_is_called_once(started):
    ahead.call_help()
    ahead.call_help()
    assert len(started) == 1


@pytest.mark.parametrize(
    "module, name, value",
    [
        (ahead, "_in_cache", lambda: True),
        (ahead.joblib, "cpu_count", lambda: 1),
        (ahead.multiprocessing, "parent_process", object),
        (sys, "executable", "/opt/gis/bin/gis"),
        (sys, "executable", None),
        (sys, "executable", ""),
    ],
)
def test_no_help_is_called_where_it_would_not_help(module, name, value, started, monkeypatch):
    monkeypatch.setattr(module, name, value)
    ahead.call_help()
    assert started == []


def test_a_program_that_is_one_file_is_not_started_again(started, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    ahead.call_help()
    assert started == []


def test_an_answer_without_help_is_an_answer(started, monkeypatch):
    def fail(*_, **__):
        raise OSError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    ahead.call_help()


FIRST = """
from edfkmeans.kernels import ahead
ahead.JUDGING = [each for each in ahead.JUDGING if each[0] is ahead.seen_through]
ahead.climb = ahead.seen_through
print(ahead._in_cache())
ahead.compile_all()
print(ahead._in_cache())
"""
SECOND = """
import numpy as np
from edfkmeans.kernels.saddle import mean_saddles, seen_through
mean_saddles(np.arange(6.0).reshape(3, 2), np.array([[0, 0, 0], [0, 0, 1]], np.int32), np.empty(2))
print(sum(seen_through.stats.cache_hits.values()))
"""


def test_a_call_finds_what_another_process_has_compiled(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for code, said in ((FIRST, "False True"), (SECOND, "1")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.stdout.split() == said.split(), done.stderr


@pytest.mark.parametrize("looks", [True, False])
@pytest.mark.parametrize("function", [lambda x: x + 1, lambda x: x.no_such_name])
def test_compiling_looks_for_no_garbage_and_leaves_that_as_it_was(function, looks):
    within = []

    class Watch(event.Listener):
        def on_start(self, event):
            within.append(gc.isenabled())

        def on_end(self, event):
            pass

    before = gc.isenabled()
    (gc.enable if looks else gc.disable)()
    try:
        with event.install_listener("numba:compile", Watch()), contextlib.suppress(TypingError):
            numba.njit(function)(1)
        after = gc.isenabled()
    finally:
        (gc.enable if before else gc.disable)()
    assert within == [False]
    assert after == looks
