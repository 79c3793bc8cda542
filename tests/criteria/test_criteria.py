import subprocess
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

import naive
from conftest import blobs, need, standardise
from edfkmeans import KMeansPath, fit_path, score, select_k
from edfkmeans.criteria import Criterion, Curve, NotApplicable, Work, register, registered
from edfkmeans.criteria import criterion as criterion_module
from edfkmeans.criteria.criterion import judge
from edfkmeans.criteria.distortion import FK, Elbow, Jump
from edfkmeans.criteria.gap import Gap, ReferencePaths, gap
from edfkmeans.criteria.information import Information
from edfkmeans.criteria.resampling import PredictionStrength, Stability, prediction_strength
from edfkmeans.criteria.rules import SE_RULES
from edfkmeans.criteria.separation import CalinskiHarabasz, DaviesBouldin, Silhouette, silhouettes
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.kernels.climb import climb

SETS = {
    "wine": standardise(sklearn.datasets.load_wine().data),
    "iris": sklearn.datasets.load_iris().data,
    "digits": sklearn.datasets.load_digits().data[:400],
    "blobs": blobs(4)[0],
}


@pytest.fixture(scope="module", params=SETS)
def case(request):
    X = SETS[request.param]
    return X, fit_path(X, 8, random_state=0)


def asked(criterion, X, path, n_jobs=2):
    with Threads(n_jobs) as pool:
        return judge(criterion, read_rows(X), path, Work(0, pool))


def test_silhouette_equals_scikit_learn(case):
    X, path = case
    curve = asked(Silhouette(), X, path)
    for k in range(2, 9):
        assert curve.values[k - 1] == pytest.approx(
            metrics.silhouette_score(X, path.labels(k)), abs=1e-12
        )
    assert np.isnan(curve.values[0])
    assert curve.k == 2 + np.argmax(curve.values[1:])
    found = silhouettes(X, path.labels(3), n_jobs=1)
    np.testing.assert_allclose(
        found.per_point, metrics.silhouette_samples(X, path.labels(3)), rtol=0, atol=1e-10
    )
    assert found.n_sampled is None


@given(
    arrays(float, st.tuples(st.integers(3, 60), st.integers(1, 5)), elements=st.integers(-3, 3)),
    st.integers(2, 5),
    st.randoms(use_true_random=False),
)
def test_silhouettes_equal_the_loops(X, k, random):
    labels = [random.randrange(k) for _ in X]
    labels[0], labels[1] = 0, 1
    found = silhouettes(X, labels, n_jobs=2)
    np.testing.assert_allclose(found.per_point, naive.silhouettes(X, labels), atol=1e-12)
    assert found.mean == pytest.approx(np.mean(naive.silhouettes(X, labels)), abs=1e-12)
    encoded = np.unique(labels, return_inverse=True)[1]
    for c, mean in enumerate(found.per_cluster):
        assert mean == pytest.approx(found.per_point[encoded == c].mean(), abs=1e-12)


def test_sampled_silhouettes_keep_small_clusters_and_say_so():
    X, labels = blobs(4, n=2000, gap=4.0)
    X, labels = np.r_[X, X[:7] + 40], np.r_[labels, [4] * 7]  # a small cluster far away
    whole = silhouettes(X, labels)
    part = silhouettes(X, labels, sample_size=1000, random_state=0)
    taken = ~np.isnan(part.per_point)
    assert part.n_sampled == taken.sum()
    assert 1000 <= part.n_sampled <= 1040
    assert taken[labels == 4].all()
    assert part.mean == pytest.approx(whole.mean, abs=0.02)
    np.testing.assert_allclose(part.per_cluster, whole.per_cluster, atol=0.05)
    path = fit_path(X, 6, random_state=0)
    curve = asked(Silhouette(sample_size=1000), X, path)
    assert "sample" in curve.remark
    np.testing.assert_allclose(curve.values[1:], asked(Silhouette(), X, path).values[1:], atol=0.02)


