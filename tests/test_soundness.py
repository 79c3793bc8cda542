"""Whether clusters hold when rows are drawn again."""

import json

import numpy as np
import pytest

import naive
from conftest import blobs
from edfkmeans import KMeansPath, fit_path, select_k
from edfkmeans.soundness import assess, assess_several, jaccards, worth_a_look


def test_jaccards_equal_plain_loops():
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels, others = rng.integers(0, 4, (2, 25))
        found = jaccards(labels, others, 5)
        expected = naive.jaccards(labels.tolist(), others.tolist(), 5)
        assert [None if np.isnan(each) else each for each in found] == pytest.approx(expected)


@pytest.fixture(scope="module")
def apart():
    X, _ = blobs(3, n=40)
    return select_k(X, path=fit_path(X, 5, random_state=0), method="naive").with_k(3, X), X


def test_clear_clusters_hold(apart):
    selection, X = apart
    found = assess(selection, X, random_state=0)
    assert (found.table["stability"] > 0.99).all()
    assert (found.table["apart"] > 6).all()
    assert found.unsound == ()
    assert all("holds well" in words and "stands apart" in words for words in found.words)
    assert found.table["between"].sum() == 0
    assert found.table["rows"].tolist() == [40, 40, 40]


def test_a_cluster_that_does_not_hold_is_said_in_words():
    # one cluster far away, and a cloud that is cut into five
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 4)), 30 + 0.01 * rng.normal(size=(20, 4))])
    selection = select_k(X, path=fit_path(X, 6, random_state=0), method="naive")
    found = assess(selection, X, 6, random_state=0)
    away = int(selection.path.labels(6)[-1])
    assert found.table["stability"][away] > 0.99
    assert found.unsound
    assert away not in found.unsound
    for cluster in found.unsound:
        assert found.table["stability"][cluster] < 0.6
        assert f"Cluster {cluster} does not hold" in found.words[cluster]
        assert "runs into" in found.words[cluster]


def test_distance_is_counted_in_spreads_along_the_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) * [1.0, 9.0]
    kind = np.arange(4000) % 2
    X[:, 0] += 5.0 * kind
    labels = {2: kind, 3: np.where(np.arange(4000) < 2, 2, kind)}
    selection = select_k(X, path=KMeansPath.from_labels(X, labels), method="naive")
    found = assess(selection, X, 2)
    assert found.table["apart"].tolist() == pytest.approx([5.0, 5.0], rel=0.05)
    assert found.table["nearest"].tolist() == [1, 0]
    assert found.table["stability"].isna().all()  # no one knows how these were made
    assert "was not drawn again" in found.words[0]


def test_single_rows_are_as_far_apart_as_can_be_told():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[0], X[1] = 900, -900
    kind = np.array([1, 2] + [0] * 58)
    labels = {2: kind > 0, 3: kind, 4: np.where(np.arange(60) == 5, 3, kind)}
    selection = select_k(X, path=KMeansPath.from_labels(X, labels), method="naive")
    found = assess(selection, X, 3)
    assert (found.table["apart"].iloc[1:] > 100).all()
    assert found.single == (1, 2)


def test_a_single_row_is_no_group_and_a_limit_no_measurement():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(80, 2)), 1e5 + 1e-3 * rng.normal(size=(20, 2)), [[9e5, 0]]]
    )
    selection = select_k(X, path=fit_path(X, 4, random_state=0), method="naive")
    found = assess(selection, X, 3, random_state=0)
    assert found.table["rows"].tolist() == [80, 20, 1]
    assert found.single == (2,)
    assert found.table["stability"][2] == 1  # whenever it is drawn
    assert found.words[2].startswith("Cluster 2 is one row, no group; it stands apart from cluster")
    assert "stability" not in found.words[2]
    assert "holds well (stability" in found.words[1]
    assert found.table["apart"].tolist() == [999, 999, 999]
    for words in found.words:
        assert words.endswith(", its nearest (too far to count in spreads).")


@pytest.mark.parametrize("weight, single", [(1, True), (1.5, True), (3, False)])
def test_a_row_that_stands_for_several_is_several(weight, single):
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)), [[900, 0]]])
    weights = np.append(np.ones(40), weight)
    path = fit_path(X, 4, sample_weight=weights, random_state=0)
    selection = select_k(X, path=path, method="naive", sample_weight=weights)
    found = assess(selection, X, 2, n_resamples=3, random_state=0)
    assert found.single == ((1,) if single else ())


def test_the_seed_decides_and_several_share_the_draws(apart):
    selection, X = apart
    several = assess_several(selection, X, [2, 3], random_state=1, n_resamples=5)
    again = assess_several(selection, X, [3, 2], random_state=1, n_resamples=5, n_jobs=1)
    for k in (2, 3):
        assert several[k].table.equals(again[k].table)
        assert several[k].n_resamples == 5


def test_one_cluster(apart):
    selection, X = apart
    found = assess(selection, X, 1)
    assert found.words == ("One cluster of all rows: there is nothing that could fall apart.",)
    assert found.unsound == ()
    assert json.loads(json.dumps(found.to_dict()))["clusters"][0]["stability"] is None


def test_it_can_be_written_as_json(apart):
    selection, X = apart
    content = json.loads(json.dumps(assess(selection, X, n_resamples=3).to_dict()))
    assert content["n_resamples"] == 3
    assert [each["cluster"] for each in content["clusters"]] == [0, 1, 2]
    assert content["clusters"][0]["words"].startswith("Cluster 0 holds well")


def test_what_is_worth_a_look_begins_with_the_choice(apart):
    selection, _ = apart
    ks = worth_a_look(selection)
    assert ks[0] == 3
    assert len(ks) == len(set(ks)) <= 4


def test_messages(apart):
    selection, X = apart
    with pytest.raises(ValueError, match="k=9 is more than k_max=5"):
        assess(selection, X, 9)
    with pytest.raises(ValueError, match="n_resamples=0 must be"):
        assess(selection, X, n_resamples=0)
