"""Tables that are written again, and ids: what stood in the file stands in what is written."""

import csv

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs
from edfkmeans.cli import app

OPTIONS = ("--k-max", "4", "--quiet")


def run(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def frame():
    """Three clear groups of 12 rows."""
    return pd.DataFrame(blobs(3, n=12)[0][:, :2].round(3), columns=["x", "y"])


def lines(file, separator=","):
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, delimiter=separator))


CODES = {
    "code": [f"{i:05d}" for i in range(36)],
    "country": ["NA", "", *["FR"] * 34],
    "version": ["1.10"] * 36,
    "whole": ["", "NA", *map(str, range(34))],
    "serial": [str(2**53 + 1), "", *["7"] * 34],
    "huge": [str(10**20 + i) for i in range(36)],
    "flag": ["true", "false"] * 18,
    "low": ["-1.50", "+2"] * 18,
    "text": ["-x", *["b"] * 35],
    "place": [f"0{i % 10}.50" for i in range(36)],
}
INTO_CSV = CODES | {"text": ["'-x", *["b"] * 35]}


@pytest.mark.parametrize("folder", [False, True])
def test_a_table_of_text_is_written_as_it_stands_in_the_file(frame, folder, tmp_path):
    source, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table = frame.assign(**CODES)
    table.to_csv(source, index=False)
    if folder:
        pytest.importorskip("pyarrow", reason="needs pyarrow")
        source = tmp_path / "parts"
        source.mkdir()
        table[:20].to_csv(source / "1.csv", index=False)
        table[20:].to_csv(source / "2.csv.gz", index=False)
    run("select", source, "--columns", "x,y", "--table", out, *OPTIONS)
    expected = frame.astype(str).assign(**INTO_CSV)
    head, *rows = lines(out)
    assert head == [*expected.columns, "cluster"]
    assert [row[:-1] for row in rows] == expected.to_numpy().tolist()
    assert {row[-1] for row in rows} == {"0", "1", "2"}


def test_rows_that_are_left_out_and_blank_lines_move_no_text(frame, tmp_path):
    source, out = tmp_path / "t.csv", tmp_path / "o.csv"
    frame.loc[3, "x"] = np.nan
    table = frame.assign(code=CODES["code"], none=["None", *["b"] * 35])
    text = table.to_csv(index=False).split("\n")
    source.write_text("\n\n" + "\n\n".join(text), encoding="utf-8")
    run("select", source, "--columns", "x,y", "--missing", "drop", "--table", out, *OPTIONS)
    written = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert written["code"].tolist() == [*CODES["code"][:3], *CODES["code"][4:]]
    assert written["none"][0] == "None"