def test_sampling_begins_by_itself_with_many_rows(monkeypatch):
    monkeypatch.setattr("edfkmeans.criteria.silhouettes.MANY_ROWS", 100)
    monkeypatch.setattr("edfkmeans.criteria.silhouettes.SAMPLE", 90)
    X, labels = blobs(3, n=100)
    curve = asked(Silhouette(), X, KMeansPath.from_labels(X, {2: labels > 0, 3: labels}))
    assert "stratified sample of 90" in curve.remark
    # Asked for one clustering, all rows are looked at unless told otherwise.
    assert silhouettes(X, labels).n_sampled is None
    assert silhouettes(X, labels, sample_size=90, random_state=0).n_sampled == 90
    assert silhouettes(X, labels, sample_size=300).n_sampled is None


def test_noise_is_left_out_and_told():
    X, labels = blobs(3)
    noisy = np.where(np.arange(len(X)) % 10 == 0, -1, labels)
    with pytest.warns(UserWarning, match=r"-1 for 12 of 120 rows: taken as noise, as DBSCAN"):
        found = silhouettes(X, noisy)
    inside = noisy >= 0
    assert np.isnan(found.per_point[~inside]).all()
    theirs = metrics.silhouette_samples(X[inside], labels[inside])
    np.testing.assert_allclose(found.per_point[inside], theirs, atol=1e-12)
    with pytest.warns(UserWarning, match="taken as noise"):
        judged = score(X, noisy, random_state=0)["value"]
    pd.testing.assert_series_equal(
        judged, score(X[inside], labels[inside], random_state=0)["value"]
    )
    pilot = 2 * labels + (np.arange(len(X)) % 2)
    with pytest.warns(UserWarning, match="taken as noise"):
        judged = score(X, noisy.astype(float), pilot_labels=pilot)["value"]
    own = score(X[inside], labels[inside], pilot_labels=pilot[inside])["value"]
    pd.testing.assert_series_equal(judged, own)
    with pytest.warns(UserWarning, match="taken as noise"):
        judged = score(X, noisy.astype(object), pilot_labels=pilot)["value"]
    pd.testing.assert_series_equal(judged, own)
    with pytest.raises(ValueError, match="all noise, and no cluster"):
        score(X, np.full(120, -1))
    with pytest.raises(ValueError, match=r"pilot_labels has shape \(5,\)"):
        score(X, labels, pilot_labels=[0, 1, 2, 3, 4])


def test_silhouettes_refuse_one_cluster():
    with pytest.raises(ValueError, match="one cluster"):
        silhouettes(np.eye(4), [0, 0, 0, 0])
    with pytest.raises(ValueError, match="sample_size=1 must be"):
        silhouettes(np.eye(4), [0, 0, 1, 1], sample_size=1)


def test_calinski_harabasz_and_davies_bouldin_equal_scikit_learn(case):
    X, path = case
    for criterion, function in (
        (CalinskiHarabasz(), metrics.calinski_harabasz_score),
        (DaviesBouldin(), metrics.davies_bouldin_score),
    ):
        curve = asked(criterion, X, path)
        expected = [function(X, path.labels(k)) for k in range(2, 9)]
        np.testing.assert_allclose(curve.values[1:], expected, rtol=1e-9)
        best = np.argmax if curve.direction == "max" else np.argmin
        assert curve.k == 2 + best(expected)


def test_jump_and_fk_equal_their_papers(case):
    X, path = case
    n, d = path.n_samples, path.n_features
    inertia = path.inertia[:8].tolist()
    for power in (None, 1.0, 2.5):
        curve = asked(Jump(power=power), X, path)
        jumps = np.array(naive.distortion_jump(inertia, n, d, d / 2 if power is None else power))
        np.testing.assert_allclose(
            curve.values / curve.values.max(), jumps / jumps.max(), rtol=1e-9, atol=1e-12
        )
        assert curve.k == 1 + np.argmax(jumps)
    curve = asked(FK(), X, path)
    np.testing.assert_allclose(curve.values, naive.fk(inertia, d), rtol=1e-12)
    assert curve.k == 1 + np.argmin(curve.values)
    assert asked(FK(below=0.01), X, path).k == 1


