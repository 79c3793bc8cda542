import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from conftest import reference
from edfkmeans.criteria import rules
from edfkmeans.criteria.information import bic

CURVES = {name: case for name, case in reference("smoothing").items() if "bic" in case}


@pytest.mark.parametrize("name", CURVES)
def test_bic_and_k_equal_the_reference(name):
    case = CURVES[name]
    curve = bic(np.array(case["inertia"]), np.array(case["edf_smoothed"]), case["n"], case["d"])
    np.testing.assert_allclose(curve, case["bic"], rtol=1e-12)
    assert rules.r_package(curve) == case["k_r_package"]


@pytest.mark.parametrize(
    "curve, paper, r_package",
    [
        ([5, 3, 4, 2, 6], 2, 2),  # the first valley, not the deepest
        ([1, 5, 4, 6], 3, 1),  # the two rules differ: k = 1 lowest of all
        ([9, 5, 4, 3], 4, 4),  # no valley: the lower end
        ([3, 5, 6, 7], 1, 1),
        ([4, 4, 4], 2, 1),  # a plateau counts as a valley
        ([2, 1], 2, 2),
        ([1, 2], 1, 1),
        ([7], 1, 1),
    ],
)
def test_rules_by_hand(curve, paper, r_package):
    assert rules.paper(np.array(curve, float)) == paper
    assert rules.r_package(np.array(curve, float)) == r_package


@given(arrays(float, st.integers(2, 30), elements=st.integers(0, 5).map(float)))
def test_rules_equal_the_loops(curve):
    assert rules.paper(curve) == naive.rule_paper(curve)
    assert rules.r_package(curve) == naive.rule_r_package(curve)


def test_local_minima_include_the_ends():
    assert rules.local_minima(np.array([1.0, 3, 2, 4, 0])) == [1, 3, 5]


def test_bic_proposes_and_silhouette_disposes():
    bic = np.array([9.0, 5, 6, 4, 7, 3, 2.0])
    none = np.zeros(7)
    # Candidates are 2 and 4; 7 has a higher silhouette but is no valley.
    silhouette = np.array([np.nan, 0.2, 0.4, 0.3, 0.1, 0.1, 0.4])
    assert rules.combined(bic, silhouette, none) == (4, [3, 4, 2])
    # High where samples without clusters are high too: nothing special.
    reference = np.array([np.nan, 0.0, 0.15, 0.25, 0, 0, 0.15])
    assert rules.combined(bic, silhouette, reference) == (2, [3, 2, 4])
    # No valley: every k from 2.
    falling = np.arange(7.0)[::-1]
    assert rules.combined(falling, silhouette, none)[0] == 3
    assert rules.combined(falling[:2], silhouette[:2], none[:2]) == (2, [2])


def test_combined_takes_the_clearest_k_where_no_valley_comes_near():
    bic = np.array([10.0, 8.0, 6.0, 4.0, 5.0, 6.0])
    flat = np.zeros(6)
    silhouette = np.array([np.nan, 0.3, 0.9, 0.5, 0.2, 0.1])
    assert rules.combined(bic, silhouette, flat) == (3, [3, 4])
    silhouette[3] = 0.6
    assert rules.combined(bic, silhouette, flat) == (4, [3, 4])


def test_lowest_and_highest_ignore_missing_values():
    curve = np.array([np.nan, 2.0, 1.0, 1.0, 2.0])
    assert (rules.lowest(curve), rules.highest(curve)) == (3, 2)


@pytest.mark.parametrize(
    "curve, error, expected",
    [
        # tibshirani, first-se-max, global-se-max, first-max, global-max
        ([1.0, 2.0, 1.5, 3.0, 2.0], [0.1] * 5, (2, 2, 4, 2, 4)),
        ([1.0, 2.0, 1.5, 3.0, 2.0], [1.5] * 5, (1, 1, 2, 2, 4)),
        ([1.0, 2.0, 3.0, 4.0], [0.1] * 4, (4, 4, 4, 4, 4)),  # no maximum inside
        ([1.0, 1.95, 2.0, 1.0, 2.05], [0.1] * 5, (2, 2, 2, 3, 5)),
        ([4.0, 3.0, 2.0], [0.1] * 3, (1, 1, 1, 1, 1)),
        ([1.0, 2.0, 2.0, 3.0], [0.1] * 4, (2, 2, 4, 2, 4)),  # level is not beaten
        ([1.0, 1.5, 1.0], [0.0, 0.5, 0.0], (1, 1, 1, 2, 2)),  # just a standard error apart
        ([1.0, 1.5, 1.0], [0.6, 0.25, 0.6], (2, 2, 2, 2, 2)),  # the error of the higher counts
    ],
)
def test_rules_with_standard_errors(curve, error, expected):
    found = tuple(rule(np.array(curve), np.array(error)) for rule in rules.SE_RULES.values())
    assert found == expected


def test_heights_above_a_reference():
    heights = rules.above(np.array([0.5, 0.2, 0.75]), np.array([0.0, 0.5, 0.5]))
    np.testing.assert_allclose(heights, [0.5, -0.6, 0.5])


def test_combined_at_ties():
    """Just near enough is near, and of candidates alike the smallest k is the first."""
    bic = np.array([9.0, 8, 7, 6, 7])
    silhouette = np.array([np.nan, 0.5, 0.1, 0.3, 0.2])
    assert rules.combined(bic, silhouette, np.zeros(5)) == (4, [2, 4])
    falling, level = np.arange(60.0)[::-1], np.full(60, 0.5)
    assert rules.combined(falling, level, np.zeros(60)) == (2, list(range(2, 61)))
