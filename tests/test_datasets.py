import warnings

import numpy as np
import pandas as pd
import pytest

from edfkmeans import datasets
from edfkmeans.datasets import SOURCES, load


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv(datasets.FOLDER_VARIABLE, raising=False)


@pytest.fixture
def openml(monkeypatch):
    """Let the tests play OpenML: what they put in is what the client gives."""
    import sklearn.datasets

    store = {}

    def fetch(data_id, **options):
        answer = store[data_id]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return store


class Bunch:
    def __init__(self, data, target):
        self.data, self.target = data, target


@pytest.mark.parametrize("name", SOURCES)
def test_every_set_of_the_folder_is_the_one_it_should_be(name, benchmark_folder):
    found = load(name, benchmark_folder)
    assert found.verified
    assert found.X.shape == (SOURCES[name].n_samples, SOURCES[name].n_features)
    np.testing.assert_allclose(found.X.std(axis=0, ddof=1), 1)
    classes = "/".join(str(len(np.unique(labels))) for labels in found.labels)
    assert classes == SOURCES[name].classes


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_two_sets_need_no_folder(name):
    assert load(name).verified


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    frame = pd.DataFrame({"f0": [1.0, 2, 4], "f1": [3.0, 1, 1], "f2": 5.0, "label": list("aab")})
    frame.to_csv(tmp_path / "seeds.csv", index=False)
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    with pytest.warns(UserWarning, match="seeds has 3 rows, 2 varying columns"):
        found = load("seeds")
    assert not found.verified
    assert found.labels[0].tolist() == ["a", "a", "b"]


def test_messages(tmp_path, openml):
    with pytest.raises(ValueError, match="name='wines' must be one of \\['wine', "):
        load("wines")
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        load("wine", tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"dataset/236.*download=True.*seeds\.csv"):
        load("seeds", tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        load("phoneme", download=True)
    assert "OpenML" not in str(error.value)
    (tmp_path / "seeds.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"needs f0, f1, \.\.\. and label"):
        load("seeds", tmp_path)
    (tmp_path / "seeds.csv").write_text("f0,f1,label\n1,2,a\n2,,b\n", encoding="utf-8")
    with pytest.raises(ValueError, match="seeds has 2 rows and 1 values that are missing"):
        load("seeds", tmp_path)
    openml[1499] = OSError("no network")
    with pytest.raises(FileNotFoundError, match=r"OpenML gave: no network\. The set 'seeds'"):
        load("seeds", download=True)


def test_the_network_is_asked_only_on_request(openml):
    openml[1499] = AssertionError("asked")
    with pytest.raises(FileNotFoundError):
        load("seeds")
    with pytest.raises(AssertionError, match="asked"):
        load("seeds", download=True)


def raw(name, folder):
    """The set as OpenML has it, as far as is known: strings, NaN, other columns."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    features, target = frame.drop(columns="label"), frame["label"].astype(str)
    if name == "votes":
        features = features.apply(
            lambda column: column.map({1.0: "y", 0.0: "n"}).astype("category")
        )
    elif name == "heart":
        features, target = features.replace(-9, np.nan), (frame["label"] * 3).astype(str)
    elif name == "soy_bean":
        features = features.apply(
            lambda column: pd.Categorical.from_codes(column, [f"v{i}" for i in range(10)])
        )
    elif name == "auto":
        features["origin"] = frame["label"] + 1
        target = features.pop("f0")
        features.loc[len(features)] = np.nan
        target.loc[len(target)] = 20.0
    elif name == "pen_digits":
        features = pd.concat([features, features[:100] + 1], ignore_index=True)
        target = pd.concat([target, target[:100]], ignore_index=True)
    return Bunch(features, target)


@pytest.mark.parametrize(
    "name", ["auto", "bank", "heart", "pen_digits", "seeds", "soy_bean", "votes", "yeast_uci"]
)
def test_what_openml_gives_becomes_the_same_set(name, openml, benchmark_folder):
    openml[SOURCES[name].openml] = raw(name, benchmark_folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load(name, download=True)
    assert found.verified
    expected = load(name, benchmark_folder)
    assert (pd.factorize(expected.labels[0])[0] == found.labels[0]).all()
