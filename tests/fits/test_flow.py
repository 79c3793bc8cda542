"""Where rows go when there is one cluster more."""

import numpy as np

from conftest import blobs
from edfkmeans import KMeansPath, fit_path
from edfkmeans.fits.flow import Flow, flow


def test_counts_are_those_of_the_labels():
    X, _ = blobs(4, n=20)
    path = fit_path(X, 6, random_state=0)
    for k in (1, 3, 6):
        counts = flow(path, k).counts
        for c in range(k):
            for e in range(k + 1):
                both = (path.labels(k) == c) & (path.labels(k + 1) == e)
                assert counts[c, e] == both.sum()


def test_a_cluster_that_splits_is_named():
    X, kind = blobs(3, n=20)
    kind = np.repeat([0, 1, 2], [25, 20, 15])
    path = KMeansPath.from_labels(X, {2: kind > 0, 3: kind})
    found = flow(path, 2)
    assert found.splits == {0: [1, 2]}
    assert found.words == "From 2 to 3: cluster 0 splits into 1 and 2."
    assert found.moved == 0


def test_rows_that_move_are_counted():
    found = Flow(np.array([[50, 45, 5], [0, 3, 97]]))
    assert found.splits == {0: [0, 1]}
    assert found.moved == 8
    assert found.words.endswith("cluster 0 splits into 0 and 1; 8 other rows move.")
    assert Flow(np.array([[50, 45, 1], [0, 0, 97]])).words.endswith("; 1 other row moves.")


def test_a_cluster_from_several_is_said_to_be():
    found = Flow(np.array([[85, 0, 15], [0, 85, 15]]))
    assert found.splits == {}
    assert found.moved == 30
    assert "the new one takes rows of several; 30 other rows move" in found.words
