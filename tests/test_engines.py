"""What every engine must answer. A further one gets its line in ENGINES, and nothing else."""

import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import naive
from conftest import blobs, standardise
from edfkmeans import EDFKMeans, KMeansPath, compare, degrees_of_freedom, fit_path, select_k
from edfkmeans.engines import in_memory, open_rows
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows import look
from edfkmeans.rows.assignments import Nearest
from edfkmeans.simulate import SCHEMES, simulate


@dataclass(frozen=True)
class Engine:
    """How a matrix in memory is brought to an engine, in some number of parts."""

    bring: Callable[[np.ndarray, int], Any]
    parts: tuple[int, ...] = (1,)
    needs: str = "numpy"
    travels: bool = True
    """Whether a result can be asked for labels after it was pickled."""
    slow: bool = False
    """Whether a pass takes so long that few are to be made."""


def to_dask(X, number):
    import dask.array as da

    cuts = np.linspace(0, len(X), number + 1).astype(int)
    return da.from_array(X, chunks=(tuple(np.diff(cuts).tolist()), X.shape[1]))


class to_arrow:  # noqa: N801 - a function that can be pickled
    """What gives some number of record batches when it is called."""

    def __init__(self, X, number):
        cuts = np.linspace(0, len(X), number + 1).astype(int)[1:-1]
        self.parts = np.split(X.astype(str) if X.dtype.kind == "c" else X, cuts)

    def __call__(self):
        import pyarrow as pa

        names = [f"c{j}" for j in range(self.parts[0].shape[1])]
        return (pa.record_batch(list(part.T.copy()), names) for part in self.parts)


def to_spark(X, number):
    from in_spark import table_of

    return table_of(X, number)


def to_cuda(X, number):
    from edfkmeans.engines._cuda_place import OnDevice

    return OnDevice(X)


ENGINES = {
    "memory": Engine(lambda X, number: X),
    "dask": Engine(to_dask, (1, 7, 100), "dask"),
    "arrow": Engine(to_arrow, (1, 7, 100), "pyarrow"),
    "spark": Engine(to_spark, (1, 3), "pyspark", travels=False, slow=True),
    "cuda": Engine(to_cuda, (1,), "cuda_simulator"),
}

DATA = {
    "iris": lambda: sklearn.datasets.load_iris().data,
    "wine": lambda: standardise(sklearn.datasets.load_wine().data),
    "breast cancer": lambda: standardise(sklearn.datasets.load_breast_cancer().data),
    "digits, float32": lambda: sklearn.datasets.load_digits().data[:900].astype(np.float32),
    **{
        scheme: lambda scheme=scheme: simulate(scheme, 5, 4, 400, random_state=1)[0]
        for scheme in SCHEMES
    },
}


@pytest.fixture(params=ENGINES)
def engine(request):
    """Every engine whose package is installed."""
    found = ENGINES[request.param]
    pytest.importorskip(found.needs, reason=f"needs {found.needs}")
    return found


@pytest.fixture
def small_sample(monkeypatch):
    """As if only so many rows fitted in memory."""
    return lambda n: monkeypatch.setattr(look, "SAMPLE", n)


# What rows can be asked.


def sizes(block):
    return len(block.values)


def squares(block):
    return (block.values.astype(float) ** 2).sum(axis=0)


def first_column(block):
    return block.values[:, 0]


class FailsAt:
    """A task that fails at a row."""

    def __init__(self, value):
        self.value = value

    def __call__(self, block):
        if (block.values[:, 0] == self.value).any():
            raise ZeroDivisionError("this row is no good")
        return 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_pass_serves_all_tasks(engine, dtype):
    X = np.random.default_rng(0).normal(3, 2, size=(BLOCK + 700, 3)).astype(dtype)
    X[:, 1] = 4.0
    for parts in engine.parts:
        rows = open_rows(engine.bring(X, parts), seed=0)
        assert (rows.n_samples, rows.n_features) == (len(X), 2)
        assert rows.looked_at == "X"
        values = (X - rows.units.offset) / rows.units.scale
        np.testing.assert_allclose(rows.sample.values, values, atol=1e-6)
        count, total = rows.sums([sizes, squares])
        assert count == len(X)
        np.testing.assert_allclose(total, (rows.sample.values.astype(float) ** 2).sum(axis=0))
        column = rows.per_row(first_column, np.float64)
        np.testing.assert_allclose(np.asarray(column), values[:, 0], atol=1e-6)
        assert rows.total(column) == pytest.approx(np.asarray(column).sum(), abs=1e-6)
        assert rows.sums([]) == []


