"""Curve in, smoother curve out: the paper's local-linear smoothing of the degrees of freedom."""

import numpy as np
import numpy.typing as npt

from edfkmeans.rows.units import Floats

# Numbers of clusters: the narrowest bandwidth that is tried, and how much wider the next one is.
_FIRST_BANDWIDTH = 0.5
_STEP = 0.1


def local_linear(y: Floats, bandwidth: float) -> Floats:
    """Local-linear regression of y on its index, at every index.

    The kernel is Gaussian and cut at ``floor(4 bandwidth)`` neighbours on either side.
    """
    reach = int(np.floor(4.0 * bandwidth))
    index = np.arange(len(y))
    offset = index[None, :] - index[:, None]
    weight = np.where(np.abs(offset) <= reach, np.exp(-0.5 * (offset / bandwidth) ** 2), 0.0)
    s0, s1, s2 = weight.sum(1), (weight * offset).sum(1), (weight * offset**2).sum(1)
    t0, t1 = weight @ y, (weight * offset) @ y
    return np.asarray((s2 * t0 - s1 * t1) / (s2 * s0 - s1 * s1))


def smooth(dof: Floats) -> Floats:
    """Smooth until at most one interior local minimum is left, then put back the first value."""
    if len(dof) < 3:
        return dof.copy()
    bandwidth = _FIRST_BANDWIDTH
    smoothed = local_linear(dof, bandwidth)
    # Wider than the curve the fit is a straight line; only a flat one keeps its weak minima.
    while interior_minima(smoothed).size > 1 and bandwidth < 10 * len(dof):
        bandwidth += _STEP
        smoothed = local_linear(dof, bandwidth)
    smoothed[0] = dof[0]
    return smoothed


def interior_minima(y: Floats) -> npt.NDArray[np.intp]:
    """Positions, ends excluded, whose value is no larger than both neighbours'."""
    inner = (y[1:-1] <= y[:-2]) & (y[1:-1] <= y[2:])
    return np.flatnonzero(inner) + 1
