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


def test_a_first_column_that_counts_anew_in_every_part_is_no_id_and_no_column():
    parts = pd.concat([FRAME, FRAME])[["name", "x", "y"]].rename_axis("")
    frame = parts.reset_index(names="Unnamed: 0")
    note = "The first column has no name and counts the rows of each part: left out."
    plain, named = ready(frame.drop(columns="name")), ready(frame, id_column="name")
    assert (plain.names, plain.ids.tolist()) == (["x", "y"], list(range(1, 11)))
    assert plain.notes[0] == note
    assert note in named.notes
    frame["Unnamed: 0"] = [0, 1] * 5
    assert ready(frame.drop(columns="name")).names == ["Unnamed: 0", "x", "y"]


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
    assert "share their 'name' with another" in ready(shared, id_column="name").notes[0]
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
            "'name' \\(such as 'p' in row 1\\). Name the rows by 'name' with --id name, or leave "
            "it out with --drop name.$",
        ),
        (FRAME.assign(name=list("ppqqr")), {}, "in row 1\\). Turn the values of 'name' into col"),
        (
            FRAME.assign(**{"Unnamed: 4": FRAME["name"]}).drop(columns="name"),
            {},
            "'Unnamed: 4' is the column without a name. Name the rows by 'Unnamed: 4' with --id 'U",
        ),
        (  # all of it can be copied at once, and a column of one text is worth no code
            FRAME.assign(unit="kg", plan=list("ababa"), hue=list("rgbrg")),
            {},
            "Name the rows by 'name', turn the values of 'plan', 'hue' into columns of 0 and 1 and "
            "leave 'unit' out with --id name --encode --drop unit, or take the others alone with "
            "--columns x --columns y --columns z.$",
        ),
        (FRAME.assign(plan=list("ababa")), {"id_column": "name"}, "Turn 'plan' into 0 and 1 with"),
        (  # the rows have their names, and another id is not offered
            FRAME.assign(also=list("vwxyz")),
            {"id_column": "name"},
            "'also' \\(such as 'v' in row 1\\). Leave it out with --drop also.$",
        ),
        (
            MANY.assign(t=[f"v{i}" for i in range(60)], who=range(60)),
            {"id_column": "who", "encode": True},
            "'t' \\(60 different values; .* at most 50\\). Leave it out with --drop t.$",
        ),
        (  # what is made of a column is called by that column
            FRAME.assign(name=["a", "b", "c", None, "a"]),
            {"encode": True},
            "missing values in 1 of 5 rows: 'name' \\(1\\). Choose",
        ),
        (  # neither ids nor categories
            FRAME.assign(fee=["$1", "$2,000", "$3", "€4", "5"], part=["1 %", "2%"] * 2 + ["3"]),
            {},
            "Write the numbers of 'fee', 'part' without signs and thousands separators: '\\$1' as "
            "1. Otherwise name the rows by 'name' and leave 'fee', 'part' out with --id name "
            "--drop fee --drop part, or leave",
        ),
        (  # a few names come twice
            MANY.assign(t=[f"v{max(i, 5)}" for i in range(60)]),
            {},
            "Name the rows by 't' with --id t, or leave it out with --drop t.$",
        ),
        (FRAME.rename(columns={"name": "who's $1"}), {}, "--id 'who'\"'\"'s \\$1'"),
        (  # what is shown can be copied: all columns, by the shorter of two commands
            FRAME[["x", "y"]].assign(**{f"t{j} t": list("ppqqr") for j in range(7)}),
            {},
            "'t4 t' and 2 more. .* with --encode, or take the others alone with --columns x --colu",
        ),
        (
            FRAME[["x"]]
            .assign(**{f"t{j}": list("ppqqr") for j in range(30)})
            .join(pd.DataFrame(np.eye(5, 40)).add_prefix("n")),
            {},
            "--drop t19 and so on for 10 more",
        ),
        (FRAME, {"log": ["y"], "drop": ["name", "x"], "scale": "log"}, "Leave --log out"),
        (
            FRAME,
            {"log": ["name"], "id_column": "name"},
            "--log 'name': this column of f.csv is not",
        ),
        (  # a title above the table
            FRAME.set_axis(["name", "Unnamed: 1", "Unnamed: 2", "Unnamed: 3"], axis=1),
            {},
            "The first row of f.csv names 1 of 4 columns. If the names stand further down, delete",
        ),
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
        (MANY, {"encode": True}, "'t' \\(60 different values.*at most 50.*--id t"),
        (
            DATED,
            {},
            "'t' into days with --dates, or name the rows by 't' with --id t, or leave it o",
        ),
        (  # most rows share their text with another
            pd.DataFrame({"a": range(90), "t": [f"v{i % 55}" for i in range(90)]}),
            {},
            "in row 1\\). Leave it out with --drop t.$",
        ),
        (DATED, {"encode": True}, "Turn the dates of 't' into days with --dates"),
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


ORDERS = [str(i % 40) for i in range(60)]
MISTYPED = pd.DataFrame({
    "rating": np.arange(60.0) ** 2,
    "orders": ["-" if i in (4, 7, 9) else order for i, order in enumerate(ORDERS)],
    "newsletter": ["yes", "no"] * 30,
})  # fmt: skip


