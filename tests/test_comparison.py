import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn import metrics

from conftest import blobs
from edfkmeans import compare, fit_path, score, select_k
from edfkmeans.criteria import registered
from edfkmeans.criteria import resampling as resampling_module
from edfkmeans.criteria.gap import Gap
from edfkmeans.criteria.resampling import PredictionStrength, Stability


@pytest.fixture(scope="module")
def everything():
    X, labels = blobs(3, n=40)
    return X, labels, compare(X, k_max=8, labels=labels, random_state=0)


def test_everything_on_one_page(everything):
    found = everything[2]
    assert set(registered()) == set(found.table.index)
    for name in ("judge", "bic", "silhouette", "calinski-harabasz", "gap", "gap-plain", "jump",
                 "prediction-strength", "stability"):  # fmt: skip
        assert found.table.loc[name, "k"] == 3, name
        assert found.table.loc[name, "ari"] == pytest.approx(1.0)
    assert not found.table.loc["silhouette", "can_say_one"]
    assert found.table.loc["gap", "can_say_one"]
    lines = repr(found).splitlines()
    assert len(lines) == len(found.table) + 3 + (found.table["remark"] != "").sum()
    assert max(map(len, lines)) < 100
    for name, curve in found.curves.items():
        assert found.table.loc[name, "value"] == curve.values[curve.k - 1]
        assert curve.values.shape == (8,)


def test_nothing_is_made_twice(monkeypatch):
    fitted = []
    original_fit = resampling_module.fit_rows
    monkeypatch.setattr(
        resampling_module, "fit_rows", lambda *a, **k: (fitted.append(1), original_fit(*a, **k))[1]
    )
    X, _ = blobs(2, n=20)
    compare(X, [PredictionStrength(n_splits=3), Stability(n_splits=3)], k_max=4, random_state=0)
    assert len(fitted) == 6  # two halves of three splits, for both criteria


def test_a_path_is_used_and_checked(everything):
    X, _, found = everything
    again = compare(X, ["bic", "silhouette"], path=found.path)
    assert again.path is found.path
    with pytest.raises(ValueError, match="path was fitted to"):
        compare(X[:-1], path=found.path)
    with pytest.raises(ValueError, match="k_max=5, but path has k_max=8"):
        compare(X, path=found.path, k_max=5)


def test_same_seed_same_fits_as_select_k(wine):
    assert (
        compare(wine, ["bic"], random_state=7).table.loc["bic", "value"]
        == (
            select_k(wine, method="paper", random_state=7).table["bic"][
                compare(wine, ["bic"], random_state=7).curves["bic"].k
            ]
        )
    )


def test_a_criterion_of_ones_own_is_checked(everything):
    X, _, found = everything

    class Odd(Gap):
        def needs(self):
            return ()

        def curve(self, table, path, given):
            return 3

    with pytest.raises(TypeError, match=r"odd\.curve returned 3, but must return a Curve"):
        compare(X, [Odd(name="odd")], path=found.path)


def test_the_edge_is_said():
    X = np.random.default_rng(0).normal(size=(60, 2))
    remarks = compare(X, ["jump", "aic-naive"], k_max=5, random_state=0).table["remark"]
    assert remarks["aic-naive"] == "k_max = 5 was reached"


def test_same_seed_same_answer(everything):
    X, labels, found = everything
    again = compare(X, k_max=8, labels=labels, random_state=0, n_jobs=1)
    columns = ["k", "value", "ari"]
    pd.testing.assert_frame_equal(found.table[columns], again.table[columns], check_exact=True)


def test_two_of_a_kind_need_names():
    X, _ = blobs(2, n=20)
    with pytest.raises(ValueError, match="'gap' twice"):
        compare(X, ["gap", Gap(n_references=5)])
    small = Gap(name="gap-5", n_references=5)
    assert list(compare(X, ["gap", small], k_max=3).table.index) == ["gap", "gap-5"]


