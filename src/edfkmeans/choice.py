"""From a criterion's curve to a k."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from edfkmeans.smoothing import interior_minima

Floats = npt.NDArray[np.float64]


def local_minima(curve: Floats) -> list[int]:
    """Every k whose value is no larger than its neighbours', the ends included."""
    walled = np.concatenate([[np.inf], curve, [np.inf]])
    return [int(k) for k in interior_minima(walled)]


def paper(curve: Floats) -> int:
    """Return the smallest interior local minimum; if there is none, the lower end."""
    inner = interior_minima(curve)
    if inner.size:
        return int(inner[0]) + 1
    return 1 if curve[0] <= curve[-1] else len(curve)


def r_package(curve: Floats) -> int:
    """As `paper`, but 1 at once where k = 1 has the lowest value of all."""
    return 1 if curve[0] <= curve.min() else paper(curve)


RULES: dict[str, Callable[[Floats], int]] = {"paper": paper, "r-package": r_package}