def test_jump_stays_in_range_with_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2000)) + 30 * rng.integers(0, 2, size=(60, 1))
    curve = asked(Jump(), X, fit_path(X, 4, random_state=0))
    assert np.isfinite(curve.values).all()
    assert curve.values.max() > 0


def test_gap_equals_the_loops_and_a_hand_worked_case():
    logs = np.array([[3.0, 2.0, 1.0], [3.2, 2.2, 1.4]])
    values, error = gap(np.array([2.0, 0.5, 0.2]), logs)
    np.testing.assert_allclose(values, [1.1, 1.6, 1.0])
    np.testing.assert_allclose(error, np.array([0.1, 0.1, 0.2]) * np.sqrt(1.5))
    rng = np.random.default_rng(0)
    log_w, references = rng.normal(size=7), rng.normal(size=(5, 7))
    for ours, loops in zip(gap(log_w, references), naive.gap(log_w, references), strict=True):
        np.testing.assert_allclose(ours, loops, rtol=1e-12)


R_SCRIPT = """
library(cluster)
X <- as.matrix(read.csv("X.csv", header = FALSE))
labels <- as.matrix(read.csv("labels.csv", header = FALSE))
given <- function(x, k) list(cluster = if (nrow(x) == nrow(labels) && all(x == X)) labels[, k]
                                       else kmeans(x, k, nstart = 3)$cluster)
set.seed(1)
found <- clusGap(X, given, K.max = ncol(labels), B = 60, d.power = 2, spaceH0 = "original",
                 verbose = FALSE)$Tab
curve <- as.matrix(read.csv("curves.csv", header = FALSE))
rules <- c("Tibs2001SEmax", "firstSEmax", "globalSEmax", "firstmax", "globalmax")
half <- ncol(curve) / 2
answers <- apply(curve, 1, function(row) sapply(rules, function(rule)
    maxSE(row[1:half], row[-(1:half)], method = rule)))
write.csv(found, "gap.csv", row.names = FALSE)
write.csv(t(answers), "rules.csv", row.names = FALSE)
"""


def test_gap_and_rules_agree_with_r(tmp_path, wine):
    need("r")
    path = fit_path(wine, 8, random_state=0)
    rng = np.random.default_rng(0)
    curves, errors = rng.normal(size=(200, 8)).cumsum(axis=1), rng.uniform(0, 2, size=(200, 8))
    np.savetxt(tmp_path / "X.csv", wine, delimiter=",", fmt="%.17g")
    labels = np.stack([path.labels(k) + 1 for k in range(1, 9)], axis=1)
    np.savetxt(tmp_path / "labels.csv", labels, delimiter=",", fmt="%d")
    np.savetxt(tmp_path / "curves.csv", np.hstack([curves, errors]), delimiter=",", fmt="%.17g")
    (tmp_path / "gap.R").write_text(R_SCRIPT, encoding="utf-8")
    subprocess.run(["Rscript", "gap.R"], cwd=tmp_path, check=True, capture_output=True)
    answers = np.loadtxt(tmp_path / "rules.csv", delimiter=",", skiprows=1)
    ours = [[rule(c, e) for rule in SE_RULES.values()] for c, e in zip(curves, errors, strict=True)]
    np.testing.assert_array_equal(ours, answers)
    log_w, expected, _, error = np.loadtxt(tmp_path / "gap.csv", delimiter=",", skiprows=1).T
    # R's W is half of the inertia.
    np.testing.assert_allclose(log_w + np.log(2), np.log(path.inertia[:8]), rtol=1e-12)
    given = asked(ReferencesOnly(box="plain"), wine, path)
    np.testing.assert_allclose(given.values, expected + np.log(2), atol=5 * error.max() / 60**0.5)
    curve = asked(Gap(box="plain", n_references=200), wine, path)
    np.testing.assert_allclose(curve.error, error, rtol=0.35)


