from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression

from conftest import blobs
from edfkmeans.kernels.unimodal import rising
from edfkmeans.structure import find_structure, nearest_unimodal, unimodal_heights

CLOUDS = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": lambda rng, n, d: rng.normal(size=(n, d)) @ rng.normal(size=(d, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "long tails": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "skewed": lambda rng, n, d: rng.exponential(size=(n, d)),
}


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_one_cluster_has_no_structure(cloud, d):
    rng = np.random.default_rng(d)
    shares = [find_structure(CLOUDS[cloud](rng, 200, d), random_state=i).share for i in range(20)]
    # Of twenty draws one is wrong on average, and more than four are in 3 of 1000 such tests.
    assert np.sum(np.array(shares) <= 0.05) <= 4


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_clusters_are_structure(k, d):
    rng = np.random.default_rng(0)
    centers = 8 * np.arange(k)[:, None] * np.ones(d) if d == 1 else 8 * rng.normal(size=(k, d))
    X = centers[np.arange(400) % k] + rng.normal(size=(400, d))
    assert find_structure(X, random_state=0).share == 1 / 20


def test_large_data_are_sampled_and_threads_do_not_matter():
    X, _ = blobs(3, n=700)
    one, two = (find_structure(X, random_state=1, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_equal(asdict(one), asdict(two))  # NaN counts as equal
    assert one.n_rows == 1000
    assert find_structure(X, n_references=9, random_state=0).share == 0.1


@pytest.mark.parametrize("X", [np.repeat(np.eye(4), 5, axis=0), [[0, 1], [0, 2], [0, 3], [0, 9]]])
def test_tiny_data_have_an_answer(X):
    assert 0 < find_structure(X, random_state=0).share <= 1


@pytest.mark.parametrize("X", [np.ones((20, 3)), np.eye(3), [[0.0], [1.0]]])
def test_too_few_distinct_rows_are_refused(X):
    with pytest.raises(ValueError, match="at least 4 are needed"):
        find_structure(X)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_two_groups_of_fifty_are_found(d):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, d))
        X[:50, 0] += 6
        assert find_structure(X, random_state=seed).share == 0.05


def test_what_decides():
    rng = np.random.default_rng(0)
    plain = find_structure(rng.normal(size=(200, 2)), random_state=0)
    assert plain.share_uniform > 0.05
    assert np.isnan(plain.share_plain)  # not asked any more
    tailed = rng.standard_t(2, size=(600, 4)) + 9 * rng.integers(0, 2, size=(600, 1))
    found = find_structure(tailed, random_state=0)
    assert (
        found.share
        == max(found.share_uniform, np.nanmin([found.share_plain, found.share_normal]))
        == 0.05
    )


@given(arrays(float, st.integers(2, 200), elements=st.integers(-20, 20)))
def test_heights_keep_the_order_of_a_column(column):
    heights = unimodal_heights(column.astype(float))
    order = np.argsort(column, kind="stable")
    assert (np.diff(heights[order]) >= -1e-12).all()
    assert ((heights >= 0) & (heights <= 1 + 1e-12)).all()


def test_skewness_goes_and_two_modes_stay():
    rng = np.random.default_rng(0)
    heights = unimodal_heights(rng.exponential(size=2000))
    np.testing.assert_allclose(np.quantile(heights, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.02)
    two = unimodal_heights(np.r_[rng.normal(-5, 1, 1000), rng.normal(5, 1, 1000)])
    assert np.diff(np.sort(two)).max() > 0.15  # the valley is still there


@given(st.integers(0, 10**6), st.integers(3, 60))
def test_the_nearest_unimodal_distribution_is_unimodal(seed, size):
    rng = np.random.default_rng(seed)
    knots = np.cumsum(rng.uniform(0.1, 1, size + 1))
    heights = np.r_[0, np.cumsum(rng.dirichlet(np.ones(size)))]
    fitted = nearest_unimodal(knots, heights)
    slope = np.diff(fitted) / np.diff(knots)
    mode = int(slope.argmax())
    assert (np.diff(slope[: mode + 1]) >= -1e-9).all()
    assert (np.diff(slope[mode:]) <= 1e-9).all()
    assert fitted[0] == 0
    assert fitted[-1] == pytest.approx(1)


def test_bad_options():
    with pytest.raises(ValueError, match="n_references=0 must be"):
        find_structure(np.eye(5), n_references=0)


@given(st.integers(0, 80), st.booleans(), st.integers(0, 2**32 - 1))
def test_rising_numbers_are_those_of_scipy_to_the_bit(n, ties, seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=n)) + rng.normal(scale=0.5, size=n)
    values = values.round() if ties else values
    weights = rng.exponential(size=n) + 1e-3
    expected = isotonic_regression(values, weights=weights).x if n else values
    np.testing.assert_array_equal(rising(values, weights), expected)
