"""metric="cosine": rows scaled to length one, wherever they are and whoever asks."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from edfkmeans import (
    EDFKMeans,
    KMeansPath,
    Model,
    compare,
    degrees_of_freedom,
    fit_path,
    score,
    select_k,
)
from edfkmeans.profiles import describe
from edfkmeans.rows.directions import unit_rows


def rays(seed=0, n=300, d=5, k=4):
    """k directions, and lengths that say nothing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    rows = 3 * rng.normal(size=(k, d))[truth] + 0.5 * rng.normal(size=(n, d))
    return rows * rng.lognormal(0, 1.5, size=(n, 1)), truth


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_have_length_one_and_their_direction(dtype):
    X = rays()[0].astype(dtype)
    X[0] *= 1e-30
    X[1] *= 1e30
    unit = unit_rows(X)
    assert unit.dtype == dtype
    tolerance = 1e-6 if dtype == np.float32 else 1e-15
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=10 * tolerance)
    np.testing.assert_allclose(unit[2:], normalize(X[2:]), rtol=0, atol=10 * tolerance)
    tiny = unit_rows(np.full((2, 3), 1e-200))
    np.testing.assert_allclose(tiny, 3**-0.5, rtol=1e-15)


def test_everything_is_what_it_is_of_rows_of_length_one():
    X, truth = rays()
    unit, cosine = normalize(X), {"metric": "cosine", "random_state": 0}
    ours, theirs = select_k(X, **cosine), select_k(unit, random_state=0)
    assert ours.k == theirs.k == 4
    assert adjusted_rand_score(truth, ours.labels) == 1
    np.testing.assert_allclose(ours.table, theirs.table, rtol=1e-6, atol=1e-9)
    assert ours.path.metric == "cosine"
    assert ours.to_dict()["metric"] == "cosine"
    assert "metric='cosine'" in repr(ours.path)
    np.testing.assert_allclose(
        score(X, truth, **cosine)["value"], score(unit, truth, random_state=0)["value"], rtol=1e-6
    )
    labels, pilot = ours.labels, ours.path.labels(9)
    np.testing.assert_allclose(
        degrees_of_freedom(X, labels, pilot, metric="cosine").total,
        degrees_of_freedom(unit, labels, pilot).total,
        rtol=1e-9,
    )
    found = compare(X, ["silhouette", "bic"], k_max=8, **cosine).table
    assert list(found["k"]) == list(compare(unit, ["silhouette", "bic"], k_max=8).table["k"])


def test_rows_of_zeros_have_their_numbers_beside_noise():
    X, truth = rays()
    X[10], truth[[0, 7]] = 0, -1
    with (
        pytest.warns(UserWarning, match="taken as noise"),
        pytest.raises(ValueError, match=r"none: 10 \(counted from 0\)"),
    ):
        score(X, truth, metric="cosine")


def test_the_inertia_is_that_of_cosines():
    X, _ = rays()
    path = fit_path(X, 6, metric="cosine", random_state=0)
    cosines = normalize(X) @ normalize(X).T
    for k in (2, 4, 6):
        labels, total = path.labels(k), 0.0
        for c in range(k):
            own = labels == c
            total += (1 - cosines[np.ix_(own, own)]).sum() / own.sum()
        assert path.inertia[k - 1] == pytest.approx(total, rel=1e-9)


def test_zero_rows_are_refused_with_advice():
    X, truth = rays()
    X[[3, 7]] = 0
    for door in (
        lambda: select_k(X, metric="cosine"),
        lambda: EDFKMeans(metric="cosine").fit(X),
        lambda: score(X, truth, metric="cosine"),
    ):
        with pytest.raises(
            ValueError, match=r"2 rows hold nothing but zeros.*3, 7.*Leave out such rows"
        ):
            door()


