"""How every kernel is compiled."""

import gc
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from edfkmeans._progress import PATIENCE, tell

# Sums may be reordered so that they vectorise; NaN and infinity keep their meaning. What calls
# from C would need is not made: no one calls kernels from there.
_compile: Any = partial(
    numba.njit,
    nogil=True,
    fastmath={"reassoc", "contract", "nsz", "arcp"},
    error_model="numpy",
    no_cfunc_wrapper=True,
)

# Numba's cache notices a change in a kernel's own file, but not in the kernels it calls. The name
# under which a kernel is cached therefore carries a digest of all of them.
_VERSION = hashlib.sha256(
    b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()[:12]


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile without the GIL, cached on disk where any cache folder can be written."""
    function.__qualname__ += f"_{_VERSION}"
    try:
        compiled = _compile(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder it may write to: compile in every process
        return _compile(**options)(function)
    save, load = compiled._cache.save_overload, compiled._cache.load_overload

    def save_if_there_is_room(*overload: Any) -> None:
        with suppress(OSError):  # a full disk costs time, not the answer
            save(*overload)

    def load_at_once(*overload: Any) -> Any:
        with _garbage_left():
            return load(*overload)

    compiled._cache.save_overload = save_if_there_is_room
    compiled._cache.load_overload = load_at_once
    return compiled


@contextmanager
def _garbage_left() -> Iterator[None]:
    """Look for no garbage meanwhile: numba makes very many objects that stay, and few that do not.

    To look through all of them again and again takes a sixth of the time of a first answer.
    """
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()


# Sums keep their order: the bits are those of plain loops.
exact_kernel: Any = partial(kernel, fastmath=False)
# A part of one kernel: compiled with it, and not by itself before.
inlined: Any = _compile(inline="always")
# A part of several kernels: compiled once, without what a call from Python would need, so that only
# kernels may call it.
part: Any = _compile(no_cpython_wrapper=True)


class _Waiting(event.Listener):
    """Says why one waits, once, when kernels have been compiled for two seconds in all.

    Kernels that are found in the cache are not compiled, and nothing is said.
    """

    def __init__(self) -> None:
        self._spent = 0.0
        self._begun: list[float] = []
        self._alarm: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Watch a compilation; those that one starts within itself belong to it."""
        if not _is_ours(event) or self._spent >= PATIENCE:
            return
        self._begun.append(time.monotonic())
        if len(self._begun) == 1:
            self._alarm = threading.Timer(PATIENCE - self._spent, _tell_why)
            self._alarm.daemon = True
            self._alarm.start()

    def on_end(self, event: Any) -> None:
        """Add up the time."""
        if not _is_ours(event) or not self._begun:
            return
        begun = self._begun.pop()
        if not self._begun and self._alarm is not None:
            self._alarm.cancel()
            self._spent += time.monotonic() - begun


def _is_ours(event: Any) -> bool:
    kernel = event.data["dispatcher"].py_func
    return bool(kernel.__module__.startswith(__package__))


def _tell_why() -> None:
    tell("edfkmeans is compiling its inner loops, once; later runs start at once.")


event.register("numba:compile", _Waiting())  # type: ignore[no-untyped-call]
