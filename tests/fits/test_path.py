import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import naive
from conftest import blobs
from edfkmeans import KMeansPath, fit_path


@pytest.mark.parametrize("fits", ["best", "paper"])
def test_finds_obvious_clusters(fits):
    X, truth = blobs(4)
    path = fit_path(X, k_max=6, fits=fits, random_state=0)
    assert (path.k_max, len(path.inertia), path.fits) == (6, 7, fits)
    labels = path.labels(4)
    assert len(set(zip(labels, truth, strict=True))) == 4
    np.testing.assert_array_equal(path.sizes(4), np.bincount(labels))


def test_numbers_belong_together(wine):
    path = fit_path(wine, k_max=8, random_state=0)
    assert path.inertia.dtype == np.float64
    for k in range(1, 10):
        labels, centers = path.labels(k), path.centers(k)
        assert set(labels) == set(range(k))
        np.testing.assert_allclose(centers, naive.centroids(wine, labels), atol=1e-12)
        assert path.inertia[k - 1] == pytest.approx(naive.inertia(wine, labels), rel=1e-12)
        assert path.sizes(k).tolist() == naive.sizes(labels)
    assert (np.diff(path.inertia) < 0).all()


@st.composite
def tables(draw):
    """Small data, some of it rounded so that rows repeat."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(draw(st.integers(8, 30)), draw(st.integers(1, 4))))
    X *= draw(st.sampled_from([1e-6, 1.0, 1e5]))
    if draw(st.booleans()):
        X = np.round(X / np.abs(X).max() * 3) + 0.0
    return X


@given(tables(), st.sampled_from(["best", "paper"]), st.integers(0, 5))
def test_fits_are_single_point_optima(X, fits, seed):
    distinct = len(np.unique(X, axis=0))
    if distinct < 4:
        return
    path = fit_path(X, k_max=min(4, distinct - 1), fits=fits, n_init=2, random_state=seed)
    for k in range(1, path.k_max + 2):
        labels = path.labels(k)
        assert path.sizes(k).min() >= 1
        assert naive.is_single_point_optimum(X, labels)
        assert path.inertia[k - 1] == pytest.approx(naive.inertia(X, labels), rel=1e-9, abs=1e-12)
    if fits == "best":
        assert (np.diff(path.inertia) < 0).all()


def test_single_point_moves_beat_lloyd():
    """Lloyd stays at {0, 4}, {7.9}; moving 4 saves (4^2 - 3.9^2) / 2."""
    X = np.array([[0.0], [4.0], [7.9]])
    lloyd = KMeans(2, init=np.array([[2.0], [7.9]]), n_init=1).fit(X)
    assert lloyd.labels_.tolist() == [0, 0, 1]
    for fits in ("best", "paper"):
        path = fit_path(X, k_max=2, fits=fits, random_state=0)
        assert path.inertia[1] == pytest.approx(3.9**2 / 2)
        assert path.inertia[1] < lloyd.inertia_


@pytest.mark.parametrize("fits", ["best", "paper"])
def test_same_seed_same_fits_whatever_the_threads(fits, wine):
    one = fit_path(wine, k_max=12, fits=fits, random_state=3, n_jobs=1)
    two = fit_path(wine, k_max=12, fits=fits, random_state=3, n_jobs=2)
    np.testing.assert_array_equal(one.inertia, two.inertia)
    for k in range(1, 14):
        np.testing.assert_array_equal(one.labels(k), two.labels(k))
    other = fit_path(wine, k_max=12, fits=fits, n_init=1, random_state=4)
    assert (other.inertia != one.inertia).any()


def test_threads_that_share_rows_do_not_change_the_fits():
    """Many rows, and more threads than chains: the rows of one chain are shared out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2)) + rng.integers(0, 3, size=(40_000, 1))
    one = fit_path(X, k_max=4, n_init=1, random_state=0, n_jobs=1)
    shared = fit_path(X, k_max=4, n_init=1, random_state=0, n_jobs=3)
    np.testing.assert_array_equal(one.inertia, shared.inertia)
    for k in range(1, 6):
        np.testing.assert_array_equal(one.labels(k), shared.labels(k))


