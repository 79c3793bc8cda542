"""Clusters are numbered by size, by every search and wherever the rows are."""

import numpy as np
import pytest

from conftest import blobs
from edfkmeans import EDFKMeans, KMeansPath, fit_path, select_k
from edfkmeans.rows import look


def uneven():
    X, truth = blobs(4, n=60)
    keep = np.concatenate([np.flatnonzero(truth == c)[: 15 * (c + 1)] for c in range(4)])
    return X[np.random.default_rng(0).permutation(keep)]


def check(path, ks=range(1, 8)):
    for k in ks:
        sizes, labels = path.sizes(k), np.asarray(path.labels(k))
        assert (np.diff(sizes) <= 0).all()
        np.testing.assert_array_equal(np.bincount(labels, minlength=k), sizes)
        centers = path.centers(k)
        order = np.lexsort((*centers.T[::-1], -sizes))
        np.testing.assert_array_equal(order, np.arange(k))


@pytest.mark.parametrize("fits", ["best", "paper"])
def test_the_largest_comes_first(fits):
    X = uneven()
    path = fit_path(X, 7, fits=fits, random_state=0)
    check(path)
    for k in range(1, 8):
        labels = path.labels(k)
        means = [X[labels == c].mean(axis=0) for c in range(k)]
        np.testing.assert_allclose(path.centers(k), means, atol=1e-9)
    assert path.sizes(4).tolist() == [60, 45, 30, 15]


def test_the_same_clusters_have_the_same_numbers_whatever_the_seed():
    X = uneven()
    one, two = (fit_path(X, 5, random_state=seed).labels(4) for seed in (0, 7))
    np.testing.assert_array_equal(one, two)


def test_clusterings_of_ones_own_are_numbered_alike():
    X = uneven()
    path = fit_path(X, 7, random_state=0)
    own = {k: np.array(list("hgfedcba"))[path.labels(k)] for k in range(2, 9)}
    again = KMeansPath.from_labels(X, own)
    check(again)
    np.testing.assert_array_equal(again.labels(4), path.labels(4))


def test_rows_in_chunks_and_their_sample_have_the_numbers_of_all(monkeypatch):
    da = pytest.importorskip("dask.array", reason="needs dask")
    X = uneven()
    monkeypatch.setattr(look, "SAMPLE", 60)
    found = select_k(da.from_array(X, chunks=(40, 3)), 5, random_state=0)
    check(found.path, range(1, 6))
    shown, rows = found.sample()
    for k in (2, 4):
        whole = np.asarray(found.path.labels(k))[rows.index]
        np.testing.assert_array_equal(np.asarray(shown.path.labels(k)), whole)


def test_the_estimator_predicts_the_numbers_of_its_labels():
    X = uneven()
    model = EDFKMeans(6, random_state=0).fit(X)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
