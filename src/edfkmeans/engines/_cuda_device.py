"""The GPU: found by CuPy, or an error that says what is missing; its kernels; arrays on it."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from edfkmeans import kernels
from edfkmeans._extras import needs

# Rows of a block of threads, and fits of a batch that it looks at: as in device.cu.
THREADS, FITS = 128, 32
# Columns: rows of more are not brought near for the degrees of freedom, as in terms.cu.
STAGED = 64
# Clusters: the degrees of freedom of more are left to the processor.
MASK = 64
# Rows and columns that `sums` has at a time, and its threads, of which teams add up a fit each.
_TILE, _STRIP, _TEAMED = 32, 64, 512
# Bytes that a block of `sums` may hold.
_HELD = 96 * 1024
_C_NAMES = {"float32": "float", "float64": "double", "uint8": "unsigned char"}
_C_NAMES |= {"uint16": "unsigned short"}


def cupy() -> Any:
    """Return CuPy, having made sure that it is installed and sees a GPU."""
    try:
        import cupy as found
    except ImportError as error:
        raise ImportError(
            needs("Rows on a GPU, or engine='cuda',", "CuPy", "gpu")
            + " (for CUDA 13; for CUDA 12: pip install 'cupy-cuda12x[ctk]')"
        ) from error
    try:
        count = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(_no_device(str(error))) from None
    if count == 0:
        raise RuntimeError(_no_device("it counts none"))
    return found


def _no_device(why: str) -> str:
    return (
        f"engine='cuda' needs a GPU, and CuPy found no CUDA device: {why}. See whether nvidia-smi "
        "lists one, or leave engine out: the processor gives the same answer."
    )


def device_array(X: Any) -> Any:
    """Return an array on a GPU of any package as CuPy's, without a copy."""
    found = cupy()
    if isinstance(X, found.ndarray):
        return X
    if hasattr(X, "detach"):  # a tensor that gradients are taken of gives its numbers so
        X = X.detach()
    if hasattr(X, "__cuda_array_interface__"):
        return found.asarray(X)
    return found.from_dlpack(X)


def like(array: Any, X: Any) -> Any:
    """Return an array of CuPy's as what X is: its tensor, or an array in memory."""
    package = type(X).__module__.partition(".")[0]
    if package == "torch":
        import torch

        return torch.as_tensor(array, device=X.device)
    if package == "jax" or package == "jaxlib":
        import jax

        return jax.dlpack.from_dlpack(array)
    return array


@cache
def module(columns: int, raw: str, real: str, label: str) -> Any:
    """Compile the kernels for rows of so many columns, and for types of numbers."""
    double = real == "float64"
    says = {
        "COLUMNS": columns,
        "RAW": _C_NAMES[raw],
        "REAL": _C_NAMES[real],
        "LABEL": _C_NAMES[label],
        # Columns of a row that registers hold at a time.
        "WIDE": 32 if double else 64,
        # See `edfkmeans.kernels.jumps`: beyond, terms are below the precision that is computed in.
        "CLOSE": 12.0 if double else 8.0,
        "TOUCH": 1e-15 if double else 1e-6,
        "ROUNDED_PRODUCT(a, b)": f"__{'d' if double else 'f'}mul_rn(a, b)",
        "DYNAMIC_SHARED(name)": "extern __shared__ __align__(16) char name[]",
        "INFINITY": "__int_as_float(0x7f800000)",
    }
    lines = [f"#ifndef {n.partition('(')[0]}\n#define {n} {v}\n#endif\n" for n, v in says.items()]
    folder = Path(kernels.__file__).parent
    names = ("device.cu", "lines.cu", "terms.cu", "totals.cu", "search.cu", "weighted.cu")
    files = [folder / name for name in names]
    source = "".join([*lines, *(file.read_text(encoding="utf-8") for file in files)])
    options = ("-std=c++17",) if double else ("-std=c++17", "--use_fast_math")
    return cupy().RawModule(code=source, options=options)


@cache
def most_shared() -> int:
    """Return how many bytes the threads of a block can share."""
    return int(cupy().cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


# Kernels whose blocks share memory of a size that the caller says, and bytes of it that they take
# for themselves.
_SHARING = {"sums": 0, "paper": 1024, "exact": 1024, "paper_totals": 8192, "exact_totals": 8192}


@cache
def _kernel(program: Any, name: str) -> Any:
    kernel = program.get_function(name)
    if name in _SHARING:
        kernel.max_dynamic_shared_size_bytes = most_shared() - _SHARING[name]
    return kernel


def launch(
    program: Any, name: str, grid: tuple[int, ...], block: int, args: Any, shared: int = 0
) -> None:
    """Start a kernel; whole numbers are passed as 32 bits, unless they are numpy's already."""
    passed = tuple(
        np.int32(each) if type(each) is int else np.float64(each) if type(each) is float else each
        for each in args
    )
    _kernel(program, name)(grid, (block,), passed, shared_mem=shared)


def tiles(n: int) -> int:
    """Count the blocks of threads that n rows need."""
    return -(-n // THREADS)


def teams_of(columns: int) -> int:
    """Count the fits that a block of `sums` can add up."""
    lanes = next(lanes for lanes in (4, 8, 16, 32) if lanes >= min(columns, 32))
    return _TEAMED // lanes


def groups_of(ks: Sequence[int], columns: int) -> list[int]:
    """Cut a batch of fits into groups that blocks of `sums` can hold: where each begins."""
    most, teams = most_clusters(columns), teams_of(columns)
    starts, held, count = [0], 0, 0
    for f, k in enumerate(ks):
        if count and (held + k > most or count == teams):
            starts.append(f)
            held = count = 0
        held += k
        count += 1
    return [*starts, len(ks)]


def held_by_sums(ks: Sequence[int], groups: Sequence[int], columns: int) -> int:
    """Return the bytes that a block of `sums` needs for the largest of the groups."""
    strip = min(columns, _STRIP)
    most = max(sum(ks[a:b]) for a, b in pairwise(groups))
    return most * (8 * strip + 4) + 8 * _TILE * strip + 2 * teams_of(columns) * _TILE


def most_clusters(columns: int) -> int:
    """Return the largest k that `sums` can do."""
    strip = min(columns, _STRIP)
    return (_HELD - 8 * _TILE * strip - 2 * teams_of(columns) * _TILE) // (8 * strip + 4)


def held_by_terms(k: int, pilots: int, columns: int, real: Any) -> int:
    """Return the bytes that a block needs to find the terms of a fit."""
    staged = (k + pilots) * (columns | 1) + columns * THREADS if columns <= STAGED else 0
    return int(np.dtype(real).itemsize) * (k * (THREADS + 2) + staged)


def held_by_totals(k: int, columns: int, real: Any) -> int:
    """Return the bytes that a block needs to add up the terms of fits of up to k clusters."""
    whole = -(-columns // 4) * 4
    return int(np.dtype(real).itemsize) * (whole * (THREADS + 1) + k * (whole + THREADS))


def free_bytes() -> int:
    """Return how much memory of the GPU is free, what CuPy keeps for later use included."""
    found = cupy()
    pool = found.get_default_memory_pool()
    return int(found.cuda.Device().mem_info[0]) + int(pool.free_bytes())
