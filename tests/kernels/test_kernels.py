"""Every kernel against plain loops, with what it promises of bounds, ties, edges and leftovers.

Sizes are chosen for the tiles of 48 rows: less than one, exactly one, a few and a rest.
"""

import gc
import math

import numba.core.caching
import numpy as np
import pytest

import naive
from edfkmeans import degrees_of_freedom
from edfkmeans.kernels import climb, envelope, hartigan, jumps, lloyd, silhouette, steps, tiles
from edfkmeans.kernels import compile as compile_module
from precise import excess_terms

UP, DOWN = 1 + 1e-6, 1 - 1e-6


def data(n, d, k, seed=0):
    """Rows with any labels, each used; their centroids, sizes, and all squared distances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)]).astype(np.int32)
    centers = np.array(naive.centroids(X, labels))
    return X, labels, centers, np.bincount(labels), squares(X, centers)


def squares(X, centers):
    return np.array([[sum((x - c) ** 2) for c in centers] for x in X])


# Tiles, and what Lloyd's method needs.


@pytest.mark.parametrize("count", [1, 3, 48])
def test_a_tile_repeats_its_last_row(count):
    X = np.arange(300.0).reshape(100, 3)
    rows = np.random.default_rng(0).permutation(100)[:48]
    tile = np.full((3, 48), np.nan)
    tiles.load_tile(X, rows, count, tile)
    for p in range(48):
        np.testing.assert_array_equal(tile[:, p], X[rows[min(p, count - 1)]])


@pytest.mark.parametrize("d", range(1, 10))
def test_distances_of_a_tile(d):
    rng = np.random.default_rng(d)
    tile, center, out = rng.normal(size=(d, 48)), rng.normal(size=d), np.full(48, np.nan)
    tiles.tile_distances(tile, center, out)
    np.testing.assert_allclose(out, ((tile - center[:, None]) ** 2).sum(axis=0), rtol=1e-13)
    single = np.full(48, np.nan, np.float32)
    climb._distances(tile.astype(np.float32), center, single)
    np.testing.assert_allclose(single, out, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 48, 101])
def test_the_nearest_centre_and_the_first_of_two_alike(n):
    X, _, centers, _, _ = data(110, 2, 4)
    labels = np.full(n, -1, np.int32)
    lloyd.assign(X[:n], np.concatenate([centers, centers]), labels)
    np.testing.assert_array_equal(labels, squares(X[:n], centers).argmin(axis=1))


def test_centroids_and_an_empty_cluster():
    X, labels, centers, sizes, _ = data(60, 3, 3)
    labels[labels == 1] = 3
    found, count = np.full((4, 3), np.nan), np.full(4, 99)
    lloyd.centroids(X, labels, found, count)
    assert count.tolist() == [sizes[0], 0, sizes[2], sizes[1]]
    np.testing.assert_allclose(found, [centers[0], [0, 0, 0], centers[2], centers[1]], atol=1e-14)


def test_rows_are_added_to_what_is_there():
    whole = np.array([[1, 10], [2, 20], [3, 30]])
    sizes, sums = np.array([5, 7]), np.array([[100, 200], [300, 400]])
    lloyd.add_rows(whole, np.array([1, 0, 1], np.int32), sizes, sums)
    assert sizes.tolist() == [6, 9]
    assert sums.tolist() == [[102, 220], [304, 440]]


def test_the_sum_of_squares_goes_block_by_block():
    n = lloyd.BLOCK + 40
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(n, 1)), np.array([[0.5], [-2.0]])
    labels = rng.integers(0, 2, n).astype(np.int32)
    expected = math.fsum((X[:, 0] - centers[labels, 0]) ** 2)
    total = lloyd.sum_of_squares(X, None, labels, centers)
    assert total == pytest.approx(expected, rel=1e-12)
    parts = [
        lloyd.sum_of_squares(X[rows], None, labels[rows], centers)
        for rows in (slice(0, lloyd.BLOCK), slice(lloyd.BLOCK, n))
    ]
    assert total == parts[0] + parts[1]


# Single-point moves.


def wishes(X, labels, sizes, distances):
    """What leaving the own cluster saves, the cheapest price of another, and which that is."""
    leave, enter, target = [], [], []
    for i, c in enumerate(labels):
        leave.append(distances[i, c] * sizes[c] / (sizes[c] - 1) if sizes[c] > 1 else 0.0)
        prices = [
            math.inf if other == c else distances[i, other] * size / (size + 1)
            for other, size in enumerate(sizes)
        ]
        enter.append(min(prices))
        target.append(int(np.argmin(prices)))
    return np.array(leave), np.array(enter), np.array(target)


def test_root_weight():
    assert hartigan.root_weight(3) == math.sqrt(0.75)
    assert hartigan.root_weight(0) == 0.0


@pytest.mark.parametrize("n", [7, 48, 49, 130])
def test_a_scan_without_bounds_looks_at_every_row(n):
    X, labels, centers, sizes, distances = data(n, 3, 4)
    upper, lower = np.full(n, np.inf, np.float32), np.zeros(n, np.float32)
    movers = np.full(n, -1)
    found = hartigan.scan(X, None, labels, centers, sizes, upper, lower, np.zeros(4), 1.0, movers)
    leave, enter, _ = wishes(X, labels, sizes, distances)
    assert movers[:found].tolist() == np.flatnonzero(enter < leave).tolist()
    assert 0 < found < n
    looked_at = sizes[labels] > 1
    exact = np.sqrt(distances[np.arange(n), labels])[looked_at]
    assert (upper[looked_at] >= exact).all()
    assert (lower[looked_at] <= np.sqrt(enter[looked_at])).all()
    np.testing.assert_allclose(upper[looked_at], exact * UP, rtol=2e-7)
    np.testing.assert_allclose(lower[looked_at], np.sqrt(enter[looked_at]) * DOWN, rtol=2e-7)


def moved_centres(seed, moved, k=12, n=400):
    """Rows in three groups, bounds that hold for old centres, and what some of these moved by."""
    rng = np.random.default_rng(seed)
    X = 20.0 * rng.integers(0, 3, (n, 1)) + rng.normal(size=(n, 2))
    old = X[np.concatenate([np.flatnonzero(X[:, 0] // 10 == 2 * g)[:4] for g in range(3)])]
    labels = squares(X, old).argmin(axis=1).astype(np.int32)
    sizes = np.bincount(labels, minlength=k)
    _, enter, _ = wishes(X, labels, sizes, squares(X, old))
    upper = np.sqrt(squares(X, old)[np.arange(n), labels]) * rng.uniform(1, 1.1, n)
    lower = np.sqrt(enter) * rng.uniform(0.9, 1, n)
    steps_ = np.zeros((k, 2))
    steps_[: len(moved)] = np.array(moved)[:, None] * [0.6, 0.8]
    after = np.where(np.arange(k) < len(moved), np.maximum(sizes - 1, 1), sizes)
    shrink = (np.sqrt(after / (after + 1)) / np.sqrt(sizes / (sizes + 1))).min()
    drift = np.abs(steps_).sum(axis=1) / 1.4 * UP + 1e-300 * (after != sizes)
    bounds = (upper * UP).astype(np.float32), (lower * DOWN).astype(np.float32)
    return X, labels, old + steps_, after, *bounds, drift, shrink


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "moved",
    [[0.3], [0.0], [2.0, 0.001], [0.4] * 4, [0.5, 0.2, 0.1, 0.04, 0.03], [0.1] * 9, [0.2] * 12],
    ids=str,
)
def test_a_scan_renews_bounds_and_misses_no_row(seed, moved):
    """Few clusters have moved or many, far or hardly, or kept their place and lost a row."""
    X, labels, centers, sizes, upper, lower, drift, shrink = moved_centres(seed, moved)
    distances = squares(X, centers)
    leave, enter, _ = wishes(X, labels, sizes, distances)
    movers = np.full(len(X), -1)
    found = hartigan.scan(X, None, labels, centers, sizes, upper, lower, drift, shrink, movers)
    assert movers[:found].tolist() == np.flatnonzero(enter < leave).tolist()
    shared = sizes[labels] > 1
    assert (upper >= np.sqrt(distances[np.arange(len(X)), labels]))[shared].all()
    assert (lower <= np.sqrt(enter))[shared].all()


def test_a_scan_believes_bounds():
    X, labels, centers, sizes, upper, lower, drift, shrink = moved_centres(0, [2.0])
    movers = np.full(len(X), -1)
    args = X, None, labels, centers, sizes
    true = upper.copy(), lower.copy()
    assert hartigan.scan(*args, *true, drift, shrink, movers) > 0
    upper[:], lower[:] = 0.1, 9.0
    assert hartigan.scan(*args, upper, lower, np.zeros(12), 1.0, movers) == 0
    np.testing.assert_allclose(upper, 0.1, rtol=2e-6)
    np.testing.assert_allclose(lower, 9.0, rtol=2e-6)
    # Beyond what a drift takes from all: furthest of the others for each.
    drift = np.array([0.05, 0.1, 0.2, 0.4])[np.arange(12) % 4]
    drift[11] = 0.5
    assert hartigan.scan(*args, upper, lower, drift, 0.9, movers) == 0
    np.testing.assert_allclose(upper, 0.1 + drift[labels], rtol=1e-5)
    assert (lower >= (8.1 - np.where(labels == 11, 0.4, 0.5)) * DOWN**4).all()


def test_a_drift_far_away_costs_a_bound_nothing():
    X, labels, centers, sizes, upper, lower, drift, shrink = moved_centres(1, [1.5])
    assert drift[0] > 1.0
    far = np.abs(X[:, 0] - centers[0, 0]) > 15
    before = lower[far]
    hartigan.scan(X, None, labels, centers, sizes, upper, lower, drift, shrink, np.empty(400, int))
    assert far.sum() > 100
    assert (lower[far] >= before * DOWN**2).all()


def test_a_lone_row_is_not_looked_at():
    X = np.array([[0.0], [1.0], [50.0]])
    labels = np.array([0, 0, 1], np.int32)
    upper, lower = np.full(3, 9.0, np.float32), np.full(3, 0.5, np.float32)
    movers = np.full(3, -1)
    found = hartigan.scan(
        X, None, labels, np.array([[0.5], [50.0]]), np.array([2, 1]), upper, lower, np.zeros(2),
        1.0, movers,
    )  # fmt: skip
    assert found == 0
    np.testing.assert_allclose(upper, [0.5, 0.5, 9.0], rtol=1e-5)
    np.testing.assert_allclose(lower[2], 0.5, rtol=1e-5)


def test_the_best_move_and_the_first_of_two_alike():
    X, labels, centers, sizes, distances = data(30, 3, 4)
    leave, enter, target = wishes(X, labels, sizes, distances)
    for i, c in enumerate(labels):
        found = hartigan._best_move(X[i], 1.0, c, centers, sizes)
        assert found == pytest.approx((leave[i], enter[i], target[i]))
    twins = np.array([[0.0], [4.0], [4.0]])
    assert hartigan._best_move(np.array([3.0]), 1.0, 0, twins, np.array([2, 1, 1])) == (
        18.0,
        0.5,
        1,
    )


def test_moves_one_by_one():
    n, k = 60, 4
    X, labels, centers, sizes, _ = data(n, 2, k, seed=3)
    labels[labels == 3] = 0
    labels[5] = 3  # a lone row
    sizes = np.bincount(labels)
    centers = np.array(naive.centroids(X, labels))
    before, sizes_before = labels.copy(), sizes.copy()
    upper, lower = np.full(n, 7.0, np.float32), np.full(n, 3.0, np.float32)
    drift = np.full(k, np.nan)
    asked = np.random.default_rng(0).permutation(n)[:50]
    asked = np.array([5, *asked[asked != 5], -1])
    moves, shrink = hartigan.apply_moves(
        X, None, asked, len(asked) - 1, labels, centers, sizes, upper, lower, drift
    )
    # The same with everything computed anew after each move.
    now, moved = before.copy(), []
    for i in asked[:-1]:
        counts, at = np.bincount(now, minlength=k), np.array(naive.centroids(X, now))
        leave, enter, target = wishes(X, now, counts, squares(X, at))
        if counts[now[i]] == 1 or leave[i] <= enter[i]:
            continue
        now[i] = target[i]
        moved.append(i)
    assert moves == len(moved) > 5
    assert labels.tolist() == now.tolist()
    assert now[5] == 3
    assert sizes.tolist() == np.bincount(now).tolist()
    np.testing.assert_allclose(centers, naive.centroids(X, now), atol=1e-12)
    drifted = np.array(naive.centroids(X, now)) - naive.centroids(X, before)
    np.testing.assert_allclose(drift, np.sqrt((drifted**2).sum(axis=1)) * UP, atol=1e-12)
    ratio = np.sqrt(sizes / (sizes + 1)) / np.sqrt(sizes_before / (sizes_before + 1))
    assert shrink == pytest.approx(ratio.min())
    assert shrink < 1
    assert np.isinf(upper[moved]).all()
    assert (lower[moved] == 0).all()
    rest = np.setdiff1d(np.arange(n), moved)
    assert (upper[rest] == 7).all()
    assert (lower[rest] == 3).all()


def test_no_move_for_a_rounding_error():
    """A gain of less than 1e-10 of what the row contributes is none."""
    X = np.array([[0.0], [2.0], [4.0], [6.0]])
    for scale, gain, moves in ((1, 4e-11, 0), (1, 1e-9, 1), (1e3, 4e-11, 0), (1e-3, 1e-9, 1)):
        # Leaving saves 2 * 1^2; entering costs 2/3 of the squared distance, 2 less the gain.
        other = 2.0 + math.sqrt((2.0 - gain) * 1.5)
        labels, sizes = np.array([0, 0, 1, 1], np.int32), np.array([2, 2])
        centers = scale * np.array([[1.0], [other]])
        found, _ = hartigan.apply_moves(
            scale * X, None, np.array([1]), 1, labels, centers, sizes, np.zeros(4, np.float32),
            np.zeros(4, np.float32), np.zeros(2),
        )  # fmt: skip
        assert found == moves


def test_a_start_measures_how_far_centres_are_from_the_old_ones():
    X, labels, centers, sizes, _ = data(40, 3, 3)
    old = centers + np.array([[0.1, 0.0, 0.0], [0.0, 0.3, 0.4], [0.0, 0.0, 0.0]])
    drift, found, count = np.empty(3), np.empty((3, 3)), np.empty(3, np.int64)
    shrink = hartigan.start(X, None, labels, old, sizes + np.array([2, 0, -1]), found, count, drift)
    np.testing.assert_allclose(found, centers, atol=1e-14)
    assert count.tolist() == sizes.tolist()
    np.testing.assert_allclose(drift, np.array([0.1, 0.5, 0.0]) * UP, atol=1e-10)
    expected = math.sqrt(sizes[0] / (sizes[0] + 1)) / math.sqrt((sizes[0] + 2) / (sizes[0] + 3))
    assert shrink == pytest.approx(expected)
    assert hartigan.start(X, None, labels, old, sizes - 1, found, count, drift) == 1.0


def descend(X, labels, k, enough, max_sweeps):
    """From any labels; returns the labels and what the kernel returns."""
    labels = labels.copy()
    n, d = X.shape
    centers, sizes, drift = np.empty((k, d)), np.empty(k, np.int64), np.empty(k)
    zero = np.zeros((k, d))
    shrink = hartigan.start(X, None, labels, zero, np.ones(k, np.int64), centers, sizes, drift)
    upper, lower = np.full(n, np.inf, np.float32), np.zeros(n, np.float32)
    state = (labels, centers, sizes, upper, lower, drift)
    inertia, moves, _ = hartigan.descend(X, None, *state, shrink, enough, max_sweeps)
    np.testing.assert_allclose(centers, naive.centroids(X, labels), atol=1e-13)
    assert inertia == pytest.approx(naive.inertia(X, labels), rel=1e-12)
    return labels, moves, inertia


@pytest.mark.parametrize("seed", range(4))
def test_a_descent_ends_in_an_optimum_or_as_soon_as_it_may(seed):
    X, labels, _, _, _ = data(60, 2, 4, seed)
    at_once, moves, _ = descend(X, labels, 4, 0, 1)
    assert moves > 2  # one sweep does not do
    assert (at_once != labels).sum() >= moves - 1
    early, left, inertia = descend(X, labels, 4, moves, 1000)
    assert left == moves  # that many are few enough
    assert early.tolist() == at_once.tolist()
    last, left, best = descend(X, labels, 4, 0, 1000)
    assert left == 0
    assert best < inertia
    assert naive.is_single_point_optimum(X, last)
    assert descend(X, labels, 4, 0, 0)[0].tolist() == labels.tolist()


# One centre more, one centre less.


@pytest.mark.parametrize("n", [5, 48, 101])
def test_weighing_all_clusters(n):
    X, _, centers, _, _ = data(101, 3, 4)
    sizes = np.array([1, 5, 50, 2])
    distances = squares(X[:n], centers)
    nearest, target = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    own, enter = np.full(n, np.nan), np.full(n, np.nan)
    steps.weigh(X[:n], None, centers, sizes, nearest, own, enter, target)
    assert nearest.tolist() == distances.argmin(axis=1).tolist()
    np.testing.assert_allclose(own, distances.min(axis=1))
    _, prices, cheapest = wishes(X[:n], nearest, sizes, distances)
    np.testing.assert_allclose(enter, prices)
    assert target.tolist() == cheapest.tolist()


def test_weighing_takes_the_first_of_two_alike():
    X, centers = np.zeros((1, 1)), np.array([[3.0], [2.0], [2.0], [-3.0]])
    nearest, target = np.empty(1, np.int32), np.empty(1, np.int32)
    own, enter = np.empty(1), np.empty(1)
    steps.weigh(X, None, centers, np.array([1, 4, 7, 1]), nearest, own, enter, target)
    assert (nearest[0], own[0], target[0], enter[0]) == (1, 4.0, 2, 3.5)
    steps.weigh(X, None, centers, np.array([1, 4, 90, 1]), nearest, own, enter, target)
    assert (nearest[0], target[0], enter[0]) == (1, 2, pytest.approx(360 / 91))
    steps.weigh(X, None, centers[[0, 1, 3]], np.array([1, 4, 1]), nearest, own, enter, target)
    assert (nearest[0], target[0], enter[0]) == (1, 0, 4.5)


def test_draws():
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    drawn = np.full(6, -1)
    steps.draw(weights, None, np.array([0.0, 0.1, 0.25, 0.26, 0.99, 1.0]), drawn)
    assert drawn.tolist() == [1, 1, 3, 3, 3, 3]
    drawn[:] = -1
    steps.draw(
        weights, None, np.ones(6), drawn
    )  # rounding may leave some over: the last row that counts
    assert drawn.tolist() == [3] * 6
    steps.draw(np.array([2.0, 0.5]), None, np.array([0.79, 0.81]), drawn[:2])
    assert drawn[:2].tolist() == [0, 1]


@pytest.mark.parametrize("n", [5, 48, 101])
def test_gains_of_new_centres(n):
    X, _, centers, _, _ = data(101, 3, 4)
    own = np.linspace(0.5, 4.0, n)
    gain = np.full(4, np.nan)
    steps.gains(X[:n], None, own, centers, gain)
    saved = np.maximum(own[:, None] - squares(X[:n], centers), 0)
    np.testing.assert_allclose(gain, saved.sum(axis=0))
    nearer = own.copy()
    steps.approach(X[:n], centers[1], nearer)
    np.testing.assert_allclose(nearer, np.minimum(own, squares(X[:n], centers)[:, 1]))


def test_a_centre_is_inserted():
    X, labels, _, sizes, distances = data(60, 2, 3)
    _, enter, _ = wishes(X, labels, sizes, distances)
    own = distances[np.arange(60), labels]
    own[:2] = [0.0, sum((X[1] - X[7]) ** 2)]  # on its centre; just as near to both
    base = labels.copy()
    upper, lower = np.full(60, np.nan, np.float32), np.full(60, np.nan, np.float32)
    taken = steps.insert(X, None, 7, 3, base, own, enter, labels, upper, lower)
    square = ((X - X[7]) ** 2).sum(axis=1)
    goes = square < own
    assert taken == goes.sum() > 3
    assert labels.tolist() == np.where(goes, 3, base).tolist()
    assert np.isinf(upper[goes]).all()
    assert (lower[goes] == 0).all()
    np.testing.assert_allclose(upper[~goes], np.sqrt(own[~goes]) * UP, rtol=2e-7)
    bound = np.minimum(np.sqrt(enter), np.sqrt(taken / (taken + 1) * square)) * DOWN
    np.testing.assert_allclose(lower[~goes], bound[~goes], rtol=3e-7)
    assert (bound[~goes] < np.sqrt(enter[~goes]) * DOWN).any()


@pytest.mark.parametrize("r", [0, 1, 3])
def test_a_cluster_is_removed(r):
    """The last one takes its number; the rows of the last may be the ones that go."""
    X, labels, _, sizes, distances = data(60, 2, 4)
    _, enter, target = wishes(X, labels, sizes, distances)
    own = distances[np.arange(60), labels]
    costs = np.full(4, np.nan)
    steps.removal_costs(None, labels, own, enter, costs)
    rise = enter - own
    np.testing.assert_allclose(costs, [rise[labels == c].sum() for c in range(4)])
    base = labels.copy()
    upper, lower = np.full(60, np.nan, np.float32), np.full(60, np.nan, np.float32)
    steps.remove(r, 3, base, own, enter, target, labels, upper, lower)
    goes = base == r
    to = np.where(goes, target, base)
    assert labels.tolist() == np.where(to == 3, r, to).tolist()
    assert labels.max() == 2
    assert np.isinf(upper[goes]).all()
    assert (lower[goes] == 0).all()
    np.testing.assert_allclose(upper[~goes], np.sqrt(own[~goes]) * UP, rtol=2e-7)
    np.testing.assert_allclose(lower[~goes], np.sqrt(enter[~goes]) * DOWN, rtol=2e-7)


# Quick fits.


def test_rows_that_seem_to_want_to_move():
    X, labels, _, sizes, distances = data(60, 2, 4)
    labels[labels == 3] = 0
    labels[2] = 3  # a lone row
    labels[[7, 8, 9]] = [4, 4, 5]  # a pair, and a row on its centroid that is another's too
    labels[10], X[10] = 6, X[9]
    sizes = np.bincount(labels)
    distances = squares(X, np.array(naive.centroids(X, labels)))
    leave, enter, _ = wishes(X, labels, sizes, distances)
    found_leave, found_enter = np.full(60, 7, np.float32), np.full(60, 7, np.float32)
    movers = np.full(61, -1)
    found = climb._movers(
        distances.T.astype(np.float32).copy(), labels, sizes, found_leave, found_enter, movers
    )
    np.testing.assert_allclose(found_leave, leave, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found_enter, enter, rtol=1e-5)
    assert movers[:found].tolist() == np.flatnonzero(enter < leave).tolist()


def test_the_row_that_saves_most():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    columns = np.ascontiguousarray(X.T, np.float32)
    own = np.array([1.0, 1.0, 100.0, 121.0, 144.0], np.float32)
    drawn, room = np.empty(4, np.int64), np.empty(5, np.float32)
    total = own.sum()
    uniforms = np.array([0.5, 50.0, 150.0, 300.0]) / total
    assert climb._best_row(X, columns, own, uniforms, drawn, room) == 3
    assert drawn.tolist() == [0, 2, 3, 4]
    assert climb._best_row(X, columns, own, uniforms[[0, 0, 0, 3]], drawn, room) == 4
    assert climb._best_row(X, columns, own, uniforms[[0, 0, 0, 0]], drawn, room) == 0
    # Two alike: the first.
    pair = np.array([[0.0], [2.0]])
    own = np.ones(2, np.float32)
    found = climb._best_row(pair, pair.T.astype(np.float32), own, np.array([0.2, 0.8]), drawn[:2],
                            room[:2])  # fmt: skip
    assert found == 0


def climbed(X, uniforms, enough):
    """The quick fits, with every distance taken anew: labels and inertia for every k."""
    n, most = len(X), len(uniforms)
    labels, results = np.zeros(n, int), []
    for k in range(1, most + 1):
        if k > 1:
            own = squares(X, np.array(naive.centroids(X, labels)))[np.arange(n), labels]
            cumulated = np.cumsum(own)
            drawn = [int(np.argmax(cumulated > u * cumulated[-1])) for u in uniforms[k - 1]]
            saved = [np.maximum(own - ((X - X[i]) ** 2).sum(axis=1), 0).sum() for i in drawn]
            row = drawn[int(np.argmax(saved))]
            labels[((X - X[row]) ** 2).sum(axis=1) < own] = k - 1
        for _ in range(6 + 30 // k if k > 1 else 0):
            sizes = np.bincount(labels)
            distances = squares(X, np.array(naive.centroids(X, labels)))
            leave, enter, _ = wishes(X, labels, sizes, distances)
            moves = 0
            for i in np.flatnonzero(enter < leave):
                sizes = np.bincount(labels)
                distances = squares(X, np.array(naive.centroids(X, labels)))
                leave, enter, target = wishes(X, labels, sizes, distances)
                if sizes[labels[i]] > 1 and enter[i] < leave[i]:
                    labels[i] = target[i]
                    moves += 1
            if moves <= enough:
                break
        results.append((labels.copy(), naive.inertia(X, labels)))
    return results


@pytest.mark.parametrize("enough, d", [(0, 2), (2, 3), (0, 5)])
def test_quick_fits_step_by_step(enough, d):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, d))
    X[:, d - 1] = 0  # whether a centre has moved must not hang on one column
    uniforms = np.sort(rng.random((5, 3)), axis=1)
    inertia, labels = np.full(5, np.nan), np.zeros((4, 40), np.int32)
    climb.climb(X, np.ascontiguousarray(X.T, np.float32), uniforms, enough, inertia, labels)
    expected = climbed(X, uniforms, enough)
    np.testing.assert_allclose(inertia, [inertia for _, inertia in expected], rtol=1e-12)
    for k in range(1, 5):
        assert labels[k - 1].tolist() == expected[k - 1][0].tolist()
    if enough:  # which makes a difference
        sooner = climbed(X, uniforms, enough - 1)
        assert any((a != b).any() for (a, _), (b, _) in zip(sooner, expected, strict=True))


# Silhouettes.


@pytest.mark.parametrize(("columns", "width"), [(2, 48), (1, 128), (3, 5), (4, 48), (7, 128)])
def test_silhouettes_of_some_rows_in_several_clusterings(columns, width):
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(60, columns))
    tile = np.empty((columns, width))
    X[10:14] = X[20]  # rows alike
    first = rng.integers(0, 3, 60)
    second = np.concatenate([[0], 1 + np.arange(59) % 2])  # with a lone row
    second[[30, 40]] = 3  # and a pair
    third = rng.integers(0, 2, 60)
    third[[10, 11, 12, 13, 20]] = [0, 0, 0, 1, 1]
    outside = np.zeros(60, bool)
    outside[50:] = True  # rows that the third clustering does not have
    starts = np.array([0, 3, 7, 9])
    slots = np.stack([first, 3 + second, np.where(outside, 9, 7 + third)], axis=1)
    sizes = np.bincount(slots.ravel(), minlength=10)
    out = np.full((3, 53), -9.0)
    silhouette.silhouettes(X, None, 2, 55, slots, starts, sizes, tile, out)
    by_products = np.full((3, 53), -9.0)
    silhouette.silhouettes(X, X @ X.T, 2, 55, slots, starts, sizes, tile, by_products)
    np.testing.assert_allclose(by_products, out, atol=1e-9)
    for m, labels in enumerate((first, second)):
        np.testing.assert_allclose(out[m], naive.silhouettes(X, labels.tolist())[2:55], atol=1e-12)
    inside = naive.silhouettes(X[~outside], third[~outside].tolist())
    np.testing.assert_allclose(out[2, :48], inside[2:], atol=1e-12)
    assert np.isnan(out[2, 48:]).all()
    lone = np.full((3, 1), -9.0)
    silhouette.silhouettes(X, None, 0, 1, slots, starts, sizes, tile, lone)
    assert lone[1, 0] == 0.0
    alike, where = np.zeros((4, 2)), np.array([[0], [0], [1], [1]])
    none = np.full((1, 4), -9.0)
    silhouette.silhouettes(
        alike, None, 0, 4, where, np.array([0, 2]), np.array([2, 2, 0]), np.empty((2, 48)), none
    )
    assert none.tolist() == [[0.0] * 4]


# Jumps.


def test_gaps_between_centres():
    centers = np.array([[0.0, 1.0], [3.0, -1.0], [0.5, 9.0]])
    gaps = np.full((3, 3), np.nan)
    jumps.center_gaps(centers, gaps)
    assert gaps.tolist() == [[0, 3, 8], [3, 0, 10], [8, 10, 0]]


def test_the_exponential():
    for z2 in np.linspace(0, 144, 500):
        assert jumps._exp_minus_half(z2) == pytest.approx(math.exp(-z2 / 2), rel=3e-13, abs=0)
    assert jumps._exp_minus_half(144.0) > 0
    assert jumps._exp_minus_half(np.nextafter(144.0, 145.0)) == 0
    assert jumps._exp_minus_half(1e300) == 0


def terms_of(method, X, labels, pilot, reach=7.5, *, skip=True):
    """What the kernels give, without the rest of the package."""
    centers, pilot_centers = (np.array(naive.centroids(X, each)) for each in (labels, pilot))
    sigma = math.sqrt(naive.inertia(X, pilot) / X.size)
    gaps = np.empty((len(centers),) * 2)
    jumps.center_gaps(centers, gaps)
    if not skip:
        gaps[:] = 1e9  # none is so far that it cannot matter
    terms = np.full(len(X), np.nan)
    by_cluster = np.argsort(labels, kind="stable")
    further = (centers, np.bincount(labels), gaps, pilot, pilot_centers, sigma)
    if method == "exact":
        further = (*further, reach)
    tiles, rows = {
        "paper": (jumps.paper_terms, jumps.wide_paper_terms),
        "exact": (envelope.exact_terms, envelope.wide_exact_terms),
    }[method]
    tiles(X, labels, by_cluster, *further, terms)
    # A row at a time it is the same.
    by_row = np.full(len(X), np.nan)
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    rows(X, labels, (1 - 1e-9) * squares, *further, by_row)
    np.testing.assert_allclose(by_row, terms, rtol=1e-9, atol=1e-12 if skip else 1e-9)
    return terms


CLUSTERED = {
    # Spread, number of rows, of columns, of clusters: near and far ones, full tiles and rests.
    "one tile each": (1.0, 40, 2, 3),
    "tiles and rests": (0.7, 150, 1, 2),
    "far apart": (8.0, 30, 3, 4),
    "very near": (0.1, 24, 2, 5),
    "one cluster": (1.0, 50, 2, 1),
}


def clustered(name):
    spread, n, d, k = CLUSTERED[name]
    rng = np.random.default_rng(n)
    labels = np.append(np.arange(k), rng.integers(0, k, n - k))
    X = spread * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    if k > 2:
        labels[labels == k - 1] = 0
        labels[3] = k - 1  # a lone row
    pilot = np.append(np.arange(6), rng.integers(0, 6, n - 6))
    return X, labels, pilot


@pytest.mark.parametrize("name", CLUSTERED)
def test_paper_terms_equal_the_loops(name):
    X, labels, pilot = clustered(name)
    expected = naive.excess_terms(X, labels.tolist(), pilot.tolist())
    np.testing.assert_allclose(terms_of("paper", X, labels, pilot), expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", CLUSTERED)
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_exact_terms_equal_fifty_digits(name, scale):
    X, labels, pilot = clustered(name)
    X, labels, pilot = X[:50], labels[:50], pilot[:50]
    expected = excess_terms(X, labels, pilot, "exact")
    terms = terms_of("exact", scale * X, labels, pilot)
    np.testing.assert_allclose(terms, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [jumps.paper_terms, envelope.exact_terms])
def test_a_row_that_counts_alone_has_no_terms(kernel):
    """Nor have rows of weight 0 that are in its cluster, wherever they stand."""
    X, labels, pilot = clustered("tiles and rests")
    labels[labels == 1] = 0
    labels[[5, 9]] = 1
    sizes = np.array([len(X) - 2, 1])
    centers, pilot_centers = (
        np.array([X[each == c].mean(axis=0) for c in range(each.max() + 1)])
        for each in (labels, pilot)
    )
    gaps = np.empty((2, 2))
    jumps.center_gaps(centers, gaps)
    terms = np.full(len(X), np.nan)
    by_cluster = np.argsort(labels, kind="stable")
    reach = (7.5,) if kernel is envelope.exact_terms else ()
    kernel(X, labels, by_cluster, centers, sizes, gaps, pilot, pilot_centers, 0.5, *reach, terms)
    np.testing.assert_array_equal(terms[[5, 9]], 0.0)
    assert np.isfinite(terms).all()


@pytest.mark.parametrize("method", ["paper", "exact"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", [0.05, 0.3, 1.0])
def test_terms_of_wide_rows_equal_the_loops(method, dtype, spread):
    """Columns fill the lanes and leave a rest; most clusters are out of reach, or none."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 5
    X = (spread * rng.normal(size=(5, 150))[labels] + rng.normal(size=(60, 150))).astype(dtype)
    pilot = np.arange(60) % 15
    found = degrees_of_freedom(X, labels, pilot, method=method).per_point
    expected = excess_terms(X.astype(float), labels, pilot, method)
    exact = dtype == np.float64  # else rows lose digits where they are centred
    np.testing.assert_allclose(found, expected, rtol=1e-8 if exact else 1e-5, atol=1e-11)


