"""Table: the data as every later step wants them, checked, centred and of unit size."""

import numbers
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.float64] | npt.NDArray[np.float32]


@dataclass(frozen=True)
class Table:
    """The rows of X as ``values * scale + offset``.

    Centred, because squared distances far from zero lose digits; divided by a power of two (which
    costs none), because those of values near 1e-150 or 1e150 leave the range of a float.
    """

    values: Values
    offset: Floats
    scale: float
    varying: npt.NDArray[np.bool_]
    """Which columns vary. A constant one says nothing about clusters and is not counted."""

    @property
    def n_features(self) -> int:
        """Number of columns that vary."""
        return int(self.varying.sum())

    def only_varying(self, columns: Any) -> Any:
        """Leave the constant columns out of some rows or centres."""
        return columns if self.varying.all() else np.ascontiguousarray(columns[:, self.varying])

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def inertia(self) -> float:
        """Sum of squares about the column means: the inertia of one cluster."""
        return float(np.einsum("ij,ij->", self.values, self.values, dtype=np.float64))

    def to_original(self, points: Floats) -> Floats:
        """Undo the scaling and centring."""
        return points * self.scale + self.offset

    def squared(self, squares: Any) -> Any:
        """Squared lengths in the units of X; infinite or zero where a float cannot hold them."""
        with np.errstate(over="ignore", under="ignore"):
            return np.multiply(np.multiply(squares, self.scale, dtype=np.float64), self.scale)

    def from_original(self, points: Floats) -> Floats:
        """Scale and centre other points in the same way."""
        return (points - self.offset) / self.scale


def read_table(X: Any, *, n_min: int = 2) -> Table:
    """Check X and bring it into the form the kernels want: one copy, float32 staying float32."""
    raw = check_numeric(X)
    n, d = raw.shape
    if n < n_min:
        raise ValueError(f"n_samples={n}, but at least {n_min} rows are needed. Give more rows.")
    low, high = raw.min(axis=0).astype(np.float64), raw.max(axis=0).astype(np.float64)
    unit = _power_of_two(max(high.max(), -low.min()))
    constant = low == high
    mean = np.where(constant, low / unit, _mean(raw, unit, np.zeros(d)))
    # The mean of large numbers is off by a little; what is left of it is small and so exact.
    rest = np.where(constant, 0.0, _mean(raw, unit, mean))
    shrink = _power_of_two(max((high / unit - mean).max(), (mean - low / unit).max()))
    values = np.empty_like(raw)
    for rows in _row_blocks(n):
        values[rows] = ((raw[rows] / unit - mean) - rest) / shrink
    return Table(
        values=values,
        offset=(mean + rest) * unit,
        scale=unit * shrink,
        varying=~constant,
    )


def _mean(raw: Values, unit: float, about: Floats) -> Floats:
    """Column means of ``raw / unit - about``, without a copy of the whole."""
    total = np.zeros(raw.shape[1])
    for rows in _row_blocks(len(raw)):
        total += (raw[rows] / unit - about).sum(axis=0)
    return total / len(raw)


def _row_blocks(n: int, size: int = 16384) -> Iterator[slice]:
    for first in range(0, n, size):
        yield slice(first, first + size)


def check_numeric(X: Any) -> Values:
    """Return X as a C-contiguous matrix of floats, or raise an error that says what to do."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        masked = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"X is a masked array with {masked} values masked. Drop those rows or fill them, e.g. "
            "with X.filled(...)."
        )
    text = _text_columns(X)
    if text:
        raise ValueError(
            f"X has columns that are not numbers: {some(text)}. Drop them, or encode them as "
            "numbers, e.g. with sklearn.preprocessing.OneHotEncoder."
        )
    try:
        array: Values = check_array(
            X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False, input_name="X"
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise ValueError(
                f"X holds text: {error}. Drop or encode what is not a number."
            ) from None
        raise
    bad = ~np.isfinite(array)
    if bad.any():
        rows, columns = np.nonzero(bad)
        name = getattr(X, "columns", range(array.shape[1]))[columns[0]]
        kind = "NaN" if np.isnan(array).any() else "infinity"
        both = " and infinity" if kind == "NaN" and np.isinf(array).any() else ""
        many = f"{bad.sum()} values, the first" if bad.sum() > 1 else "one value,"
        fill = ", e.g. with sklearn.impute.SimpleImputer" if kind == "NaN" else ""
        raise ValueError(
            f"Input X contains {kind}{both}: {many} in row {rows[0]} (counted from 0), "
            f"column {name!r}. Drop those rows or fill them{fill}."
        )
    return array


def count_distinct(values: Values, at_most: int) -> int:
    """Count distinct rows, but stop at `at_most`: usually a look at the first few is enough."""
    seen: set[bytes] = set()
    for row in values:
        seen.add((row + 0.0).tobytes())  # turns -0.0 into 0.0
        if len(seen) >= at_most:
            break
    return len(seen)


def encode_labels(labels: Any, n: int, name: str) -> npt.NDArray[np.int32]:
    """Turn any labels into 0 .. k-1."""
    array = np.asarray(labels)
    if array.dtype == object and pd.isna(array).any():
        raise ValueError(
            f"{name} is missing in {int(pd.isna(array).sum())} rows. Give every row a label."
        )
    if array.ndim != 1 or array.shape[0] != n:
        raise ValueError(
            f"{name} has shape {array.shape}, but X has {n} rows. Give one label for each row."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity. Give every row a label.")
    return np.unique(array, return_inverse=True)[1].astype(np.int32)


def check_whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number, {least} or more.")
    return int(value)


def check_one_of(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {list(choices)}.")


def _power_of_two(size: float) -> float:
    return float(np.ldexp(1.0, np.frexp(size)[1] - 1)) if size > 0 else 1.0


def _text_columns(X: Any) -> list[str]:
    """Names of the columns of a data frame that hold no numbers."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return []
    columns = list(X.columns)
    return [
        str(column)
        for column, dtype in zip(columns, X.dtypes, strict=True)
        if not _is_number_type(dtype, X[column])
    ]


def _is_number_type(dtype: Any, column: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if str(dtype) == "object":  # numbers all the same?
        return not any(isinstance(value, str) for value in column)
    return getattr(dtype, "kind", "O") in "biufc"


def some(names: list[str], most: int = 5) -> str:
    """Quote the first names of a list, and count the others."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
