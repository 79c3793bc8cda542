import pickle
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, BisectingKMeans
from sklearn.metrics import silhouette_score

import naive
from conftest import blobs, standardise
from edfkmeans import KMeansPath, degrees_of_freedom, fit_path, plots, select_k
from edfkmeans.criteria import rules
from edfkmeans.profiles import describe


def test_selection_is_the_equations_end_to_end(wine):
    """Everything after the fits, by the loops."""
    path = fit_path(wine, k_max=6, fits="paper", random_state=1)
    selection = select_k(wine, path=path, method="paper")
    raw = [
        naive.degrees_of_freedom(wine[:, :], path.labels(k), path.labels(7)) for k in range(1, 7)
    ]
    dof = naive.smooth(raw, 13)
    curve = naive.bic(path.inertia[:6], dof, 178, 13)
    np.testing.assert_allclose(selection.table["dof_raw"], raw, rtol=1e-10)
    np.testing.assert_allclose(selection.table["dof"], dof, rtol=1e-10)
    np.testing.assert_allclose(selection.table["bic"], curve, rtol=1e-12)
    assert selection.k == naive.rule_paper(curve)


@pytest.mark.parametrize("fits", ["best", "paper"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_finds_obvious_clusters(k, fits):
    X, truth = blobs(k, n=60)
    selection = select_k(X, fits=fits, random_state=0)
    assert selection.k == k
    assert len(set(zip(selection.labels, truth, strict=True))) == k
    assert selection.centers.shape == (k, 3)
    assert selection.inertia == selection.table.loc[k, "inertia"]


def test_table_and_candidates(wine):
    selection = select_k(wine, method="paper", random_state=0)
    table = selection.table
    assert list(table.index) == list(range(1, 31))
    assert table.index.name == "k"
    assert list(table.columns) == ["inertia", "dof_raw", "dof", "bic"]
    assert table.loc[1, "dof"] == table.loc[1, "dof_raw"] == 13
    assert selection.candidates
    for candidate in selection.candidates:
        around = table["bic"].reindex([candidate.k - 1, candidate.k + 1]).min()
        assert candidate.bic == table.loc[candidate.k, "bic"] <= around
        assert candidate.distance == pytest.approx(candidate.bic - table.loc[selection.k, "bic"])
    bics = [candidate.bic for candidate in selection.candidates]
    assert bics == sorted(bics)
    assert selection.k not in [candidate.k for candidate in selection.candidates]


def test_repr_tells_the_answer_and_the_runners_up(wine):
    selection = select_k(wine, method="paper", random_state=0)
    text = repr(selection)
    assert text.startswith("Selection: k = 3 of 1..30 (n=178, d=13, method='paper', rule='paper')")
    assert f"k = {selection.candidates[0].k}: higher BIC (+" in text
    one = select_k(np.random.default_rng(0).normal(size=(40, 1)), k_max=1)
    assert repr(one).endswith("no other candidate")


def test_remarks_say_when_k_max_was_reached():
    X, _ = blobs(5)
    selection = select_k(X, k_max=3, random_state=0)
    assert selection.k == 3
    assert selection.remarks == (
        "k_max = 3 was reached: try a larger k_max (in the terminal --k-max 6).",
    )
    assert select_k(X, random_state=0).remarks == ()


def test_naive_method_counts_centroids_only(wine):
    selection = select_k(wine, method="naive", random_state=0)
    np.testing.assert_array_equal(selection.table["dof"], 13.0 * np.arange(1, 31))
    assert selection.k > select_k(wine, random_state=0).k


def test_rules_differ_where_one_cluster_has_the_lowest_bic():
    X = np.random.default_rng(0).normal(size=(500, 2))
    path = fit_path(X, random_state=0)
    paper = select_k(X, path=path, method="paper")
    r_package = select_k(X, path=path, method="paper", rule="r-package")
    assert paper.table["bic"].idxmin() == 1
    assert r_package.k == 1
    assert r_package.remarks == ()
    assert "k = 1 has the lowest BIC of all: there may be no clusters" in repr(paper)
    assert paper.rule == "paper"
    assert r_package.rule == "r-package"


@pytest.mark.parametrize("method", ["combined", "paper", "naive"])
def test_a_shorter_k_max_on_the_same_path(method, wine):
    path = fit_path(wine, k_max=12, random_state=0)
    short = select_k(wine, k_max=6, path=path, method=method, random_state=0)
    labels = {k: path.labels(k) for k in range(1, 8)}
    own = KMeansPath.from_labels(wine, labels)
    assert short.k_max == short.path.k_max == 6
    pd.testing.assert_frame_equal(
        short.table, select_k(wine, path=own, method=method, random_state=0).table
    )


def test_the_judge_sees_the_whole_path_whatever_k_max(wine):
    path = fit_path(wine, k_max=12, random_state=0)
    whole = select_k(wine, path=path, random_state=0)
    short = select_k(wine, k_max=6, path=path, random_state=0)
    assert short.path is path
    assert (short.k_max, short.path.k_max) == (6, 12)
    pd.testing.assert_frame_equal(short.table, whole.table.loc[:6])


def test_same_seed_same_answer_in_another_process_and_with_other_threads(wine):
    script = (
        "from sklearn.datasets import load_wine; from edfkmeans import select_k;"
        "X = load_wine().data; X = (X - X.mean(0)) / X.std(0);"
        "s = select_k(X, random_state=7, n_jobs={});"
        "print(s.k, s.table.to_numpy().tobytes().hex(), s.labels.tobytes().hex())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script.format(jobs)], capture_output=True, text=True, check=True
        ).stdout
        for jobs in (1, 2, 2)
    ]
    assert len(runs[0]) > 1000
    assert runs[0] == runs[1] == runs[2]


def test_selection_pickles(wine):
    selection = select_k(wine, k_max=6, random_state=0)
    again = pickle.loads(pickle.dumps(selection))
    pd.testing.assert_frame_equal(again.table, selection.table)
    assert again.k == selection.k


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"method": "magic"},
            r"method='magic' must be one of \['judge', 'combined', 'paper', 'naive'\]",
        ),
        (
            {"method": "paper", "rule": "magic"},
            r"rule='magic' must be one of \['paper', 'r-package', 'lowest'\]",
        ),
        ({"method": "naive", "rule": ["paper"]}, "rule=.* must be one of"),
        ({"rule": "paper"}, "rule='paper' is for methods 'paper' and 'naive'; method='judge' has"),
        ({"method": "combined", "rule": "paper"}, "method='combined' has its own"),
        ({"k_max": 177}, "pilot of 178 clusters, which fits the 178 distinct rows of X without"),
        ({"k_max": 178}, r"k_max=178 needs at least 179 distinct rows; X has 178\. Lower k_max"),
        ({"path": 5}, "path is a int, not a KMeansPath"),
    ],
)
def test_bad_options(wine, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        select_k(wine, n_init=1, **options)


def test_path_of_other_data(wine):
    path = fit_path(wine, k_max=4, random_state=0)
    with pytest.raises(ValueError, match="path was fitted to 178 rows and 13 varying columns"):
        select_k(wine[:100], path=path)
    with pytest.raises(ValueError, match=r"sum of squares of .* Give the X of the path"):
        select_k(wine * 2, path=path)
    with pytest.raises(ValueError, match="the rows of X are others, or in another order"):
        select_k(wine[::-1], path=path)
    for other in (wine + 100, wine[:, ::-1], -wine + 1):
        with pytest.raises(ValueError, match="fitted to other rows than those of X: their"):
            select_k(other, path=path)
    with pytest.raises(ValueError, match=r"k_max=9 is more than path\.k_max=4"):
        select_k(wine, k_max=9, path=path)


def test_the_same_data_in_single_precision_belong_to_a_path(wine):
    X = np.column_stack([wine[:, :2] * 0.1 + [48.1, 11.5], np.full(len(wine), 1_700_000_001.0)])
    for same in (X, X[:, :2], X[:, :2] + 1e4):
        found = select_k(same, 5, random_state=0)
        assert found.with_k(2, same.astype(np.float32)).k == 2
        assert describe(found, same.astype(np.float32)).k == found.k


def test_plot_returns_the_axes_it_was_given(wine):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    selection = select_k(wine, k_max=10, method="combined", random_state=0)
    _, ax = pyplot.subplots()
    assert selection.plot(ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), selection.table["bic"])
    assert f"k = {selection.k}" in [text.get_text() for text in ax.texts]
    assert selection.plot() is not ax
    judged = select_k(wine, k_max=10, random_state=0)
    _, own = pyplot.subplots()
    assert judged.plot(ax=own) is own
    assert own.get_ylabel() == "expected agreement"
    pyplot.close("all")


