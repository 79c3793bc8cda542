"""Size: what a table would take in memory, and whether that is too much."""

import os
from contextlib import suppress
from pathlib import Path

from edfkmeans._choices import Engine

# A table that takes more than this part of the memory is not read as a whole: fits need room too.
_PART = 1 / 3
# What limits the memory of a container, by the version of the kernel's interface.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def engine_for(file: str) -> tuple[Engine, str]:
    """Choose who reads a file: a note says why, if it is not simply read."""
    memory = memory_bytes()
    if file == "-" or memory is None:
        return "memory", ""
    size = table_bytes(file)
    if size <= _PART * memory:
        return "memory", ""
    return "arrow", (
        f"About {_gigabytes(size)} in memory, more than a third of the {_gigabytes(memory)} there "
        "are: read in a stream (--engine arrow)."
    )


def table_bytes(file: str) -> int:
    """Return about how many bytes a table takes in memory; 0 where it is not for a stream."""
    packed = file.lower().endswith((".parquet", ".pq"))
    if not packed and os.path.isfile(file) and os.path.getsize(file) < 2**20:  # spares an import
        return os.path.getsize(file)
    try:
        from edfkmeans.engines.arrow_files import files_of, open_lazily

        system, files, kind = files_of(file)
        size = sum(int(system.size(each) or 0) for each in files)
        if kind == "parquet":
            table = open_lazily(file)
            size = max(size, 8 * len(table.schema) * int(table.count_rows()))
    except (ImportError, ValueError, OSError):  # whoever reads it says what is wrong
        return 0
    return size


def memory_bytes() -> int | None:
    """Return the memory that this process may use, if that can be found out."""
    sizes = []
    with suppress(AttributeError, ValueError, OSError):  # not everywhere
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in _LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number
            sizes.append(int(Path(limit).read_text(encoding="ascii")))
    return min(sizes, default=None)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