def test_generators_and_random_states_are_seeds(wine):
    first = fit_path(wine, k_max=5, n_init=1, random_state=np.random.default_rng(0))
    again = fit_path(wine, k_max=5, n_init=1, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(first.inertia, again.inertia)
    fit_path(wine, k_max=3, random_state=np.random.RandomState(0))


def test_more_starts_are_no_worse(wine):
    few = fit_path(wine, k_max=12, fits="paper", n_init=1, random_state=0)
    many = fit_path(wine, k_max=12, fits="paper", n_init=8, random_state=0)
    assert (many.inertia <= few.inertia).all()


def test_path_pickles_and_hands_out_copies(wine):
    path = pickle.loads(pickle.dumps(fit_path(wine, k_max=4, random_state=0)))
    before = path.centers(3)
    path.centers(3)[:] = 0
    path.labels(3)[:] = 0
    np.testing.assert_array_equal(path.centers(3), before)
    assert path.labels(3).max() == 2
    assert repr(path) == "KMeansPath(k=1..4 and a pilot of 5, n=178, d=13, fits='best')"


def test_k_not_on_the_path(wine):
    path = fit_path(wine, k_max=4, random_state=0)
    with pytest.raises(ValueError, match=r"k=6 is not on this path, which has k = 1 .. 5"):
        path.labels(6)
    with pytest.raises(ValueError, match="k=0 must be a whole number, 1 or more"):
        path.centers(0)


def test_progress_is_shown_when_asked(monkeypatch, wine, capsys):
    fit_path(wine, k_max=3, n_init=2, random_state=0)
    assert capsys.readouterr().err == ""
    fit_path(wine, k_max=3, n_init=2, random_state=0, progress=True)
    assert capsys.readouterr().err == ""  # too short to be worth it
    monkeypatch.setattr("edfkmeans._progress.PATIENCE", 0)
    fit_path(wine, k_max=3, n_init=2, random_state=0, progress=True)
    assert "inertia=" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, message",
    [
        ({"k_max": 0}, "k_max=0 must be a whole number, 1 or more"),
        ({"k_max": 2.5}, "k_max=2.5 must be a whole number"),
        ({"k_max": True}, "k_max=True must be a whole number"),
        ({"fits": "worst"}, r"fits='worst' must be one of \['best', 'paper'\]"),
        ({"n_init": 0}, "n_init=0 must be a whole number, 1 or more"),
        ({"n_jobs": 0}, "n_jobs=0 must be a positive number of threads"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 must be"),
        ({"k_max": 40}, "k_max=40 needs at least 41 distinct rows; X has 30. Lower k_max."),
    ],
)
def test_bad_options(options, message):
    X = np.arange(30.0)[:, None]
    with pytest.raises(ValueError, match=message):
        fit_path(X, **options)


@pytest.mark.parametrize(
    "rows, k_max", [(4, 2), (6, 2), (12, 5), (20, 5), (61, 12), (149, 29), (200, 30)]
)
def test_default_k_max_suits_the_rows(rows, k_max):
    X = np.repeat(np.random.default_rng(0).normal(size=(rows, 2)), 2, axis=0)
    assert fit_path(X, n_init=1, random_state=0).k_max == k_max


def test_from_labels():
    X, truth = blobs(3)
    names = np.array(["a", "b", "c"])[truth]
    path = KMeansPath.from_labels(X, {2: truth > 0, 3: names, 4: truth + 4 * (X[:, 0] > 12.0)})
    assert (path.k_max, path.fits) == (3, "given")
    np.testing.assert_array_equal(path.labels(1), 0)
    np.testing.assert_array_equal(path.labels(3), truth)
    assert path.inertia[2] == pytest.approx(naive.inertia(X, truth))


@pytest.mark.parametrize(
    "labels, message",
    [
        ({}, "needs every k from 2"),
        ({1: np.zeros(120)}, "needs every k from 2"),
        ({2: np.arange(120) % 2, 4: np.arange(120) % 4}, r"Add k = \[3\]"),
        ({2: np.arange(120) % 3}, r"labels\[2\] has 3 distinct labels instead of 2"),
        ([1, 2, 3], "labels is a list, but must map each k"),
        ({"2": np.arange(120) % 2}, "k in labels='2' must be a whole number"),
        ({2: np.arange(50) % 2}, r"labels\[2\] has shape \(50,\), but X has 120 rows"),
    ],
)
def test_from_labels_says_what_is_wrong(labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        KMeansPath.from_labels(blobs(3)[0], labels)
