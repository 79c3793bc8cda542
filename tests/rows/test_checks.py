"""Bad and odd input: the right answer or one clear error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.utils import check_array

from conftest import blobs
from edfkmeans import EDFKMeans, degrees_of_freedom, fit_path, select_k
from edfkmeans.engines.memory import read_rows
from edfkmeans.rows import units
from edfkmeans.rows.checks import check_numeric

X, TRUTH = blobs(3, n=50)


def answer(data, **options):
    return select_k(data, random_state=0, **options)


def with_value(value):
    bad = X.copy()
    bad[7, 1] = value
    return bad


DOORS = [select_k, EDFKMeans().fit, lambda data: degrees_of_freedom(data, [0], [0])]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "data, error, message",
    [
        (with_value(np.nan), ValueError, "contains NaN: one value, in row 7 .*, column 1"),
        (with_value(np.inf), ValueError, "contains infinity: one value, in row 7"),
        ([["a", "b"], ["c", "d"]], ValueError, "X holds text: could not convert.*'a'.*Drop"),
        (X[:, 0], ValueError, "Expected 2D array, got 1D array(.|\n)*[Rr]eshape"),
        (np.zeros((2, 3, 4)), ValueError, "dim 3"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        (np.empty((10, 0)), ValueError, "0 feature"),
        (X[:1], ValueError, "n_samples=1, but at least 2 rows are needed"),
        (scipy.sparse.csr_matrix((5000, 4000)), ValueError, "0.16 GB.*TruncatedSVD.*toarray"),
        (X * 1j, ValueError, "[Cc]omplex"),
        (np.ma.masked_greater(X, 20), ValueError, "masked array with .* values masked. Drop"),
        (None, ValueError, "Expected 2D array"),
        ("table.csv", ValueError, "X holds text"),
    ],
)
def test_bad_input_is_refused_by_every_door(door, data, error, message):
    with pytest.raises(error, match=message):
        door(data)


@pytest.mark.parametrize("door", [fit_path, select_k, EDFKMeans().fit])
@pytest.mark.parametrize(
    "data, message",
    [
        (np.ones((20, 3)), "X has 1 distinct row and at least 4 are needed"),
        (np.repeat(X[:3], 9, axis=0), "X has 3 distinct rows and at least 4"),
        (X * 1e200, "spreads over about .*out of a float's range. Divide X by"),
        (X * 1e-200, "out of a float's range"),
    ],
)
def test_data_without_an_answer(door, data, message):
    with pytest.raises(ValueError, match=message):
        door(data)


def test_missing_values_are_named_by_column():
    frame = pd.DataFrame(X.copy(), columns=["age", "income", "visits"])
    frame.loc[4, "income"] = np.nan
    frame.loc[9, "visits"] = np.inf
    with pytest.raises(
        ValueError, match=r"NaN and infinity: 2 values, the first in row 4 .*, column 'income'"
    ):
        answer(frame)


@pytest.mark.parametrize("library", [pd, pl])
def test_text_columns_are_named(library):
    frame = library.DataFrame({"a": X[:, 0], "town": ["x"] * len(X), "b": X[:, 1]})
    with pytest.raises(
        ValueError, match=r"columns that are not numbers: 'town'\. Drop them, or encode"
    ):
        answer(frame)


def test_dates_are_not_numbers():
    frame = pd.DataFrame({"a": X[:, 0], "day": pd.date_range("2020", periods=len(X))})
    with pytest.raises(ValueError, match="not numbers: 'day'"):
        answer(frame)


EXPECTED = answer(X).table


@pytest.mark.parametrize(
    "data",
    [
        np.asfortranarray(X),
        X.tolist(),
        pd.DataFrame(X),
        pl.DataFrame(X),
        pd.DataFrame(X).astype(object),
        X.astype(np.longdouble),
        np.concatenate([X, np.full((len(X), 2), 3.25)], axis=1),
    ],
    ids=["fortran", "list", "pandas", "polars", "objects", "longdouble", "constant columns"],
)
def test_the_same_numbers_in_another_dress(data):
    np.testing.assert_allclose(answer(data).table, EXPECTED, rtol=1e-10)


def test_read_only_data_is_left_alone():
    data = X.copy()
    data.flags.writeable = False
    np.testing.assert_array_equal(answer(data).table, EXPECTED)
    np.testing.assert_array_equal(data, X)


@pytest.mark.parametrize(
    "data",
    [X.astype(np.float32), (X * 10).astype(int), (X * 10 + 100).astype(np.uint16), X[:, :1]],
    ids=["float32", "int", "uint16", "one column"],
)
def test_other_numbers_give_the_same_k(data):
    assert answer(data).k == 3


@pytest.mark.parametrize("few, kind", [(2**22, np.float64), (0, np.float32)])
def test_single_precision_stays_single_where_there_is_much_and_agrees(few, kind, monkeypatch):
    monkeypatch.setattr(units, "_FEW", few)
    single = X.astype(np.float32)
    held = read_rows(single)
    assert held.values.dtype == kind
    np.testing.assert_array_equal(held.values, held.units.values(single))
    assert read_rows(X.astype(np.float16)).values.dtype == np.float64
    double = answer(single.astype(np.float64))
    np.testing.assert_allclose(answer(single).table, double.table, rtol=1e-5)
    np.testing.assert_array_equal(answer(single).labels, double.labels)
    np.testing.assert_array_equal(
        EDFKMeans(random_state=0).fit(single).predict(single), double.labels
    )


def test_booleans():
    rng = np.random.default_rng(0)
    prototypes = np.eye(3, dtype=bool).repeat(12, axis=1)
    data = prototypes[TRUTH] ^ (rng.random((150, 36)) < 0.1)
    assert data.dtype == bool
    assert answer(data, method="combined").k == 3
    found = answer(data)
    assert 3 in {*found.as_good, *(candidate.k for candidate in found.candidates)}


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_scale_does_not_matter(scale):
    selection = answer(X * scale)
    assert selection.k == 3
    np.testing.assert_allclose(selection.table["dof"], EXPECTED["dof"], rtol=1e-6)
    assert selection.inertia == pytest.approx(EXPECTED.loc[3, "inertia"] * scale * scale, rel=1e-9)
    assert np.isfinite(selection.table.loc[2:]).all(axis=None)


def test_an_offset_costs_no_digits():
    data = np.round(X * 2**20) / 2**20
    plain = answer(data)
    offset = np.array([1e6, 0, 0])
    moved = answer(data + offset)
    np.testing.assert_array_equal(plain.labels, moved.labels)
    np.testing.assert_allclose(moved.table, plain.table, rtol=1e-9)
    np.testing.assert_allclose(moved.centers - offset, plain.centers, atol=1e-9)


def test_few_distinct_rows_lower_the_default_k_max():
    data = np.repeat(np.random.default_rng(1).normal(size=(8, 2)), 20, axis=0)
    selection = answer(data)
    assert selection.k_max == 3
    with pytest.raises(ValueError, match="k_max=30 needs at least 31 distinct rows; X has 8"):
        answer(data, k_max=30)


def test_units_give_the_data_back():
    rows = read_rows(X + 1000.0)
    np.testing.assert_allclose(rows.units.to_original(rows.values), X + 1000.0, rtol=1e-14)
    np.testing.assert_allclose(np.mean(rows.values, axis=0), 0, atol=1e-15)
    assert 1 <= np.abs(rows.values).max() < 2


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, np.uint64, np.float16, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_numbers_are_what_scikit_learn_makes_of_them(kind, order):
    X = np.asarray(np.random.default_rng(0).integers(0, 2, (5, 3)), kind, order=order)
    kinds = [np.float64, np.float32]
    for given in (X, X[::2], pd.DataFrame(X), pd.DataFrame({"a": X[:, 0], "b": [1, 2, 3, 4, 5]})):
        found = check_numeric(given)
        expected = check_array(given, dtype=kinds, order="C")
        assert found.dtype == expected.dtype
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, expected)


def test_a_single_column_is_told_to_be_no_matrix():
    with pytest.raises(ValueError, match="2-dimensional"):
        check_numeric(pd.Series([1.0, 2.0, 3.0]))