def test_in_parquet_numbers_are_numbers_and_texts_are_as_they_were(frame, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    source, out = tmp_path / "t.csv", tmp_path / "o.parquet"
    frame.assign(**CODES).to_csv(source, index=False)
    run("select", source, "--columns", "x,y", "--table", out, *OPTIONS)
    written = pd.read_parquet(out)
    kinds = {name: kind.kind for name, kind in written.dtypes.items()}
    assert [name for name, kind in kinds.items() if kind == "O"] == [
        "code", "country", "huge", "text"
    ]  # fmt: skip
    assert (kinds["flag"], kinds["version"], kinds["whole"]) == ("b", "f", "i")
    assert written["country"].fillna("").tolist() == CODES["country"]
    for name in ("code", "huge", "text"):
        assert written[name].tolist() == CODES[name]
    assert written["whole"].isna().sum() == 2
    assert written["serial"][0] == 2**53 + 1
    assert written["low"].tolist() == [-1.5, 2] * 18


@pytest.mark.parametrize("separator, ours", [(";", ";"), ("\t", "\t"), (" ", ";")])
def test_decimal_commas_stay_with_what_stands_between(frame, separator, ours, tmp_path):
    source, out = tmp_path / "t.csv", tmp_path / "o.csv"
    if separator == " ":  # commas in most lines would be what stands between
        frame[4:] = frame[4:].round()
        frame = frame.map("{:g}".format).replace(r"\.", ",", regex=True)
    frame.to_csv(source, index=False, sep=separator, decimal=",")
    run("select", source, "--table", out, *OPTIONS)
    assert [row[0] for row in lines(out, ours)[1:]] == [
        line.split(separator)[0] for line in source.read_text(encoding="utf-8").splitlines()[1:]
    ]
    run("select", out, "--drop", "cluster", *OPTIONS)


def test_columns_that_parquet_cannot_hold_become_text(frame, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    pytest.importorskip("openpyxl", reason="needs openpyxl")
    source, out = tmp_path / "t.xlsx", tmp_path / "o.parquet"
    mixed = ["A1" if i % 2 else i for i in range(36)]
    frame.assign(code=mixed).to_excel(source, index=False)
    run("select", source, "--drop", "code", "--table", out, *OPTIONS)
    assert pd.read_parquet(out)["code"].tolist() == [str(each) for each in mixed]
    run("select", source, "--id", "code", "--labels", out, "--force", *OPTIONS)
    assert pd.read_parquet(out)["code"].tolist() == [str(each) for each in mixed]


@pytest.mark.parametrize("kind", [">f8", "f2", "g"])
def test_arrays_of_any_width_and_order_can_be_written_to_parquet(frame, kind, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    source, out = tmp_path / "t.npy", tmp_path / "o.parquet"
    np.save(source, frame.to_numpy().astype(kind))
    run("select", source, "--table", out, *OPTIONS)
    np.testing.assert_allclose(pd.read_parquet(out)["column 1"], frame["x"], rtol=1e-2)


GAP = [123456789.0 + i for i in range(35)]


@pytest.mark.parametrize(
    "ids, written",
    [
        ([1234567.5 + i for i in range(36)], [f"{1234567.5 + i}" for i in range(36)]),
        ([np.nan, *GAP], ["", *(f"{each:.0f}" for each in GAP)]),
        ([*GAP, 1.0], [*(f"{each:.0f}" for each in GAP), "1"]),
        ([0.1 + 0.2, *GAP], [repr(0.1 + 0.2), *map(repr, GAP)]),
    ],
    ids=["halves", "gap", "whole", "digits"],
)
@pytest.mark.parametrize("index", [False, True])
def test_ids_that_are_floats_keep_their_digits(frame, ids, written, index, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    source, labels, model = (tmp_path / each for each in ("t.parquet", "l.csv", "m.json"))
    table = frame.assign(who=ids)
    (table.set_index("who") if index else table).to_parquet(source)
    run("select", source, "--id", "who", "--labels", labels, "--model", model, *OPTIONS)
    head, *rows = lines(labels)
    assert (head, [row[0] for row in rows]) == (["who", "cluster", "ambiguity"], written)
    run("assign", model, source, "--id", "who", "--labels", labels, "--force")
    head, *rows = lines(labels)
    assert (head, [row[0] for row in rows]) == (["who", "cluster", "distance"], written)
    assert all(len(row[2]) < 13 for row in rows)  # what is ours is rounded
    other = tmp_path / "l.parquet"
    run("select", source, "--id", "who", "--labels", other, *OPTIONS)
    numbers = pd.read_parquet(other)["who"].to_numpy(float, na_value=np.nan)
    np.testing.assert_array_equal(numbers, ids)


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_whole_numbers_with_a_gap_stay_whole_in_csv(frame, kind, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    pytest.importorskip("openpyxl", reason="needs openpyxl")
    source, out = tmp_path / f"t.{kind}", tmp_path / "o.csv"
    table = frame.assign(n=[np.nan, *range(35)], land=["NA", *["FR"] * 35])
    getattr(table, {"xlsx": "to_excel"}.get(kind, f"to_{kind}"))(source, index=False)
    run("select", source, "--columns", "x,y", "--table", out, *OPTIONS)
    head, *rows = lines(out)
    assert head == ["x", "y", "n", "land", "cluster"]
    assert [row[2] for row in rows] == ["", *map(str, range(35))]
    assert [row[3] for row in rows] == table["land"].tolist()


def test_ids_of_a_folder_stand_as_in_its_files(frame, tmp_path):
    (tmp_path / "q").mkdir()
    ids = [f"{10**17 + i}" for i in range(18)], [f"{i:05d}" for i in range(18)]
    for number, part in enumerate(ids):
        rows = frame.iloc[18 * number : 18 * number + 18].assign(id=part)
        rows.to_csv(tmp_path / "q" / f"{number}.csv", index=False)
    outputs = ("--labels", tmp_path / "l.csv", "--table", tmp_path / "t.csv")
    run("select", tmp_path / "q", "--id", "id", *outputs, *OPTIONS)
    for file, column in (("l.csv", 0), ("t.csv", 2)):
        assert [row[column] for row in lines(tmp_path / file)[1:]] == [*ids[0], *ids[1]]


def test_whole_numbers_of_many_digits_beside_gaps(frame, tmp_path):
    large = [str(10**18 + i) for i in range(36)]
    frame.assign(v=["", *large[1:]], w=["", *[f"{each}0" for each in large[1:]]]).to_csv(
        tmp_path / "t.csv", index=False
    )
    some = ("--columns", "x", "--columns", "y", "--table", tmp_path / "t.parquet")
    run("select", tmp_path / "t.csv", *some, *OPTIONS)
    found = pd.read_parquet(tmp_path / "t.parquet")
    assert found["v"].dropna().tolist() == [int(each) for each in large[1:]]
    assert found["w"].dropna().tolist() == [f"{each}0" for each in large[1:]]


@pytest.mark.parametrize(
    "index", [[f"shop {i}" for i in range(36)], range(35, -1, -1), range(5, 41)]
)
def test_an_index_without_a_name_is_kept(frame, index, tmp_path):
    frame.set_axis(pd.Index(index)).to_parquet(tmp_path / "u.parquet")
    for name in ("t.csv", "t.parquet"):
        run("select", tmp_path / "u.parquet", "--table", tmp_path / name, *OPTIONS)
    table = lines(tmp_path / "t.csv")
    assert table[0] == ["row", "x", "y", "cluster"]
    assert [row[0] for row in table[1:]] == [str(each) for each in index]
    assert pd.read_parquet(tmp_path / "t.parquet").index.tolist() == list(index)
