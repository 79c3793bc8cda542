"""Samples without clusters: what they keep of the rows."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from edfkmeans.fits.reference import MarginsReference, NormalReference, _ranks


def correlated(n=400, d=3, seed=0):
    """Rows of mean 0 whose columns hang together."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return rows - rows.mean(axis=0)


@pytest.mark.parametrize("n, d", [(400, 3), (30, 1), (5, 8), (6, 6)])
def test_a_normal_sample_has_the_covariance_of_the_rows(n, d):
    rows = correlated(n, d)
    sample = NormalReference.like(rows).sample(200_000, np.random.default_rng(1))
    expected = rows.T @ rows / n
    found = sample.T @ sample / len(sample)
    np.testing.assert_allclose(found, expected, atol=0.02 * np.trace(expected))
    np.testing.assert_allclose(sample.mean(axis=0), 0, atol=1e-10)


def test_a_normal_root_is_exactly_that_of_the_covariance():
    for rows in (correlated(50, 4), correlated(4, 9)):
        root = NormalReference.like(rows).root
        np.testing.assert_allclose(root.T @ root, rows.T @ rows / len(rows), atol=1e-12)


def test_columns_that_are_copies_stay_copies():
    rows = correlated(60, 2)
    rows = np.column_stack([rows, rows[:, 0]])
    sample = NormalReference.like(rows).sample(500, np.random.default_rng(0))
    np.testing.assert_allclose(sample[:, 0], sample[:, 2], atol=1e-6)


def skewed(n=1000):
    """Columns that are skewed, in steps and in two humps, and hang together."""
    z = correlated(n, 3, seed=2)
    z /= z.std(axis=0)
    rows = np.column_stack([np.exp(z[:, 0]), np.round(2 * z[:, 1]), z[:, 2] + 4 * (z[:, 2] > 0)])
    return rows - rows.mean(axis=0)


def test_margins_are_the_values_of_the_columns():
    rows = skewed()
    sample = MarginsReference.like(rows).sample(len(rows), np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(sample, axis=0), np.sort(rows, axis=0), atol=1e-12)
    twice = MarginsReference.like(rows).sample(2 * len(rows), np.random.default_rng(0))
    np.testing.assert_allclose(
        np.sort(twice, axis=0), np.repeat(np.sort(rows, axis=0), 2, axis=0), atol=1e-12
    )


def test_margins_keep_the_rank_correlations():
    rows = skewed(3000)
    expected = spearmanr(rows).statistic
    reference = MarginsReference.like(rows)
    found = np.mean(
        [spearmanr(reference.sample(3000, np.random.default_rng(s))).statistic for s in range(5)],
        axis=0,
    )
    assert np.abs(expected - np.eye(3)).max() > 0.3
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_margins_keep_nothing_else():
    """A column that hangs on another one, but neither rises nor falls with it."""
    x = np.random.default_rng(0).normal(size=2000)
    rows = np.column_stack([x, np.abs(x)])
    assert spearmanr(np.abs(rows[:, 0]), rows[:, 1]).statistic > 0.99
    sample = MarginsReference.like(rows).sample(2000, np.random.default_rng(1))
    assert abs(spearmanr(np.abs(sample[:, 0]), sample[:, 1]).statistic) < 0.1


def test_same_stream_same_sample():
    rows = skewed(200)
    for kind in (NormalReference, MarginsReference):
        one, other = (kind.like(rows).sample(50, np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(one, other)
        assert one.shape == (50, 3)


@pytest.mark.parametrize("kind", [NormalReference, MarginsReference])
def test_few_rows_and_ties_make_no_trouble(kind):
    two, tied = np.array([[-1.0, 2.0], [1.0, -2.0]]), np.repeat([[-1.0], [0.0], [1.0]], 4, axis=0)
    for rows in (two, tied):
        assert np.isfinite(kind.like(rows).sample(7, np.random.default_rng(0))).all()


@pytest.mark.parametrize("digits", [0, 1, 16])
def test_ranks_are_those_of_scipy(digits):
    rows = correlated(200, 4, seed=digits).round(digits)
    np.testing.assert_array_equal(_ranks(rows), rankdata(rows, axis=0))


def test_samples_of_wide_rows_take_little_room():
    """Beside the rows, what a reference keeps of them and what a sample is."""
    rows = correlated(300, 2000)
    tracemalloc.start()
    reference = MarginsReference.like(rows)
    made = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    reference.sample(300, np.random.default_rng(0))
    sampled = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert made < 3.5 * rows.nbytes
    assert sampled < 2 * rows.nbytes
