"""Weights: whole ones are repeats, equal importances nothing; every engine; repeats held once."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import naive
from conftest import blobs
from edfkmeans import EDFKMeans, KMeansPath, compare, degrees_of_freedom, fit_path, score, select_k
from edfkmeans.engines.memory import open_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import fit_from_centers
from edfkmeans.fits.fit import fit_of_labels
from edfkmeans.fits.path import fit_of_copies
from edfkmeans.fits.starts import drawn_rows
from edfkmeans.rows import look, repeats
from edfkmeans.rows.weights import Tally, Weighing

few = settings(max_examples=5)


@st.composite
def weighted(draw, least=12, most=40):
    """Rows with some structure, labels for 3 clusters and a pilot of 6, and whole weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(least, most)), draw(st.integers(1, 3))
    X = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, n)[:, None]
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    pilot = np.concatenate([np.arange(6), rng.integers(0, 6, n - 6)])
    return X, labels, pilot, rng.integers(1, 5, n)


def importances(w):
    """Turn counts into weights that say the same of how rows compare."""
    return w * 0.37


def same(found, expected, rel=1e-9):
    scale = np.nanmax(np.abs(np.asarray(expected, float)))
    np.testing.assert_allclose(found, expected, rtol=rel, atol=rel * scale)


@given(weighted())
def test_fits_of_labels_equal_loops(case):
    X, labels, _, w = case
    for weights in (w.astype(float), importances(w)):
        fit = fit_of_labels(X, labels.astype(np.int32), 3, weights)
        same(fit.centers, naive.weighted_centroids(X, labels, weights))
        same(fit.sizes, naive.weighted_sizes(labels, weights))
        same(fit.inertia, naive.weighted_inertia(X, labels, weights))


@few
@given(weighted(most=20), st.booleans())
def test_a_descent_ends_in_an_optimum(case, whole):
    X, _, _, w = case
    weights = w.astype(float) if whole else importances(w)
    fit = fit_from_centers(X, X[:4], Threads(1), weights=weights)
    assert naive.is_weighted_optimum(X, fit.labels, list(weights))
    same(fit.centers, naive.weighted_centroids(X, fit.labels, weights))


@given(weighted())
def test_degrees_of_freedom_equal_loops(case):
    X, labels, pilot, w = case
    scaled = w / w.mean()
    for given_weights, weights in ((w, w), (importances(w), scaled)):
        found = degrees_of_freedom(X, labels, pilot, sample_weight=given_weights)
        # Importances are a count only where all are equal.
        same(found.excess, naive.weighted_excess(X, labels, pilot, list(weights)), rel=1e-7)


@pytest.mark.parametrize("method", ["paper", "exact"])
@given(case=weighted())
def test_degrees_of_freedom_of_repeats(method, case):
    X, labels, pilot, w = case
    found = degrees_of_freedom(X, labels, pilot, method=method, sample_weight=w)
    whole = degrees_of_freedom(*(np.repeat(each, w, axis=0) for each in case[:3]), method=method)
    same(found.total, whole.total)
    same(np.repeat(found.per_point, w), whole.per_point)


@few
@given(weighted(least=20))
def test_bootstrap_of_repeats(case):
    X, labels, pilot, w = case
    how = {"method": "bootstrap", "random_state": 0, "precision": 0.5}
    found = degrees_of_freedom(X, labels, pilot, sample_weight=w, **how)
    whole = degrees_of_freedom(*(np.repeat(each, w, axis=0) for each in case[:3]), **how)
    same([found.total, found.error], [whole.total, whole.error], rel=1e-7)
    with pytest.raises(ValueError, match="must be whole numbers"):
        degrees_of_freedom(X, labels, pilot, sample_weight=importances(w), **how)


@few
@given(weighted(least=25), st.integers(0, 9), st.sampled_from(["best", "paper"]))
def test_fits_of_repeats(case, seed, fits):
    X, _, _, w = case
    w[::7] = 0  # rows that are not there
    found = fit_path(X, 6, fits=fits, random_state=seed, n_jobs=1, sample_weight=w)
    whole = fit_path(np.repeat(X, w, axis=0), 6, fits=fits, random_state=seed, n_jobs=1)
    same(found.inertia, whole.inertia)
    assert (found.n_samples, found.n_rows) == (w.sum(), len(X))
    for k in range(1, 8):
        assert found.sizes(k).tolist() == whole.sizes(k).tolist()
        same(found.centers(k), whole.centers(k))
        assert np.repeat(found.labels(k), w).tolist() == whole.labels(k).tolist()
        away = ((X[:, None] - found.centers(k)) ** 2).sum(axis=2)
        assert (away.argmin(axis=1) == found.labels(k))[w == 0].all()


