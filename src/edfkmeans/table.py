"""Table: the data as every later step wants them, checked, centred and of unit size."""

import numbers
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.float64] | npt.NDArray[np.float32]

_BLOCK = 16384
# What numpy turns into floats without a word.
_NO_NUMBERS = (str, np.datetime64, np.timedelta64, complex)


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
    def sample(self) -> "Table":
        """The rows to look at one by one: all of them, unless they are not in memory."""
        return self

    @property
    def rows_looked_at(self) -> str:
        """What `values` holds, in words: all of X or a sample of it."""
        return "X"

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


@dataclass(frozen=True)
class Centring:
    """How rows of X become the values of a `Table`."""

    unit: float
    mean: Floats
    rest: Floats
    shrink: float

    @classmethod
    def of(cls, raw: Values, low: Floats, high: Floats) -> "Centring":
        """Centre at the mean of some rows; `low` and `high` bound the columns of all rows."""
        constant = low == high
        sizes = np.maximum(np.abs(low), np.abs(high))
        # A constant column plays no part, but must not leave the range of a float either.
        unit = _power_of_two(sizes.max(initial=0.0, where=~constant))
        unit = max(unit, _power_of_two(sizes.max()) * 2.0**-1000)
        mean = np.where(constant, low / unit, _mean(raw, unit, np.zeros(raw.shape[1])))
        # The mean of large numbers is off by a little; what is left of it is small and so exact.
        rest = np.where(constant, 0.0, _mean(raw, unit, mean))
        shrink = _power_of_two(max((high / unit - mean).max(), (mean - low / unit).max()))
        return cls(unit, mean, rest, shrink)

    @property
    def offset(self) -> Floats:
        """What is subtracted, in the units of X."""
        return (self.mean + self.rest) * self.unit

    @property
    def scale(self) -> float:
        """What the rest is divided by."""
        return self.unit * self.shrink

    def values(self, raw: Values) -> Values:
        """Bring rows into the form the kernels want, float32 staying float32."""
        values = np.empty_like(raw)
        room = np.empty(raw[:_BLOCK].shape)
        for rows in _row_blocks(len(raw)):
            part = raw[rows]
            self.fill(part, values[rows], room[: len(part)])
        return values

    def fill(self, raw: Values, values: Values, room: Floats) -> None:
        """Do it for a block of rows, with room for as many in double precision."""
        np.divide(raw, self.unit, out=room, dtype=np.float64)
        room -= self.mean
        room -= self.rest
        room /= self.shrink
        values[:] = room


def read_table(X: Any, *, n_min: int = 2) -> Table:
    """Check X and bring it into the form the kernels want: one copy, float32 staying float32."""
    raw = check_numeric(X)
    check_rows(len(raw), n_min)
    low, high = raw.min(axis=0).astype(np.float64), raw.max(axis=0).astype(np.float64)
    centring = Centring.of(raw, low, high)
    return Table(
        values=centring.values(raw),
        offset=centring.offset,
        scale=centring.scale,
        varying=low != high,
    )


def check_rows(n: int, n_min: int = 2) -> None:
    """Refuse too few rows."""
    if n < n_min:
        raise ValueError(f"n_samples={n}, but at least {n_min} rows are needed. Give more rows.")


