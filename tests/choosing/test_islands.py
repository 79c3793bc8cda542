"""Small groups apart from a cloud are clear, and clouds without them are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from edfkmeans.choosing.islands import _island, islands
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads


def cloud(n, d, seed, apart=0, distance=6.0):
    """Draw a Gaussian cloud, some rows of which are moved away in the first column."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:apart, 0] += distance
    return X


@given(st.integers(0, 10**6), st.integers(30, 300), st.integers(0, 8))
def test_the_clearest_gap_is_that_of_plain_loops(seed, n, apart):
    line = cloud(n, 1, seed, apart)[:, 0]
    told, expected = _island(line), naive.island(line)
    if expected is None:
        assert told[:6] == (0.0,) * 6
        return
    size, clear, lone, place, gap = expected
    assert told[0] == pytest.approx(clear, rel=1e-6)
    assert told[1] == pytest.approx(lone, rel=1e-6)
    assert np.exp(told[2]) == pytest.approx(size)
    assert told[3:5] == pytest.approx((place, gap))


@pytest.mark.parametrize(("n", "d"), [(500, 2), (500, 10), (5000, 10), (5000, 2)])
def test_ten_rows_apart_are_clear_and_a_cloud_alone_has_none(n, d):
    with_group = [
        islands(read_rows(cloud(n, d, seed, 10)), Threads(1))["clear"] for seed in range(5)
    ]
    without = [islands(read_rows(cloud(n, d, seed)), Threads(1))["clear"] for seed in range(5)]
    assert min(with_group) > 1.5 * max(without)


def test_scale_and_place_play_no_part():
    X = cloud(400, 4, 0, 12, 8.0)
    told = islands(read_rows(X), Threads(1))
    for other in (X * 1e-6, X * 1e6 + 3e6, X[:, ::-1]):
        assert islands(read_rows(other), Threads(1)) == pytest.approx(told, rel=1e-4)


@pytest.mark.parametrize(
    "X",
    [
        np.round(cloud(200, 3, 1)),
        (cloud(200, 4, 2) > 0).astype(float),
        cloud(90, 300, 3),
        np.repeat(cloud(40, 2, 4), 5, axis=0),
        np.c_[cloud(200, 2, 5), np.zeros(200)],
        np.where(cloud(200, 2, 6) > 1.5, 1.0, 0.0) + np.arange(200)[:, None] * 1e-9,
    ],
    ids=["rounded", "binary", "wide", "repeated", "constant", "mostly zero"],
)
def test_odd_rows_give_numbers(X):
    assert all(np.isfinite(value) for value in islands(read_rows(X), Threads(1)).values())


def test_few_rows_are_not_asked():
    assert all(
        np.isnan(value) for value in islands(read_rows(cloud(60, 2, 0)), Threads(1)).values()
    )
