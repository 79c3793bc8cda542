"""Information criteria: fit plus a price for every degree of freedom."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def bic(inertia: Floats, dof: Floats, n_samples: int, n_features: int) -> Floats:
    """``n d log SS(k) + log(n d) df(k)``, up to a constant; lower is better."""
    residuals = n_samples * n_features
    with np.errstate(divide="ignore"):  # a perfect fit has log 0
        return np.asarray(residuals * np.log(inertia) + np.log(residuals) * dof)