@pytest.mark.parametrize("encode", [False, True])
def test_a_column_mostly_of_numbers_is_never_encoded(encode):
    with pytest.raises(BadFileError) as refused:
        ready(MISTYPED, encode=encode)
    told = str(refused.value)
    assert (
        "'orders' (such as '-' in row 5; 3 of 60 are no numbers: leave those empty if unk" in told
    )
    assert "turn the values of 'orders'" not in told.lower()
    ready(MISTYPED.drop(columns="orders"), encode=True)


def test_codes_among_numbers_can_be_encoded_with_a_letter():
    frame = MISTYPED.drop(columns="orders").assign(part=["2A", "75", "13"] * 20)
    with pytest.raises(BadFileError, match="or put a letter before each value if they are codes"):
        ready(frame, encode=True)
    found = ready(frame.assign(part="d" + frame["part"]), encode=True)
    assert "part=d75" in found.names


def test_numbers_that_are_text_by_their_type_can_be_encoded():
    frame = MISTYPED[["rating"]].assign(code=["1", "2", "3"] * 20)
    with pytest.raises(BadFileError, match="Turn the values of 'code' into columns"):
        ready(frame)
    assert ready(frame, encode=True).names == ["rating", "code=1", "code=2", "code=3"]


@pytest.mark.parametrize(
    "values, told",
    [
        (
            ["504,84", "12,50", "2.345,67"],
            "'u' (such as '2.345,67' in row 3; 1 of 3 are written so). Write the numbers of 'u' "
            "without signs and thousands separators: '2.345,67' as 2345,67. Otherwise leave",
        ),
        (
            ["504,84", "2,5", "7"],
            "Write the numbers of 'u' with a decimal point: '504,84' as 504.84",
        ),
        (["10,5 %", "3 %", "7"], "'10,5 %' as 10,5"),
        (["1.234", "0,5", "x", "7,25", "8"], "such as 'x' in row 3; 1 of 5 are no numbers"),
        (["$3,000", "-", "$12.50"], "such as '-' in row 2; 1 of 3 are no numbers"),
        (["$3,000", "-", "$12.50"], "'$3,000' as 3000"),
        (["12.50", "3.75", "1,5"], "such as '1,5' in row 3; 1 of 3 are no numbers"),
    ],
)
def test_numbers_that_cannot_be_read_are_shown_with_how_to_write_them(values, told):
    frame = pd.DataFrame({"a": np.arange(float(len(values))), "u": values})
    for encode in (False, True):
        with pytest.raises(BadFileError) as refused:
            ready(frame, encode=encode)
        assert told in str(refused.value)


def test_the_way_out_that_is_shown_works_when_it_is_followed():
    frame = MISTYPED.assign(
        who=[f"p{i}" for i in range(60)],
        day=[f"2024-01-{1 + i % 28:02}" for i in range(60)],
        revenue=[f"${i + 1},000" for i in range(60)],
    )
    with pytest.raises(BadFileError) as refused:
        ready(frame)
    told = str(refused.value)
    assert "Write the numbers of 'revenue' without signs" in told
    assert "with --id who --dates --encode --drop orders --drop revenue, or take the oth" in told
    found = ready(frame, id_column="who", dates=True, encode=True, drop=["orders", "revenue"])
    assert found.names == ["rating", "newsletter=yes", "day"]
    with pytest.raises(BadFileError) as refused:  # what --encode leaves is told at once
        ready(frame, encode=True, dates=True)
    told = str(refused.value)
    assert "Write the numbers of 'revenue' without signs" in told
    assert "--id who --drop orders --drop revenue, or" in told


def test_without_a_column_of_numbers_no_way_out_is_offered_that_leaves_none():
    frame = MISTYPED[["newsletter"]].assign(who=[f"p{i}" for i in range(60)])
    with pytest.raises(BadFileError, match=r"into 0 and 1 with --id who --encode\.$"):
        ready(frame)
    with pytest.raises(BadFileError, match=r"Give a table with at least one column of numbers\.$"):
        ready(frame[["who"]])
    with pytest.raises(BadFileError, match=r"as 1000\.$"):
        ready(pd.DataFrame({"u": ["$1,000", "$2,000"]}))


def test_dates_that_are_not_clear_are_not_offered_for_days():
    with pytest.raises(BadFileError, match=r"Write dates as 2024-01-31\. Otherwise leave it out"):
        ready(MISTYPED[["rating"]].assign(day=["01/02/2024", "02/03/2024"] * 30))


def test_several_columns_in_one_name():
    found = ready(columns=["y,x"], scale="none", log=["x, y"])
    assert (found.names, np.isnan(found.scaling.shift).any()) == (["y", "x"], False)
    assert ready(drop=["name,z"]).names == ["x", "y"]
    own = FRAME.rename(columns={"z": "x,y"})
    assert ready(own, drop=["x,y", "name"]).names == ["x", "y"]
    with pytest.raises(ValueError, match=r"--drop 'name,w': f\.csv has no such column"):
        ready(drop=["name,w"])
    with pytest.raises(ValueError, match=r"--id 'name,z': name one column, such as --id name\."):
        ready(id_column="name,z")


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
    assert not any("added before" in note for note in found.notes)
    assert "no logarithms taken" in " ".join(ready(frame[["x"]], log=["auto"]).notes)


def test_all_columns_in_logarithms():
    frame = np.exp(long_frame()[["x"]]).assign(zeros=[0.0, 3.0] * 100)
    found = ready(frame, scale="log")
    np.testing.assert_array_equal(found.scaling.shift, [0.0, 3.0])
    assert "Zero has no logarithm: added before, 3 to 'zeros'." in found.notes
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
