"""What the judge sees in the rows, by scikit-learn and by plain formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, davies_bouldin_score, silhouette_samples

import naive
from conftest import blobs
from edfkmeans import fit_path
from edfkmeans.choosing.looks import LARGE, Look, agreement
from edfkmeans.criteria.criterion import Given, Work
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads


@st.composite
def pairs_of_labels(draw):
    n = draw(st.integers(2, 30))
    return [
        np.array(draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), np.int32)
        for most in (draw(st.integers(0, 5)), draw(st.integers(0, 5)))
    ]


@given(pairs_of_labels())
def test_agreement_is_the_adjusted_rand_index(labels):
    assert agreement(*labels) == pytest.approx(adjusted_rand_score(*labels), abs=1e-12)
    assert agreement(*labels[::-1]) == pytest.approx(agreement(*labels), abs=1e-12)


def test_agreement_at_its_ends():
    one, each = np.zeros(9, np.int32), np.arange(9, dtype=np.int32)
    assert agreement(one, one) == agreement(each, each) == agreement(each, each[::-1]) == 1
    assert agreement(one, each) == agreement(each, one) == 0


def test_agreement_of_many_rows_overflows_nothing():
    labels = np.arange(300_000, dtype=np.int32) % 2
    assert agreement(labels, 1 - labels) == 1


def look(X, path, work):
    """Look at some rows, having made what that needs."""
    made = Given()
    made.provide(Look(), read_rows(X), path, work)
    return made[Look()]


@pytest.fixture(scope="module")
def seen():
    X, _ = blobs(3, n=30, gap=4.0)
    path = fit_path(X, 6, random_state=0)
    looks = look(X, path, Work(5, Threads(1)))
    return X, path, looks


def test_silhouettes_and_davies_bouldin_are_those_of_scikit_learn(seen):
    X, path, looks = seen
    for k in range(2, 7):
        labels = path.labels(k)
        each = silhouette_samples(X, labels)
        assert looks.silhouette[k - 1] == pytest.approx(each.mean())
        assert looks.least_silhouette[k - 1] == pytest.approx(
            min(each[labels == c].mean() for c in range(k))
        )
        assert looks.negative[k - 1] == pytest.approx((each < 0).mean())
        assert looks.davies_bouldin[k - 1] == pytest.approx(davies_bouldin_score(X, labels))
    for curve in (looks.silhouette, looks.davies_bouldin, looks.saddle, looks.halves):
        assert np.isnan(curve[0])


def test_saddles_are_those_of_the_loops(seen):
    X, path, looks = seen
    for k in (2, 3, 6):
        labels, sizes = path.labels(k), path.sizes(k)
        ratios = np.array(naive.saddle_ratios(X, labels))
        assert looks.saddle[k - 1] == pytest.approx(sizes @ ratios / len(X))
        assert looks.highest_saddle[k - 1] == pytest.approx(ratios.max())
        assert looks.lowest_saddle[k - 1] == pytest.approx(ratios.min())
        assert looks.lowest_size[k - 1] == sizes[ratios.round(9) == ratios.min().round(9)].min()
        assert looks.cut[k - 1] == pytest.approx(sizes[ratios > 1].sum() / len(X))
        for least, (lowest, size) in zip(LARGE, looks.apart, strict=True):
            large = (sizes >= least) & (sizes <= 0.75 * len(X))
            if large.any():
                assert lowest[k - 1] == pytest.approx(min(ratios[large].min(), 3.0))
                assert size[k - 1] in sizes[large]
            else:
                assert lowest[k - 1] == 3.0


def test_mixtures_are_those_of_the_formula(seen):
    X, path, looks = seen
    n, d = X.shape
    for k in (1, 3, 5):
        labels = path.labels(k)
        balls = boxes = 0.0
        for c in range(k):
            own = X[labels == c]
            share = len(own) / n
            variances, total = own.var(axis=0), X.var(axis=0)
            balls += share * (np.log(variances.mean() / total.mean()) - 2 / d * np.log(share))
            boxes += share * (np.log(variances / total).mean() - 2 / d * np.log(share))
        price = np.log(n) / (n * d)
        assert looks.balls[k - 1] == pytest.approx(balls + price * k * (d + 2))
        assert looks.boxes[k - 1] == pytest.approx(boxes + price * k * (2 * d + 1))


def test_nested_is_the_agreement_with_one_cluster_less(seen):
    _, path, looks = seen
    assert looks.nested.shape == (7,)
    assert np.isnan(looks.nested[:2]).all()
    for k in range(3, 8):
        expected = adjusted_rand_score(path.labels(k - 1), path.labels(k))
        assert looks.nested[k - 1] == pytest.approx(expected)


def test_halves_of_clear_clusters_say_the_same():
    X, _ = blobs(3, n=60, gap=12.0)
    path = fit_path(X, 5, random_state=0)
    looks = look(X, path, Work(0, Threads(1)))
    assert looks.halves[2] == 1
    assert looks.held_saddle[2] < 0.05
    assert looks.halves[2] > looks.halves[4]


def test_the_seed_of_the_work_plays_no_part(seen):
    X, path, looks = seen
    other = look(X, path, Work(99, Threads(2)))
    for name, values in vars(looks).items():
        np.testing.assert_array_equal(getattr(other, name), values, err_msg=name)


def test_shape_tells_steps_ties_and_tails():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.normal(size=200), rng.exponential(size=200)])
    path = fit_path(X, 3, random_state=0)
    shape = look(X, path, Work(0, Threads(1))).shape
    assert shape["two_values"] == shape["few_values"] == pytest.approx(1 / 3)
    assert shape["distinct_rows"] == 1
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert shape["skewness"] == pytest.approx(np.abs((z**3).mean(axis=0)).mean())
    assert shape["tails"] == pytest.approx(np.log((z**4).mean()))
    assert shape["first_component"] == pytest.approx(np.linalg.eigvalsh(np.corrcoef(X.T)).max() / 3)