def test_sums_are_added_in_the_order_of_the_rows(engine):
    X = np.random.default_rng(0).normal(size=(3 * BLOCK + 5, 2))
    for parts in engine.parts:
        data = engine.bring(X, parts)
        first, again = (open_rows(data, seed=0, n_jobs=jobs).sums([squares])[0] for jobs in (1, 4))
        np.testing.assert_array_equal(first, again)


def test_a_failure_names_its_place(engine):
    X = np.arange(40.0).reshape(20, 2)
    for parts in engine.parts[:2]:
        data = engine.bring(X, parts)
        rows = open_rows(data, seed=0)
        bad = rows.sample.values[13, 0]
        with pytest.raises(Exception, match="this row is no good") as told:
            rows.sums([sizes, FailsAt(bad)])
        if not in_memory(data):
            cuts = np.linspace(0, 20, parts + 1).astype(int)
            number = np.searchsorted(cuts, 13, side="right") - 1
            assert f"Chunk {number} of X" in str(told.value)


def test_labels_are_those_of_the_rows(engine):
    X, truth = blobs(3, n=30)
    names = np.array(["a", "b", "c"])[truth]
    for parts in engine.parts[:2]:
        rows = open_rows(engine.bring(X, parts), seed=0)
        again, ((own, k), (other, k_other)) = rows.labelled(labels=names, pilot=truth % 2)
        assert (k, k_other) == (3, 2)
        np.testing.assert_array_equal(np.asarray(again.per_row(own.on, int)), truth)
        np.testing.assert_array_equal(np.asarray(again.per_row(other.on, int)), truth % 2)
        np.testing.assert_array_equal(rows.labels_of_sample(names), truth)
        nearest = Nearest(rows.sample.values[[0, 30, 60]].astype(float))
        np.testing.assert_array_equal(np.asarray(rows.per_row(nearest.on, int)), truth)
        for bad, words in ((names[:5], r"has shape \(5,\)"), (np.full(90, np.nan), "contains NaN")):
            with pytest.raises(ValueError, match=words):
                rows.labelled(labels=bad)


def test_what_a_result_keeps_is_small_and_answers(engine, small_sample):
    small_sample(50)
    X, _ = blobs(2, n=100)
    data = engine.bring(X, engine.parts[-1])
    rows = open_rows(data, seed=3)
    kept = rows.kept()
    assert (kept is None) == in_memory(data) == (rows.sample is rows)
    if kept is not None:
        assert len(rows.sample.values) == 50
        assert rows.looked_at == "a sample of 50 rows"
        assert kept.seed == 3
        shown = kept.shown()
        np.testing.assert_array_equal(shown.to_numpy(), X[shown.index])
        np.testing.assert_array_equal(np.asarray(kept.per_row(sizes_of_rows, int)), np.ones(200))


def sizes_of_rows(block):
    return np.ones(len(block.values))


# The same numbers everywhere.


@pytest.mark.parametrize("name", DATA)
def test_the_same_numbers_as_in_memory(name, engine):
    if engine.slow and name not in ("iris", "digits, float32"):
        pytest.skip("tests/engines asks this engine about all ten sets")
    X = DATA[name]()
    k_max = 8
    whole = select_k(X, k_max, random_state=0)
    for parts in engine.parts:
        found = select_k(engine.bring(X, parts), k_max, random_state=0)
        assert found.k == whole.k
        assert list(found.table.columns) == list(whole.table.columns)
        np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
        np.testing.assert_allclose(found.path.inertia, whole.path.inertia, rtol=1e-9)
        for k in (2, k_max + 1):
            np.testing.assert_array_equal(np.asarray(found.path.labels(k)), whole.path.labels(k))
            np.testing.assert_allclose(found.path.centers(k), whole.path.centers(k), atol=1e-9)
            np.testing.assert_array_equal(found.path.sizes(k), whole.path.sizes(k))
        np.testing.assert_allclose(np.asarray(found.ambiguity), whole.ambiguity, atol=1e-9)
        assert found.reasons == whole.reasons
        assert found.headline == whole.headline


def test_few_clusters_and_none_say_the_same(engine, wine):
    data = engine.bring(wine, engine.parts[-1])
    for k_max in (1, 2, 3):
        whole, found = (select_k(X, k_max, method="paper", random_state=0) for X in (wine, data))
        assert found.k == whole.k
        np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
    one = np.random.default_rng(0).normal(size=(300, 2))
    found = select_k(engine.bring(one, engine.parts[-1]), 6, random_state=0)
    assert found.k == 1
    assert np.asarray(found.ambiguity).tolist() == [0.0] * 300


