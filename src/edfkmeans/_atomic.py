"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(file: str | Path) -> Iterator[Path]:
    """Give a temporary file to write to, which takes the place of `file` if all goes well."""
    file = Path(file)
    handle, name = tempfile.mkstemp(suffix=file.suffix, prefix=f".{file.stem}-", dir=file.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        # As any new file, not as a temporary one that only its owner may read.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