@few
@given(weighted(least=30, most=50), st.sampled_from(["judge", "combined", "paper", "naive"]))
def test_choice_of_repeats(case, method):
    X, _, _, w = case
    found = select_k(X, 5, method=method, random_state=0, n_jobs=1, sample_weight=w)
    whole = select_k(np.repeat(X, w, axis=0), 5, method=method, random_state=0, n_jobs=1)
    told = [name for name in ("agreement", "near") if name in whole.table]
    same(found.table.drop(columns=told), whole.table.drop(columns=told))
    assert found.k == whole.k
    same(np.repeat(found.ambiguity, w), whole.ambiguity, rel=1e-7)


def test_a_row_that_counts_alone_beside_rows_of_weight_0():
    """Where rows are elsewhere, those of weight 0 are in the clusters, too."""
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    table = pytest.importorskip("pyarrow").table
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 1, size=(100, 2)) for m in (0, 7, 14)]).round(4)
    w = rng.integers(0, 4, 300)
    rows = dataset.dataset(table({"a": X[:, 0], "b": X[:, 1]}))
    ours = select_k(X, sample_weight=w, random_state=0).table["dof_raw"]
    same(select_k(rows, sample_weight=w, random_state=0).table["dof_raw"], ours)


@settings(max_examples=4, derandomize=True)
@given(st.integers(0, 999), st.sampled_from(["zeros", "one heavy", "a few heavy"]), st.booleans())
@pytest.mark.parametrize("kind", ["units of all sizes", "long tails", "a far row", "constant"])
def test_choice_of_repeats_of_nasty_data(kind, seed, counts, importance):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(25, 50)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, n)[:, None]
    if kind == "units of all sizes":
        X *= 10.0 ** rng.integers(-8, 9, d)
    elif kind == "long tails":
        X = np.exp(X)
    elif kind == "a far row":
        X[0] += 1e4
    else:
        X = np.column_stack([X, np.full(n, 1e9)])
    w = rng.integers(1, 5, n)
    if counts == "zeros":
        w[rng.random(n) < 0.3] = 0
    elif counts == "one heavy":  # more than all others together
        w[1] = 3000
    else:
        w = np.minimum(rng.geometric(0.05, n), 300)
    if importance:  # zero or equal: these say nothing more than counts of one
        w = np.where(w > 0, 1, 0)
    weights = w * 0.7 if importance else w
    found = select_k(X, 5, random_state=0, n_jobs=1, sample_weight=weights)
    whole = select_k(np.repeat(X, w, axis=0), 5, random_state=0, n_jobs=1)
    same(found.path.inertia, whole.path.inertia)
    told = ["agreement", "near"]
    same(found.table.drop(columns=told), whole.table.drop(columns=told), rel=1e-8)
    assert found.k == whole.k


@pytest.mark.parametrize("kind", ["clusters", "rows alone on their spots"])
def test_every_criterion_of_repeats(kind):
    X, _ = blobs(3, n=15, d=2)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    if kind != "clusters":  # their copies have no distance from their mean
        X = np.exp(X)
        w[X.sum(axis=1).argsort()[-2:]] = 300
    found = compare(X, k_max=5, random_state=0, n_jobs=1, sample_weight=w)
    whole = compare(np.repeat(X, w, axis=0), k_max=5, random_state=0, n_jobs=1)
    assert found.table["k"].tolist() == whole.table["k"].tolist()
    for name, curve in whole.curves.items():
        if name != "judge":  # its trees may turn on the last digit
            same(found.curves[name].values, curve.values)


def test_criteria_say_that_they_see_copies():
    X, _ = blobs(3, n=20)
    own = np.random.default_rng(0).exponential(size=60)
    said = compare(X, ["bic", "davies-bouldin"], k_max=5, random_state=0, sample_weight=own).table
    assert said["remark"].tolist() == ["", "from X, with rows as often as they weigh"]


@few
@given(weighted(least=30))
def test_scores_of_repeats(case):
    X, labels, _, w = case
    found = score(X, labels, random_state=0, n_jobs=1, sample_weight=w)
    whole = score(np.repeat(X, w, axis=0), np.repeat(labels, w), random_state=0, n_jobs=1)
    same(found["value"], whole["value"])