@pytest.mark.parametrize("method", ["combined", "paper", "naive"])
def test_other_methods_say_the_same(engine, wine, method):
    whole = select_k(wine, 8, method=method, random_state=0)
    found = select_k(engine.bring(wine, engine.parts[-1]), 8, method=method, random_state=0)
    assert found.k == whole.k
    np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)
    if method == "combined":
        np.testing.assert_equal(asdict(found.structure), asdict(whole.structure))


def test_how_sure_is_the_same(engine, wine):
    whole = select_k(wine, 5, resample=True, random_state=0)
    found = select_k(engine.bring(wine, engine.parts[-1]), 5, resample=True, random_state=0)
    pd.testing.assert_frame_equal(found.confidence, whole.confidence)
    pd.testing.assert_series_equal(found.resamples, whole.resamples)
    assert found.summary == whole.summary


def test_every_criterion_says_the_same(engine):
    X, labels = blobs(3, n=60)
    whole = compare(X, k_max=6, labels=labels, random_state=0).table
    found = compare(engine.bring(X, engine.parts[-1]), k_max=6, labels=labels, random_state=0).table
    columns = ["k", "value", "ari", "remark"]
    pd.testing.assert_frame_equal(found[columns], whole[columns], rtol=1e-9)


def test_parts_change_nothing_beyond_the_sample(engine, small_sample):
    small_sample(500)
    X = simulate("scale varies", 6, 4, 1500, random_state=0)[0].astype(np.float32)
    X = np.round(X, 1)  # ties: a rounding error would be seen
    paths = [fit_path(engine.bring(X, parts), 9, random_state=0) for parts in engine.parts]
    for k in range(1, 11):
        for path in paths[1:]:
            np.testing.assert_array_equal(path.labels(k), paths[0].labels(k))
            np.testing.assert_array_equal(path.centers(k), paths[0].centers(k))
            np.testing.assert_array_equal(path.sizes(k), paths[0].sizes(k))
    for path in paths[1:]:
        np.testing.assert_allclose(path.inertia, paths[0].inertia, rtol=1e-12)


def test_numbers_belong_together_beyond_the_sample(engine, small_sample):
    small_sample(600)
    X = simulate("shape varies", 5, 5, 2000, random_state=0)[0]
    data = engine.bring(X, engine.parts[-1])
    path = fit_path(data, 8, random_state=0)
    labels = {k: np.asarray(path.labels(k)) for k in range(1, 10)}
    for k in range(1, 10):
        assert set(labels[k]) == set(range(k))
        assert path.sizes(k).tolist() == naive.sizes(labels[k])
        np.testing.assert_allclose(path.centers(k), naive.centroids(X, labels[k]), atol=1e-12)
        assert path.inertia[k - 1] == pytest.approx(naive.inertia(X, labels[k]), rel=1e-9)
    own = KMeansPath.from_labels(X, labels)
    for method in ("judge", "paper", "combined"):
        whole = select_k(X, path=own, method=method, random_state=0)
        found = select_k(data, path=path, method=method, random_state=0)
        columns = ["inertia", "dof_raw", "dof", "bic"]
        np.testing.assert_allclose(found.table[columns], whole.table[columns], rtol=1e-9)
        if method == "paper":
            assert found.k == whole.k
    assert found.structure.n_rows == (600 if not in_memory(data) else 1000)
    total = np.asarray(found.ambiguity).sum()
    if found.k == whole.k:
        assert total == pytest.approx(whole.ambiguity.sum(), rel=1e-9)
    # Close to what is found in memory, though only a third of the rows was there. Which third is
    # luck: of thirty draws, by three engines, one was 3.7 % above for one k, and 1.2 % on average.
    above = path.inertia / fit_path(X, 8, random_state=0).inertia
    assert above.mean() <= 1.015
    assert above.max() <= 1.05


@pytest.mark.parametrize("method", ["paper", "exact"])
def test_degrees_of_freedom_of_labels(engine, wine, method):
    path = fit_path(wine, 8, random_state=0)
    whole = degrees_of_freedom(wine, path.labels(3), path.labels(9), method=method)
    for parts in engine.parts:
        data = engine.bring(wine, parts)
        found = degrees_of_freedom(data, path.labels(3), path.labels(9), method=method)
        assert found.naive == whole.naive
        assert found.total == pytest.approx(whole.total, rel=1e-9)
        np.testing.assert_allclose(np.asarray(found.per_point), whole.per_point, atol=1e-9)


