"""Any clusterer in place of k-means."""

import json
import threading
import time
import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from threadpoolctl import ThreadpoolController

from conftest import blobs
from edfkmeans import KMeansPath, compare, fit_path, score, select_k, silhouettes
from edfkmeans.fits import clusterer as clusterer_module


class Panic(BaseException):
    """What a panic of Rust arrives as: no Exception."""


class Moody(ClusterMixin, BaseEstimator):
    """K-means, but for some k something else."""

    def __init__(self, n_clusters=2, *, bad=(), how="raise"):
        self.n_clusters = n_clusters
        self.bad = bad
        self.how = how

    def fit_predict(self, X, y=None):
        labels = KMeans(self.n_clusters, n_init=3, random_state=0).fit_predict(X)
        if self.n_clusters in self.bad:
            if self.how == "raise":
                raise FloatingPointError("the matrix is singular\nand more")
            if self.how == "panic":
                raise Panic("left == right")
            labels[labels == self.n_clusters - 1] = 0 if self.how == "fewer" else -1
        if self.how == "writes":
            X[:] = 0
        if self.how == "masked" and self.n_clusters in self.bad:
            return np.ma.array(labels, mask=np.arange(len(labels)) == 0)
        kinds = {"floats": float, "objects": object}
        return labels.astype(kinds.get(self.how, int))


def clusterers():
    kmedoids = pytest.importorskip("kmedoids")
    return [
        KMeans(n_init=3),
        MiniBatchKMeans(n_init=3),
        BisectingKMeans(),
        AgglomerativeClustering(),
        SpectralClustering(gamma=0.1),
        GaussianMixture(covariance_type="spherical", n_init=3),
        kmedoids.KMedoids(2, metric="euclidean"),
        make_pipeline(PCA(2), GaussianMixture(covariance_type="diag", n_init=3)),
    ]