@few
@given(weighted(least=25), st.sampled_from([1, 1.0, 0.5, 3.7]))
def test_weights_that_are_all_equal_change_nothing(case, weight):
    X = case[0]
    plain, found = (
        select_k(X, 5, random_state=0, n_jobs=1, sample_weight=weights)
        for weights in (None, np.full(len(X), weight))
    )
    np.testing.assert_array_equal(found.table, plain.table)
    np.testing.assert_array_equal(found.labels, plain.labels)


@few
@given(weighted(least=25), st.floats(0.01, 100).filter(lambda f: f % 0.25))
def test_only_how_importances_compare_matters(case, factor):
    X, _, _, w = case
    own = importances(w)
    plain, found = (
        select_k(X, 5, method="paper", random_state=0, n_jobs=1, sample_weight=weights)
        for weights in (own, own * factor)
    )
    same(found.table, plain.table)
    assert plain.path.n_samples == len(X)
    same(plain.path.sizes(1), [len(X)])


def test_given_clusterings_and_a_path_with_weights():
    X, labels = blobs(3, n=20, d=2)
    w = np.random.default_rng(1).integers(0, 4, len(X))
    clusterings = {2: np.minimum(labels, 1), 3: labels, 4: labels + (np.arange(60) == 5) * 3}
    w[[0, 5, 25]] = 2
    found = KMeansPath.from_labels(X, clusterings, sample_weight=w)
    repeated = {k: np.repeat(each, w) for k, each in clusterings.items()}
    whole = KMeansPath.from_labels(np.repeat(X, w, axis=0), repeated)
    same(found.inertia, whole.inertia)
    # The path knows its weights.
    one, other = (select_k(X, path=found, sample_weight=own, method="paper") for own in (None, w))
    np.testing.assert_array_equal(one.table, other.table)
    assert one.with_k(2, X).k == 2
    n = w.sum()
    with pytest.raises(ValueError, match=rf"fitted to 60 rows that count as {n} and 2 varying"):
        select_k(X, path=found, sample_weight=w + 1)
    with pytest.raises(ValueError, match=rf"fitted to 60 rows that count as {n}, X has 50\."):
        select_k(X[:50], path=found)
    with pytest.raises(ValueError, match=rf"X has 60 rows that count as {n} and 2.*its weights"):
        select_k(X, path=fit_path(X, 3), sample_weight=w)


@pytest.mark.parametrize(
    "weights, message",
    [
        (np.ones(4), r"sample_weight has shape \(4,\), but X has 60 rows"),
        (np.ones((60, 1)), "Give one weight for each row"),
        (np.r_[-1.0, np.ones(59)], "is -1.0 in row 0"),
        (np.r_[np.ones(59), np.nan], "is nan in row 59"),
        (np.zeros(60), "is zero in every row"),
        (["a"] * 60, "text, not numbers"),
        (["1"] * 60, "text, not numbers"),
        ([{}] * 60, "not numbers: float"),
        (np.full(60, 1e15), "Divide the weights by their mean"),
    ],
)
def test_what_is_no_weight(weights, message):
    X, _ = blobs(3, n=20)
    with pytest.raises(ValueError, match=message):
        fit_path(X, 3, sample_weight=weights)


def test_copies_of_large_counts_and_of_importances(monkeypatch):
    rng = np.random.default_rng(0)
    w = rng.integers(1, 400, 500).astype(float)
    monkeypatch.setattr(look, "SAMPLE", 8000)
    weighing = Weighing.of(Tally.of(w))
    counts = np.bincount(weighing.copies(w), minlength=500)
    due = w * 8000 / w.sum()
    assert (np.abs(counts - np.maximum(due, 1)) <= 1).all()
    # Cut into parts, the copies are the same.
    parts = [weighing.copies(w[:100]), 100 + weighing.copies(w[100:], w[:100].sum())]
    np.testing.assert_array_equal(np.concatenate(parts), weighing.copies(w))
    own = rng.uniform(0.1, 3, 300)
    weighing = Weighing.of(Tally.of(own))
    scaled = own * weighing.scale
    assert scaled.sum() == pytest.approx(300)
    counts = np.bincount(weighing.copies(scaled), minlength=300)
    assert (np.abs(counts - scaled) < 1).all()
    assert counts.sum() == 300


