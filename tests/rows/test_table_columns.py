"""Columns of a table as numbers: dates, text, what is missing."""

import numpy as np
import pandas as pd
import pytest

from edfkmeans.rows.inputs import Input, days_of

DAYS = [0.0, 31.0, 365.0]


@pytest.mark.parametrize(
    "written",
    [
        ["1970-01-01", "1970-02-01", "1971-01-01"],
        ["01.01.1970", "01.02.1970", "01.01.1971"],
        ["1970-01-01 00:00", "1970-02-01 00:00", "1971-01-01 00:00"],
        pd.to_datetime(["1970-01-01", "1970-02-01", "1971-01-01"]),
        pd.to_datetime(["1970-01-01", "1970-02-01", "1971-01-01"]).tz_localize("UTC"),
        pd.to_timedelta(DAYS, unit="D"),
        [19700101, 19700201, 19710101],
    ],
)
def test_dates_become_days(written):
    np.testing.assert_allclose(days_of(pd.Series(written)), DAYS)


def test_months_and_days_are_told_apart_or_asked_for():
    np.testing.assert_allclose(days_of(pd.Series(["1/1/1970", "2/13/1970"])), [0, 43])
    np.testing.assert_allclose(days_of(pd.Series(["1/1/1970", "13/2/1970"])), [0, 43])
    with pytest.raises(ValueError, match="the day cannot be told from the month, such as in '1/2"):
        days_of(pd.Series(["1/2/1970", "2/3/1970"], name="joined"))


@pytest.mark.parametrize(
    "column",
    [[1.5, 2.5], [19700101, 19701399], ["a1234", "b"], [True, False], ["12345", "12346"], [None]],
)
def test_what_is_no_date(column):
    assert days_of(pd.Series(column)) is None


def test_a_date_that_is_missing_stays_so():
    days = Input("d", "date").numbers(pd.Series(["1970-01-02", None]))
    np.testing.assert_array_equal(days, [[1.0], [np.nan]])


def test_two_values_make_one_column_and_three_make_three():
    yes = Input("ok", "text", ("no", "yes"))
    assert yes.names == ["ok=yes"]
    np.testing.assert_array_equal(yes.numbers(pd.Series(["yes", "no", None])), [[1], [0], [np.nan]])
    three = Input("c", "text", ("a", "b", "c"))
    assert three.names == ["c=a", "c=b", "c=c"]
    np.testing.assert_array_equal(three.numbers(pd.Series(["b", "c"])), [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "given, column, message",
    [
        (Input("c", "text", ("a", "b")), ["a", "z"], "'c' holds 'z', which is none of the values"),
        (Input("n"), ["1", "x"], "'n' holds what is not a number, such as 'x'"),
        (Input("d", "date"), ["1970-01-01", "soon"], "'d' holds no dates, such as '1970-01-01'"),
    ],
)
def test_what_does_not_match_is_refused(given, column, message):
    with pytest.raises(ValueError, match=message):
        given.numbers(pd.Series(column, name=given.name))
