import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import naive
from edfkmeans import fit_path
from edfkmeans.fits import narrow
from edfkmeans.kernels import products as kernels


def topics(n, d, k, apart=0.8, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    return apart * rng.normal(size=(k, d))[truth] + rng.normal(size=(n, d)), truth


def gains(X, labels):
    """What the best move of every row would save: `naive` by whole matrices, as rows are wide."""
    sizes = np.bincount(labels)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(len(sizes))])
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    own = np.arange(len(X)), labels
    leave = squares[own] * sizes[labels] / np.maximum(sizes[labels] - 1, 1)
    leave[sizes[labels] == 1] = 0.0
    enter = squares * sizes / (sizes + 1)
    enter[own] = np.inf
    return leave - enter.min(axis=1)


@given(st.integers(0, 2**32 - 1), st.integers(8, 14), st.integers(1, 4), st.integers(2, 4))
def test_moves_by_products_end_in_an_optimum(seed, n, d, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)]).astype(np.int32)
    before = naive.inertia(X, labels)
    kernels.descend(X @ X.T, labels, k, 200)
    assert len(np.unique(labels)) == k
    assert naive.inertia(X, labels) <= before * (1 + 1e-12)
    assert naive.is_single_point_optimum(X, labels)


@pytest.mark.parametrize("n, d", [(150, 90), (90, 400), (40, 300)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_fit_of_wide_rows_is_an_optimum_on_all_columns(n, d, dtype):
    X, truth = topics(n, d, 4)
    X = X.astype(dtype)
    path = fit_path(X, 7, random_state=0)
    assert adjusted_rand_score(truth, path.labels(4)) == 1
    assert (np.diff(path.inertia) < 0).all()
    X64 = X.astype(np.float64)
    for k in range(2, 9):
        assert gains(X64, path.labels(k)).max() < 1e-6
    theirs = KMeans(6, n_init=10, random_state=0).fit(X64)
    assert path.inertia[5] <= theirs.inertia_ * 1.005


def test_tight_and_distant_clusters():
    """Products of rows lose these digits; sweeps over the rows have the last word."""
    X, truth = topics(120, 80, 3)
    X = 1e-6 * X + 1e3 * np.eye(3, 80)[truth]
    path = fit_path(X, 6, random_state=0)
    for k in range(2, 8):
        assert gains(X - X.mean(axis=0), path.labels(k)).max() < 1e-13


def test_rows_alike_in_their_components():
    """There are fewer distinct rows among the components than clusters are asked for."""
    X = np.zeros((90, 90))
    X[:, 0] = np.repeat([0.0, 1e9], 45)
    X[np.arange(90), np.arange(90)] += 1e-3
    path = fit_path(X, 12, random_state=0)
    assert all(min(path.sizes(k)) > 0 for k in range(1, 14))
    assert (np.diff(path.inertia) <= 0).all()


def test_weights_are_rows_repeated():
    X, _ = topics(100, 80, 3)
    counts = np.random.default_rng(1).integers(1, 4, len(X))
    weighted = fit_path(X, 5, random_state=0, sample_weight=counts)
    repeated = fit_path(np.repeat(X, counts, axis=0), 5, random_state=0)
    np.testing.assert_allclose(weighted.inertia, repeated.inertia, rtol=3e-3)


def test_columns_that_do_not_vary_do_not_make_rows_wide(monkeypatch):
    monkeypatch.setattr(narrow, "_components", None)
    X, _ = topics(100, 5, 3)
    padded = np.hstack([X, np.full((100, 80), 7.0)])
    plain = fit_path(X, 5, random_state=0)
    np.testing.assert_allclose(fit_path(padded, 5, random_state=0).inertia, plain.inertia)


def test_threads_do_not_matter():
    X, _ = topics(150, 90, 4)
    one, two = (fit_path(X, 6, random_state=0, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.inertia, two.inertia)
