"""Labels: numbers of clusters, one for each row."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Labels = npt.NDArray[np.int32]
SmallLabels = npt.NDArray[np.unsignedinteger[Any]]
Sizes = npt.NDArray[np.int64]


def encode_labels(labels: Any, n: int, name: str) -> Labels:
    """Turn any labels into 0 .. k-1."""
    array = _array_of(labels, name)
    check_length(array.shape, n, name)
    if array.dtype == object and pd.isna(array).any():
        raise ValueError(
            f"{name} is missing in {int(pd.isna(array).sum())} rows. Give every row a label."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity. Give every row a label.")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise TypeError(f"{name} mixes kinds of values: {error}. Use one kind.") from None


def without_noise(labels: Any, n: int, name: str) -> Any:
    """Return which of n rows are in a cluster: all, or those whose label is not -1.

    DBSCAN, HDBSCAN and OPTICS mean noise by -1. Other labels are left to `encode_labels`.
    """
    array = _array_of(labels, name)
    check_length(array.shape, n, name)
    noise = array == -1 if array.dtype.kind in "if" else np.zeros(n, bool)
    if array.dtype.kind == "O":  # numbers too, out of a frame with columns of several kinds
        noise = np.array([isinstance(each, Real) and each == -1 for each in array], bool)
    if not noise.any():
        return slice(None)
    if noise.all():
        raise ValueError(f"{name} is -1 for all {n} rows: all noise, and no cluster to judge.")
    warnings.warn(
        f"{name} is -1 for {int(noise.sum())} of {n} rows: taken as noise, as DBSCAN and HDBSCAN "
        "mean it, and left out. If these rows are a cluster, give them another label.",
        stacklevel=3,
    )
    return ~noise


def _array_of(labels: Any, name: str) -> Any:
    """Return labels as an array; who gives an estimator means the labels that it makes."""
    if hasattr(labels, "fit_predict"):
        raise TypeError(
            f"{name} is an estimator, {labels!r}. Give what its fit_predict(X) returns."
        )
    if np.ma.is_masked(labels):
        masked = int(np.ma.getmaskarray(labels).sum())
        raise ValueError(
            f"{name} has {masked} labels masked. Leave such rows out, or give them the label -1."
        )
    return np.asarray(labels)


def size_text(size: float, thousands: str = ",") -> str:
    """Write the size of a cluster, which is no whole number where rows have importances."""
    digits = 0 if float(size).is_integer() else 1
    return f"{size:{thousands}.{digits}f}"


def check_length(shape: tuple[int, ...], n: int, name: str) -> None:
    """Refuse labels that are not one for each row."""
    if shape != (n,):
        raise ValueError(
            f"{name} has shape {shape}, but X has {n} rows. Give one label for each row."
        )
