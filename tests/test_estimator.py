import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import blobs
from edfkmeans import EDFKMeans, select_k


@parametrize_with_checks([EDFKMeans(n_init=2), EDFKMeans(k_max=3, method="naive", fits="paper")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_fit_is_select_k(wine):
    model = EDFKMeans(k_max=10, random_state=0).fit(wine)
    selection = select_k(wine, 10, random_state=0)
    assert model.n_clusters_ == selection.k
    np.testing.assert_array_equal(model.labels_, selection.labels)
    np.testing.assert_array_equal(model.cluster_centers_, selection.centers)
    assert model.inertia_ == selection.inertia
    pd.testing.assert_frame_equal(model.selection_.table, selection.table)


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
