"""Files that are written whole or not at all, and over no one else's."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

# What bears a name and is no file.
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


@contextmanager
def atomic_write(file: str | Path) -> Iterator[Path]:
    """Give a temporary file to write to, which takes the place of `file` if all goes well."""
    check_file(Path(file))
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
    folder = behind(file).parent  # no file is moved whole from one disk to another
    handle, name = tempfile.mkstemp(suffix=file.suffix, prefix=f".{file.stem}-", dir=folder)
    os.close(handle)
    return Path(name)


def behind(file: Path) -> Path:
    """Return what a link to a file leads to, or else the file itself.

    Who writes to a link means what is behind it. A link to nothing is no more than a name.
    """
    linked = os.path.islink(file) and os.path.exists(file)
    return Path(os.path.realpath(file)) if linked else file


def check_file(file: Path) -> None:
    """Refuse a name that something else than a file has, such as a folder, a pipe or a device."""
    if not os.path.exists(file):  # or a link to nothing
        return
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = next((name for is_one, name in _KINDS.items() if is_one(mode)), "no regular file")
        raise ValueError(f"{file} is {kind}. Name a file that is not there yet.")
    for number, name in enumerate(("input", "output", "error")):
        with suppress(OSError):  # closed
            if os.path.samestat(file.stat(), os.fstat(number)):
                raise ValueError(
                    f"{file} is open as standard {name}. Name a file that is not there yet."
                )


def place(part: Path, file: Path, *, overwrite: bool) -> Path:
    """Give a finished file or folder its name; returns the name that it got.

    Without `overwrite`, whatever has come to bear that name in the meantime is left alone, be it a
    link to nothing, and the next free one is taken: ``labels-2.csv`` for ``labels.csv``. What is
    overwritten hands on who may read and write it, and a link to it stays one.
    """
    former = file if overwrite and os.path.exists(file) else None
    if former is not None:
        check_file(former)
    _set_mode(part, former)
    if overwrite:
        target = behind(file)
        if part.is_dir() and os.path.lexists(target) and not target.is_dir():
            target.unlink()  # a folder does not take the place of a file
        part.replace(target)
        return file
    for number in count(1):
        free = file if number == 1 else file.with_name(f"{file.stem}-{number}{file.suffix}")
        if not os.path.lexists(free) and _moved(part, free):
            return free
    raise AssertionError  # numbers do not end


def _set_mode(part: Path, former: Path | None) -> None:
    """Let those read and write who might before, or else any new file: a temporary one is ours."""
    if former is not None and os.name == "posix":
        mode = former.stat().st_mode & 0o777
        part.chmod(mode | (mode & 0o444) >> 2 if part.is_dir() else mode)
    elif part.is_file():
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)


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