@pytest.mark.parametrize("engine", ["dask", "arrow"])
def test_zero_rows_elsewhere_are_told_by_their_numbers(engine):
    X, _ = rays()
    pa = pytest.importorskip("pyarrow")

    def brought():
        if engine == "dask":
            return pytest.importorskip("dask.array").from_array(X, chunks=(40, X.shape[1]))
        table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
        return lambda: iter(table.to_batches(max_chunksize=40))

    X[[51, 93]] = 0
    with pytest.raises(ValueError, match=r"row 51 \(counted from 0.*\), the first of 2 such rows"):
        select_k(brought(), metric="cosine")
    X[70, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity or nothing but zeros in 3 rows"):
        select_k(brought(), metric="cosine")


def test_a_path_knows_its_metric(tmp_path):
    X, _ = rays()
    path = fit_path(X, 8, metric="cosine", random_state=0)
    found = select_k(X, path=path)
    assert found.k == 4
    assert np.isfinite(found.with_k(3, X).ambiguity).all()
    found.to_html(tmp_path / "page.html", X)
    assert "only directions count" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert describe(found, X).k == 4
    with pytest.raises(ValueError, match=r"metric='cosine', but path was fitted with"):
        select_k(X, path=fit_path(X, 8, random_state=0), metric="cosine")
    given = KMeansPath.from_labels(X, {k: path.labels(k) for k in range(2, 10)}, metric="cosine")
    np.testing.assert_allclose(given.inertia, path.inertia, rtol=1e-12)
    with pytest.raises(
        ValueError, match=r"metric='cosin' must be one of \['euclidean', 'cosine'\]"
    ):
        fit_path(X, metric="cosin")


def test_the_estimator_and_the_model_scale_new_rows():
    X, _ = rays()
    model = EDFKMeans(metric="cosine", random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(1000 * X), model.labels_)
    np.testing.assert_allclose(model.transform(1000 * X), model.transform(X), rtol=1e-9)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-9)
    kept = Model.of(model.selection_)
    again = Model.from_json(kept.to_json())
    assert again.metric == "cosine"
    assert json.loads(kept.to_json())["version"] == 2
    np.testing.assert_array_equal(again.assign(7 * X)["cluster"], model.labels_)


@pytest.mark.parametrize("engine", ["dask", "arrow"])
def test_rows_elsewhere(engine):
    X, _ = rays()
    if engine == "dask":
        table = pytest.importorskip("dask.array").from_array(X, chunks=(120, 5))
    else:
        pa = pytest.importorskip("pyarrow")
        columns = pa.table({f"x{j}": X[:, j] for j in range(5)})
        table = pytest.importorskip("pyarrow.dataset").dataset(columns)
    here = fit_path(X, 6, metric="cosine", random_state=0)
    there = fit_path(table, 6, metric="cosine", random_state=0)
    np.testing.assert_allclose(there.inertia, here.inertia, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(there.labels(4)), here.labels(4))


def test_wide_rows_are_searched_among_components():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 1500)
    X = rng.normal(size=(6, 120))[truth] + 0.9 * rng.normal(size=(1500, 120))
    found = select_k(X, metric="cosine", random_state=0)
    assert found.k == 6
    assert adjusted_rand_score(truth, found.labels) > 0.99
    direct = fit_path(normalize(X), random_state=0)
    np.testing.assert_allclose(found.path.inertia, direct.inertia, rtol=3e-3)
    assert (np.diff(found.path.inertia) < 0).all()
    theirs = KMeans(6, n_init=10, random_state=0).fit(normalize(X))
    assert found.path.inertia[5] <= theirs.inertia_ * (1 + 1e-9)
    # A longer path has the same fits as far as the usual one goes.
    longer = fit_path(X, 33, metric="cosine", random_state=0)
    np.testing.assert_array_equal(
        longer.inertia[:31], fit_path(X, metric="cosine", random_state=0).inertia
    )


def test_the_command(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from edfkmeans.cli import app

    X, truth = rays()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(truth=truth)
    frame.to_csv(tmp_path / "rays.csv", index=False)
    file, options = str(tmp_path / "rays.csv"), ["--metric", "cosine", "--drop", "truth"]
    model = str(tmp_path / "model.json")
    done = CliRunner().invoke(
        app, ["select", file, *options, "--json", "-", "--model", model, "--k-max", "8"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["k"], found["metric"]) == (4, "cosine")
    assert "Columns as they are (--scale none)." in found["notes"]
    assert any("only directions count" in note for note in found["notes"])
    labels = str(tmp_path / "labels.csv")
    done = CliRunner().invoke(app, ["assign", model, file, "--labels", labels])
    assert done.exit_code == 0, done.output
    assert adjusted_rand_score(truth, pd.read_csv(labels)["cluster"]) == 1
    done = CliRunner().invoke(
        app,
        ["compare", file, "--metric", "cosine", "--truth", "truth", "--criterion", "silhouette"],
    )
    assert done.exit_code == 0, done.output
    assert "silhouette" in done.stdout