@pytest.mark.parametrize("whole", [True, False])
def test_fits_of_copies_are_those_of_their_rows(whole, monkeypatch):
    monkeypatch.setattr(look, "SAMPLE", 400)
    X, labels = blobs(3, n=30, d=2)
    w = np.random.default_rng(0).integers(5, 90, 90) * (1.0 if whole else 0.37)
    rows = open_rows(X, 0, 1, False, w)
    fit = fit_of_labels(rows.held.values, labels.astype(np.int32), 3, rows.held.weights)
    found = fit_of_copies(rows, fit)
    copies = rows.sample.values
    assert len(copies) == (400 if whole else 90)
    expected = fit_of_labels(copies, labels[rows.spread.copies].astype(np.int32), 3)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.sizes.tolist() == expected.sizes.tolist()
    same(found.centers, expected.centers)
    same(found.inertia, expected.inertia)


def test_a_row_that_outweighs_all_others_leaves_nothing_to_judge():
    X, labels = blobs(3, n=20)
    with pytest.raises(ValueError, match="as often as they weigh, has 1 distinct row and"):
        score(X, labels, sample_weight=np.r_[1e9, np.full(59, 0.5)])


def test_light_clusters_without_copies():
    """A far row of tiny importance has a cluster, but no copy."""
    X, _ = blobs(2, n=30, d=2)
    X = np.vstack([X, [[500.0, 500.0]]])
    w = np.r_[np.full(60, 1.0), 1e-3]
    found = select_k(X, 4, random_state=0, n_jobs=1, sample_weight=w)
    assert found.path.sizes(3).min() == pytest.approx(1e-3 * 61 / w.sum())
    assert found.path.sample.sizes(3).min() >= 1


def test_many_counts_are_remarked_on():
    X, _ = blobs(3, n=20)
    w = np.r_[np.full(30, 40), np.full(30, 20)]
    found = select_k(X, 4, random_state=0, n_jobs=1, sample_weight=w)
    assert any("divide them by their mean" in remark for remark in found.remarks)
    w = w / w.mean()
    found = select_k(X, 4, random_state=0, n_jobs=1, sample_weight=w)
    assert not any("divide" in remark for remark in found.remarks)


def test_rows_that_repeat_are_held_once(monkeypatch):
    """The same fits as of the table with equal rows side by side, all else as it was."""
    rng = np.random.default_rng(0)
    different = rng.normal(size=(90, 2)) + 4 * rng.integers(0, 3, 90)[:, None]
    X = np.repeat(different, rng.integers(5, 20, 90), axis=0)
    plain = select_k(X, 6, random_state=0, n_jobs=1)
    monkeypatch.setattr(repeats, "LEAST", 100)
    found = select_k(X, 6, random_state=0, n_jobs=1)
    assert found.path.spread is not None
    assert len(found.path.spread.first) == 90
    told = ["agreement", "near"]
    same(found.table.drop(columns=told), plain.table.drop(columns=told))
    assert found.labels.tolist() == plain.labels.tolist()
    same(found.ambiguity, plain.ambiguity, rel=1e-7)
    order = rng.permutation(len(X))
    shuffled = fit_path(X[order], 6, random_state=0, n_jobs=1)
    assert shuffled.labels(3).tolist() == plain.path.labels(3)[order].tolist()
    assert select_k(X, path=found.path).with_k(2, X).labels.shape == (len(X),)
    assert open_rows(rng.normal(size=(500, 2)), 0, 1, False, None, True).spread is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rows_are_found(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (repeats.LEAST, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.5] *= -1  # zeros of both signs
    found = repeats.find_repeats(X)
    _, first, back = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    assert found.first.tolist() == first[order].tolist()
    assert found.back.tolist() == np.argsort(order)[back.ravel()].tolist()
    assert repeats.find_repeats(X[:-1]) is None


def test_rows_that_only_share_a_digest_are_not_put_together(monkeypatch):
    X = np.tile([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], (50000, 1))
    assert len(repeats.find_repeats(X).first) == 3
    monkeypatch.setattr(repeats, "_digests", lambda raw: np.zeros(len(raw), np.uint64))
    assert repeats.find_repeats(X) is None


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, "counts", "importances"]))
def test_rows_are_drawn_once_each(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    own = rng.exponential(size=n).astype(np.float32)
    own[1:][rng.random(n - 1) < 0.3] = 0
    weights = {
        None: None,
        "counts": rng.integers(1, 9, n) * 1.0,
        "importances": rng.random(n) + 0.1,
    }
    uniforms = np.sort(rng.random(40))
    found = drawn_rows(own, uniforms, weights[kind])
    if kind == "counts":  # each copy once, as if they were written down
        counts = weights[kind].astype(int)
        whole = drawn_rows(np.repeat(own, counts), uniforms, None)
        assert found.tolist() == np.repeat(np.arange(n), counts)[whole].tolist()
    elif kind is None:
        assert found.tolist() == sorted(set(found.tolist()))
    assert (own[found] > 0).all()


def bring(engine, X):
    if engine == "dask":
        da = pytest.importorskip("dask.array")
        return da.from_array(X, chunks=(40, X.shape[1]))
    pa = pytest.importorskip("pyarrow")
    ds = pytest.importorskip("pyarrow.dataset")
    return ds.dataset(pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}))


