"""Every kind of array and data frame as X: the right numbers, or an error that says what to do."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from conftest import blobs
from edfkmeans import EDFKMeans, degrees_of_freedom, fit_path, score, select_k

X = np.round(blobs(3, n=12, d=2)[0] * 8)
WHOLE = X.astype(np.int64)
DAYS = np.datetime64("2020-01-01") + WHOLE.astype("timedelta64[D]")
LABELS, PILOT = np.arange(36) % 3, np.arange(36) % 5
EXPECTED = degrees_of_freedom(X, LABELS, PILOT, method="exact").per_point


def of_objects(kind):
    return np.array([[kind(int(value)) for value in row] for row in X], dtype=object)


def read_only():
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def mapped(folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return X if dtype is None else X.astype(dtype)


TAKEN = {
    "a list": X.tolist(),
    "tuples": tuple(map(tuple, X.tolist())),
    "rows in a list": list(X),
    "integers": WHOLE,
    "unsigned": (WHOLE - WHOLE.min()).astype(np.uint64),
    "far from zero, as whole numbers": WHOLE * 2**20 + 2**62,
    "beyond int64": (WHOLE - WHOLE.min()).astype(np.uint64) * 2**20 + np.uint64(2**63),
    "beyond any integer": WHOLE.astype(object) * 2**100,
    "half precision": X.astype(np.float16),
    "single": X.astype(np.float32),
    "long double": X.astype(np.longdouble),
    "big-endian": X.astype(">f8"),
    "big-endian, short": X.astype(">i2"),
    "Fortran order": np.asfortranarray(X),
    "negative strides": X[::-1, ::-1].copy()[::-1, ::-1],
    "every other one": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "read-only": read_only(),
    "a memory map": mapped,
    "masked, but nothing": np.ma.array(X),
    "an object with __array__": Wrapped(),
    "decimals": of_objects(Decimal),
    "fractions": of_objects(Fraction),
    "numbers as text": X.astype(str),
    "numbers as bytes": X.astype("S"),
    "a frame": pd.DataFrame(X, columns=["a", "b"]),
    "a frame of objects": pd.DataFrame(of_objects(Decimal)),
    "Float64": pd.DataFrame(X).astype("Float64"),
    "Int64": pd.DataFrame(WHOLE).astype("Int64"),
    "Arrow types": pd.DataFrame(X).astype("float64[pyarrow]"),
    "two levels of names": pd.DataFrame(
        X, columns=pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")])
    ),
    "rows with names": pd.DataFrame(X, index=pd.date_range("2020", periods=36)),
    "polars": pl.DataFrame(X, schema=["a", "b"]),
    "a lazy frame": pl.DataFrame(X, schema=["a", "b"]).lazy(),
    "sparse": scipy.sparse.csr_array(X),
    "a sparse matrix": scipy.sparse.csc_matrix(X),
    "sparse columns": pd.DataFrame(X, columns=["a", "b"]).astype(pd.SparseDtype(float)),
    "sparse columns of zeros": pd.DataFrame(X).astype(pd.SparseDtype(float, 0)),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_the_same_numbers(kind, tmp_path):
    given = TAKEN[kind](tmp_path) if kind == "a memory map" else TAKEN[kind]
    found = degrees_of_freedom(given, LABELS, PILOT, method="exact").per_point
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-5 if kind == "single" else 1e-9)
    assert fit_path(given, 4, random_state=0, n_jobs=1).n_samples == 36


def test_truth_values_are_0_and_1():
    truth = X.mean(axis=0) < X
    np.testing.assert_array_equal(
        degrees_of_freedom(truth, LABELS, PILOT).per_point,
        degrees_of_freedom(truth.astype(float), LABELS, PILOT).per_point,
    )


def frame(column):
    return pd.DataFrame({"a": column, "b": X[:, 1]})


def gap(type_):
    numbers = pd.DataFrame(WHOLE, columns=["a", "b"]).astype(type_)
    numbers.loc[4, "b"] = pd.NA
    return numbers


MASKED = np.ma.array(X, mask=np.arange(72).reshape(36, 2) == 5)
HOLE = X.astype(object)
HOLE[4, 1] = None
DAYS_AS_OBJECTS = np.array([list(row) for row in DAYS] + [[0, 0]], dtype=object)[:-1]
COMPLEX_AS_OBJECTS = np.array([[np.complex128(v) for v in row] for row in X], dtype=object)

REFUSED = {
    "dates": (DAYS, r"datetime64\[D\] and holds dates\. Give the time since"),
    "dates in a list": ([list(row) for row in DAYS], "holds dates"),
    "dates as objects": (DAYS_AS_OBJECTS, "dtype object and holds dates"),
    "not a time": (np.full((36, 2), np.datetime64("NaT")), "holds dates"),
    "durations": (WHOLE.astype("timedelta64[s]"), r"holds durations\. Give them in a unit"),
    "timestamps": (of_objects(pd.Timestamp), r"not a number: .*'Timestamp'\. Give"),
    "a column of dates": (frame(DAYS[:, 0]), "columns that are not numbers: 'a'"),
    "with a time zone": (frame(pd.to_datetime(DAYS[:, 0]).tz_localize("UTC")), "numbers: 'a'"),
    "a column of durations": (frame(WHOLE[:, 0].astype("timedelta64[s]")), "numbers: 'a'"),
    "a column of periods": (frame(pd.PeriodIndex(DAYS[:, 0], freq="D")), "numbers: 'a'"),
    "dates as objects in a frame": (
        pd.DataFrame({"a": pd.Series(list(DAYS[:, 0]), dtype=object), "b": X[:, 1]}),
        "not numbers: 'a'|not a number: .*'Timestamp'",
    ),
    "dates in polars": (pl.DataFrame({"a": DAYS[:, 0].astype("M8[ns]")}), "numbers: 'a'"),
    "complex": (X + 0j, "Complex data not supported: give their sizes"),
    "complex objects": (COMPLEX_AS_OBJECTS, "Complex data not supported"),
    "a complex column": (frame(X[:, 0] + 1j), "not numbers: 'a'"),
    "records": (X.view([("a", float), ("b", float)]), "holds records.*structured_to_unstructured"),
    "nothing but bytes": (np.zeros((36, 2), "V8"), "holds records"),
    "None": (HOLE, "NaN: one value, in row 4 .* column 1.* Drop those rows or fill them"),
    "Int64 with NA": (gap("Int64"), "NaN: one value, in row 4 .* column 'b'"),
    "Float64 with NA": (gap("Float64"), "NaN: one value, in row 4 .* column 'b'"),
    "Arrow with NA": (gap("float64[pyarrow]"), "NaN: one value, in row 4 .* column 'b'"),
    "polars with null": (
        pl.DataFrame({"a": [None, *X[1:, 0]], "b": X[:, 1]}),
        "NaN: one value, in row 0 .* column 'a'",
    ),
    "masked": (MASKED, "masked array with 1 values masked"),
    "masked rows": (list(MASKED), "1 values masked"),
    "sparse": (scipy.sparse.csr_array((5000, 4000)), "0.16 GB.*TruncatedSVD.*toarray"),
    "too large whole numbers": (WHOLE.astype(object) * 10**400, r"beyond 1\.8e308.*Divide"),
    "too large long doubles": (X.astype(np.longdouble) * np.longdouble("1e4000"), "infinity"),
    "text": (frame(["x"] * 36), "columns that are not numbers: 'a'"),
    "numbers as text in a frame": (frame(X[:, 0].astype(str)), "columns that are not numbers: 'a'"),
    "categories": (frame(pd.Categorical(WHOLE[:, 0])), "columns that are not numbers: 'a'"),
    "a name twice": (pd.DataFrame(X, columns=["a", "a"]), "columns of the same name: 'a'. Give"),
    "text under a name twice": (
        pd.DataFrame(of_objects(str), columns=["a", "a"]),
        "columns of the same name: 'a'",
    ),
    "one number": (np.array(1.0), "2D array"),
    "one column": (X[:, 0], "2D array"),
    "three dimensions": (X[:, :, None], "dim 3"),
    "a matrix": (np.asmatrix(X), "np.matrix is not supported.*np.asarray"),
    "ragged rows": ([[1, 2], [3]] * 18, "X is not a matrix.*as many in each"),
    "arrays in an array": (np.array([[[1], 2]] * 36, dtype=object), "X is not a matrix"),
    "a dictionary": ({"a": [1, 2]}, r"not a number: .*'dict'\. Give a matrix of numbers"),
    "a generator": ((row for row in X), "not a number: .*'generator'|read only once"),
}


DOORS = {
    "select_k": lambda given: select_k(given, 4, random_state=0, n_jobs=1),
    "EDFKMeans": lambda given: EDFKMeans().fit(given),
    "degrees_of_freedom": lambda given: degrees_of_freedom(given, LABELS, PILOT),
    "score": lambda given: score(given, LABELS),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_by_every_door(kind):
    given, message = REFUSED[kind]
    for door in DOORS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
                door(given)