@dataclass(frozen=True)
class ReferencesOnly(Criterion):
    """Mean log inertia of the references."""

    name: str = "references"
    box: str = "plain"

    def needs(self):
        return (ReferencePaths(self.box, 200),)

    def curve(self, table, path, given):
        return Curve(1, given[self.needs()[0]].mean(axis=0), self.better, "")


@pytest.mark.parametrize("box", ["plain", "principal"])
def test_references_fill_the_box(box):
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X = rng.uniform(-1, 1, size=(4000, 3)) * [9.0, 3.0, 1.0] @ axes
    path = fit_path(X, 2, random_state=0)
    total = np.exp(asked(ReferencesOnly(box=box), X, path).values[0])
    sides = np.ptp(X if box == "plain" else X @ axes.T, axis=0)
    assert total == pytest.approx(4000 * (sides**2).sum() / 12, rel=0.02)


def test_reference_fits_are_good_and_their_inertia_true():
    X = np.random.default_rng(0).uniform(-1, 1, size=(700, 5))
    best = fit_path(X, 12, random_state=0).inertia[:12]
    columns = np.ascontiguousarray(X.T, dtype=np.float32)
    inertia = np.empty((10, 12))
    labels = np.zeros((12, 700), np.int32)
    for run in range(10):
        uniforms = np.sort(np.random.default_rng(run).random((12, 4)), axis=1)
        climb(X, columns, uniforms, 1, inertia[run], labels)
    assert inertia[:, 0] == pytest.approx(best[0])
    excess = inertia / best - 1
    assert excess.min() > -0.01
    assert excess.mean() < 0.02
    assert (np.diff(inertia, axis=1) < 0).all()
    for k in range(1, 13):
        assert naive.inertia(X, labels[k - 1].tolist()) == pytest.approx(inertia[-1, k - 1])


def test_gap_finds_clusters_and_can_say_one_without():
    X, _ = blobs(4, n=60)
    for box in ("plain", "principal"):
        assert asked(Gap(box=box), X, fit_path(X, 10, random_state=0)).k == 4
        cloud = np.random.default_rng(0).uniform(size=(200, 3))
        assert asked(Gap(box=box), cloud, fit_path(cloud, 10, random_state=0)).k == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=40))
def test_prediction_strength_equals_the_loops(pairs):
    labels, predicted = np.array(pairs, np.int32).T
    assert prediction_strength(labels, predicted, 4) == pytest.approx(
        naive.prediction_strength(labels.tolist(), predicted.tolist()), abs=1e-12
    )


def test_resampling_finds_clusters():
    X, _ = blobs(3, n=50)
    path = fit_path(X, 8, random_state=0)
    strength = asked(PredictionStrength(n_splits=5), X, path)
    assert strength.k == 3
    assert strength.values[0] == 1.0
    assert strength.values[2] == pytest.approx(1.0)
    stable = asked(Stability(n_splits=4), X, path)
    assert (stable.k, stable.values.sum()) == (3, pytest.approx(1.0))
    assert stable.values[2] == 1.0
    of = Stability("of", of=Silhouette(), n_splits=4)
    assert (of.can_say_one, stable.k) == (False, 3)
    assert Stability().can_say_one
    with pytest.raises(TypeError, match="of='gap' must be a Criterion"):
        Stability(of="gap")
    assert asked(of, X, path).k == 3


def test_one_cluster_is_foretold():
    X = np.random.default_rng(1).normal(size=(300, 2))
    assert asked(PredictionStrength(n_splits=5), X, fit_path(X, 8, random_state=0)).k == 1


def test_halves_with_few_rows_reach_less_far_or_say_why():
    X = np.random.default_rng(0).normal(size=(14, 2))
    path = fit_path(X, 9, random_state=0)
    values = asked(PredictionStrength(n_splits=3), X, path).values
    assert np.isnan(values[6:]).all()
    assert np.isfinite(values[:5]).all()
    X = np.repeat(np.eye(3), 4, axis=0)
    X[0, 0] = 2.0
    with pytest.raises(NotApplicable, match="half of the rows"):
        asked(PredictionStrength(), X, fit_path(X, 2, random_state=0))