@pytest.mark.parametrize("engine", ["dask", "arrow"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_elsewhere(engine, dtype):
    X, labels = blobs(3, n=30, d=2)
    X = X.astype(dtype)
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, len(X))
    pilot = rng.integers(0, 8, len(X))
    rel = 1e-9 if dtype == np.float64 else 1e-4
    repeated = bring(engine, np.repeat(X, w, axis=0))
    found = select_k(bring(engine, X), 5, random_state=0, n_jobs=1, sample_weight=w)
    whole = select_k(repeated, 5, random_state=0, n_jobs=1)
    told = ["agreement", "near"]
    same(found.table.drop(columns=told), whole.table.drop(columns=told), rel)
    assert found.k == whole.k
    assert found.path.sizes(3).tolist() == whole.path.sizes(3).tolist()
    assert np.asarray(found.labels).shape == (len(X),)
    own = degrees_of_freedom(bring(engine, X), labels, pilot, sample_weight=w)
    all_rows = degrees_of_freedom(repeated, np.repeat(labels, w), np.repeat(pilot, w))
    same(own.total, all_rows.total, rel)
    in_memory = select_k(X, 5, random_state=0, n_jobs=1, sample_weight=w * 0.3)
    importance = select_k(bring(engine, X), 5, random_state=0, n_jobs=1, sample_weight=w * 0.3)
    same(importance.path.sizes(3), in_memory.path.sizes(3), rel)
    with pytest.raises(ValueError, match="Give one weight for each row"):
        fit_path(bring(engine, X), 5, sample_weight=w[:-1])


def test_the_estimator():
    X, _ = blobs(3, n=20, d=2)
    w = np.random.default_rng(0).integers(0, 4, len(X))
    found = EDFKMeans(5, random_state=0, n_jobs=1).fit(X, sample_weight=w)
    whole = EDFKMeans(5, random_state=0, n_jobs=1).fit(np.repeat(X, w, axis=0))
    same(found.cluster_centers_, whole.cluster_centers_)
    assert found.fit_predict(X, sample_weight=w).tolist() == found.labels_.tolist()
    same(found.score(X, sample_weight=w), whole.score(np.repeat(X, w, axis=0)))
    with pytest.raises(ValueError, match="zero in every row"):
        found.score(X, sample_weight=np.zeros(60))
    assert found.score(X) == pytest.approx(
        -((X - found.cluster_centers_[found.labels_]) ** 2).sum()
    )


def test_weights_are_routed():
    from sklearn import config_context
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, _ = blobs(3, n=20, d=2)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    with config_context(enable_metadata_routing=True):
        model = EDFKMeans(5, random_state=0, n_jobs=1).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        pipe = make_pipeline(scaler, model).fit(X, sample_weight=w)
    assert pipe[-1].selection_.path.n_samples == w.sum()


@pytest.mark.parametrize("engine", ["dask", "arrow"])
def test_what_is_no_weight_elsewhere(engine):
    X, _ = blobs(3, n=20)
    for weights, words in (
        (np.r_[np.ones(59), -1.0], "is -1.0 in row 59"),
        (np.zeros(60), "zero"),
        (["1"] * 60, "not numbers"),
        (2.0, r"has shape \(\)"),
    ):
        with pytest.raises(ValueError, match=words):
            fit_path(bring(engine, X), 3, sample_weight=weights)


def test_many_counts_elsewhere_are_remarked_on():
    X, _ = blobs(3, n=20)
    found = select_k(bring("arrow", X), 4, random_state=0, sample_weight=np.full(60, 12))
    assert any("60 rows count as 720" in remark for remark in found.remarks)


@pytest.mark.parametrize("whole", [True, False])
def test_rows_on_a_gpu(whole):
    pytest.importorskip("cuda_simulator", reason="needs g++, or a GPU and CuPy")
    X, labels = blobs(3, n=30, d=2)
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, len(X)) * (1 if whole else 0.3)
    X[w == 0] *= 50  # does not widen the bounds
    pilot = rng.integers(0, 8, len(X))
    for method in ("paper", "exact"):
        found, held = (
            degrees_of_freedom(X, labels, pilot, method=method, engine=engine, sample_weight=w)
            for engine in ("cuda", None)
        )
        same(found.total, held.total)
        same(found.per_point[w > 0], held.per_point[w > 0])
    # Fits of importances begin with copies, as those of a stream do; with counts these are all.
    others = [bring("arrow", X), X] if whole else [bring("arrow", X)]
    found = select_k(X, 5, random_state=0, n_jobs=1, engine="cuda", sample_weight=w)
    for other in others:
        held = select_k(other, 5, random_state=0, n_jobs=1, sample_weight=w)
        assert (found.k, found.path.n_samples, found.path.n_rows) == (3, held.path.n_samples, 90)
        told = ["agreement", "near"]
        same(found.table.drop(columns=told), held.table.drop(columns=told))
        assert found.labels.tolist() == np.asarray(held.labels).tolist()


