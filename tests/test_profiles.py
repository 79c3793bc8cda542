"""What makes clusters differ: columns, words, rules."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import naive
from conftest import blobs
from edfkmeans import KMeansPath, fit_path, select_k
from edfkmeans.profiles import describe, explained, quantiles


@pytest.fixture(scope="module")
def found():
    """Three groups: apart in `a`, two of them apart in `b`, nothing in `noise`."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], [60, 50, 40])
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=150),
            "b": np.array([0.0, 0.0, 6.0])[kind] + rng.normal(size=150),
            "a": np.array([0.0, 10.0, 20.0])[kind] + rng.normal(size=150),
            "same": np.ones(150),
        }
    )
    path = KMeansPath.from_labels(frame, {k: np.minimum(kind, k - 1) for k in (2, 3)} | {
        4: np.where((kind == 2) & (frame["noise"] > 0), 3, kind)
    })  # fmt: skip
    return select_k(frame, path=path, method="naive").with_k(3, frame), frame


def test_explained_variance_equals_plain_loops(wine):
    path = fit_path(wine[:, :4], 5, random_state=0)
    for k in (1, 2, 5):
        expected = naive.explained_variance(wine[:, :4].tolist(), path.labels(k).tolist())
        np.testing.assert_allclose(explained(path, k, wine[:, :4]), expected, atol=1e-12)


def test_columns_are_ranked_and_clusters_named(found):
    selection, frame = found
    profiles = describe(selection, frame)
    assert list(profiles.explained.index) == ["a", "b", "noise", "same"]
    assert profiles.explained["a"] > 0.9 > profiles.explained["b"] > 0.5
    assert profiles.explained["same"] == 0
    assert [each.size for each in profiles.clusters] == [60, 50, 40]
    words = [each.description for each in profiles.clusters]
    assert words[0].startswith("low a")
    assert words[2].startswith("very high b") or words[2].startswith("high b")
    assert all("noise" not in each and "same" not in each for each in words)
    assert list(profiles.means.columns) == list(profiles.explained.index)
    text = repr(profiles)
    assert "cluster 0 (60 rows): low a" in text
    assert "precision 1.00" in text


def test_a_mean_of_zero_is_shown_as_zero(found):
    """Standardised and back, 0 becomes 1e-17 or so, which no reader wants to see."""
    _, frame = found
    rare = frame[["a"]].assign(rare=0.1 * (np.arange(150) % 150 >= 110), small=3e-7)
    rare.loc[149, "small"] = 4e-7
    mean, std = rare.mean().to_numpy(), rare.std().to_numpy()
    X = (rare - mean) / std
    labels = {2: (rare["rare"] > 0).astype(int), 3: np.repeat([0, 1, 2], [60, 50, 40])}
    selection = select_k(X, path=KMeansPath.from_labels(X, labels), method="naive")
    for k in (1, 2):
        means = describe(selection.with_k(k, X), X, restore=lambda rows: rows * std + mean).means
        plain = rare.groupby(labels[2]).mean() if k == 2 else rare.mean().to_frame().T
        np.testing.assert_allclose(means[rare.columns], plain, rtol=1e-9)
        assert (means["small"] > 0).all()
    assert means["rare"].tolist() == [0.0, pytest.approx(0.1)]


def named_by(rule, frame):
    """The rows for which the conditions hold as they are written."""
    rows = np.ones(len(frame), bool)
    for each in rule.conditions:
        above = frame[each.column].to_numpy() > each.value
        rows &= above if each.above else ~above
    return rows


@pytest.mark.parametrize("k", [2, 3])
def test_rules_are_as_right_as_they_say(found, k):
    selection, frame = found
    for each in describe(selection, frame, k).clusters:
        inside = selection.path.labels(k) == each.cluster
        rows = named_by(each.rule, frame)
        assert (rows & inside).sum() / rows.sum() == pytest.approx(each.rule.precision)
        assert (rows & inside).sum() / inside.sum() == pytest.approx(each.rule.coverage)
        assert each.rule.precision > 0.95
        assert len(each.rule.conditions) <= 3


