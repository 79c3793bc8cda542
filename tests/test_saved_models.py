"""Models: new rows get the clusters they would have had, and what does not match is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from conftest import blobs
from edfkmeans import Model, select_k
from edfkmeans.rows.inputs import Input


@pytest.fixture(scope="module")
def found():
    X, _ = blobs(3, n=30)
    frame = pd.DataFrame(np.exp(X / 9), columns=list("abc"))
    logs = np.log(frame)
    scaled = (logs - logs.mean()) / logs.std()
    selection = select_k(scaled, 6, random_state=0)
    model = Model.of(selection, offset=logs.mean(), spread=logs.std(), shift=0.0)
    return frame, selection, model


def test_rows_get_their_clusters_again(found, tmp_path):
    frame, selection, model = found
    model.save(tmp_path / "m.json")
    again = Model.load(tmp_path / "m.json")
    assert (again.k, again.columns, again.sizes.tolist()) == (3, list("abc"), [30, 30, 30])
    shuffled = frame.sample(frac=1, random_state=0)[["c", "a", "b"]]
    answer = again.assign(shuffled.assign(extra="not looked at"))
    assert answer.index.tolist() == shuffled.index.tolist()
    np.testing.assert_array_equal(answer["cluster"].sort_index(), selection.labels)
    np.testing.assert_array_equal(again.assign(frame.to_numpy())["cluster"], selection.labels)
    rows = (np.log(frame) - again.scaling.offset) / again.scaling.spread
    own = rows.to_numpy() - selection.centers[selection.labels]
    np.testing.assert_allclose(again.assign(frame)["distance"], np.linalg.norm(own, axis=1))
    assert again.to_json() == model.to_json()


def test_columns_that_do_not_match_are_refused(found):
    frame, _, model = found
    for given, message in (
        (frame.rename(columns={"b": "bb"}), "X has no column 'b', which the model needs. Did"),
        (frame[["a", "b"]], "X has no column 'c', which the model needs. It has 'a', 'b'"),
        (frame[["a"]], "X has no columns 'b', 'c', which the model needs. It has 'a'"),
        (frame[["a", "b", "c", "b"]], "X has several columns 'b'; the model needs one"),
        (frame.assign(b="text"), "'b' holds what is not a number, such as 'text'"),
        (frame.to_numpy()[:, :2], "X has 2 columns without names, and the model needs 'a', 'b'"),
        (frame.assign(b=np.nan), "Missing or infinite values in 90 rows, in 'b'"),
        (frame.assign(b=-1.0), "'b' holds negative values"),
    ):
        with pytest.raises(ValueError, match=message):
            model.assign(given)


def test_what_is_missing_is_filled_as_before():
    X, _ = blobs(2, n=20)
    selection = select_k(X, 3, random_state=0)
    filled = Model.of(selection, list("abc"), fill=[1.0, np.nan, np.nan])
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.loc[[0, 1], "a"], frame.loc[2, "b"] = np.nan, np.nan
    whole = filled.without_gaps(frame)
    assert whole.index.tolist() == [0, 1, *range(3, 40)]
    same = filled.assign(frame.fillna({"a": 1.0}).drop(index=2))
    pd.testing.assert_frame_equal(filled.assign(whole), same)


def test_dates_and_text(tmp_path):
    frame = pd.DataFrame({"day": ["2024-01-01", "2024-01-02"] * 20, "plan": ["x", "y"] * 20})
    inputs = [Input("day", "date"), Input("plan", "text", ("x", "y"))]
    numbers = np.concatenate([each.numbers(frame[each.name]) for each in inputs], axis=1)
    numbers += np.random.default_rng(0).normal(size=numbers.shape) / 100
    selection = select_k(numbers, 4, random_state=0).with_k(2)
    model = Model.from_json(Model.of(selection, inputs=inputs).to_json())
    assert model.columns == ["day", "plan=y"]
    np.testing.assert_array_equal(model.assign(frame)["cluster"], selection.labels)
    with pytest.raises(ValueError, match="Give a data frame"):
        model.assign(numbers)


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2024-01-01", periods=40),
        pd.date_range("2024-01-01", periods=40, tz="UTC").astype(object),
        pd.to_timedelta(np.arange(40), "s"),
        [b"1"] * 40,
        np.arange(40) + 1j,
    ],
)
def test_numbers_stay_numbers(column):
    X, _ = blobs(2, n=20)
    model = Model.of(select_k(X, 4, random_state=0), list("abc"))
    with pytest.raises(ValueError, match=r"The column 'a' holds .*, and held numbers before"):
        model.assign(pd.DataFrame(X, columns=list("abc")).assign(a=column))


def of_column(content, **changes):
    """The content of a model with something else in its first column."""
    first, *others = content["columns"]
    return {**content, "columns": [{**first, **changes}, *others]}


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda content: "{", "is not a model"),
        (lambda content: "[]", "is not a model"),
        (lambda content: {**content, "version": 9}, "a model of version 9"),
        (lambda content: {**content, "centers": [[1.0]]}, "not whole: centres and columns do not"),
        (lambda content: {k: v for k, v in content.items() if k != "sizes"}, "not whole: 'sizes'"),
        (lambda content: {**content, "inputs": [{"name": "a", "kind": "code", "values": []}]},
         "a kind that is not known"),
        (lambda content: of_column(content, spread=0.0), "not whole: a spread is not above 0"),
        (lambda content: of_column(content, spread=-1.0), "not whole: a spread is not above 0"),
        (lambda content: of_column(content, log=float("inf")), "not whole: a size, a logarithm"),
        (lambda content: of_column(content, name="z"), "columns and inputs have different names"),
        (lambda content: {**content, "sizes": [30, 30, -30]}, "not whole: a size, a logarithm"),
        (lambda content: {**content, "inputs": [], "columns": []}, "not whole: it has no columns"),
    ],
)  # fmt: skip
def test_files_that_are_no_models(found, change, message, tmp_path):
    changed = change(json.loads(found[2].to_json()))
    file = tmp_path / "m.json"
    text = changed if isinstance(changed, str) else json.dumps(changed)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Model.load(file)
    with pytest.raises(ValueError, match="There is no file"):
        Model.load(tmp_path / "none.json")


def test_columns_must_be_as_many_as_those_of_the_centres(found):
    with pytest.raises(ValueError, match="columns has 2 entries, but the centres have 3 columns"):
        Model.of(found[1], ["a", "b"])


@pytest.mark.parametrize(
    "given, message",
    [
        ({"spread": 0.0}, r"a spread is not above 0\. A column that is constant has a spread of 1"),
        ({"spread": np.nan}, "a spread is missing or infinite"),
        ({"offset": np.inf}, "an offset or a spread is missing or infinite"),
        ({"fill": np.inf}, "what gaps are filled by is no such number"),
        ({"spread": [1.0, 2.0]}, r"spread has shape \(2,\), but the centres have 3 columns"),
    ],
)
def test_a_model_that_could_not_be_loaded_is_not_made(found, given, message):
    with pytest.raises(ValueError, match=message):
        Model.of(found[1], list("abc"), **given)
    with pytest.raises(TypeError, match="selection is a KMeansPath"):
        Model.of(found[1].path, list("abc"))


def test_a_model_has_no_two_columns_of_one_name(wine):
    found = select_k(wine[:, :2], 4, random_state=0)
    with pytest.raises(ValueError, match="The model has several columns of the same name: 'a'"):
        Model.of(found, ["a", "a"])