def is_dask(X: Any) -> bool:
    """Whether X is a dask collection, found out without importing dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "__dask_graph__")


def _mean(raw: Values, unit: float, about: Floats) -> Floats:
    """Column means of ``raw / unit - about``, without a copy of the whole."""
    total = np.zeros(raw.shape[1])
    for rows in _row_blocks(len(raw)):
        total += (np.divide(raw[rows], unit, dtype=np.float64) - about).sum(axis=0)
    return total / len(raw)


def _row_blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, _BLOCK):
        yield slice(first, first + _BLOCK)


def check_numeric(X: Any) -> Values:
    """Return X as a C-contiguous matrix of floats, or raise an error that says what to do."""
    if is_dask(X):
        raise TypeError(
            f"X is a dask {type(X).__name__}, and this function needs the rows in memory. Give "
            "X.compute() if they fit, or some of them."
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, whose rows are not there yet. Give X.collect().")
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in _masked_parts(X))
    if masked:
        raise ValueError(
            f"X is a masked array with {masked} values masked. Drop those rows or fill them, e.g. "
            "with X.filled(...)."
        )
    check_columns(X)
    try:
        given = np.asarray(X) if isinstance(X, list | tuple) else X
        _check_kind(given)
        array: Values = check_array(
            given,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            input_name="X",
        )
    except (ValueError, TypeError, OverflowError) as error:
        _explain(error)
        raise
    bad = find_bad(array)
    if bad is not None:
        raise_bad(bad, getattr(X, "columns", range(array.shape[1])))
    return array


def _masked_parts(X: Any) -> list[Any]:
    """X if it is a masked array, or those of its rows that are."""
    parts = X if isinstance(X, list | tuple) else [X]
    return [part for part in parts if isinstance(part, np.ma.MaskedArray)]


_NOT_NUMBERS = {
    "M": "dates. Give the time since a day of your choice, e.g. (X - X.min()) / "
    "np.timedelta64(1, 'D')",
    "m": "durations. Give them in a unit of your choice, e.g. X / np.timedelta64(1, 'D')",
    "c": "complex numbers. Complex data not supported: give their sizes, or the real and the "
    "imaginary parts as columns",
    "V": "records. Give a matrix, e.g. numpy.lib.recfunctions.structured_to_unstructured(X)",
}


def _check_kind(X: Any) -> None:
    """Refuse an array of dates, durations, complex numbers or records."""
    dtype = getattr(X, "dtype", None)
    kinds = {getattr(dtype, "kind", "")}
    if kinds == {"O"}:
        types = {type(value) for value in np.asarray(X).ravel()}
        kinds = {np.dtype(each).kind for each in types if issubclass(each, np.generic)}
    for kind, what in _NOT_NUMBERS.items():
        if kind in kinds:
            raise ValueError(f"X has dtype {dtype} and holds {what}.")


def _explain(error: Exception) -> None:
    """Raise an error that says what to do in place of one that does not."""
    text = str(error)
    if "could not convert string" in text:
        raise ValueError(f"X holds text: {text}. Drop or encode what is not a number.") from None
    if isinstance(error, OverflowError):
        raise ValueError(f"X holds numbers beyond 1.8e308: {text}. Divide them.") from None
    if "float() argument" in text:
        raise TypeError(
            f"X holds what is not a number: {text}. Give a matrix of numbers; drop or encode what "
            "is none."
        ) from None
    if "setting an array element" in text:
        raise ValueError(
            f"X is not a matrix: {text} Give rows of numbers, as many in each."
        ) from None


def check_columns(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers, or that share a name."""
    names = Counter(getattr(X, "columns", ()))
    twice = [str(name) for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(
            f"X has several columns of the same name: {some(twice)}. Give each a name of its own."
        )
    text = _text_columns(X)
    if text:
        raise ValueError(
            f"X has columns that are not numbers: {some(text)}. Drop them, or encode them as "
            "numbers, e.g. with sklearn.preprocessing.OneHotEncoder."
        )


@dataclass(frozen=True)
class Bad:
    """Values that are not finite: how many, where the first is, and which kinds there are."""

    count: int
    row: int
    column: int
    nan: bool
    infinite: bool
    where: str = "counted from 0"


def find_bad(array: Values) -> Bad | None:
    """Look for values that are not finite."""
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    rows, columns = np.nonzero(bad)
    nan, infinite = bool(np.isnan(array).any()), bool(np.isinf(array).any())
    return Bad(int(bad.sum()), int(rows[0]), int(columns[0]), nan, infinite)


def raise_bad(bad: Bad, columns: Any) -> NoReturn:
    """Tell about values that are not finite."""
    kinds = " and ".join(["NaN"] * bad.nan + ["infinity"] * bad.infinite)
    many = f"{bad.count} values, the first" if bad.count > 1 else "one value,"
    fill = ", e.g. with sklearn.impute.SimpleImputer" if bad.nan else ""
    raise ValueError(
        f"Input X contains {kinds}: {many} in row {bad.row} ({bad.where}), "
        f"column {columns[bad.column]!r}. Drop those rows or fill them{fill}."
    )


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
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise TypeError(f"{name} mixes kinds of values: {error}. Use one kind.") from None


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
        return not any(isinstance(value, _NO_NUMBERS) for value in column)
    return getattr(dtype, "kind", "O") in "biuf"


def some(names: list[str], most: int = 5) -> str:
    """Quote the first names of a list, and count the others."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