def test_rules_of_overlapping_clusters_are_as_right_as_they_say():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    selection = select_k(frame, path=fit_path(frame, 6, random_state=0), method="naive")
    for each in describe(selection, frame, 5).clusters:
        rows, inside = named_by(each.rule, frame), selection.path.labels(5) == each.cluster
        assert (rows & inside).sum() / rows.sum() == pytest.approx(each.rule.precision)
        assert (rows & inside).sum() / inside.sum() == pytest.approx(each.rule.coverage)


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e-6, 1e12, 1e38, 1e150])
@pytest.mark.parametrize("offset, d", [(0, 2), (1e6, 2), (0, 1)])
def test_rules_are_the_same_in_any_unit(scale, offset, d):
    X, _ = blobs(3, n=40, d=d)

    def rules(rows):
        selection = select_k(rows, path=fit_path(rows, 5, random_state=0), method="naive")
        return [each.rule for each in describe(selection, rows, 3).clusters]

    for one, other in zip(rules(X), rules(scale * (X + offset)), strict=True):
        assert (one.precision, one.coverage) == (other.precision, other.coverage)
        for left, right in zip(one.conditions, other.conditions, strict=True):
            assert (left.column, left.above) == (right.column, right.above)


def test_rules_that_name_mostly_others_are_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    by_chance = {k: rng.choice(k, 600) for k in range(2, 8)}  # no rule can tell these
    path = KMeansPath.from_labels(X, by_chance)
    found = describe(select_k(X, path=path, method="naive"), X, k=6)
    for each in found.clusters:
        assert each.rule is None or each.rule.precision >= 0.5
    assert any(each.rule is None for each in found.clusters)


def test_rules_are_made_of_the_columns_that_tell_most_of_their_cluster():
    """Of one-hot columns each tells of a single cluster, and little of all of them together."""
    rng = np.random.default_rng(0)
    month, holiday = np.arange(1200) % 12, np.arange(1200) // 12 % 10 == 0
    frame = pd.DataFrame({f"mnth={m}": (month == m).astype(float) for m in range(12)})
    for name in ("temp", "hum", "wind", "casual"):
        frame[name] = rng.normal(size=1200)
    frame["holiday"] = holiday.astype(float)
    kind = np.where(holiday, 12, month)
    labels = {k: np.minimum(kind, k - 1) for k in range(2, 14)}
    path = KMeansPath.from_labels(frame, labels | {14: np.where(np.arange(1200), kind, 13)})
    selection = select_k(frame, path=path, method="naive")
    found = describe(selection, frame, 13)
    for each in found.clusters:
        assert (each.rule.precision, each.rule.coverage) == (1, 1)
        assert len(each.rule.conditions) == 1 + (each.size < holiday.sum())
    again = describe(selection, frame, 13)
    assert [str(each.rule) for each in again.clusters] == [str(e.rule) for e in found.clusters]


def test_of_very_many_columns_those_are_tried_in_which_the_cluster_is_far_from_the_mean():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(12), 500)
    X = rng.normal(size=(6000, 150))
    X[np.arange(6000), 12 * kind + 7] += 20
    labels = {k: np.minimum(kind, k - 1) for k in range(2, 13)}
    path = KMeansPath.from_labels(X, labels | {13: np.where(np.arange(6000), kind, 12)})
    for each in describe(select_k(X, path=path, method="naive"), X, 12).clusters:
        assert (each.rule.precision, each.rule.coverage) == (1, 1)
        assert len(each.rule.conditions) == 1


def test_rules_and_means_are_in_the_units_to_show(found):
    selection, frame = found
    profiles = describe(selection, frame, restore=lambda rows: np.exp(np.asarray(rows)))
    shown = np.exp(frame)
    for each in profiles.clusters:
        inside = selection.labels == each.cluster
        rows = named_by(each.rule, shown)
        assert (rows & inside).sum() / rows.sum() == pytest.approx(each.rule.precision)
    means = np.exp(selection.centers[:, [2, 1, 0, 3]])
    np.testing.assert_allclose(profiles.means, means)


def test_limits_are_short(found):
    selection, frame = found
    rules = [each.rule for each in describe(selection, frame).clusters]
    values = [each.value for rule in rules for each in rule.conditions]
    assert all(len(f"{value:.12g}") <= 4 for value in values), values


def test_one_cluster_has_neither_rule_nor_difference(found):
    selection, frame = found
    profiles = describe(selection, frame, 1)
    assert profiles.clusters[0].rule is None
    assert profiles.clusters[0].description == "all rows"
    assert profiles.explained.max() == 0


