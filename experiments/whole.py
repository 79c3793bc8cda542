"""Files that are written whole or not at all."""

import os
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(file):
    """Give a file to write to, which takes the place of `file` if all goes well."""
    file = Path(file)
    part = file.with_name(f".{os.getpid()}-{file.name}")
    try:
        yield part
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
