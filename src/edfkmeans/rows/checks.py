"""Checks: X as a matrix of finite numbers, or an error that says what to do."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from edfkmeans.rows.arguments import some
from edfkmeans.rows.units import Values

# What numpy turns into floats without a word.
_NO_NUMBERS = (str, np.datetime64, np.timedelta64, complex)
# What kernels work with.
_FLOATS = (np.float64, np.float32)
# Bytes: a sparse matrix that takes no more with its zeros is filled in.
_SMALL = 2**27
# How to get rows into memory that are elsewhere, by the kind of X.
_TO_MEMORY = {
    "dask": "X.compute()",
    "pyspark": "X.toPandas()",
    "polars.LazyFrame": "X.collect()",
    "duckdb.DuckDBPyRelation": "X.df()",
    "pyarrow.Dataset": "X.to_table()",
}


def check_rows(n: int, n_min: int = 2, of: str = "rows") -> None:
    """Refuse too few rows."""
    if n < n_min:
        raise ValueError(f"n_samples={n}, but at least {n_min} {of} are needed. Give more rows.")


def check_numeric(X: Any) -> Values:
    """Return X as a C-contiguous matrix of floats, or raise an error that says what to do."""
    package = type(X).__module__.partition(".")[0].lstrip("_")  # DuckDB 1.4 and 1.5 are in _duckdb
    for kind in (package, *(f"{package}.{each.__name__}" for each in type(X).__mro__)):
        if kind in _TO_MEMORY:
            raise TypeError(
                f"X is a {package} {type(X).__name__}, and this function needs the rows in memory. "
                f"Give {_TO_MEMORY[kind]} if they fit, or some of them."
            )
    if _is_sparse(X):
        X = _filled(X)
    X = as_frame(X)
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in _masked_parts(X))
    if masked:
        raise ValueError(
            f"X is a masked array with {masked} values masked. Drop those rows or fill them, e.g. "
            "with X.filled(...)."
        )
    check_columns(X)
    try:
        given = np.asarray(X) if isinstance(X, list | tuple) else X
        check_kind(given)
        array = _as_matrix(given)
    except (ValueError, TypeError, OverflowError) as error:
        _explain(error)
        raise
    bad = find_bad(array)
    if bad is not None:
        raise_bad(bad, getattr(X, "columns", range(array.shape[1])))
    return array


def _as_matrix(X: Any) -> Values:
    """Return X as a C-contiguous matrix of floats; scikit-learn knows what can be made into one."""
    plain = X.to_numpy() if _is_plain_frame(X) else X
    if type(plain) is np.ndarray and plain.ndim == 2 and plain.size:
        if plain.dtype in _FLOATS:
            return np.ascontiguousarray(plain)
        if plain.dtype.kind in "iu":
            return np.ascontiguousarray(plain, np.float64)
    from sklearn.utils import check_array  # takes a second to import, and is seldom needed

    array: Values = check_array(
        X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False, input_name="X"
    )
    return array


def _is_plain_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas with columns of numbers as numpy has them."""
    return (
        type(X).__module__.startswith("pandas")
        and hasattr(X, "columns")
        and all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes)
    )


