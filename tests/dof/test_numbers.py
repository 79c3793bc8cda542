"""Inertia, degrees of freedom and BIC against fifty digits.

The oracle is in precise.py. Where a value jumps (a row as near to two centroids, a double root) the
data are made of small dyadic numbers, so that the floats meet the very same case.
"""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from edfkmeans import KMeansPath, degrees_of_freedom, fit_path, select_k
from precise import DIGITS, Clusters, excess_terms


def check(X, labels, pilot_labels, method, rel=1e-9):
    """Compare every row's term; switches that `exact` leaves out are below 1e-11 in size."""
    expected = excess_terms(X, labels, pilot_labels, method)
    found = degrees_of_freedom(X, labels, pilot_labels, method=method)
    np.testing.assert_allclose(
        found.per_point, expected, rtol=rel, atol=rel * np.abs(expected).max() + 1e-11
    )
    assert found.excess == pytest.approx(found.per_point.sum(), rel=1e-12, abs=1e-300)


def check_inertia(X, labels, rel=1e-12):
    with mp.workdps(DIGITS):
        k = max(labels) + 1
        exact = [Clusters(X, [0] * len(X)).inertia, Clusters(X, labels).inertia]
    path = KMeansPath.from_labels(X, split(labels, k))
    assert path.inertia[0] == pytest.approx(float(exact[0]), rel=rel)
    assert path.inertia[k - 1] == pytest.approx(float(exact[1]), rel=rel)


def split(labels, k):
    """Labels for 2 .. k + 1: the last clusters put together, and the first row apart at the end."""
    labels = np.asarray(labels)
    found = {m: np.minimum(labels, m - 1) for m in range(2, k + 1)}
    large = np.bincount(labels).argmax()
    apart = labels.copy()
    apart[np.flatnonzero(labels == large)[0]] = k
    return found | {k + 1: apart}


def labelling(rng, n, k):
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))


