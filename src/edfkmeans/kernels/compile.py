"""How every kernel is compiled."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba

# Sums may be reordered so that they vectorise; NaN and infinity keep their meaning.
_compile: Any = partial(
    numba.njit,
    nogil=True,
    fastmath={"reassoc", "contract", "nsz", "arcp"},
    error_model="numpy",
)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, cached on disk where any cache folder can be written."""
    try:
        return _compile(cache=True)(function)
    except RuntimeError:  # numba found no folder it may write to: compile in every process
        return _compile()(function)