def _is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix of scipy, or a data frame with sparse columns only."""
    dtypes = X.dtypes if hasattr(X, "columns") and hasattr(X, "dtypes") else ()
    kinds = {type(dtype).__name__ for dtype in dtypes}
    scipys = any(each.__module__.startswith("scipy.sparse") for each in type(X).__mro__)
    return scipys or kinds == {"SparseDtype"}


def _filled(X: Any) -> Any:
    """Return a sparse matrix with its zeros, if that is small: k-means looks at every number."""
    size = math.prod(X.shape) * 8
    if size > _SMALL:
        dense = "X.toarray()" if hasattr(X, "toarray") else "X.sparse.to_dense()"
        raise ValueError(
            f"X is a sparse matrix of shape {X.shape}, which takes {size / 1e9:.3g} GB with its "
            f"zeros; up to {_SMALL / 1e9:.2g} GB that is done by itself. Reduce the columns first, "
            "e.g. TruncatedSVD(100) of sklearn.decomposition, and use metric='cosine' for text; or "
            f"give {dense} if that much is meant."
        )
    return X.toarray() if hasattr(X, "toarray") else X.sparse.to_dense()


def as_frame(X: Any) -> Any:
    """Return a table of Arrow, or the result of a query of DuckDB, as a data frame."""
    if type(X).__name__ == "DuckDBPyConnection":
        return X.df()
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X


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


def check_kind(X: Any) -> None:
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
    refuse_same_names(getattr(X, "columns", ()))
    refuse_text(_text_columns(X))


def refuse_same_names(columns: Any, whose: str = "X") -> None:
    """Refuse columns that share a name."""
    twice = [str(name) for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise ValueError(
            f"{whose} has several columns of the same name: {some(twice)}. Give each a name of its "
            "own."
        )


def refuse_text(columns: list[str]) -> None:
    """Refuse columns, if there are any, because they are not numbers."""
    if columns:
        raise ValueError(
            f"X has columns that are not numbers: {some(columns)}. Drop them, or encode them as "
            "numbers: text e.g. with sklearn.preprocessing.OneHotEncoder, dates as days."
        )


def column_names(X: Any, d: int) -> tuple[str, ...]:
    """Return the names of the columns of a data frame; of anything else their numbers, from 1."""
    # A lazy frame of polars tells them by its schema, and warns of asking otherwise.
    lazy = hasattr(X, "collect_schema")
    names = X.collect_schema().names() if lazy else getattr(X, "columns", None)
    return tuple(f"column {j + 1}" for j in range(d)) if names is None else tuple(map(str, names))


@dataclass(frozen=True)
class Bad:
    """Values that are not finite: how many, where the first is, and which kinds there are."""

    count: int
    row: Any
    column: int
    nan: bool
    infinite: bool
    where: str = "counted from 0"

    def moved(self, row: Any, where: str) -> "Bad":
        """Tell the place of the first one in another way."""
        return replace(self, row=row, where=where)


def find_bad(array: Values) -> Bad | None:
    """Look for values that are not finite."""
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    rows, columns = np.nonzero(bad)
    nan, infinite = bool(np.isnan(array).any()), bool(np.isinf(array).any())
    return Bad(int(bad.sum()), int(rows[0]), int(columns[0]), nan, infinite)


class NotFiniteError(ValueError):
    """Values that are not finite: these, in these columns."""

    bad: Bad
    columns: Any


def raise_bad(bad: Bad, columns: Any) -> NoReturn:
    """Tell about values that are not finite."""
    kinds = " and ".join(["NaN"] * bad.nan + ["infinity"] * bad.infinite)
    many = f"{bad.count} values, the first" if bad.count > 1 else "one value,"
    fill = ", e.g. with sklearn.impute.SimpleImputer" if bad.nan else ""
    # Columns without names have numbers, as numpy counts them.
    column = f"{columns[bad.column]!r}" + " (from 0, too)" * isinstance(columns, range)
    error = NotFiniteError(
        f"Input X contains {kinds}: {many} in row {bad.row} ({bad.where}), "
        f"column {column}. Drop those rows or fill them{fill}."
    )
    error.bad, error.columns = bad, columns
    raise error


def check_distinct(values: Values, at_most: int, purpose: str, what: str = "X") -> int:
    """Count distinct rows up to a number, and refuse fewer than four."""
    distinct = count_distinct(values, at_most)
    if distinct < 4:
        raise ValueError(
            f"{what[0].upper()}{what[1:]} has {distinct} distinct row{'s' * (distinct > 1)} and at "
            f"least 4 are needed to {purpose}. Check that X holds what you meant to cluster."
        )
    return distinct


def count_distinct(values: Values, at_most: int) -> int:
    """Count distinct rows, but stop at `at_most`: usually a look at the first few is enough."""
    seen: set[bytes] = set()
    for first in range(0, len(values), max(at_most, 1)):
        part: Any = np.add(values[first : first + at_most], 0.0, order="C")  # -0.0 becomes 0.0
        # Copies of a row are often side by side, and there may be thousands.
        part = part[np.append(True, (part[1:] != part[:-1]).any(axis=1))]
        text, width = part.tobytes(), part[:1].nbytes
        seen.update(text[at : at + width] for at in range(0, len(text), max(width, 1)))
        if len(seen) >= at_most:
            return at_most
    return len(seen) if values.size else min(len(values), 1)


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