def nearest(X, centers):
    return ((X[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)


METHODS = pytest.mark.parametrize("method", ["paper", "exact"])
some = settings(max_examples=settings.default.max_examples // 3)


@METHODS
@some
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(1, 3), st.data())
def test_any_labels(method, seed, n, d, data):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    k, pilot = (data.draw(st.integers(1, n - 1)) for _ in range(2))
    check(X, labelling(rng, n, k), labelling(rng, n, pilot), method)


@METHODS
@some
@given(st.integers(0, 2**32 - 1), st.sampled_from([2.0**-8, 2.0**-16]))
def test_an_offset_of_1e8(method, seed, grid):
    """On a grid the shifted numbers are exact, so that only the method can lose digits."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(10, 2)) / grid) * grid + np.array([1e8, -1e8])
    labels = labelling(rng, 10, 3)
    check(X, labels, labelling(rng, 10, 4), method, rel=1e-8)
    check_inertia(X, labels)


@METHODS
@some
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_scales_of_1e_minus_8_and_1e8_in_one_table(method, seed, k):
    """The large column decides all; the small one must come out as well as it can."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3)) * np.array([1e-8, 1.0, 1e8])
    labels = labelling(rng, 9, k + 1)
    check(X, labels, labelling(rng, 9, 4), method, rel=1e-8)
    check_inertia(X, labels)


@METHODS
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_a_common_scale(method, scale):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(10, 2)) * scale
    check(X, labelling(rng, 10, 3), labelling(rng, 10, 5), method)


@METHODS
@pytest.mark.parametrize("large", [1, 2, 3, 20, 300])
def test_cluster_sizes_from_one_to_large(method, large):
    rng = np.random.default_rng(large)
    labels = np.repeat([0, 1, 2], [1, 2, large])
    X = rng.normal(size=(len(labels), 2)) + 2.0 * labels[:, None]
    check(X, labels, np.arange(len(labels)) % 3, method)


@METHODS
@pytest.mark.parametrize("many", [10**4, 12 * 10**5])
def test_cluster_sizes_up_to_a_million(method, many):
    """Ten rows, some of them many times over: 8333 and a million rows in the first cluster."""
    rng = np.random.default_rng(0)
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    pilot = np.array([0, 1, 1, 0, 2, 2, 2, 3, 3, 4])
    times = np.array([1, many // 3, many // 2, 7, many // 20, 3, 50, 1, 1, 1])
    X = rng.normal(size=(10, 2)) + 1.5 * labels[:, None]
    expected = excess_terms(X, labels, pilot, method, times)
    found = degrees_of_freedom(
        *(np.repeat(each, times, axis=0) for each in (X, labels, pilot)), method=method
    )
    last = np.cumsum(times) - 1
    np.testing.assert_allclose(found.per_point[last], expected, rtol=1e-9, atol=1e-11)
    assert np.abs(expected).max() > 1e-3
    assert found.excess == pytest.approx((times * expected).sum(), rel=1e-9)


@METHODS
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 2**32 - 1), st.integers(1, 2), st.integers(2, 4))
def test_exact_ties_and_coincident_centroids(method, seed, d, k):
    """Few small dyadic values, sizes 1, 2 and 4: every mean is exact, and ties are exact ties."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 4], size=k)
    labels = rng.permutation(np.repeat(np.arange(k), sizes))
    X = rng.integers(-2, 3, size=(len(labels), d)).astype(float)
    pilot = rng.permutation(np.repeat([0, 1], [len(labels) // 2, len(labels) - len(labels) // 2]))
    assume((X[0] != X).all(axis=1).any() and (np.ptp(X, axis=0) > 0).all())
    X -= X[0]  # the column means of the table are not dyadic, but its centroids' differences are
    residual = X - np.array([X[pilot == p].mean(axis=0) for p in pilot])
    assume((residual**2).sum() > 0)
    assume(method == "exact" or not on_an_edge(X, labels))
    # Where parabolas only touch, the rounding of centring moves the switch by its square root.
    check(X, labels, pilot, method, rel=1e-6)


def on_an_edge(X, labels):
    """Where the paper's sum jumps: a row as near to another centroid, or a double root.

    Centring X rounds, and so decides for one side of the edge or the other.
    """
    centers = np.array([X[labels == c].mean(axis=0) for c in range(max(labels) + 1)])
    sizes = np.bincount(labels)
    for x, c in zip(X, labels, strict=True):
        r = 1 - 1 / sizes[c]
        for center in np.delete(centers, c, axis=0):
            g = ((x - center) ** 2).sum() - ((x - centers[c]) ** 2).sum()
            h = (x - center) - r * (x - centers[c])
            if g == 0 or (np.abs(h * h - (1 - r * r) * g) < 1e-12).any():
                return True
            if g < 0 and (h == 0).any():
                return True
    return False


def test_clusters_that_are_alike_do_not_stop_the_walk():
    """Two clusters of one size and place: a walk to and fro between them would never get on."""
    X = np.array([0.0, 1.0, 0.0, 0.0, -1.0, -1.0, 1.0, -2.0, 1.0])[:, None]
    check(X, np.array([1, 2, 2, 0, 0, 0, 1, 0, 3]), np.array([1, 1, 0, 1, 0, 0, 1, 1, 0]), "exact")


def test_a_parabola_that_only_touches_is_passed_by():
    """The second row, moved to -2, is as well off in its own cluster as in the one at -2."""
    X = np.array([0.0, -4.0, -2.0, -3.0, -3.0, -1.0, -3.0])[:, None]
    check(X, np.array([0, 0, 1, 0, 0, 2, 3]), np.array([1, 0, 1, 1, 1, 0, 0]), "exact", rel=1e-7)


@METHODS
def test_a_tie_that_centring_keeps(method):
    """Symmetric about 0, so that centring changes nothing and the tie stays one."""
    X = np.array([[0.0], [1.0], [2.0], [1.0], [0.0], [-1.0], [-2.0], [-1.0]])
    labels = np.repeat([0, 1], 4)
    check(X, labels, [0, 0, 1, 1, 2, 2, 3, 3], method)


@METHODS
def test_a_row_on_two_coincident_centroids(method):
    """Level with a smaller cluster at 0 and above it elsewhere: it belongs there all along."""
    X = np.array([[0.0], [-1.0], [1.0], [-1.0], [1.0], [-0.5], [0.5], [1.5], [-1.5]])
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 2, 3])
    check(X, labels, [0, 1, 2, 1, 2, 0, 0, 2, 1], method)


@METHODS
@some
@given(st.integers(0, 2**32 - 1))
def test_collinear_columns(method, seed):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=(10, 1))
    X = np.concatenate([column, 2 * column, -column / 2], axis=1)
    labels = nearest(X, X[:3])
    check(X, labels, labelling(rng, 10, 4), method)


@METHODS
@some
@given(st.integers(0, 2**32 - 1))
def test_heavy_duplicates(method, seed):
    """Three different rows many times over, in clusters that k-means would make."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(4, 2))
    which = np.repeat(np.arange(4), [7, 5, 3, 1])
    X = places[which]
    labels = np.unique(nearest(X, places[:3]), return_inverse=True)[1]
    pilot = np.minimum(which, 2) + 3 * (np.arange(16) % 2)
    check(X, labels, np.unique(pilot, return_inverse=True)[1], method)


@METHODS
def test_five_thousand_columns(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5000))
    check(X, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], method)
    check_inertia(X, [0, 0, 0, 1, 1, 1])


@METHODS
@some
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3, unique=True))
def test_three_rows(method, values):
    X = np.sort(np.array(values))[:, None]
    low, high = np.diff(X[:, 0])
    assume(min(low, high) > 1e-9 * max(low, high) and abs(low - high) > 1e-6 * low)
    check(X, [0, 0, 1], [0, 1, 1], method, rel=1e-7)


@some
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e8]), st.sampled_from([1.0, 1e-8, 1e8]))
def test_bic_of_select_k(seed, offset, scale):
    """The whole table that an answer stands on: inertia, raw degrees of freedom and naive BIC."""
    rng = np.random.default_rng(seed)
    X = (np.round(rng.normal(size=(12, 2)) * 2**12) / 2**12 + offset) * scale
    path = fit_path(X, 4, random_state=0, n_jobs=1)
    naive = select_k(X, path=path, method="naive").table
    table = select_k(X, path=path, method="paper").table
    with mp.workdps(DIGITS):
        for k in range(1, 5):
            inertia = Clusters(X, path.labels(k)).inertia
            bic = 24 * mp.log(inertia) + mp.log(24) * 2 * k
            assert table.inertia[k] == pytest.approx(float(inertia), rel=1e-11)
            assert naive.bic[k] == pytest.approx(float(bic), rel=1e-11, abs=1e-9)
            excess = excess_terms(X, path.labels(k), path.labels(5), "paper").sum()
            assert table.dof_raw[k] == pytest.approx(2 * k + excess, rel=1e-7)
    assert table.bic.to_numpy() == pytest.approx(
        24 * np.log(table.inertia) + np.log(24) * table.dof, rel=1e-12
    )
