"""Saddle ratios against plain loops, and where they must be low or high."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from conftest import blobs
from edfkmeans.criteria.contrast import KINDS, LOOKED_AT_KINDS, Contrast, _curves, log_parts
from edfkmeans.criteria.criterion import Given, Work
from edfkmeans.criteria.saddles import saddle_ratios
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.search import fit_path
from edfkmeans.kernels.saddle import count_along

few = settings(max_examples=settings.default.max_examples // 3)
SEEDS = st.integers(0, 2**32 - 1)


def rows_and_labels(seed, n, d, k):
    """Rows with some labels; every cluster has a row."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)])
    centers = rng.normal(size=(k, d)) * rng.choice([0.5, 3.0])
    return centers[labels] + rng.normal(size=(n, d)), labels.astype(np.int32)


@few
@given(SEEDS, st.integers(14, 60), st.integers(1, 4), st.integers(2, 7))
def test_ratios_are_those_of_the_loops(seed, n, d, k):
    X, labels = rows_and_labels(seed, n, d, k)
    expected = naive.saddle_ratios(X, labels)
    np.testing.assert_allclose(saddle_ratios(X, labels, k), expected, rtol=1e-9, atol=1e-12)


@few
@given(SEEDS, st.integers(14, 60), st.integers(1, 4), st.integers(2, 7))
def test_ratios_along_the_lines_of_other_centres(seed, n, d, k):
    X, labels = rows_and_labels(seed, n, d, k)
    centers = np.random.default_rng(seed + 1).normal(size=(k, d))
    expected = naive.saddle_ratios(X, labels, centers)
    found = saddle_ratios(X, labels, k, centers)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_cluster_without_rows_is_borne():
    X, labels = rows_and_labels(0, 40, 2, 3)
    centers = np.random.default_rng(1).normal(size=(5, 2))  # of a fit to other rows
    expected = naive.saddle_ratios(X, labels, centers)
    np.testing.assert_allclose(saddle_ratios(X, labels, 5, centers), expected, rtol=1e-9)


def test_far_blobs_have_empty_valleys():
    for k in (2, 3, 5):
        X, labels = blobs(k, n=100, gap=12.0)
        assert saddle_ratios(X, labels.astype(np.int32), k).max() < 0.02


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_gaussian_cut_in_two_has_no_valley(d):
    X = np.random.default_rng(0).normal(size=(4000, d))
    labels = (X[:, 0] > 0).astype(np.int32)
    assert saddle_ratios(X, labels, 2).min() > 1


def test_a_blob_cut_in_two_beside_a_far_one():
    X, labels = blobs(2, n=400, gap=20.0)
    cut = np.where(labels == 1, 2, (X[:, 0] > X[labels == 0, 0].mean()).astype(int))
    halves_and_far = saddle_ratios(X, cut.astype(np.int32), 3)
    assert halves_and_far[:2].min() > 0.9
    assert halves_and_far[2] < 0.02


def test_ratios_stay_between_none_and_two():
    for seed in range(5):
        X, labels = rows_and_labels(seed, 30, 2, 6)
        ratios = saddle_ratios(X, labels, 6)
        assert ((ratios >= 0) & (ratios <= 2)).all()
    alike = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0]]), 5, axis=0)
    same_centres = saddle_ratios(alike, np.arange(10, dtype=np.int32) % 2, 2)
    assert np.isfinite(same_centres).all()


def with_singletons(seed=0):
    """Rows of which some are clusters of their own: they lie at the ends of the lines."""
    X, labels = rows_and_labels(seed, 60, 3, 4)
    X = np.r_[X, np.random.default_rng(seed).normal(size=(4, 3)) * 4]
    return X, np.r_[labels, np.arange(4, 8)].astype(np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_decide_where_a_lone_row_counts(seed):
    X, labels = with_singletons(seed)
    plain = saddle_ratios(X, labels, 8)
    for other in (X * 3.0, X / 7.0, X + 0.1, -X):
        np.testing.assert_allclose(saddle_ratios(other, labels, 8), plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_names_of_clusters_play_no_part(seed):
    X, labels = with_singletons(seed)
    names = np.random.default_rng(seed).permutation(8).astype(np.int32)
    plain, renamed = saddle_ratios(X, labels, 8), saddle_ratios(X, names[labels], 8)
    np.testing.assert_allclose(renamed[names], plain, rtol=1e-9, atol=1e-12)


def test_rows_are_counted_where_they_lie():
    X = np.array([[0.0], [0.3125], [1.0], [-9.0], [0.5], [-0.3125]])
    labels = np.array([0, 0, 1, 0, 1, 2], np.int32)
    counts = np.zeros((2, 4))
    # Pair 0 of clusters 0 and 1, pair 1 of clusters 1 and 2; both from -0.25, in quarters.
    pairs, first = np.array([0, 0, 1, 1]), np.array([0, 1, 3, 4])
    count_along(X, labels, np.ones((2, 1)), np.array([-0.25, -0.25]), pairs, first, 4.0, counts)
    np.testing.assert_array_equal(counts, [[0, 1, 0.75, 1.25], [0.75, 0, 0, 1]])


# Samples without clusters


def contrasts(X, k_max, seed=0):
    path = fit_path(X, k_max, random_state=seed)
    return Contrast().make(read_rows(X), path, Given(), Work(seed, Threads(1)))


def test_contrasts_are_the_same_for_every_seed(wine):
    one, other = contrasts(wine, 5), contrasts(wine, 5, seed=3)
    for kind in KINDS:
        assert one.logs[kind].shape == (4, 5)
        np.testing.assert_array_equal(one.logs[kind], other.logs[kind])
        np.testing.assert_array_equal(one.logs[kind][:, 0], 0)
        assert (np.diff(one.logs[kind]) < 0).all()
    for kind in LOOKED_AT_KINDS:
        for found in (one.silhouettes[kind], one.saddles[kind]):
            assert np.isnan(found[0])
            assert np.isfinite(found[1:]).all()


def test_samples_with_few_distinct_rows_end_early():
    sample = np.repeat([[-1.0], [0.0], [1.0]], 5, axis=0)
    logs, silhouettes, saddles = _curves(sample, 5, np.random.default_rng(0), looked_at=True)
    assert np.isfinite(logs[:3]).all()
    assert silhouettes[2] == 1
    for curve in (logs, silhouettes, saddles):
        assert np.isnan(curve[3:]).all()


def test_logarithms_of_what_is_left():
    np.testing.assert_allclose(log_parts(np.array([4.0, 1.0])), [0, -np.log(4)])
    np.testing.assert_array_equal(log_parts(np.array([4.0, 0.0])), [0, -30])
    np.testing.assert_array_equal(log_parts(np.array([0.0, 0.0])), [0, 0])