def test_parts_larger_than_a_block(engine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 1)) + 4 * rng.integers(0, 2, size=(9000, 1))
    labels = (X[:, 0] > 2).astype(int)
    pilot = labels * 2 + (np.abs(X[:, 0] - 2) > 2)
    whole = degrees_of_freedom(X, labels, pilot)
    found = degrees_of_freedom(engine.bring(X, 1), labels, pilot)
    assert found.excess == pytest.approx(whole.excess, rel=1e-9)
    np.testing.assert_allclose(np.asarray(found.per_point), whole.per_point, rtol=1e-9, atol=1e-12)


def test_whole_numbers_and_constant_columns(engine):
    X = np.random.default_rng(0).integers(0, 9, size=(200, 3))
    X[:, 1] = 7
    whole = select_k(X, 6, random_state=0)
    found = select_k(engine.bring(X, engine.parts[-1]), 6, random_state=0)
    assert (found.k, found.path.n_features) == (whole.k, 2)
    np.testing.assert_allclose(found.table, whole.table, rtol=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(12, 90), st.booleans(), st.integers(1, 30))
def test_any_rows_in_any_parts(seed, n, single, parts):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9), 3)
    X = (X + rng.normal(size=(n, 2))).astype(np.float32 if single else np.float64)
    whole = fit_path(X, 3, random_state=0)
    for engine in ENGINES.values():
        if engine.slow:
            continue
        pytest.importorskip(engine.needs, reason=f"needs {engine.needs}")
        path = fit_path(engine.bring(X, parts), 3, random_state=0)
        np.testing.assert_allclose(path.inertia, whole.inertia, rtol=1e-9)
        np.testing.assert_array_equal(np.asarray(path.labels(3)), whole.labels(3))


def test_the_estimator(engine, wine):
    model = EDFKMeans(k_max=8, random_state=0)
    whole = clone(model).fit(wine)
    for parts in engine.parts[:2]:
        data = engine.bring(wine, parts)
        found = clone(model).fit(data)
        assert found.n_clusters_ == whole.n_clusters_
        assert found.n_features_in_ == 13
        np.testing.assert_array_equal(np.asarray(found.labels_), whole.labels_)
        assert type(found.predict(data)) is type(found.labels_)
        np.testing.assert_array_equal(np.asarray(found.predict(data)), whole.labels_)
        np.testing.assert_allclose(
            np.asarray(found.transform(data)), whole.transform(wine), rtol=1e-9, atol=1e-9
        )
        with pytest.raises(ValueError, match=r"expecting 13 features|feature names should match"):
            found.predict(engine.bring(wine[:, :4], parts))


def test_a_result_can_be_pickled(engine, wine):
    data = engine.bring(wine, engine.parts[-1])
    found = select_k(data, 5, random_state=0)
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again.table, found.table)
    if engine.travels:
        assert np.asarray(again.labels).shape == (178,)
        return
    with pytest.raises(ValueError, match="were left there when this was pickled"):
        np.asarray(again.labels)
    assert select_k(data, path=again.path, random_state=0).k == found.k


def test_a_path_belongs_to_its_rows(engine, wine):
    data = engine.bring(wine, engine.parts[-1])
    path = fit_path(data, 8, random_state=1)
    assert "n=178" in repr(path)
    assert select_k(data, 5, path=path).k_max == 5
    with pytest.raises(ValueError, match="another order"):
        select_k(engine.bring(wine[::-1], engine.parts[-1]), path=path)
    with pytest.raises(ValueError, match="k=10 is not on this path"):
        path.labels(10)
    for other in ENGINES.values():
        if other is not engine:
            pytest.importorskip(other.needs, reason=f"needs {other.needs}")
            with pytest.raises(TypeError, match=r"path was fitted to rows (in|on) .* Give the X"):
                select_k(other.bring(wine, other.parts[-1]), path=path)


def test_random_states_of_every_kind(engine, wine):
    data = engine.bring(wine, engine.parts[-1])
    for make in (np.random.RandomState, np.random.default_rng):
        first, second = (fit_path(data, 4, random_state=make(3)).inertia for _ in range(2))
        np.testing.assert_array_equal(first, second)
    assert fit_path(data, 4).k_max == 4


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda X: X[:1], "n_samples=1, but at least 2 rows"),
        (lambda X: X[:5], "k_max=6 needs at least 7 distinct rows; X has 5"),
        (lambda X: X.astype(complex), r"complex numbers|not numbers"),
        (lambda X: np.where(X > 3, np.nan, X), r"contains NaN: 10 values, the first in row 25 \("),
        (lambda X: np.where(X > 3, np.inf, X), "Input X contains infinity"),
    ],
)
def test_what_cannot_be_clustered_is_refused(engine, wine, change, words):
    with pytest.raises(ValueError, match=words):
        fit_path(engine.bring(change(wine), min(3, engine.parts[-1])), 6)
