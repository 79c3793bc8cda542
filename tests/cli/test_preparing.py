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
    np.testing.assert_allclose(found.scaling.restore(found.X), FRAME[["x", "y", "z"]], atol=1e-12)
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


def test_a_first_column_that_counts_is_left_out_beside_an_id():
    frame = FRAME[["name", "x", "y"]].rename_axis("").reset_index(names="Unnamed: 0")
    for drop in (None, ["Unnamed: 0"]):
        found = ready(frame, id_column="name", drop=drop)
        assert (found.names, found.ids.tolist()) == (["x", "y"], list("pqrst"))
        assert found.notes[0] == "The first column has no name and counts the rows: left out."
        assert ready(frame.drop(columns="name"), drop=drop).names == ["x", "y"]
    with pytest.raises(ValueError, match=r"--drop 'Unnamed: 1': f\.csv has no such column"):
        ready(frame, id_column="name", drop=["Unnamed: 1"])
    # It may be the id that is asked for, or not count.
    own = ready(frame, id_column="Unnamed: 0", drop=["name"])
    assert (own.names, own.ids.tolist()) == (["x", "y"], [0, 1, 2, 3, 4])
    frame["Unnamed: 0"] = [3, 1, 4, 1, 5]
    assert ready(frame, id_column="name").names == ["Unnamed: 0", "x", "y"]


def test_what_is_dropped_need_not_be_among_what_is_kept():
    assert ready(columns=["x", "y"], drop=["y", "name"]).names == ["x"]


def test_the_names_that_r_writes_name_the_rows():
    frame = FRAME.rename(columns={"name": "Unnamed: 0"})
    found = ready(frame)
    assert (found.names, found.ids.tolist()) == (["x", "y", "z"], list("pqrst"))
    assert "has no name and names the rows" in found.notes[0]
    with pytest.raises(ValueError, match="not numbers: 'Unnamed: 0'"):
        ready(frame.assign(**{"Unnamed: 0": list("ppqrs")}))


def test_ids_that_rows_share_are_told():
    shared = FRAME.assign(name=list("ppqrq"))
    assert "4 rows share their 'name'" in ready(shared, id_column="name").notes[0]
    assert not any("share" in note for note in ready(id_column="name").notes)


def test_text_becomes_columns_of_0_and_1_on_request():
    frame = pd.DataFrame({
        "colour": ["red", "blue", "green", None],
        "ok": [True, False, True, True],
        "plan": ["no", "yes", "no", "no"],
    })  # fmt: skip
    found = ready(frame, encode=True, missing="drop", scale="none")
    assert found.names == ["colour=blue", "colour=green", "colour=red", "ok", "plan=yes"]
    np.testing.assert_array_equal(found.X, [[0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0]])
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
DATED = MANY.assign(t=[f"2024-01-01 10:{i:02}" for i in range(60)])
SPARSE = pd.DataFrame(
    {"a": [1.0, 2, 3, 4], "b": [5, np.nan, np.nan, np.nan], "c": [np.nan, 1, 2, 3]}
)
EMPTY = pd.DataFrame({"a": [1.0, 2], "b": [np.nan, np.nan]})