# Mammography, published as 4, is not here: 4 and 3 are level (31 to 29 over sixty seeds).
PUBLISHED = {"iris": 3, "wine": 3, "seeds": 3, "glass": 4, "breast_cancer": 4, "votes": 4}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_k_on_the_papers_fits(name, benchmark_folder):
    X = pd.read_csv(benchmark_folder / f"{name}.csv.gz").filter(regex=r"^f\d+$")
    X = standardise(X)
    ks = [select_k(X, method="paper", fits="paper", random_state=seed).k for seed in range(20)]
    assert Counter(ks).most_common(1)[0][0] == PUBLISHED[name]


def test_the_default_says_one_where_there_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(300, 3))
    selection = select_k(X, random_state=0, resample=True)
    assert selection.k == 1
    assert selection.resamples.idxmax() == 1
    assert selection.confidence.loc[1, "agreement"] > 0.5
    assert selection.remarks[0] == "No clusters stand out."
    assert selection.headline.startswith("1 cluster; ")
    assert not selection.ambiguity.any()
    assert set(selection.labels) == {0}


def test_combined_says_one_where_there_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(300, 3))
    selection = select_k(X, method="combined", random_state=0, resample=True)
    assert selection.k == 1
    assert selection.resamples[1] >= 0.9
    assert "No clusters stand out" in selection.remarks[0]
    assert not selection.candidates  # nothing stands out