@pytest.mark.parametrize("method", ["paper", "exact"])
@pytest.mark.parametrize("between", [0, 20, 39])
def test_one_row_of_a_tile_that_is_near_another_cluster_counts(method, between):
    """The others of its tile are far, and the last cluster is far from all."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [10, 40, 40])
    X = 0.1 * rng.normal(size=(90, 2)) + np.array([[500.0, 0], [0, 0], [9, 0]])[labels]
    X[10 + between] = [4.4, 0]
    pilot = np.append(labels[:10], labels[10:] * 2 + (X[10:, 0] > 3))
    pilot = np.unique(pilot, return_inverse=True)[1]
    terms = terms_of(method, X, labels, pilot)
    expected = excess_terms(X, labels, pilot, method)
    np.testing.assert_allclose(terms, expected, rtol=1e-9, atol=1e-12)
    assert terms.argmax() == 10 + between
    assert terms.max() > 1e-3


@pytest.mark.parametrize("method", ["paper", "exact"])
@pytest.mark.parametrize("spread", [0.3, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("sizes", [(20, 20, 20, 20), (2, 70, 3, 5)])
def test_clusters_that_are_skipped_do_not_matter(method, spread, sizes):
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(4), sizes)
    X = spread * rng.normal(size=(4, 2))[labels] + rng.normal(size=(80, 2)) + 50.0
    pilot = np.arange(80) % 8
    looked_at, all_of_them = (
        terms_of(method, X, labels, pilot, skip=skip) for skip in (True, False)
    )
    np.testing.assert_allclose(looked_at, all_of_them, rtol=1e-12, atol=1e-14)


def doubled(x):
    return 2 * x


def test_a_full_disk_costs_the_cache_and_not_the_answer(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    function = compile_module.kernel(doubled)
    assert function(3.0) == 6.0
    assert function(3) == 6


@pytest.mark.parametrize("looks", [True, False])
def test_whether_garbage_is_looked_for_is_left_as_it_was(looks):
    before = gc.isenabled()
    (gc.enable if looks else gc.disable)()
    try:
        with compile_module._garbage_left():
            within = gc.isenabled()
        after = gc.isenabled()
    finally:
        (gc.enable if before else gc.disable)()
    assert (within, after) == (False, looks)
