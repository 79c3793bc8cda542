"""How every kernel is compiled."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba

# Sums may be reordered so that they vectorise; NaN and infinity keep their meaning.
_compile: Any = partial(
    numba.njit, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy"
)

# Numba's cache notices a change in a kernel's own file, but not in the kernels it calls. The name
# under which a kernel is cached therefore carries a digest of all of them.
_VERSION = hashlib.sha256(
    b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()[:12]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, cached on disk where any cache folder can be written."""
    function.__qualname__ += f"_{_VERSION}"
    try:
        compiled = _compile(cache=True)(function)
    except RuntimeError:  # numba found no folder it may write to: compile in every process
        return _compile()(function)
    save = compiled._cache.save_overload

    def save_if_there_is_room(*overload: Any) -> None:
        with suppress(OSError):  # a full disk costs time, not the answer
            save(*overload)

    compiled._cache.save_overload = save_if_there_is_room
    return compiled