@pytest.mark.parametrize("n, d", [(300, 2), (400, 5), (1000, 10)])
def test_one_gaussian_cloud_is_one_cluster(n, d):
    X = np.random.default_rng(1).normal(size=(n, d))
    assert select_k(X, random_state=0).k == 1


def test_combined_in_its_parts(wine):
    path = fit_path(wine, random_state=0)
    selection = select_k(wine, path=path, method="combined", random_state=0)
    table = selection.table
    assert selection.k == 3
    assert selection.method == "combined"
    assert selection.rule is None
    assert selection.confidence is None
    assert selection.as_good == (3,)
    assert selection.structure.share == 1 / 20
    for k in (2, 5, 30):
        assert table.loc[k, "silhouette"] == pytest.approx(
            silhouette_score(wine, path.labels(k)), abs=1e-12
        )
        dof = degrees_of_freedom(wine, path.labels(k), path.labels(31), method="exact")
        assert table.loc[k, "dof_raw"] == pytest.approx(dof.total, rel=1e-5)
    residual = wine - path.centers(31)[path.labels(31)]
    w = np.linalg.eigvalsh(residual.T @ residual)
    columns = np.sqrt(13 * w.sum() ** 2 / (w**2).sum())
    bic = 178 * columns * np.log(table["inertia"]) + np.log(178 * columns) * table["dof"]
    np.testing.assert_allclose(table["bic"], bic, rtol=1e-9)
    k, candidates = rules.combined(
        table["bic"].to_numpy(),
        table["silhouette"].to_numpy(),
        table["silhouette_reference"].to_numpy(),
    )
    assert [k, *(c.k for c in selection.candidates)] == candidates
    exact = degrees_of_freedom(wine, path.labels(3), path.labels(31), method="exact")
    np.testing.assert_array_equal(selection.ambiguity, exact.per_point)


@pytest.mark.parametrize("method", ["judge", "combined"])
def test_resamples_and_words(method, wine):
    selection = select_k(wine, method=method, resample=True, random_state=0)
    shares = selection.resamples
    assert shares.index.name == "k"
    assert shares.sum() == pytest.approx(1)
    assert selection.k == 3
    told = f"chosen in {100 * shares.get(3, 0.0):.0f} % of 20 resamples"
    assert selection.headline.endswith(f"; {told}")
    assert selection.summary.startswith(selection.headline)
    runner_up = selection.candidates[0]
    assert f". Runner-up k = {runner_up.k}: {runner_up.reason}" in selection.summary
    often = [candidate.k for candidate in selection.candidates]
    assert set(shares.index) <= {3, *often}
    share = f"chosen in {100 * shares.get(runner_up.k, 0.0):.0f} % of resamples"
    assert runner_up.reason.endswith(share)
    assert f"chosen in 20 resamples: k = {shares.idxmax()}: " in repr(selection)
    again = select_k(wine, method=method, resample=True, random_state=0, n_jobs=1)
    pd.testing.assert_series_equal(shares, again.resamples)


