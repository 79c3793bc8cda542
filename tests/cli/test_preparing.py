import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import RobustScaler, StandardScaler

from edfkmeans.cli.preparing import prepare
from edfkmeans.cli.reading import BadFileError

FRAME = pd.DataFrame(
    {"name": list("pqrst"), "x": [1.0, 2, 4, 8, 16], "y": [0.5, 0.25, 0, 0, 9], "z": 7}
)


def ready(frame=FRAME, **options):
    return prepare(frame, "f.csv", **options)


@pytest.mark.parametrize(
    "scale, peer", [("standard", StandardScaler()), ("robust", RobustScaler())]
)
def test_scales_are_those_of_scikit_learn(scale, peer):
    found = ready(id_column="name", scale=scale)
    np.testing.assert_allclose(found.X, peer.fit_transform(FRAME[["x", "y", "z"]]), atol=1e-12)
    original = found.X * found.spread + found.offset
    np.testing.assert_allclose(original, FRAME[["x", "y", "z"]], atol=1e-12)
    assert found.notes[-1].endswith(f"(--scale {scale}).")


def test_no_scale_leaves_the_numbers():
    np.testing.assert_array_equal(ready(drop=["name"], scale="none").X, FRAME[["x", "y", "z"]])


def test_half_of_a_column_alike_does_not_divide_by_zero():
    frame = pd.DataFrame({"a": [0.0, 0, 0, 0, 0, 9], "b": np.arange(6.0)})
    assert np.isfinite(ready(frame, scale="robust").X).all()


def test_huge_and_tiny_numbers_are_standardised():
    frame = pd.DataFrame({"a": FRAME["x"] * 1e300, "b": FRAME["y"] * 1e-300})
    np.testing.assert_allclose(ready(frame).X, ready(drop=["name", "z"]).X)


def test_columns_drop_and_id():
    found = ready(columns=["y", "x"], id_column="name")
    assert (found.names, found.ids.tolist(), found.ids.name) == (["y", "x"], list("pqrst"), "name")
    assert ready(drop=["name"]).ids.tolist() == [1, 2, 3, 4, 5]


def test_the_index_that_pandas_writes_names_the_rows():
    frame = FRAME[["x", "y"]].rename_axis("").reset_index(names="Unnamed: 0")
    found = ready(frame)
    assert (found.names, found.ids.tolist()) == (["x", "y"], [0, 1, 2, 3, 4])
    assert "counts the rows" in found.notes[0]
    frame["Unnamed: 0"] = [3, 1, 4, 1, 5]
    assert ready(frame).names == ["Unnamed: 0", "x", "y"]


def test_text_becomes_columns_of_0_and_1_on_request():
    frame = pd.DataFrame({"colour": ["red", "blue", "red", None], "ok": [True, False, True, True]})
    found = ready(frame, encode=True, missing="drop", scale="none")
    assert found.names == ["ok", "colour=blue", "colour=red"]
    np.testing.assert_array_equal(found.X, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert found.kept.tolist() == [0, 1, 2]


def test_missing_values_are_dropped_or_filled():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3, 8], "b": [1.0, 2, 3, np.nan]})
    dropped = ready(frame, missing="drop", scale="none")
    np.testing.assert_array_equal(dropped.X, [[1, 1], [3, 3]])
    assert dropped.ids.tolist() == [1, 3]
    assert "2 rows with missing values left out, 2 kept." in dropped.notes
    np.testing.assert_allclose(
        ready(frame, missing="mean", scale="none").X[[1, 3]], [[4, 2], [8, 2]]
    )
    median = ready(frame, missing="median", scale="none")
    np.testing.assert_allclose(median.X[[1, 3]], [[3, 2], [8, 2]])
    assert "2 missing values in 2 rows filled by the median." in median.notes


MANY = pd.DataFrame({"a": range(60), "t": [f"v{i}" for i in range(60)]})
EMPTY = pd.DataFrame({"a": [1.0, 2], "b": [np.nan, np.nan]})


@pytest.mark.parametrize(
    "frame, options, message",
    [
        (FRAME[:0], {}, "has a header but no rows"),
        (FRAME, {}, "not numbers: 'name' \\(such as 'p' in row 1\\).*--drop name.*--encode"),
        (FRAME, {"drop": ["nam"]}, "--drop 'nam': f.csv has no such column. Did you mean 'name'"),
        (FRAME, {"columns": ["hue"]}, "It has 'name', 'x', 'y', 'z'"),
        (FRAME, {"drop": ["name", "x", "y", "z"]}, "No column of f.csv is left"),
        (FRAME[["z"]], {}, "every column holds a single value"),
        (MANY, {"encode": True}, "'t' of f.csv has 60 different values.*at most 50.*--id t"),
        (EMPTY, {}, "'b' \\(2\\)\\. 'b' holds nothing at all: --drop it"),
        (EMPTY, {"missing": "mean"}, "'b' of f.csv holds no value at all"),
        (EMPTY, {"missing": "drop"}, "Every row of f.csv has a missing value"),
        (EMPTY.replace(2, np.inf), {}, "infinite values in 'a' \\(1\\)"),
        (FRAME, {"scale": "magic"}, "scale='magic' must be one of"),
    ],
)
def test_messages(frame, options, message):
    with pytest.raises(ValueError, match=message):
        ready(frame, **options)


def test_bad_files_are_told_from_bad_arguments():
    with pytest.raises(BadFileError):
        ready(FRAME[:0])


@pytest.mark.parametrize("missing", ["mean", "median"])
def test_missing_values_are_filled_without_overflow_and_to_the_last_digit(missing):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "huge": [1.797e308, 1.797e308, np.nan, np.nan],
        "plain": [*rng.normal(size=3), np.nan],
        "tiny": [5e-324, np.nan, 5e-324, 5e-324],
        "none": [0.0, 0.0, np.nan, 0.0],
    })  # fmt: skip
    filled = prepare(frame, "t", missing=missing, scale="none").X
    expected = getattr(frame["plain"], missing)()
    assert [filled[2, 0], filled[3, 1], filled[1, 2], filled[2, 3]] == [
        1.797e308, expected, 5e-324, 0.0,
    ]  # fmt: skip