def test_a_cluster_at_the_mean_of_every_column_is_said_to_be():
    X, kind = blobs(3, n=30, d=2)
    X[:, 1] = np.random.default_rng(0).normal(size=len(X))
    kind = np.argsort(np.argsort(X[:, 0])) // 30
    labels = {2: kind > 0, 3: kind, 4: np.where(np.arange(90) == 0, 3, kind)}
    selection = select_k(X, path=KMeansPath.from_labels(X, labels), method="naive")
    words = [each.description for each in describe(selection, X, 3).clusters]
    assert words.count("near the mean in every column") == 1


def test_clusters_with_the_same_words_are_told_apart():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(4), 40)
    centers = np.array([[8, 8, 8, 1], [8, 8, 8, -1], [-8, -8, -8, 0], [-8, -8, -8, 0]])
    frame = pd.DataFrame(centers[kind] + rng.normal(size=(160, 4)), columns=list("abcd"))
    labels = {2: kind > 1, 3: np.maximum(kind, 1), 4: kind, 5: np.where(np.arange(160), kind, 4)}
    path = KMeansPath.from_labels(frame, labels)
    selection = select_k(frame, path=path, method="naive")
    profiles = describe(selection, frame, 4)
    told = [each for each in profiles.clusters if " than cluster " in each.description]
    assert len(told) == 2  # the other two are alike
    for each, other in (told, told[::-1]):
        words, _, number = each.description.partition(" than cluster ")
        higher = profiles.means["d"][each.cluster] > profiles.means["d"][other.cluster]
        assert int(number) == other.cluster
        assert words.split(", ")[-1] == ("higher d" if higher else "lower d")
        assert set(words.split(", ")[:-1]) == {"high a", "high b", "high c"}


@pytest.mark.parametrize("coded, told", [((0.0, 1.0), True), ((1.0, 2.0), False)])
def test_of_zeros_and_ones_the_part_of_ones_is_told(coded, told):
    kind = np.repeat([0, 1], 50)
    flag = np.where(kind == 1, 1, np.arange(100) % 10 == 0)
    X = np.column_stack([np.asarray(coded)[flag], np.where(kind == 1, 5.0, 0) + np.arange(100) % 3])
    scaler = StandardScaler().fit(X)
    scaled = pd.DataFrame(scaler.transform(X), columns=["member", "spend"])
    labels = {2: kind, 3: np.where(np.arange(100), kind, 2)}
    path = KMeansPath.from_labels(scaled, labels)
    selection = select_k(scaled, path=path, method="naive")
    for restore in (scaler.inverse_transform, None):
        profiles = describe(selection, scaled, 2, restore=restore)
        words = {each.description.split(", ")[-1] for each in profiles.clusters}
        usual = {"high member", "low member"}
        assert words == ({"100 % member", "10 % member"} if told and restore else usual)


def test_it_can_be_written_as_json(found):
    selection, frame = found
    content = json.loads(json.dumps(describe(selection, frame).to_dict()))
    assert [each["name"] for each in content["columns"]] == ["a", "b", "noise", "same"]
    assert content["clusters"][0]["rule"]["conditions"][0]["column"] in ("a", "b")
    assert json.dumps(describe(selection, frame, 1).to_dict()["clusters"][0]["rule"]) == "null"


def test_quantiles_are_those_of_every_cluster():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 2)), rng.integers(0, 3, 50).astype(np.int32)
    made = quantiles(X, labels, 3, (0.25, 0.5))
    for c in range(3):
        np.testing.assert_allclose(made[c], np.quantile(X[labels == c], (0.25, 0.5), axis=0))


def test_messages(found):
    selection, frame = found
    with pytest.raises(ValueError, match="k=9 is more than k_max=3"):
        describe(selection, frame, 9)
    with pytest.raises(ValueError, match="X has 5 rows, but the selection was made with 150"):
        describe(selection, frame[:5])
    with pytest.raises(ValueError, match="names has 1 entries, but X has 4 columns"):
        describe(selection, frame, names=["a"])


def test_other_rows_of_the_same_shape_are_refused(found):
    selection, frame = found
    for other in (frame[::-1], frame + 1000.0, frame[["b", "noise", "a", "same"]]):
        with pytest.raises(ValueError, match=r"not .*: they are others, or in another order"):
            describe(selection, other)
    close = frame.astype(np.float32)
    assert describe(selection, close).k == 3