@pytest.mark.parametrize(
    "criteria, error, message",
    [
        ("magic", ValueError, r"no criterion 'magic'; there are \['bic'"),
        ([], ValueError, "criteria is empty"),
        ([3], TypeError, "neither a name nor a Criterion"),
        (3, TypeError, "criteria=3 must be"),
        (Gap(), TypeError, "must be 'all', or a list"),
    ],
)
def test_bad_criteria(criteria, error, message):
    with pytest.raises(error, match=message):
        compare(np.eye(9), criteria)


def test_k_max_must_leave_a_choice():
    with pytest.raises(ValueError, match="k_max=1 must be a whole number, 2 or more"):
        compare(np.eye(9), k_max=1)


@pytest.mark.parametrize("rows", [4, 5, 9])
def test_tiny_data_say_what_cannot_be_asked(rows):
    found = compare(np.random.default_rng(0).normal(size=(rows, 2)), random_state=0)
    missing = found.table["k"].isna()
    assert (found.table.loc[missing, "remark"] != "").all()
    assert not missing["silhouette"]
    assert "-" in repr(found) or not missing.any()


def test_nasty_scales_change_nothing():
    X, _ = blobs(3, n=30)
    base = compare(X, k_max=6, random_state=0).table["k"]
    for other in (X * 1e120, X * 1e-120, X + 1e6, X.astype(np.float32)):
        found = compare(other, k_max=6, random_state=0).table["k"]
        pd.testing.assert_series_equal(base, found, check_exact=True)


def test_plot(everything):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = everything[2]
    axes = found.plot()
    assert len(axes) == len(found.curves)
    assert axes[0].get_title(loc="left") == "bic: 3"
    with pytest.raises(ValueError, match="axes has 2 entries"):
        found.plot(axes=axes[:2])
    assert found.plot(axes=list(axes))[0] is axes[0]


def test_progress_is_shown_on_request(capsys, monkeypatch):
    monkeypatch.setattr("edfkmeans._progress.PATIENCE", 0)
    X, _ = blobs(2, n=20)
    compare(X, ["gap"], k_max=3, progress=True)
    assert "comparing: 100%" in capsys.readouterr().err
    compare(X, ["gap"], k_max=3)
    assert capsys.readouterr().err == ""


def test_score_equals_scikit_learn_and_compare(wine):
    truth = sklearn.datasets.load_wine().target
    found = score(wine, truth, random_state=0)
    value = found["value"]
    assert value["silhouette"] == pytest.approx(metrics.silhouette_score(wine, truth), abs=1e-12)
    assert value["davies-bouldin"] == pytest.approx(metrics.davies_bouldin_score(wine, truth))
    assert value["calinski-harabasz"] == pytest.approx(metrics.calinski_harabasz_score(wine, truth))
    assert found["better"].to_dict()["silhouette"] == "higher"
    assert found["better"].to_dict()["bic"] == "lower"
    path = fit_path(wine, 30, random_state=0)
    ours = score(wine, path.labels(3), pilot_labels=path.labels(31))["value"]
    curves = compare(wine, ["bic-naive", "aic-naive"], path=path).curves
    for name, curve in curves.items():
        assert ours[name] == pytest.approx(curve.values[2])
    assert ours["bic"] > ours["bic-naive"]


def test_score_of_one_cluster_and_of_singletons():
    X = np.random.default_rng(0).normal(size=(12, 2))
    one = score(X, ["all"] * 12, random_state=0)["value"]
    assert one["bic"] == pytest.approx(one["bic-naive"])
    assert np.isnan(one["silhouette"])
    assert np.isnan(one["davies-bouldin"])
    each = score(X, range(12), random_state=0)["value"]
    assert each["silhouette"] == 0.0
    assert each[["bic", "bic-naive", "aic-naive"]].isna().all()
    with pytest.raises(ValueError, match="at least 4 are needed"):
        score(np.ones((5, 2)), [0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="labels has shape"):
        score(X, [0, 1])