def test_the_reasons_of_combined_tell_the_bic(wine):
    selection = select_k(wine, method="combined", random_state=0)
    assert "higher BIC (+" in selection.candidates[0].reason
    assert selection.candidates[0].agreement is None
    assert selection.resamples is None


def test_clear_clusters_are_found_in_nearly_every_resample():
    clear = select_k(blobs(4)[0], resample=True, random_state=0, k_max=8)
    assert clear.resamples[4] >= 0.95


def test_resamples_of_tiny_data_and_of_a_path(wine):
    tiny = select_k(np.random.default_rng(0).normal(size=(5, 2)), resample=True, random_state=0)
    assert tiny.resamples.sum() == pytest.approx(1)
    path = fit_path(wine, 4, random_state=0)
    found = select_k(wine, path=path, resample=True, random_state=0).resamples
    assert found.sum() == pytest.approx(1)
    own = KMeansPath.from_labels(wine, {k: path.labels(k) for k in range(2, 6)})
    with pytest.raises(ValueError, match="resample=True fits parts of the rows again"):
        select_k(wine, path=own, resample=True)


def test_no_resample_goes_beyond_k_max(wine):
    found = select_k(wine, 2, resample=True, random_state=0)
    assert found.k <= 2
    assert set(found.resamples.index) <= {1, 2}


def test_resampling_has_one_name(wine):
    with pytest.raises(TypeError, match="confidence"):
        select_k(wine, confidence=True)


def test_ambiguous_rows_sit_between_the_clusters():
    X, _ = blobs(2, n=100, gap=5.0)
    middle = X[:100].mean(axis=0) / 2 + X[100:].mean(axis=0) / 2
    selection = select_k(np.r_[X, [middle]], k_max=6, random_state=0)
    assert selection.k == 2
    assert 200 in np.argsort(selection.ambiguity)[-3:]


def test_resamples_where_parts_of_the_rows_hold_too_few_distinct_ones():
    X = np.zeros((60, 1))
    X[:4, 0] = [1.0, 2.0, 3.0, 4.0]  # most parts of the rows miss some of them
    found = select_k(X, k_max=2, resample=True, random_state=0)
    assert found.resamples.sum() == pytest.approx(1)


def test_few_rows_in_clear_groups_are_not_cut_up():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.concatenate([rng.normal((8 * c, 8 * (c % 2)), 1, size=(20, 2)) for c in range(3)])
        assert select_k((X - X.mean(axis=0)) / X.std(axis=0), random_state=0).k == 3


def test_ambiguity_has_no_unit_and_may_be_none():
    X, _ = blobs(2, gap=4.0)
    plain, small = (select_k(s * X, 6, random_state=0, method="paper") for s in (1.0, 2.0**-20))
    assert plain.k == 2
    assert plain.ambiguity.max() > 0.01
    np.testing.assert_array_equal(small.ambiguity, plain.ambiguity)
    # A pilot without residual: nothing to measure with.
    few = np.repeat(np.arange(5.0)[:, None] ** 2, 4, axis=0)
    assert select_k(few, 4, method="naive", random_state=0).ambiguity.tolist() == [0.0] * 20


