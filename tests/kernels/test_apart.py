"""What is seen of a clustering in one call, against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from edfkmeans.fits.reference import spanned
from edfkmeans.kernels.apart import lie_apart
from edfkmeans.kernels.counting import rand_index
from edfkmeans.kernels.saddle import mean_saddles, seen_through

few = settings(max_examples=settings.default.max_examples // 3)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n, d, k):
    """Rows and labels; every cluster has a row."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)])
    centers = rng.normal(size=(k, d)) * rng.choice([0.5, 3.0])
    return centers[labels] + rng.normal(size=(n, d)), labels.astype(np.int32)


@given(SEEDS, st.integers(2, 30), st.integers(1, 5), st.integers(1, 5))
def test_agreement_is_counted_in_pairs(seed, n, k, other_k):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, k, n, np.int32), rng.integers(0, other_k, n, np.int32)
    expected = naive.rand_index(one.tolist(), other.tolist())
    assert rand_index(one, other, k, other_k) == pytest.approx(expected, abs=1e-12)


@few
@given(SEEDS, st.integers(14, 50), st.integers(1, 4), st.integers(2, 6))
def test_clusters_lie_apart_as_the_loops_say(seed, n, d, k):
    X, labels = drawn(seed, n, d, k)
    sizes = np.bincount(labels, minlength=k).astype(float)
    out = np.empty(12)
    lie_apart(X, X, labels, sizes, np.array([3.0, 8.0]), out)
    ratios = np.array(naive.saddle_ratios(X, labels))
    lowest = np.lexsort((sizes, ratios.round(9)))[0]
    expected = [naive.mean_saddle(X, labels), ratios.max(), ratios[lowest], sizes[lowest]]
    np.testing.assert_allclose(out[:4], expected, rtol=1e-9, atol=1e-12)
    assert out[4] == pytest.approx(sizes[ratios > 1].sum() / n)
    assert out[5] == pytest.approx(naive.davies_bouldin(X, labels, k))
    np.testing.assert_allclose(out[6:8], naive.mixtures(X, labels, k), rtol=1e-9, atol=1e-12)
    for least, (ratio, size) in zip((3, 8), out[8:].reshape(2, 2), strict=True):
        large = (sizes >= least) & (sizes <= 0.75 * n)
        if large.any():
            assert ratio == pytest.approx(ratios[large].min(), abs=1e-9)
            assert size in sizes[large]
        else:
            assert (ratio, size) == (3.0, sizes.min())


def test_rows_in_the_dimensions_that_they_span_lie_apart_alike():
    X, labels = drawn(0, 20, 60, 4)
    whole, narrow = np.empty((2, 10))
    sizes = np.bincount(labels).astype(float)
    for columns, out in ((X, whole), (spanned(X), narrow)):
        lie_apart(X, columns, labels, sizes, np.array([2.0]), out)
    assert spanned(X).shape == (20, 20)
    np.testing.assert_allclose(narrow, whole, rtol=1e-9)


@few
@given(SEEDS, st.integers(14, 50), st.integers(1, 4), st.integers(2, 5))
def test_rows_are_seen_through_the_fits_of_others(seed, n, d, k_last):
    X, _ = drawn(seed, n, d, 3)
    others, _ = drawn(seed + 1, n + 3, d, 3)
    own, theirs = (
        np.stack([drawn(seed + k, len(rows), 1, k)[1] for k in range(1, k_last + 1)])
        for rows in (X, others)
    )
    ks = np.arange(2, k_last + 1)
    alike, saddles = np.empty((2, len(ks)))
    seen_through(X, others, own, theirs, ks, alike, saddles)
    means = np.empty(k_last)
    mean_saddles(X, own, means)
    for m, k in enumerate(ks):
        centers = naive.centroids(others, theirs[k - 1])
        told = [min(range(k), key=lambda c, x=x: (naive.distance(x, centers[c]), c)) for x in X]
        assert alike[m] == pytest.approx(naive.rand_index(told, own[k - 1].tolist()), abs=1e-12)
        expected = naive.mean_saddle(X, told, centers)
        assert saddles[m] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        expected = naive.mean_saddle(X, own[k - 1])
        assert means[k - 1] == pytest.approx(expected, rel=1e-9, abs=1e-12)
