"""Files that are written whole or not at all, and over no one else's."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


@contextmanager
def atomic_write(file: str | Path) -> Iterator[Path]:
    """Give a temporary file to write to, which takes the place of `file` if all goes well."""
    part = temporary(Path(file))
    try:
        yield part
        place(part, Path(file), overwrite=True)
    finally:
        part.unlink(missing_ok=True)


def temporary(file: Path) -> Path:
    """Make an empty file beside another one, to be written and then given its name."""
    if not file.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {file.parent} to write {file.name} to. Make it, or name another."
        )
    handle, name = tempfile.mkstemp(suffix=file.suffix, prefix=f".{file.stem}-", dir=file.parent)
    os.close(handle)
    # As any new file, not as a temporary one that only its owner may read.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return Path(name)


def place(part: Path, file: Path, *, overwrite: bool) -> Path:
    """Give a finished file or folder its name; returns the name that it got.

    Without `overwrite`, whatever has come to bear that name in the meantime is left alone, be it a
    link to nothing, and the next free one is taken: ``labels-2.csv`` for ``labels.csv``.
    """
    if overwrite:
        if part.is_dir() and os.path.lexists(file) and not file.is_dir():
            file.unlink()  # a folder does not take the place of a file
        part.replace(file)
        return file
    for number in count(1):
        free = file if number == 1 else file.with_name(f"{file.stem}-{number}{file.suffix}")
        if not os.path.lexists(free) and _moved(part, free):
            return free
    raise AssertionError  # numbers do not end


def _moved(part: Path, free: Path) -> bool:
    """Rename, unless someone was faster."""
    try:
        if part.is_dir():  # a folder takes the place of none but an empty one
            part.rename(free)
            return True
        os.link(part, free)  # fails where the name is taken, unlike a rename
    except FileExistsError:
        return False
    except OSError:
        if os.path.lexists(free):
            return False
        part.rename(free)  # no links on this file system
        return True
    part.unlink()
    return True