def test_memory_does_not_grow_with_the_square_of_the_columns():
    X = np.random.default_rng(0).normal(size=(40, 3000))
    X[:20] += 1
    plots.plot_scatter(select_k(X, 4, random_state=0), X)  # load the kernels and matplotlib
    tracemalloc.start()
    found = select_k(X, 4, random_state=0)
    plots.plot_scatter(found, X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * X.nbytes < X.shape[1] ** 2 * 8 / 4


def test_a_k_of_ones_own_keeps_the_evidence(wine):
    found = select_k(wine, 8, random_state=0)
    other = found.with_k(5, wine)
    assert (other.k, other.chosen, other.as_good) == (5, found.k, found.as_good)
    np.testing.assert_array_equal(other.labels, found.path.labels(5))
    np.testing.assert_array_equal(other.centers, found.path.centers(5))
    assert other.inertia == found.path.inertia[4]
    assert other.headline.startswith(f"5 clusters, as asked for (the answer was {found.k}")
    pd.testing.assert_frame_equal(other.table, found.table)
    assert other.candidates[0].k == found.k
    bic = found.table["bic"]
    assert other.candidates[0].distance == pytest.approx(bic[found.k] - bic[5])
    assert 5 not in [candidate.k for candidate in other.candidates]
    back = other.with_k(found.k, wine)
    assert back.headline == found.headline
    np.testing.assert_array_equal(back.ambiguity, found.ambiguity)
    assert np.isnan(found.with_k(5).ambiguity).all()
    assert np.isfinite(other.ambiguity).all()
    assert other.to_dict()["chosen"] == found.k
    for k, message in ((9, "k=9 is more than k_max=8"), (0, "k=0 must be"), (2.5, "k=2.5 must be")):
        with pytest.raises(ValueError, match=message):
            found.with_k(k)
    with pytest.raises(ValueError, match="Give the X of the path"):
        found.with_k(5, wine[::-1])


def test_words_for_how_likely_and_what_to_do_next(wine):
    found = select_k(wine, 8, random_state=0)
    for k in range(1, 9):
        near = round(found.confidence["near"][k], 2)
        words = found.with_k(k).sureness
        assert (words == "very likely") == (near >= 0.9)
        assert (words in ("unlikely", "very unlikely")) == (near < 0.33)
    assert select_k(wine, 4, method="paper").sureness is None
    assert len(found.advice) == 3
    assert "one group" in found.with_k(1).advice[1]
    assert found.to_dict()["advice"] == list(found.advice)
    for near, words in ((0.95, "go on with this one"), (0.4, "but this one is not sure")):
        alone = pd.DataFrame({"agreement": [0.0, 0.9, 0.1, 0.1], "near": near}, index=range(1, 5))
        assert words in replace(found.with_k(2), chosen=2, confidence=alone).advice[0]
    for agreement, words in ((0.88, "k = 2 too, rated about as high"), (0.5, "rated higher")):
        rated = pd.DataFrame({"agreement": [0, 0.9, agreement, 0], "near": 0.5}, index=range(1, 5))
        assert words in replace(found.with_k(3), chosen=2, confidence=rated).advice[0]
    assert "k = 2 too, the answer." in replace(found.with_k(3), chosen=2, confidence=None).advice[0]


def test_remarks_do_not_hide_that_another_k_is_rated_higher():
    X = blobs(3, 40, 2)[0]
    found = select_k(np.column_stack([X, X[:, 0]]), 6, random_state=0)
    assert found.advice[0].startswith("Read the remarks")
    assert "Look at" not in found.advice[0]
    assert found.with_k(6).advice[0].endswith(f"Look at k = {found.k} too, rated higher.")
    unsure = pd.DataFrame({"agreement": 0.1, "near": 0.4}, index=range(1, 7))
    unsure.loc[found.k, "agreement"] = 0.9
    assert "this one is not sure" in replace(found, confidence=unsure).advice[0]


def test_where_another_k_is_asked_for_the_answer_is_no_runner_up(wine):
    found = select_k(wine, 8, random_state=0)
    other = found.with_k(8)
    assert other.candidates[0].k == found.k
    assert f". The answer was k = {found.k}: " in other.to_dict()["summary"]
    aside = replace(found, candidates=other.candidates, chosen=8, k=8)
    assert f". Runner-up k = {found.k}: " in aside.to_dict()["summary"]


def test_of_other_clusterings_the_judge_has_seen_none(wine):
    words = "it has not been tried on"
    for clusterer, told in ((AgglomerativeClustering(), True), (BisectingKMeans(), False)):
        found = select_k(wine, 4, clusterer=clusterer, random_state=0)
        assert any(words in remark for remark in found.remarks) == told
    assert not any(words in remark for remark in select_k(wine, 4, random_state=0).remarks)


def test_methods_that_do_not_say_how_sure_they_are_are_told(wine):
    assert "'paper' does not tell how sure" in select_k(wine, 4, method="paper").advice[0]


def test_columns_have_their_names(wine):
    frame = pd.DataFrame(wine).rename(columns=lambda j: f"c{j}")
    assert select_k(frame, 4, random_state=0).columns[:2] == ("c0", "c1")
    assert select_k(wine, 4, random_state=0).columns[:2] == ("column 1", "column 2")