@pytest.mark.parametrize("number", range(8))
def test_every_clusterer_is_fitted_for_every_k(number):
    X, truth = blobs(4)
    clusterer = clusterers()[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some k may fail, with a warning
        found = select_k(X, clusterer=clusterer, random_state=0, n_jobs=2)
    assert found.k == 4
    assert adjusted_rand_score(truth, found.labels) == 1
    name = type(getattr(clusterer, "steps", [("", clusterer)])[-1][1]).__name__
    assert found.path.fits == name
    assert found.path.k_max == 30
    assert not clusterer.__dict__.keys() & {"labels_", "means_"}, "a clone is fitted"


def test_fits_are_those_of_the_estimator(wine):
    path = fit_path(wine, 5, clusterer=GaussianMixture(random_state=7, reg_covar=1e-3))
    for k in range(2, 7):
        own = GaussianMixture(k, random_state=7, reg_covar=1e-3).fit_predict(wine)
        assert adjusted_rand_score(own, path.labels(k)) == 1
    given = KMeansPath.from_labels(wine, {k: path.labels(k) for k in range(2, 7)})
    np.testing.assert_array_equal(path.inertia, given.inertia)


@pytest.mark.parametrize("steps", [(), (TruncatedSVD(2, n_iter=0, n_oversamples=1),)])
def test_same_seed_same_fits_whatever_the_threads(wine, steps):
    clusterer = make_pipeline(*steps, KMeans(n_init=1, init="random"))
    one = fit_path(wine, 8, clusterer=clusterer, random_state=3, n_jobs=1)
    two = fit_path(wine, 8, clusterer=clusterer, random_state=3, n_jobs=2)
    np.testing.assert_allclose(one.inertia, two.inertia, rtol=1e-12)
    other = fit_path(wine, 8, clusterer=clusterer, random_state=4)
    assert (other.inertia != one.inertia).any()


@pytest.mark.parametrize(
    "how, why",
    [
        ("raise", "FloatingPointError: the matrix is singular"),
        ("fewer", "it made 2 clusters"),
        ("noise", "12 rows were left out as noise"),
        ("floats", "12 rows were left out as noise"),
        ("objects", "12 rows were left out as noise"),
        ("masked", "ValueError: what it returns as labels has 1 labels masked. Leave such rows "
         "out, or give them the label -1"),
        ("panic", "Panic: left == right"),
    ],
)  # fmt: skip
def test_single_failures_are_told_and_skipped(how, why, tmp_path):
    X, _ = blobs(3, n=12)
    with pytest.warns(UserWarning, match=r"Moody failed for k = 3, 5, left out") as told:
        path = fit_path(X, 6, clusterer=Moody(bad=(3, 5), how=how), random_state=0)
    assert told[0].filename == __file__
    assert list(path.failed) == [3, 5]
    assert path.failed[3] == why
    assert path.up_to(3).failed == {3: why}
    assert [len(path.sizes(k)) for k in range(1, 8)] == list(range(1, 8))
    for method in ("judge", "combined", "paper", "naive"):
        found = select_k(X, path=path, method=method)
        assert found.k not in (3, 5), "3 is right, and was not to be had"
        assert found.table.loc[[3, 5], "bic"].isna().all()
        assert found.table.loc[[1, 2, 4], "bic"].notna().all()
        assert not {3, 5} & {each.k for each in found.candidates}
        assert any(f"failed for k = 3, 5, left out of the choice, for k = 3: {why}" in remark
                   for remark in found.remarks)  # fmt: skip
        json.dumps(found.to_dict(), allow_nan=False)
    assert not {3, 5} & set(found.as_good)
    found.to_html(tmp_path / "report.html", X)
    found.plot()
    with pytest.raises(ValueError, match=r"k=3 has no clustering: Moody failed"):
        found.with_k(3)
    table = compare(X, path=path, random_state=0).table
    assert not {3, 5} & set(table["k"].dropna())


def test_a_clusterer_that_never_works_is_an_error():
    X, _ = blobs(3, n=12)
    with pytest.raises(ValueError, match=r"failed for every k from 2 to 7.*singular"):
        fit_path(X, 6, clusterer=Moody(bad=range(2, 9)))


def test_an_estimator_may_write_into_its_rows(wine):
    own = wine.copy()
    found = fit_path(wine, 6, clusterer=Moody(how="writes"), n_jobs=2)
    np.testing.assert_array_equal(wine, own)
    assert not found.failed
    np.testing.assert_array_equal(found.inertia, fit_path(wine, 6, clusterer=Moody()).inertia)


@pytest.mark.parametrize(
    "error, told",
    [
        (MemoryError(), r"MemoryError\."),
        (ValueError("Only one. "), r"ValueError: Only one\."),
        (ValueError("No. " * 200), r"ValueError: (No. ){50} \[...\]\."),
    ],
)
def test_what_went_wrong_is_told_in_a_sentence(error, told, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(Moody, "fit_predict", fail)
    X, _ = blobs(3, n=12)
    with pytest.raises(ValueError, match=rf"For k = 2: {told}$"):
        fit_path(X, 6, clusterer=Moody())


def test_distances_in_place_of_rows_are_refused(wine):
    kmedoids = pytest.importorskip("kmedoids")
    with pytest.raises(ValueError, match=r"Give it another metric, e.g. metric='euclidean'"):
        fit_path(wine, clusterer=kmedoids.KMedoids(2))
    with pytest.raises(ValueError, match=r"affinity='precomputed' and takes distances"):
        fit_path(wine, clusterer=SpectralClustering(affinity="precomputed"))


def test_compare_and_score_take_what_a_clusterer_made(wine):
    found = compare(wine, ["bic", "silhouette"], clusterer=AgglomerativeClustering(), k_max=8)
    labels = AgglomerativeClustering(3).fit_predict(wine)
    value = score(wine, labels).loc["silhouette", "value"]
    assert found.curves["silhouette"].values[2] == pytest.approx(value, rel=1e-12)


def test_a_progress_bar_is_shown(wine, capsys, monkeypatch):
    monkeypatch.setattr("edfkmeans._progress.PATIENCE", 0)
    fit_path(wine, 6, clusterer=KMeans(n_init=1), progress=True)
    assert "6/6" in capsys.readouterr().err


def test_what_is_no_clusterer_is_refused(wine):
    for k_max in (GaussianMixture(), GaussianMixture):
        with pytest.raises(TypeError, match=r"clusterer=GaussianMixture\(\), and it is fitted"):
            select_k(wine, k_max)
    with pytest.raises(TypeError, match=r"criteria=KMeans\(\) is an estimator"):
        compare(wine, KMeans())
    with pytest.raises(TypeError, match=r"criteria=KMeans\(\) is an estimator"):
        compare(wine, ["bic", KMeans()])
    for judge in (score, silhouettes):
        with pytest.raises(TypeError, match=r"labels is an estimator, KMeans\(\)"):
            judge(wine, KMeans())
    with pytest.raises(TypeError, match="the class KMeans, but must be an estimator"):
        fit_path(wine, clusterer=KMeans)
    for estimator in (DBSCAN(), PCA(), make_pipeline(PCA(), "passthrough")):
        with pytest.raises(TypeError, match="cannot be asked for k clusters"):
            fit_path(wine, clusterer=estimator)
    with pytest.raises(TypeError, match="must be an estimator"):
        fit_path(wine, clusterer="ward")
    with pytest.raises(ValueError, match="Leave them out"):
        fit_path(wine, clusterer=KMeans(), n_init=3)
    path = fit_path(wine, 5, random_state=0)
    with pytest.raises(ValueError, match="path holds fits already"):
        select_k(wine, clusterer=KMeans(), path=path)
    with pytest.raises(ValueError, match="resample=True"):
        select_k(wine, clusterer=KMeans(), resample=True)


def test_rows_elsewhere_are_refused(wine):
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="needs the rows in memory"):
        fit_path(da.from_array(wine, chunks=(90, 13)), clusterer=KMeans())


class LoadsLate(BaseEstimator):
    """Loads what it needs when it is fitted, as many do."""

    seen: ClassVar[list] = []

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit_predict(self, X, y=None):
        self.seen.append(self.n_clusters)
        if len(self.seen) == 1:
            time.sleep(0.3)
            assert self.seen == [2], "others began before the first was done"
        return np.arange(len(X)) % self.n_clusters


def test_the_first_fit_is_alone_and_no_thread_looks_for_libraries(monkeypatch):
    """A thread that loads a library and one that looks for libraries may wait for each other."""
    threads = []

    class Watched(ThreadpoolController):
        def __init__(self):
            threads.append(threading.current_thread())
            super().__init__()

    monkeypatch.setattr(clusterer_module, "ThreadpoolController", Watched)
    path = fit_path(
        np.random.default_rng(0).normal(size=(60, 2)), 5, clusterer=LoadsLate(), n_jobs=2
    )
    assert threads == [threading.main_thread()]
    assert (path.failed, sorted(LoadsLate.seen)) == ({}, [2, 3, 4, 5, 6])
