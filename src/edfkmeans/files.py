"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(file: str | Path) -> Iterator[Path]:
    """Give a temporary file to write to, which takes the place of `file` if all goes well.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from edfkmeans.files import whole
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
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
