import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from conftest import reference
from edfkmeans.dof.smoothing import interior_minima, local_linear, smooth

CURVES = reference("smoothing")
SETS = [name for name in CURVES if "edf_raw" in CURVES[name]]
KERNELS = [name for name in CURVES if "bandwidths" in CURVES[name]]


@pytest.mark.parametrize("name", SETS)
def test_smoothed_curves_equal_the_reference(name):
    case = CURVES[name]
    smoothed = smooth(np.array(case["edf_raw"]))
    np.testing.assert_allclose(smoothed, case["edf_smoothed"], rtol=1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_local_linear_equals_the_reference(name):
    case = CURVES[name]
    checked = 0
    for bandwidth, expected in zip(case["bandwidths"], case["smoothed"], strict=True):
        fitted = local_linear(np.array(case["y"]), bandwidth)
        np.testing.assert_allclose(fitted, expected, rtol=1e-9)
        checked += 1
    assert checked == 4


curves = arrays(float, st.integers(3, 31), elements=st.floats(0, 1000, width=32))


@given(curves, st.floats(0.5, 6.0))
def test_local_linear_equals_the_loops(y, bandwidth):
    np.testing.assert_allclose(
        local_linear(y, bandwidth), naive.local_linear(y, bandwidth), rtol=1e-9, atol=1e-8
    )


@given(st.integers(0, 10**6), st.integers(3, 31))
def test_smooth_equals_the_loops(seed, n):
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(3, 10, n))
    np.testing.assert_allclose(smooth(y), naive.smooth(y, y[0]), rtol=1e-9, atol=1e-8)


@given(st.integers(0, 10**6))
def test_at_most_one_minimum_is_left(seed):
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(3, 10, 30))
    smoothed = smooth(y)
    assert smoothed[0] == y[0]
    # The first value is put back afterwards, which can make one more at k = 2.
    assert interior_minima(smoothed[1:]).size <= 1


@pytest.mark.parametrize("n", [1, 2])
def test_short_curves_stay(n):
    np.testing.assert_array_equal(smooth(np.arange(n) + 1.0), np.arange(n) + 1.0)


def test_a_flat_curve_ends():
    np.testing.assert_allclose(smooth(np.full(12, 7.0)), 7.0)


def test_a_straight_line_stays():
    line = np.arange(1, 31) * 13.0
    np.testing.assert_allclose(smooth(line), line, rtol=1e-12)