def test_information_criteria(wine):
    path = fit_path(wine, 10, random_state=0)
    n, d = wine.shape
    curves = {name: asked(registered()[name], wine, path) for name in ("bic-naive", "aic-naive")}
    k = np.arange(1, 11)
    np.testing.assert_allclose(
        curves["bic-naive"].values, n * d * np.log(path.inertia[:10]) + np.log(n * d) * k * d
    )
    np.testing.assert_allclose(
        curves["aic-naive"].values, n * d * np.log(path.inertia[:10]) + 2 * k * d
    )
    chosen = select_k(wine, path=path, method="paper")
    assert asked(Information(), wine, path).k == chosen.k
    np.testing.assert_allclose(asked(Information(), wine, path).values, chosen.table["bic"])
    assert asked(Information(rule="lowest", count="naive"), wine, path).k == 1 + np.argmin(
        curves["bic-naive"].values
    )


def test_a_pilot_without_residual_is_said():
    X = np.arange(8.0)[:, None]
    with pytest.raises(NotApplicable, match="lower k_max"):
        asked(Information(), X, fit_path(X, 7, random_state=0))


def test_elbow():
    X, _ = blobs(4, n=50, gap=30)
    assert asked(Elbow(), X, fit_path(X, 12, random_state=0)).k in (2, 3, 4)
    X = np.arange(6.0)[:, None]
    with pytest.raises(NotApplicable, match="no elbow"):
        asked(Elbow(), X, fit_path(X, 2, random_state=0))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Gap(box="round"), r"box='round' must be one of"),
        (lambda: Gap(n_references=1), "n_references=1 must be a whole number, 2 or more"),
        (lambda: Gap(rule="best"), "rule='best' must be one of"),
        (lambda: Jump(power=-1), "power=-1 must be a positive number"),
        (lambda: Silhouette(sample_size=0), "sample_size=0 must be"),
        (lambda: PredictionStrength(least=2), "least=2 must be above 0"),
        (lambda: PredictionStrength(n_splits=0), "n_splits=0 must be"),
        (lambda: Elbow(sensitivity="a"), "sensitivity='a' must be a positive number"),
        (lambda: FK(below=-3), "below=-3 must be a positive number"),
        (lambda: Curve(0, np.ones(3), "min", ""), "k of a curve=0 must be"),
        (lambda: Curve(4, np.ones(3), "min", ""), "k=4 of a curve with values of shape"),
        (lambda: Curve(1, np.ones(3), "low", ""), "direction='low' must be one of"),
        (lambda: register(Gap(name="all")), "name='all' must be"),
        (lambda: Stability(n_splits=0), "n_splits=0 must be"),
        (lambda: Information(price="cheap"), "price='cheap' must be one of"),
        (lambda: Information(count="most"), "count='most' must be one of"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_register(monkeypatch):
    monkeypatch.setattr(criterion_module, "_registered", dict(registered()))
    register(ReferencesOnly(name="mine"))
    assert registered()["mine"] == ReferencesOnly(name="mine")
    register(ReferencesOnly(name="mine", box="principal"))  # a second thought
    with pytest.raises(ValueError, match="'bic' is taken"):
        register(ReferencesOnly(name="bic"))
    with pytest.raises(TypeError, match=r"class \(ReferencesOnly\)"):
        register(ReferencesOnly)
    with pytest.raises(NotImplementedError, match="judges a path"):
        Gap().one(None)


def test_numbers_do_not_depend_on_threads(wine):
    path = fit_path(wine, 6, random_state=0)
    for criterion in registered().values():
        try:
            one, two = (asked(criterion, wine, path, n_jobs) for n_jobs in (1, 2))
        except NotApplicable:
            continue
        assert one.values.tobytes() == two.values.tobytes(), criterion.name


def test_masked_labels_are_refused(wine):
    labels = np.ma.array(np.arange(len(wine)) % 2, mask=np.arange(len(wine)) < 3)
    for asked in (score, silhouettes):
        with pytest.raises(ValueError, match="labels has 3 labels masked"):
            asked(wine, labels)
