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


def words_of(*counts):
    return Flow(np.array(counts)).words.partition(": ")[2]


def test_rows_that_move_are_counted():
    found = Flow(np.array([[50, 45, 5], [0, 3, 97]]))
    assert found.splits == {0: [0, 1]}
    assert (found.new, found.moved) == (1, 5)
    assert found.words.endswith(
        "cluster 0 splits into 0 and 1; 3 rows of others join 1; 5 other rows move."
    )
    assert words_of([50, 45, 1], [0, 0, 97]).endswith("splits into 0 and 1; 1 other row moves.")


def test_a_cluster_from_several_is_said_to_be():
    found = Flow(np.array([[85, 0, 15], [0, 85, 15]]))
    assert found.splits == {}
    assert found.moved == 0
    assert found.words.endswith(": the new cluster, 2, takes 30 rows of clusters 0 and 1.")
    several = 90 * np.eye(4, 5, dtype=int)
    several[:, 4] = 2, 3, 4, 5
    assert words_of(*several) == "the new cluster, 4, takes 14 rows of 4 clusters."
    several[3, 4] = 11
    assert words_of(*several).endswith(" 20 rows of 4 clusters, most of them of cluster 3.")


def test_a_small_cluster_from_one_is_not_said_to_come_from_several():
    assert words_of([1200, 210]) == "210 rows of cluster 0 get a cluster of their own, 1."
    counts = np.zeros((12, 13), int)
    counts[np.arange(12), np.arange(12)] = 700
    counts[10, 10], counts[10, 12] = 687, 1
    assert words_of(*counts) == "1 row of cluster 10 gets a cluster of its own, 12."


def test_rows_of_the_new_cluster_and_of_renumbered_ones_are_no_others():
    # 0 stays, 1 becomes 2, 2 becomes 3; the new one takes a little of all, and 4 rows do move
    counts = [[900, 90, 4, 0], [0, 80, 500, 0], [0, 70, 0, 400]]
    found = Flow(np.array(counts))
    assert (found.stays, found.new, found.moved) == ((0, 2, 3), 1, 4)
    assert words_of(*counts) == (
        "the new cluster, 1, takes 240 rows of clusters 0, 1 and 2; 4 other rows move."
    )


def test_a_split_elsewhere_does_not_hide_where_the_new_cluster_comes_from():
    assert words_of([6, 4, 0, 0], [0, 100, 0, 0], [0, 0, 30, 1]) == (
        "cluster 0 splits into 0 and 1; 1 row of cluster 2 gets a cluster of its own, 3."
    )


def test_a_cluster_of_which_the_sample_has_no_row_is_no_trouble():
    assert words_of([9, 0, 0], [0, 0, 0]) == "none of these rows is in the new cluster, 2."


def test_rows_count_as_their_weights_say():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    path = fit_path(X, 5, sample_weight=weights, random_state=0)
    for k in (1, 3, 5):
        counts = flow(path, k).counts
        assert counts.sum(axis=1).tolist() == path.sizes(k).tolist()
        assert counts.sum(axis=0).tolist() == path.sizes(k + 1).tolist()
