import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import blobs
from edfkmeans import fit_path
from edfkmeans.engines.threads import Stopped, Threads
from edfkmeans.fits import chain
from edfkmeans.fits import descent as fit_module
from edfkmeans.fits.descent import Descent, fit_from_centers
from edfkmeans.fits.fit import fit_of_labels
from edfkmeans.kernels import steps as kernels
from edfkmeans.rows import look


@given(st.integers(0, 2**32 - 1), st.integers(8, 40), st.integers(1, 4), st.integers(2, 5))
def test_descent_from_anywhere_ends_in_an_optimum(seed, n, d, k):
    """Truncated, taken up again, with whatever labels to begin with: the bounds hold."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), rng.integers(1, 5))
    descent = Descent(X)
    descent.labels[:] = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    descent.start(np.zeros((k, d)), np.ones(k, np.int64))
    before = naive.inertia(X, descent.labels)
    pool = Threads(1)
    for sweeps in (1, 1, 2, 1000):
        after = descent.run(pool, max_sweeps=sweeps)
        assert after <= before * (1 + 1e-12) + 1e-12
        before = after
    if len(np.unique(X, axis=0)) >= k:
        assert descent.moves == 0
        assert naive.is_single_point_optimum(X, descent.labels)
        np.testing.assert_allclose(descent.centers, naive.centroids(X, descent.labels), atol=1e-12)


@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8"]), st.booleans(),
    st.sampled_from(["groups", "noise", "copies", "one far away", "far from 0"]),
)  # fmt: skip
def test_products_of_wide_rows_lead_the_same_way(seed, dtype, weighted, kind):
    """Their rounding decides which rows are looked at, and not which ones move."""
    rng = np.random.default_rng(seed)
    n, d, k = 30, 70, 3
    X = rng.normal(size=(n, d))
    if kind == "groups":
        X += 3 * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    elif kind == "copies":
        X = X[rng.integers(0, 8, n)]
    elif kind == "one far away":  # the squares of the others are nothing in single precision
        X *= 1e-25
        X[0] = 1.0
    elif kind == "far from 0":
        X = X * 1e-5 + 1.0
    X = X.astype(dtype)
    w = rng.choice([0.5, 1.0, 2.5], n) if weighted else None
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    found = []
    for wide in (64, d):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fit_module, "_LITTLE", 0)
            patch.setattr(fit_module, "_WIDE", wide)
            descent = Descent(X, w)
            descent.labels[:] = labels
            descent.start(np.zeros((k, d)), np.ones(k, np.float64 if weighted else np.int64))
            inertia = descent.run(Threads(1))
        assert descent.moves == 0
        assert ("single" in vars(descent)) == (wide < d)
        found.append((descent.labels.tolist(), inertia))
    assert found[0] == found[1]
    if not weighted:
        assert naive.is_single_point_optimum(X.astype(np.float64), descent.labels)


def test_weigh_equals_loops():
    X, labels = blobs(4, n=30)
    fit = fit_of_labels(X, labels.astype(np.int32), 4)
    n = len(X)
    nearest, target = np.empty(n, np.int32), np.empty(n, np.int32)
    own, enter = np.empty(n), np.empty(n)
    kernels.weigh(X, None, fit.centers, fit.sizes, nearest, own, enter, target)
    for i in range(n):
        squares = [sum((X[i] - center) ** 2) for center in fit.centers]
        c = int(np.argmin(squares))
        prices = {
            other: squares[other] * fit.sizes[other] / (fit.sizes[other] + 1)
            for other in range(4)
            if other != c
        }
        assert nearest[i] == c
        assert target[i] == min(prices, key=prices.get)
        np.testing.assert_allclose([own[i], enter[i]], [squares[c], min(prices.values())])


def test_draws_follow_the_weights():
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    drawn = np.empty(1000, np.int64)
    kernels.draw(weights, None, (np.arange(1000) + 0.5) / 1000, drawn)
    assert np.bincount(drawn, minlength=5).tolist() == [0, 250, 0, 750, 0]


@pytest.mark.parametrize("n, d", [(300, 3), (9000, 2)])
def test_a_descent_in_sweeps_is_the_descent_in_one_call(n, d, monkeypatch):
    X = np.random.default_rng(0).normal(size=(n, d))
    found = []
    for little in (fit_module._LITTLE, 0):
        monkeypatch.setattr(fit_module, "_LITTLE", little)
        found.append(fit_from_centers(X, X[:6], Threads(1)))
    at_once, in_sweeps = found
    assert at_once.inertia == in_sweeps.inertia
    np.testing.assert_array_equal(at_once.labels, in_sweeps.labels)
    np.testing.assert_array_equal(at_once.centers, in_sweeps.centers)


def test_a_long_descent_gives_up_when_its_pool_closes():
    X = np.random.default_rng(0).normal(size=(9000, 20))
    descent = Descent.from_centers(X, X[:30], Threads(1))
    with Threads(1) as closed:
        pass
    with pytest.raises(Stopped):
        descent.run(closed)


def test_two_centres_on_one_spot_come_apart():
    X, _ = blobs(3)
    fit = fit_from_centers(X, X[[0, 0, 0]], Threads(1))
    assert fit.sizes.min() > 0
    assert len(np.unique(fit.centers, axis=0)) == 3


def test_a_fit_no_better_than_its_neighbour_is_split_off_anew():
    X, _ = blobs(3)
    fit = fit_from_centers(X, X[[0, 50]], Threads(1))
    assert chain._split(X, fit, Threads(1)).inertia < fit.inertia


def test_more_rows_than_the_sample(monkeypatch):
    """The rounds see a sample, the result all rows: nearly as low, and the same for any threads."""
    rng = np.random.default_rng(0)
    X = 1.5 * rng.normal(size=(6, 3))[rng.integers(0, 6, 4000)] + rng.normal(size=(4000, 3))
    full = fit_path(X, 12, random_state=0)
    monkeypatch.setattr(look, "SAMPLE", 1000)
    reported = []
    fits = chain.chain_fits(X, 13, 2, 0, 1, lambda k, inertia: reported.append(k))
    assert len(reported) == chain.count_steps(4000, 13, 2)
    sampled = fit_path(X, 12, random_state=0, n_jobs=1)
    assert (sampled.inertia < full.inertia * 1.01).all()
    assert (np.diff(sampled.inertia) < 0).all()
    np.testing.assert_array_equal(
        sampled.inertia, fit_path(X, 12, random_state=0, n_jobs=2).inertia
    )
    assert [len(fit.sizes) for fit in fits] == list(range(1, 14))


def test_a_sample_with_fewer_distinct_rows_than_clusters(monkeypatch):
    monkeypatch.setattr(look, "SAMPLE", 20)
    X = np.zeros((3000, 2))
    X[:40] = np.random.default_rng(0).normal(size=(40, 2))
    path = fit_path(X, 8, random_state=0)
    assert min(path.sizes(9)) > 0
    assert (np.diff(path.inertia) < 0).all()


def test_steps_that_are_reported():
    X, _ = blobs(3)
    reported = []
    chain.chain_fits(X, 5, 3, 0, 2, lambda k, inertia: reported.append(k))
    assert len(reported) == chain.count_steps(len(X), 5, 3)


@pytest.mark.parametrize("sample", [look.SAMPLE, 60])
def test_further_clusters_leave_the_first_fits(sample, monkeypatch):
    monkeypatch.setattr(look, "SAMPLE", sample)
    X, _ = blobs(3)
    reported = []
    first = chain.chain_fits(X, 6, 2, 0, 1, lambda k, inertia: None)
    both = chain.chain_fits(X, 15, 2, 0, 1, lambda k, inertia: reported.append(k), 6)
    assert len(reported) == chain.count_steps(len(X), 15, 2, 6)
    for fit, again in zip(first, both[:6], strict=True):
        np.testing.assert_array_equal(fit.labels, again.labels)
    inertia = [fit.inertia for fit in both]
    assert (np.diff(inertia) < 0).all()
    free = [fit.inertia for fit in chain.chain_fits(X, 15, 2, 0, 1, lambda k, inertia: None)]
    assert np.divide(inertia, free).max() < 1.05