@pytest.mark.parametrize(
    "frame, options, message",
    [
        (FRAME[:0], {}, "has a header but no rows"),
        (
            FRAME,
            {},
            "'name' \\(such as 'p' in row 1\\). Name the rows by --id name, or leave them out with "
            "--drop name.$",
        ),
        (FRAME.assign(name=list("ppqqr")), {}, "in row 1\\). Leave them out with --drop name, or"),
        (
            FRAME.assign(**{"Unnamed: 4": FRAME["name"]}).drop(columns="name"),
            {},
            "'Unnamed: 4' is the column without a name. Name the rows by --id 'Unnamed: 4'",
        ),
        (  # all of it can be copied at once, and a column of one text is worth no code
            FRAME.assign(unit="kg", plan=list("ababa"), hue=list("rgbrg")),
            {},
            "Name the rows by --id name. Leave the others out with --drop unit --drop plan --drop "
            "hue, or turn the values of 'plan', 'hue' into columns of 0 and 1 with --encode.$",
        ),
        (FRAME.assign(plan=list("ababa")), {"id_column": "name"}, "turn 'plan' into 0 and 1 with"),
        (  # the rows have their names, and another id is not offered
            FRAME.assign(also=list("vwxyz")),
            {"id_column": "name"},
            "'also' \\(such as 'v' in row 1\\). Leave them out with --drop also.$",
        ),
        (
            MANY.assign(t=[f"v{i}" for i in range(60)], who=range(60)),
            {"id_column": "who", "encode": True},
            "'t' of f.csv has 60 different values; .* at most 50. Leave it out with --drop t.$",
        ),
        (  # what is made of a column is called by that column
            FRAME.assign(name=["a", "b", "c", None, "a"]),
            {"encode": True},
            "missing values in 1 of 5 rows: 'name' \\(1\\). Choose",
        ),
        (  # neither ids nor categories
            FRAME.assign(fee=["$1", "$2,000", "$3", "€4", "5"], part=["1 %", "2%"] * 2 + ["3"]),
            {},
            "Name the rows by --id name. Write the numbers of 'fee', 'part' without signs and "
            "thousands separators. Leave the others out with --drop fee --drop part.$",
        ),
        (  # a few names come twice
            MANY.assign(t=[f"v{max(i, 5)}" for i in range(60)]),
            {},
            "Name the rows by --id t, or leave them out with --drop t.$",
        ),
        (FRAME.rename(columns={"name": "who's $1"}), {}, "--id 'who'\"'\"'s \\$1'"),
        (  # what is shown can be copied: all columns, by the shorter of two commands
            FRAME[["x", "y"]].assign(**{f"t{j} t": list("ppqqr") for j in range(7)}),
            {},
            "'t4 t' and 2 more .*. Take the numbers alone with --columns x --columns y, or",
        ),
        (
            FRAME[["x"]]
            .assign(**{f"t{j}": list("ppqqr") for j in range(30)})
            .join(pd.DataFrame(np.eye(5, 40)).add_prefix("n")),
            {},
            "--drop t19 and so on for 10 more",
        ),
        (FRAME, {"log": ["y"], "drop": ["name", "x"], "scale": "log"}, "Leave --log out"),
        (FRAME, {"log": ["w"], "drop": ["name"]}, "--log 'w': f.csv has no such column"),
        (FRAME.assign(x=-1.0), {"log": ["x"], "drop": ["name"]}, "--log x: 'x' of f.csv holds neg"),
        (FRAME.assign(x=-1.0), {"scale": "log", "drop": ["name"]}, "--scale log: 'x' of f.csv"),
        (FRAME, {"drop": ["nam"]}, "--drop 'nam': f.csv has no such column. Did you mean 'name'"),
        (FRAME, {"drop": ["NAME"]}, "Did you mean 'name'\\?$"),
        (FRAME, {"columns": ["hue"]}, "It has 'name', 'x', 'y', 'z'"),
        (FRAME, {"drop": ["name", "x", "y", "z"]}, "No column of f.csv is left"),
        (FRAME[["z"]], {}, "every column holds a single value"),
        (
            FRAME.assign(**{"name": list("ababa"), "name=b": 1.0}),
            {"encode": True},
            "--encode would make a second column 'name=b' of f.csv. Rename one",
        ),
        (MANY, {"encode": True}, "'t' of f.csv has 60 different values.*at most 50.*--id t"),
        (DATED, {}, "\\('t'\\) into days with --dates, name the rows by --id t, or leave them out"),
        (  # most rows share their text with another
            pd.DataFrame({"a": range(90), "t": [f"v{i % 55}" for i in range(90)]}),
            {},
            "in row 1\\). Leave them out with --drop t.$",
        ),
        (DATED, {"encode": True}, "Turn its dates into days with --dates"),
        (EMPTY, {}, "'b' \\(2\\)\\. 'b' holds nothing at all: leave it out with --drop b\\.$"),
        (
            EMPTY.assign(a=[1.0, np.nan]),
            {},
            "leave it out with --drop b\\. .*Choose --missing drop",
        ),
        (EMPTY, {"missing": "mean"}, "nothing to fill from. 'b' holds nothing at all: leave it"),
        (
            EMPTY.assign(c=np.nan),
            {},
            "'b', 'c' hold nothing at all: leave them out with --drop b -",
        ),
        (SPARSE, {}, "4 of 4 rows: 'b' \\(3\\), 'c' \\(1\\). With --drop b 3 rows have no gap. Ch"),
        (
            SPARSE,
            {"missing": "drop"},
            "Every row of f.csv has .* With --drop b 3 rows have no gap.",
        ),
        (SPARSE.assign(b=["x", None, None, None]), {"encode": True}, "With --drop b 3 rows"),
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


def long_frame(n=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "x": rng.normal(size=n), "spend": rng.lognormal(sigma=1.5, size=n), "my id": range(n)
    })  # fmt: skip


def test_what_is_odd_is_named_with_the_option_that_helps():
    days = pd.date_range("2024", periods=200)[np.random.default_rng(0).permutation(200)]
    frame = long_frame().assign(plan=["yes", "no"] * 100, day=days)
    remarks = ready(frame, encode=True, dates=True).remarks
    assert [each.rpartition(": ")[2] for each in remarks] == [
        "--id 'my id'", "--log spend", "--drop plan"
    ]  # fmt: skip
    named = frame.assign(who=[f"w{i}" for i in range(200)])
    first = ready(named, id_column="who", encode=True, dates=True).remarks[0]
    assert first.endswith("sets them apart. Leave it out: --drop 'my id'")
    frame = frame.drop(columns="my id")
    remarks = ready(frame, encode=True, dates=True, log=["auto"]).remarks
    assert [each.rpartition(": ")[2] for each in remarks] == ["--drop plan"]
    named = ready(FRAME.assign(x=[1.0, 2, 3, 4, 1e9]).loc[[0, 1, 2, 3, 4] * 9], id_column="name")
    assert not any("far" in each for each in named.remarks)
    one = long_frame().assign(
        spend=0.0, who=[f"w{i}" for i in range(200)], z=long_frame().x * 2 + 1
    )
    one.loc[3, "x"] = 1e6
    remarks = " ".join(ready(one, id_column="who").remarks)
    assert "The row 'w3' lies far from all others in 'x'" in remarks
    assert "'spend' is constant and has no say." in remarks


def test_scales_are_told_where_they_stay():
    frame = long_frame().assign(x=long_frame().x * 1e6).drop(columns="my id")
    assert any("--scale standard" in each for each in ready(frame, scale="none").remarks)
    assert not any("--scale standard" in each for each in ready(frame).remarks)


@pytest.mark.parametrize("options", [{"log": ["spend"]}, {"log": ["auto"]}])
def test_logarithms_are_taken_and_given_back(options):
    frame = long_frame()[["x", "spend"]]
    found = ready(frame, **options)
    logs = np.column_stack([frame.x, np.log(frame.spend)])
    np.testing.assert_allclose(found.X, StandardScaler().fit_transform(logs), atol=1e-12)
    np.testing.assert_allclose(found.scaling.restore(found.X), frame, rtol=1e-9)
    assert any(note.startswith("In logarithms: 'spend'") for note in found.notes)
    assert "no logarithms taken" in " ".join(ready(frame[["x"]], log=["auto"]).notes)


def test_all_columns_in_logarithms():
    frame = np.exp(long_frame()[["x"]]).assign(zeros=[0.0, 3.0] * 100)
    found = ready(frame, scale="log")
    np.testing.assert_array_equal(found.scaling.shift, [0.0, 3.0])
    logs = np.column_stack([np.log(frame.x), np.log(frame.zeros + 3)])
    np.testing.assert_allclose(found.X, StandardScaler().fit_transform(logs), atol=1e-12)


def test_dates_become_days_on_request():
    frame = pd.DataFrame({"a": [1.0, 2, 3], "day": ["2024-01-01", "2024-01-02", "2024-03-01"]})
    found = ready(frame, dates=True, scale="none")
    np.testing.assert_array_equal(found.X[:, 1] - found.X[0, 1], [0, 1, 60])
    assert any("since 1970-01-01: 'day'" in note for note in found.notes)
    numbers = frame.assign(day=[20240101, 20240102, 20240301])
    assert any("dates written as numbers" in note for note in ready(numbers).notes)
    np.testing.assert_array_equal(ready(numbers, dates=True, scale="none").X, found.X)
