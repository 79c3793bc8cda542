"""A stand-in for CuPy without a GPU: arrays are numpy's, kernels are compiled for the processor.

The source of the kernels is the one that a GPU gets. The threads of a block take turns, and change
at every barrier; blocks run one after the other. What a GPU adds, and this cannot show, is that
threads run at the same time: `make test-gpu` runs the same tests there.

Importing this puts the stand-in in CuPy's place, unless CuPy is installed and sees a GPU. Without a
C++ compiler the import fails, and tests that need it are skipped.
"""

import ctypes
import getpass
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import ClassVar

import numpy as np

_SHIM = r"""
#include <ucontext.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <csetjmp>
using std::min; using std::max;
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(n)
#define __align__(n) __attribute__((aligned(n)))
#define DYNAMIC_SHARED(name) static char name[1 << 18] __attribute__((aligned(16)))
#define ROUNDED_PRODUCT(a, b) ((a) * (b))
struct Place { int x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static ucontext_t home, threads[1024];
static jmp_buf scheduler, places[1024];
static bool begun[1024], done[1024];
static int current;
static std::function<void()> body;
// Threads change by jumps: swapcontext, which only starts them, asks the system twice each time.
static void change() { if (!_setjmp(places[current])) _longjmp(scheduler, 1); }
static void __syncthreads() { change(); }
static inline int __ffsll(unsigned long long v) { return __builtin_ffsll(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
template <class T> static T atomicAdd(T* at, T what) { T old = *at; *at += what; return old; }
static void one_thread() { for (;;) { body(); done[current] = true; change(); } }
static void go_on(int t) {
    if (_setjmp(scheduler)) return;
    current = t;
    threadIdx = {t, 0, 0};
    if (begun[t]) _longjmp(places[t], 1);
    begun[t] = true;
    getcontext(&threads[t]);
    threads[t].uc_stack.ss_sp = malloc(1 << 17);
    threads[t].uc_stack.ss_size = 1 << 17;
    makecontext(&threads[t], one_thread, 0);
    swapcontext(&home, &threads[t]);
}
static void simulate(int gx, int gy, int gz, int count) {
    gridDim = {gx, gy, gz};
    blockDim = {count, 1, 1};
    for (int z = 0; z < gz; z++) for (int y = 0; y < gy; y++) for (int x = 0; x < gx; x++) {
        blockIdx = {x, y, z};
        std::fill(done, done + count, false);
        for (bool left = true; left;) {
            left = false;
            for (int t = 0; t < count; t++) {
                if (!done[t]) go_on(t);
                left |= !done[t];
            }
        }
    }
}
"""
_KERNEL = r'extern "C" __global__ void[^(]*?(?:__launch_bounds__\(\w+\)\s*)?(\w+)\((.*?)\) \{'
_COMPILER = shutil.which("g++")


class Array(np.ndarray):
    """An array that says it lies on a GPU."""

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__

    @property
    def device(self):
        return _Device()

    def set(self, numbers):
        self[...] = numbers


def asarray(X, dtype=None):
    return np.ascontiguousarray(X, dtype=dtype).view(Array)


def _new(make):
    return lambda shape, dtype=float: make(shape, dtype).view(Array)


class RawModule:
    """Kernels, compiled for the processor."""

    def __init__(self, code, options=()):
        self.wrappers = dict(_wrapped(code))
        source = _SHIM + code + "".join(self.wrappers.values())
        digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"edfkmeans-simulator-{getpass.getuser()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        library = folder / f"{digest}.so"
        if not library.exists():
            file = folder / f"{digest}-{os.getpid()}.cpp"
            file.write_text(source, encoding="utf-8")
            made = file.with_suffix(".so")
            # No products are fused with sums, so that what is rounded stays rounded.
            command = [_COMPILER, "-O1", "-w", "-ffp-contract=off", "-std=c++17", "-shared"]
            subprocess.run([*command, "-fPIC", "-o", made, file], check=True)
            made.replace(library)
            file.unlink()
        self.library = ctypes.CDLL(str(library))

    def get_function(self, name):
        assert name in self.wrappers, f"no kernel {name}"
        return _Kernel(getattr(self.library, f"run_{name}"))


def _wrapped(code):
    """Make for every kernel a function that runs it in all threads of a grid."""
    for found in re.finditer(_KERNEL, code, re.S):
        name, parameters = found.groups()
        names = [each.split()[-1].lstrip("*&") for each in parameters.split(",")]
        head = f"int gx_, int gy_, int gz_, int threads_, {parameters}"
        yield (
            name,
            f'extern "C" void run_{name}({head}) {{\n'
            f"  body = [=] {{ {name}({', '.join(names)}); }};\n"
            "  simulate(gx_, gy_, gz_, threads_);\n}\n",
        )


class _Kernel:
    max_dynamic_shared_size_bytes = 0

    def __init__(self, function):
        self.function = function

    def __call__(self, grid, block, args, shared_mem=0):
        assert shared_mem <= 1 << 18
        passed = [ctypes.c_int(each) for each in (*grid, *(1,) * (3 - len(grid)), block[0])]
        for each in args:
            if isinstance(each, np.ndarray):
                assert isinstance(each, Array), "not on the device"
                assert each.flags.c_contiguous
                passed.append(ctypes.c_void_p(each.ctypes.data))
            else:
                passed.append(_SCALARS[each.dtype.type](each.item()))
        self.function(*passed)


_SCALARS = {
    np.int32: ctypes.c_int,
    np.int64: ctypes.c_longlong,
    np.uint64: ctypes.c_ulonglong,
    np.float64: ctypes.c_double,
}


def _stand_in():
    fake = types.ModuleType("cupy")
    fake.ndarray, fake.asarray, fake.RawModule = Array, asarray, RawModule
    fake.asnumpy, fake.ascontiguousarray = np.array, asarray
    fake.empty, fake.zeros = _new(np.empty), _new(np.zeros)
    for name in ("isfinite", "minimum", "maximum", "concatenate", "arange", "take"):
        setattr(fake, name, getattr(np, name))
    error = type("CUDARuntimeError", (RuntimeError,), {})
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=error)
    pool = types.SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    fake.cuda = types.SimpleNamespace(runtime=runtime, Device=_Device)
    fake.cuda.Event = _Event
    memory = type("OutOfMemoryError", (MemoryError,), {})
    fake.cuda.memory = types.SimpleNamespace(OutOfMemoryError=memory)
    fake.get_default_memory_pool = lambda: pool
    return fake


class _Device:
    id = 0
    attributes: ClassVar = {"MaxSharedMemoryPerBlockOptin": 232448}
    mem_info = (2**33, 2**33)

    def __init__(self, number=None):
        assert number in (None, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class _Event:
    def record(self):
        pass

    def synchronize(self):
        pass


def _has_gpu():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # not installed, or no driver, each with an error of its own
        return False


SIMULATED = not _has_gpu()
if SIMULATED:
    if _COMPILER is None or sys.platform != "linux":
        raise ImportError("needs Linux and g++")
    sys.modules["cupy"] = _stand_in()
    sys.modules["cupyx"] = types.ModuleType("cupyx")
    sys.modules["cupyx"].empty_pinned = np.empty
