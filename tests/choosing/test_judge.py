"""The judge: what it says of every k, in numbers and in words."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import blobs
from edfkmeans import KMeansPath, compare, fit_path, select_k
from edfkmeans.choosing.evidence import evidence
from edfkmeans.choosing.forest import Forest
from edfkmeans.choosing.judge import _WORDS as WORDS
from edfkmeans.choosing.judge import _candidates as candidates
from edfkmeans.choosing.judge import as_good, chosen, verdict
from edfkmeans.criteria import registered


@pytest.fixture(scope="module")
def clear():
    X, _ = blobs(3, n=40)
    return X, select_k(X, random_state=0)


def said(agreement, near=None):
    """What might have been said of k = 1, 2, ..."""
    index = pd.Index(range(1, len(agreement) + 1), name="k")
    near = agreement if near is None else near
    return pd.DataFrame({"agreement": agreement, "near": near}, index=index)


def test_what_is_said_of_every_k(clear):
    _, found = clear
    confidence = found.confidence
    assert list(confidence.columns) == ["agreement", "near"]
    assert confidence.index.name == "k"
    assert list(confidence.index) == list(found.table.index)
    assert ((confidence >= 0) & (confidence <= 1)).all(axis=None)
    assert found.k == chosen(confidence["agreement"].to_numpy()) == 3
    pd.testing.assert_frame_equal(found.table[["agreement", "near"]], confidence)
    assert found.method == "judge"
    assert found.rule is None
    assert found.structure is None


def test_one_cluster_and_more_share_what_is_sure(wine):
    found, _ = evidence(wine, 8, random_state=0)
    confidence = verdict(found).confidence
    chance = 1 / (1 + np.exp(-Forest.load("one").of(found.whole)[0][0]))
    assert confidence.loc[1].tolist() == [chance, chance]
    assert (confidence.loc[2:] <= 1 - chance + 1e-12).all(axis=None)


def test_the_two_numbers_agree_with_each_other(clear, wine):
    """Agreement is at most 1 within 0.1 of the best, and at most 0.9 elsewhere."""
    for X in (clear[0], wine):
        said = select_k(X, random_state=0).confidence
        assert (said["agreement"] <= 0.9 + 0.1 * said["near"] + 1e-12).all()
        assert (said["agreement"] >= 0.9 * said["near"] - 1e-12).all()


def test_the_table_holds_the_curves_that_people_know(clear):
    X, found = clear
    table = found.table
    assert list(table.columns) == [
        "inertia", "dof_raw", "dof", "bic", "bic_raw", "bic_paper", "silhouette",
        "silhouette_reference", "silhouette_above", "saddle", "agreement", "near",
    ]  # fmt: skip
    path = found.path
    for method, columns in (("combined", ["dof_raw", "dof", "bic"]), ("paper", [])):
        other = select_k(X, path=path, method=method, random_state=0).table
        np.testing.assert_allclose(table[columns], other[columns], rtol=1e-12)
    np.testing.assert_allclose(table["bic_paper"], other["bic"], rtol=1e-12)
    assert table.loc[1, ["silhouette", "saddle"]].isna().all()
    assert np.isfinite(table.loc[2:]).all(axis=None)
    assert table.loc[3, "saddle"] < 0.05 < table.loc[4, "saddle"]


def test_what_is_said_of_a_k_does_not_hang_on_k_max(wine):
    whole = select_k(wine, random_state=0)
    for k_max in (5, 10, 20, 30):
        found = select_k(wine, k_max, random_state=0)
        assert (found.k_max, found.path.k_max) == (k_max, 30)
        pd.testing.assert_frame_equal(
            found.confidence, whole.confidence.loc[:k_max], check_exact=True
        )
        pd.testing.assert_frame_equal(found.table, whole.table.loc[:k_max], check_exact=True)
        assert found.k <= k_max


def test_what_is_said_does_not_hang_on_the_seed(wine):
    first, again = (select_k(wine, random_state=seed) for seed in (0, 1))
    pd.testing.assert_frame_equal(first.table, again.table, check_exact=True)
    np.testing.assert_array_equal(first.labels, again.labels)
    other = select_k(wine, path=fit_path(wine, random_state=1))
    assert (other.path.inertia != first.path.inertia).any()
    paths = [select_k(wine, method="paper", random_state=seed).path.inertia for seed in (0, 1)]
    assert (paths[0] != paths[1]).any()
    both = compare(wine, ["judge", "silhouette"], random_state=1)
    assert both.table.loc["judge", "k"] == first.k
    np.testing.assert_array_equal(both.path.inertia, first.path.inertia)


def test_k_max_bounds_the_answer():
    X, _ = blobs(5, n=40)
    for k_max in (1, 2, 4):
        found = select_k(X, k_max, random_state=0)
        assert found.k <= found.k_max == k_max
        assert all(candidate.k <= k_max for candidate in found.candidates)
        assert max(found.as_good) <= k_max
        assert found.labels.max() == found.k - 1
    assert select_k(X, 7, random_state=0).k == 5


def test_a_long_k_max_makes_a_long_path_and_changes_nothing_before():
    X, _ = blobs(4, n=15)
    usual = select_k(X, random_state=0)
    found = select_k(X, 40, random_state=0)
    assert (usual.path.k_max, found.k_max, found.path.k_max) == (12, 40, 40)
    np.testing.assert_array_equal(found.path.inertia[:13], usual.path.inertia)
    pd.testing.assert_frame_equal(found.confidence.loc[:12], usual.confidence, check_exact=True)
    pd.testing.assert_frame_equal(found.table.loc[:12], usual.table, check_exact=True)
    assert found.k == usual.k == 4
    assert found.confidence.loc[13:].notna().all(axis=None)


@pytest.mark.parametrize("method", ["combined", "paper", "naive"])
def test_other_methods_have_no_confidence(method, wine):
    found = select_k(wine, 6, method=method, random_state=0)
    assert found.confidence is None
    assert found.as_good == (found.k,)
    assert found.headline == f"{found.k} clusters"
    assert found.path.k_max == found.k_max == 6
    assert all(candidate.agreement is None for candidate in found.candidates)


def test_there_are_reasons_for_every_k(wine):
    found = select_k(wine, 12, random_state=0)
    assert list(found.reasons) == list(range(1, 13))
    words = "|".join(map(re.escape, WORDS.values()))
    side = rf"(?:{words})(?:, (?:{words}))*"
    for text in found.reasons.values():
        assert re.fullmatch(rf"(for it: {side})?(; )?(against it: {side})?", text), text
    assert found.reasons[found.k].startswith("for it: ")
    assert any("against it: " in text for text in found.reasons.values())


def test_reasons_where_there_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(300, 3))
    found = select_k(X, 8, random_state=0)
    assert found.k == 1
    assert found.reasons[1].startswith("for it: ")
    # What speaks for one cluster speaks against the others.
    for k in range(2, 9):
        assert (
            found.reasons[k].partition("against it: ")[2]
            == (found.reasons[1].partition("for it: ")[2].partition("; against")[0])
        )


def test_reasons_are_the_parts_of_the_forest(wine):
    found, _ = evidence(wine, 8, random_state=0)
    weights = verdict(found).weights
    names = Forest.load("agreement").names
    _, parts = Forest.load("agreement").of(found.curves)
    for group in WORDS:
        own = [j for j, name in enumerate(names) if name.startswith(f"{group}.")]
        np.testing.assert_allclose(weights.loc[2:, group], parts[1:, own].sum(axis=1))
    _, whole = Forest.load("one").of(found.whole)
    assert weights.loc[1].sum() == pytest.approx(whole.sum())


def test_candidates_are_the_others_with_much_for_them(wine):
    for X in (wine, wine[:, :3]):
        found = select_k(X, random_state=0)
        agreement = found.confidence["agreement"]
        ks = [candidate.k for candidate in found.candidates]
        assert found.k not in ks
        assert set(found.as_good) - {found.k} <= set(ks) or len(ks) == 5
        assert [candidate.agreement for candidate in found.candidates] == sorted(
            agreement[ks], reverse=True
        )
        for candidate in found.candidates:
            assert candidate.bic == found.table.loc[candidate.k, "bic"]
            told = f"expected agreement {candidate.agreement:.2f}"
            assert candidate.reason == f"{told}; {found.reasons[candidate.k]}"
            assert "for it" in candidate.reason or candidate.k in found.as_good


def test_a_peak_that_nothing_speaks_for_is_no_candidate():
    agreement = np.array([0.1, 0.9, 0.3, 0.7, 0.5, 0.72, 0.2])
    reasons = dict.fromkeys(range(1, 8), "against it: silhouette")
    assert candidates(agreement, 2, reasons) == ()
    reasons[4] = "for it: BIC; against it: silhouette"
    assert candidates(agreement, 2, reasons) == (4,)
    assert candidates(agreement, 6, reasons) == (2, 4)  # 4 is as good as 6


@pytest.mark.parametrize(
    "agreement, k",
    [
        ([0.1, 0.5, 0.9, 0.8], 3),
        ([0.9, 0.1, 0.05], 1),
        ([0.1, 0.3, 0.9, 0.9001], 3),  # about as good, and fewer
        ([0.5, 0.49, 0.2], 2),  # one cluster only if no other is about as good
        ([0.5, 0.47, 0.2], 1),
        ([0.4999, 0.1, 0.5], 3),
        ([0.4], 1),
    ],
)
def test_the_best_k_is_chosen_or_a_smaller_one_that_is_about_as_good(agreement, k):
    assert chosen(np.array(agreement)) == k


def test_a_bound_that_the_answer_keeps_to_does_not_change_it():
    agreement = np.array([0.1, 0.5, 0.77, 0.785, 0.8])
    assert [chosen(agreement, k_most) for k_most in (5, 4, 3, 2, 1)] == [4, 4, 3, 2, 1]


def test_as_good_is_what_loses_little():
    assert as_good([0.2, 0.5, 0.9, 0.86, 0.84], 3) == (3, 4)
    assert as_good([0.2, 0.5, 0.9], 3) == (3,)
    assert as_good([0.88, 0.5, 0.9, 0.87], 3) == (1, 3, 4)
    assert as_good([1.0], 1) == (1,)


@pytest.mark.parametrize(
    "k, agreement, headline",
    [
        (3, [0.0, 0.6, 0.95, 0.93], "3 clusters; 3 or 4; expected agreement 0.95"),
        (3, [0.0, 0.6, 0.95, 0.7], "3 clusters; expected agreement 0.95"),
        (3, [0.0, 0.92, 0.95, 0.93], "3 clusters; 2 to 4; expected agreement 0.95"),
        (3, [0.91, 0.5, 0.95, 0.93], "3 clusters; 1, 3 or 4; expected agreement 0.95"),
        (3, [0.91, 0.5, 0.95, 0.93, 0.92], "3 clusters; 1 or 3 to 5; expected agreement 0.95"),
        (1, [0.8, 0.2, 0.1, 0.1], "1 cluster; expected agreement 0.80"),
        (1, [0.4, 0.39, 0.1, 0.1], "1 cluster; 1 or 2; expected agreement 0.40"),
        (2, [0.0, 1.0, 0.9, 0.1], "2 clusters; expected agreement 1.00"),
        (2, [0.0, *[0.9, 0.0] * 4, 0.9], "2 clusters; 2, 4, 6, 8 or 10; expected agreement 0.90"),
        (2, [0.0, *[0.9, 0.0] * 5, 0.9], "2 clusters; many from 2 to 12; expected agreement 0.90"),
    ],
)
def test_headlines(k, agreement, headline, clear):
    headline = re.sub("; ([^;]+); expected", r"; \1 about as good; expected", headline)
    found = replace(clear[1], k=k, chosen=k, confidence=said(agreement))
    assert found.headline == headline
    assert found.summary.startswith(headline)
    shares = pd.Series({1: 0.45, k + 1: 0.55})
    asked = replace(found, resamples=shares)
    share = 45 if k == 1 else 0
    assert asked.headline == f"{headline}; chosen in {share} % of 20 resamples"
    assert replace(found, confidence=None).headline == headline.partition(";")[0]


def test_words_of_a_selection(clear):
    _, found = clear
    assert found.headline in repr(found)
    assert f"k = 3: {found.reasons[3]}" in repr(found)
    assert found.summary.startswith(f"{found.headline} ({found.reasons[3]})")
    assert "method='judge')" in repr(found)


def test_json(clear, wine):
    for found in (clear[1], select_k(wine, 6, random_state=0, resample=True)):
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert plain["as_good"] == list(found.as_good)
        assert plain["confidence"] == {
            str(k): {"agreement": row.agreement, "near": row.near}
            for k, row in found.confidence.iterrows()
        }
        assert plain["reason"] == found.reasons[found.k]
        assert [each["agreement"] for each in plain["candidates"]] == [
            candidate.agreement for candidate in found.candidates
        ]
        if found.resamples is not None:
            assert plain["resamples"] == {str(k): s for k, s in found.resamples.items()}
    assert clear[1].to_dict()["resamples"] is None
    former = select_k(wine, 6, method="combined", random_state=0).to_dict()
    assert former["confidence"] is None
    assert former["as_good"] == [former["k"]]


def test_compare_asks_the_same_judge(wine):
    chosen = select_k(wine, 6, random_state=0)
    found = compare(wine, ["judge", "bic"], k_max=6, random_state=0)
    assert "judge" in registered()
    assert found.path.k_max == 6
    curve = found.curves["judge"]
    assert found.table.loc["judge", "k"] == curve.k == chosen.k
    assert found.table.loc["judge", "can_say_one"]
    pd.testing.assert_frame_equal(curve.confidence, chosen.confidence, check_exact=True)
    np.testing.assert_array_equal(curve.values, chosen.confidence["agreement"])
    assert found.curves["bic"].values.shape == (6,)


def test_a_given_path_is_judged_as_it_is(wine):
    path = fit_path(wine, 6, random_state=0)
    chosen = select_k(wine, path=path)
    found = compare(wine, ["judge"], path=path)
    assert chosen.path.k_max == 6
    pd.testing.assert_frame_equal(found.curves["judge"].confidence, chosen.confidence)
    own = KMeansPath.from_labels(wine, {k: path.labels(k) for k in range(2, 8)})
    pd.testing.assert_frame_equal(
        select_k(wine, path=own).confidence, chosen.confidence, rtol=1e-6, atol=1e-9
    )


def test_where_one_cluster_is_all_that_can_be():
    X = np.random.default_rng(0).normal(size=(40, 2))
    for found in (
        select_k(X, path=fit_path(X, 1, random_state=0)),
        select_k(np.array([[0.0], [1.0], [4.0]]), 1, random_state=0),
    ):
        assert found.k == found.k_max == 1
        assert "bic" in found.table
        assert found.headline.startswith("1 cluster")
        assert repr(found)
        assert json.dumps(found.to_dict(), allow_nan=False)


def test_remarks_where_much_speaks_against_one_cluster(clear):
    _, found = clear
    one = replace(found, k=1, chosen=1)
    assert one.remarks[0] == "No clusters stand out."
    assert "the silhouette of k = 3 stands out by 0." in one.remarks[1]
    assert one.remarks[1].endswith("look at k = 3 before you rely on 1.")
    cloud = np.random.default_rng(0).normal(size=(300, 3))
    alone = select_k(cloud, 8, random_state=0)
    assert alone.remarks == ("No clusters stand out.",)
    assert not alone.advice[0].startswith("Read the remarks")
    assert one.advice[0].startswith("Read the remarks")


@pytest.mark.parametrize("n", [10, 25, 100])
@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_clear_clusters_are_found_and_sure(n, k):
    X, _ = blobs(k, n=n, gap=15.0)
    found = select_k(X, random_state=0)
    assert found.k == k
    assert found.confidence.loc[k, "agreement"] > 0.7