def test_an_estimator_and_weights_are_refused_together():
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match="clusterer and sample_weight"):
        fit_path(X, 4, clusterer=KMeans(n_init=1), sample_weight=np.ones(60))


def test_weights_and_directions_go_together():
    X = np.random.default_rng(0).normal(size=(60, 3))
    counts = np.random.default_rng(1).integers(1, 4, 60)
    one = fit_path(X, 5, metric="cosine", sample_weight=counts, random_state=0)
    many = fit_path(np.repeat(X, counts, axis=0), 5, metric="cosine", random_state=0)
    np.testing.assert_allclose(one.inertia, many.inertia, rtol=1e-9)


@pytest.mark.parametrize(
    "weights, said",
    [
        (5e-324 * np.arange(1, 31), "too little to compute with"),
        (np.full(30, 1e308), "by their largest"),
        (np.full(30, 1j), "complex numbers"),
        (np.ma.masked_array(np.ones(30), np.arange(30) == 3), "1 values masked"),
        (np.full(30, "2020-01-01", "M8[D]"), "dates"),
        (np.ones(30, "m8[D]"), "durations"),
        (np.zeros(30, [("a", float)]), "records"),
        ([None, *np.ones(29)], "is nan in row 0"),
        (2.0, r"has shape \(\)"),
        (1e7 ** np.arange(30.0) + 0.5, "X, with rows as often as they weigh, has [123] distinct"),
    ],
)
def test_weights_that_cannot_be_computed_with_are_refused(weights, said):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=said):
        select_k(X, sample_weight=weights)


@pytest.mark.parametrize("engine", ["dask", "arrow"])
def test_masked_weights_are_refused_elsewhere(engine):
    X = np.random.default_rng(0).normal(size=(60, 2))
    weights = np.ma.masked_array(np.ones(60), np.arange(60) < 2)
    with pytest.raises(ValueError, match="2 values masked"):
        fit_path(bring(engine, X), 3, sample_weight=weights)


@pytest.mark.parametrize(
    "kind",
    [
        list,
        lambda w: pd.Series(w, index=np.arange(len(w))[::-1]),
        lambda w: pd.Series(w, dtype="Int64"),
        lambda w: w.astype(np.uint8),
        lambda w: w.astype(object),
        lambda w: np.ma.masked_array(w, False),
        lambda w: pytest.importorskip("pyarrow").chunked_array([w[:7], w[7:]]),
        lambda w: pytest.importorskip("dask.array").from_array(w, chunks=7),
    ],
)
def test_weights_of_many_kinds_are_taken_by_their_order(kind):
    X, _ = blobs(3, n=20)
    w = np.random.default_rng(0).integers(0, 4, 60)
    found, expected = (fit_path(X, 4, sample_weight=each, random_state=0) for each in (kind(w), w))
    np.testing.assert_array_equal(found.inertia, expected.inertia)
    np.testing.assert_array_equal(found.labels(3), expected.labels(3))
