import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import blobs
from edfkmeans import (
    EDFKMeans,
    LogTransformer,
    compare,
    degrees_of_freedom,
    fit_path,
    score,
    select_k,
    silhouettes,
)


# Every check there is, and none is expected to fail. (Some give rows of zeros, which have no
# direction: metric="cosine" has its own tests in rows/test_directions.py.)
@parametrize_with_checks(
    [
        EDFKMeans(),
        EDFKMeans(n_init=2),
        EDFKMeans(k_max=3, method="naive", fits="paper"),
        LogTransformer(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def words(function):
    """The parameters of a function that have a default, and these."""
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def test_the_estimator_and_the_functions_have_the_same_words():
    ours, theirs = words(EDFKMeans), words(select_k)
    assert ours.items() <= theirs.items()
    # What is asked of the rows again, not of a model, is not k-means, or is given to `fit`.
    others = {"resample", "path", "progress", "clusterer", "sample_weight"}
    assert theirs.keys() - ours.keys() == others
    for function in (fit_path, compare):
        both = words(function).keys() & theirs.keys()
        assert both >= {"k_max", "fits", "n_init", "clusterer", "metric", "random_state", "n_jobs"}
        assert all(words(function)[name] == theirs[name] for name in both)
    for function in (score, degrees_of_freedom):
        assert {"metric", "random_state", "n_jobs"} <= words(function).keys()
    for function in (score, silhouettes, degrees_of_freedom):
        assert list(inspect.signature(function).parameters)[:2] == ["X", "labels"]


def test_score_is_that_of_kmeans(wine):
    model = EDFKMeans(k_max=6, random_state=0).fit(wine)
    assert model.score(wine) == pytest.approx(-model.inertia_, rel=1e-12)
    theirs = KMeans(model.n_clusters_, init=model.cluster_centers_, n_init=1).fit(wine)
    theirs.cluster_centers_ = model.cluster_centers_
    assert model.score(wine[:50] + 0.1) == pytest.approx(theirs.score(wine[:50] + 0.1), rel=1e-9)


def test_score_of_rows_elsewhere(wine):
    da = pytest.importorskip("dask.array")
    ds = pytest.importorskip("pyarrow.dataset")
    pa = pytest.importorskip("pyarrow")
    model = EDFKMeans(k_max=4, random_state=0).fit(wine)
    batch = pa.table({f"x{j}": wine[:, j] for j in range(13)})
    for X in (da.from_array(wine, chunks=(50, 13)), ds.dataset(batch)):
        assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-9)


def test_grid_search_cross_validation_and_pipelines():
    X, truth = blobs(3)
    pipeline = make_pipeline(StandardScaler(), EDFKMeans(random_state=0))
    parts = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(pipeline, X, cv=parts).max() < 0
    search = GridSearchCV(pipeline, {"edfkmeans__k_max": [2, 4]}, cv=parts).fit(X)
    assert search.best_params_ == {"edfkmeans__k_max": 4}
    by_truth = GridSearchCV(
        EDFKMeans(random_state=0), {"k_max": [2, 4]}, cv=parts, scoring="adjusted_rand_score"
    ).fit(X, truth)
    assert by_truth.best_score_ == 1
    features = make_pipeline(EDFKMeans(random_state=0), LogisticRegression()).fit(X, truth)
    assert features.score(X, truth) == 1


def test_what_is_learned_has_the_names_of_scikit_learn(wine):
    model = EDFKMeans(k_max=4, random_state=0).fit(
        pd.DataFrame(wine, columns=list("abcdefghijklm"))
    )
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert learned == {
        "n_clusters_", "labels_", "cluster_centers_", "inertia_", "selection_", "n_features_in_",
        "feature_names_in_",
    }  # fmt: skip
    assert not hasattr(model, "partial_fit")
    assert model.fit_predict(wine).shape == (178,)
    assert list(model.get_feature_names_out()) == [
        f"edfkmeans{c}" for c in range(model.n_clusters_)
    ]


def test_fit_is_select_k(wine):
    model = EDFKMeans(k_max=10, random_state=0).fit(wine)
    selection = select_k(wine, 10, random_state=0)
    assert model.n_clusters_ == selection.k
    np.testing.assert_array_equal(model.labels_, selection.labels)
    np.testing.assert_array_equal(model.cluster_centers_, selection.centers)
    assert model.inertia_ == selection.inertia
    pd.testing.assert_frame_equal(model.selection_.table, selection.table)


def test_rows_out_of_all_range_have_a_nearest_centroid():
    X, _ = blobs(3, n=20)
    model = EDFKMeans(4, random_state=0).fit(X)
    directions = model.cluster_centers_ - X.mean(axis=0)
    near = model.predict(X.mean(axis=0) + 1e6 * directions)
    for far in (1e8, 1e20, 1e155, 1e300):
        np.testing.assert_array_equal(model.predict(np.r_[far * directions, X])[:3], near)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_predict_is_the_nearest_centroid(wine, offset):
    model = EDFKMeans(k_max=10, random_state=0).fit(wine + offset)
    np.testing.assert_array_equal(model.predict(wine + offset), model.labels_)
    distances = model.transform(wine + offset)
    assert distances.shape == (178, model.n_clusters_)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    assert (distances.min(axis=1) ** 2).sum() == pytest.approx(model.inertia_, rel=1e-9)


def test_pipeline_clone_pickle_and_names():
    frame = load_wine(as_frame=True).data
    pipeline = make_pipeline(StandardScaler(), EDFKMeans(random_state=0))
    labels = pipeline.fit_predict(frame)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict(frame), labels)
    pipeline = clone(pipeline).set_output(transform="pandas")
    out = pipeline.fit_transform(frame)
    assert list(out.columns) == ["edfkmeans0", "edfkmeans1", "edfkmeans2"]
    model = EDFKMeans(k_max=3).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 13
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"alcohol": "spirit"}))


def test_predict_before_fit():
    with pytest.raises(NotFittedError):
        EDFKMeans().predict(np.zeros((3, 2)))


def test_predict_refuses_bad_data():
    X, _ = blobs(2)
    model = EDFKMeans(k_max=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but EDFKMeans is expecting 3"):
        model.predict(X[:, :2])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(X)
