"""Kernels compiled ahead: a second process sees to those that come last.

Numba compiles one kernel at a time, so that a first answer would keep one core busy for long. While
fits wait for their kernels, another process compiles those of judging and leaves them in the cache,
where they are found. Later processes find them all.
"""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
from numba.core import event
from numba.core.sigutils import normalize_signature

from edfkmeans.kernels.apart import lie_apart
from edfkmeans.kernels.climb import climb
from edfkmeans.kernels.envelope import exact_terms
from edfkmeans.kernels.jumps import paper_terms
from edfkmeans.kernels.saddle import seen_through
from edfkmeans.kernels.silhouette import silhouettes
from edfkmeans.kernels.trees import fall
from edfkmeans.kernels.unimodal import nearest_unimodal

_X, _CENTERS, _LABELS, _SIZES = "f8[:,::1]", "f8[:,::1]", "i4[::1]", "i8[::1]"
_FIT = f"{_X}, {_LABELS}, i8[::1], {_CENTERS}, {_SIZES}, f8[:,::1], {_LABELS}, {_CENTERS}, f8"
# The kernels of judging, and what they are given, in the order in which the first process comes to
# them. It begins with the two kinds of terms itself, when it has fits: these are the last here.
# The look at what lies apart takes longer than the unimodal functions: it is not left for the end,
# where both processes would come to it.
JUDGING: tuple[tuple[Any, str], ...] = (
    (climb, f"({_X}, f4[:,::1], f8[:,::1], i8, f8[::1], i4[:,::1])"),
    (silhouettes, f"({_X}, none, i8, i8, i4[:,::1], i8[::1], i8[::1], f8[:,::1], f8[:,::1])"),
    (seen_through, f"({_X}, {_X}, i4[:,::1], i4[:,::1], i8[::1], f8[::1], f8[::1])"),
    (lie_apart, f"({_X}, {_X}, {_LABELS}, f8[::1], f8[::1], f8[::1])"),
    (nearest_unimodal, "(f8[::1], f8[::1], i8[::1])"),
    (fall, "(f4[:,::1], i4[::1], i2[::1], f4[::1], i4[::1], i4[::1], f4[::1], f8[::1], f8[:,::1])"),
    (exact_terms, f"({_FIT}, f8, f8[::1])"),
    (paper_terms, f"({_FIT}, f8[::1])"),
)

_called = threading.Lock()


class _GarbageLeft(event.Listener):
    """Looks for no garbage while a kernel is compiled: a sixteenth of the time goes into it.

    Numba compiles one kernel at a time, and a part of one within it.
    """

    def __init__(self) -> None:
        self._within = 0
        self._looks = False

    def on_start(self, event: Any) -> None:
        """Look for no more."""
        if not self._within:
            self._looks = gc.isenabled()
            gc.disable()
        self._within += 1

    def on_end(self, event: Any) -> None:
        """Look again, if that was so before."""
        self._within -= 1
        if not self._within and self._looks:
            gc.enable()


event.register("numba:compile", _GarbageLeft())  # type: ignore[no-untyped-call]


def call_help() -> None:
    """Have the kernels of judging compiled by a second process, once, where none are there."""
    if _in_cache() or not _can_help() or not _called.acquire(blocking=False):
        return
    command = [sys.executable, "-c", "from edfkmeans.kernels import ahead; ahead.compile_all()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with suppress(OSError):  # then all are compiled here
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        threading.Thread(target=process.wait, daemon=True).start()


def _in_cache() -> bool:
    """Whether a kernel of judging has been compiled before, or cannot be kept."""
    cache = getattr(climb._cache, "_cache_file", None)
    return cache is None or bool(cache._load_index())


def _can_help() -> bool:
    """Whether there is a core for a second process, and a Python that can be started for it."""
    a_worker = multiprocessing.parent_process() is not None
    is_python = Path(sys.executable or "").name.lower().startswith(("python", "pypy"))
    frozen = getattr(sys, "frozen", False)
    return is_python and not frozen and not a_worker and joblib.cpu_count() > 1


def compile_all() -> None:
    """Compile what is not in the cache."""
    for kernel, types in JUDGING:
        # As types, under which a call looks in the cache: a text would be kept under the text.
        kernel.compile(normalize_signature(types)[0])  # type: ignore[no-untyped-call]
