"""Kernels that a second process compiles."""

import os
import subprocess
import sys

import pytest
import sklearn.datasets
from numba.core import sigutils

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
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    return commands


def test_what_is_compiled_is_what_an_answer_uses():
    select_k(sklearn.datasets.load_iris().data, random_state=0)
    for kernel, types in ahead.JUDGING:
        assert sigutils.normalize_signature(types)[0] in kernel.signatures, kernel


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


def test_the_second_process_finds_what_the_first_one_does(tmp_path):
    """In a fresh folder nothing is in the cache; what one process leaves there the next finds."""
    code = (
        "from edfkmeans.kernels import ahead; print(ahead._in_cache());"
        "kernel, types = ahead.JUDGING[-1]; ahead.climb = kernel; kernel.compile(types);"
        "print(ahead._in_cache(), sum(kernel.stats.cache_hits.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in (["False", "True", "0"], ["False", "True", "1"]):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.stdout.split() == expected, done.stderr
