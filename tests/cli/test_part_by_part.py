"""Tables that are read part by part: the same columns and rows as in memory, or a clear refusal."""

import gzip
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs
from edfkmeans.cli import app
from edfkmeans.cli.remedies import in_options

pytest.importorskip("pyarrow", reason="needs pyarrow")
ROWS = pd.DataFrame(blobs(3, d=2, n=20)[0].round(3), columns=["a", "b"])
SHUFFLED = ROWS.sample(frac=1, random_state=0)
COUNTED = "The first column has no name and counts the rows: left out."


def run(file, engine, *options):
    if engine == "dask":
        pytest.importorskip("dask.dataframe", reason="needs dask")
    words = ("select", file, "--engine", engine, "--k-max", 3, "--method", "naive", *options)
    return CliRunner().invoke(app, [str(word) for word in words])


def answer(file, engine, *options):
    done = run(file, engine, *options, "--json", "-")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refusal(file, engine, *options):
    done = run(file, engine, *options)
    assert done.exit_code == 2, done.output
    told = " ".join(done.output.split())
    assert "sklearn" not in told
    return told


def check_like_memory(file, engine, *options):
    found, want = (answer(file, each, *options) for each in (engine, "memory"))
    for name in ("k", "n_samples", "columns", "sizes"):
        assert found[name] == want[name], name
    for name in ("offset", "spread"):
        np.testing.assert_allclose(found[name], want[name], rtol=1e-9)
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    """Have dask cut text into blocks of a few rows."""
    csv = pytest.importorskip("dask.dataframe.io.csv", reason="needs dask")
    monkeypatch.setattr(csv, "AUTO_BLOCKSIZE", 300)


@pytest.mark.filterwarnings("ignore:Unexpected behavior can result from passing skiprows")
@pytest.mark.parametrize("blocks", ["one", "several"])
@pytest.mark.parametrize(
    "text",
    [
        ROWS.to_csv(sep=";", decimal=",", index=False).encode(),
        ROWS.to_csv(header=False, index=False).encode(),
        b"\n\n" + ROWS.to_csv(sep="\t", index=False).encode(),
        ROWS.to_csv(sep=" ", index=False).encode(),
        ROWS.rename(columns={"a": "größe"}).to_csv(index=False).encode("cp1252"),
        b"\xef\xbb\xbf" + ROWS.to_csv(header=False, index=False).encode(),
        ROWS.to_csv(index=False).replace(",", ", ").replace("\n", "\r\n").encode(),
        ROWS.rename(columns={"a": "a\nof mine"}).to_csv(index=False).encode(),
        ROWS.round().head(10).astype(int).to_csv(index=False).encode()
        + ROWS.to_csv(header=False, index=False).encode(),
    ],
    ids=[
        "decimal comma", "no header", "tabs", "blanks", "cp1252", "mark", "crlf", "name of lines",
        "whole numbers first",
    ],
)  # fmt: skip
def test_dask_finds_out_how_text_is_written_down(text, blocks, tmp_path, request):
    if blocks == "several":
        request.getfixturevalue("small_blocks")
    (tmp_path / "t.csv").write_bytes(text)
    check_like_memory(tmp_path / "t.csv", "dask")


@pytest.mark.parametrize("engine", ["arrow", "dask"])
def test_rows_longer_than_the_header_are_refused(engine, tmp_path):
    text = "a,b\n" + "".join(f"{i},{i * 2 % 7},{i % 5}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert "line 2 has 3 fields and the first 2" in refusal(tmp_path / "t.csv", engine)


@pytest.mark.filterwarnings("ignore:Unexpected behavior can result from passing skiprows")
@pytest.mark.parametrize("options", [(), ("--columns", "a")])
def test_a_block_of_longer_rows_is_refused_by_dask(options, small_blocks, tmp_path):
    """Where a block begins with one, pandas would take its first field for an index."""
    text = "a,b\n" + "1,2\n4,3\n" * 200 + "1,2,3\n" * 200
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    told = refusal(tmp_path / "t.csv", "dask", *options)
    assert "has more fields than there are columns" in told


def test_row_numbers_without_a_name_are_no_index_to_dask(tmp_path):
    pytest.importorskip("dask.dataframe", reason="needs dask")
    from edfkmeans.engines.dask_files import open_lazily

    (tmp_path / "t.csv").write_text("\na,b\n0,2,3\n1,5,6\n", encoding="utf-8")
    with pytest.raises(ValueError, match="more fields than there are columns"):
        open_lazily(tmp_path / "t.csv").compute()
    (tmp_path / "t.csv").write_text("\na,b\n2,3\n5,6\n", encoding="utf-8")
    assert open_lazily(tmp_path / "t.csv").compute().to_numpy().tolist() == [[2, 3], [5, 6]]


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("t.csv", ROWS.to_csv(index=False).encode("utf-16"), "is text in UTF-16"),
        ("t.csv", ROWS.to_csv(index=False).replace("\n", "\r").encode(), "line ends of old Macs"),
        ("t.csv.gz", gzip.compress(ROWS.to_csv(index=False).encode()), "is packed"),
    ],
    ids=["utf-16", "old ends", "packed"],
)
def test_what_dask_cannot_cut_into_chunks_is_for_arrow(name, text, said, tmp_path):
    (tmp_path / name).write_bytes(text)
    told = refusal(tmp_path / name, "dask")
    assert said in told
    assert "--engine arrow" in told
    check_like_memory(tmp_path / name, "arrow")


def test_feather_is_not_for_dask(tmp_path):
    ROWS.to_feather(tmp_path / "t.feather")
    assert "--engine arrow" in refusal(tmp_path / "t.feather", "dask")


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
@pytest.mark.parametrize(
    "second, said",
    [
        (ROWS.to_csv(sep=";", index=False), "separator"),
        ("\n\n" + ROWS.to_csv(index=False), "number of lines before the first row"),
    ],
    ids=["separator", "lines"],
)
def test_files_of_a_folder_are_written_in_one_way(engine, second, said, tmp_path):
    """They are read as the first one is, and rows would be lost or misread without a word."""
    ROWS.to_csv(tmp_path / "1.csv", index=False)
    (tmp_path / "2.csv").write_text(ROWS.to_csv(index=False), encoding="utf-8")
    assert answer(tmp_path, engine)["n_samples"] == 2 * len(ROWS)
    (tmp_path / "2.csv").write_text(second, encoding="utf-8")
    assert f"differ in their {said}" in refusal(tmp_path, engine)


@pytest.mark.parametrize("engine", ["arrow", "dask"])
@pytest.mark.parametrize(
    "index",
    [
        SHUFFLED.index,
        SHUFFLED.index.rename("who"),
        pd.RangeIndex(100, 160, name="who"),
        pd.MultiIndex.from_product([range(6), range(10)], names=["who", None]),
    ],
    ids=["no name", "name", "range", "two levels"],
)
def test_the_index_of_pandas_is_no_column(engine, index, tmp_path):
    ROWS.set_axis(index).to_parquet(tmp_path / "t.parquet")
    found = check_like_memory(tmp_path / "t.parquet", engine)
    assert found["columns"] == ["a", "b"]
    told = [note for note in found["notes"] if note.startswith("The table's index")]
    assert len(told) == (not isinstance(index, pd.RangeIndex))
    # As was advised before.
    again = answer(tmp_path / "t.parquet", engine, *(["--drop", "__index_level_0__"] * bool(
        told and "__index_level_0__" in told[0])))  # fmt: skip
    assert again["columns"] == ["a", "b"]


def test_the_index_of_pandas_is_no_column_of_a_dataset(tmp_path):
    import pyarrow.dataset as ds

    from edfkmeans import fit_path

    SHUFFLED.to_parquet(tmp_path / "t.parquet")
    path = fit_path(ds.dataset(tmp_path / "t.parquet"), 2, random_state=0)
    assert path.centers(2).shape == (2, 2)
    table = ds.dataset(tmp_path / "t.parquet").schema.with_metadata({b"pandas": b"no JSON"})
    from edfkmeans.engines.arrow_files import index_columns

    assert index_columns(table) == []


@pytest.mark.parametrize("engine", ["arrow", "dask"])
@pytest.mark.parametrize("names", [None, [f"row {i}" for i in range(60)]], ids=["counts", "names"])
def test_a_first_column_without_a_name_is_left_out(engine, names, tmp_path):
    (ROWS if names is None else ROWS.set_axis(names)).to_csv(tmp_path / "t.csv")
    found = check_like_memory(tmp_path / "t.csv", engine)
    told = COUNTED if names is None else COUNTED.replace("counts", "names")
    assert told in found["notes"]
    if names is None:
        asked = answer(tmp_path / "t.csv", engine, "--columns", "Unnamed: 0,a")
        assert asked["columns"] == ["Unnamed: 0", "a"]
        assert answer(tmp_path / "t.csv", engine, "--drop", "Unnamed: 0")["columns"] == ["a", "b"]


@pytest.mark.parametrize("engine", ["arrow", "dask"])
def test_a_first_column_without_a_name_that_measures_stays(engine, tmp_path):
    ROWS.rename(columns={"a": ""}).to_csv(tmp_path / "t.csv", index=False)
    assert check_like_memory(tmp_path / "t.csv", engine)["columns"] == ["Unnamed: 0", "b"]


KINDS = {
    "booleans": [True, False, True] * 20,
    "categories": pd.Categorical([1, 2, 0] * 20),
    "decimals": [Decimal("1.25"), Decimal("0.5"), Decimal("2")] * 20,
}


@pytest.mark.parametrize("engine", ["arrow", "dask"])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_numbers_are_columns_and_weights(engine, kind, tmp_path):
    ROWS.assign(w=KINDS[kind]).to_parquet(tmp_path / "t.parquet")
    check_like_memory(tmp_path / "t.parquet", engine)
    found, want = (
        answer(tmp_path / "t.parquet", each, "--weights", "w") for each in (engine, "memory")
    )
    assert found["n_samples"] == want["n_samples"]
    np.testing.assert_allclose(found["offset"], want["offset"])


@pytest.mark.parametrize("engine", ["arrow", "dask"])
def test_ways_out_are_options(engine, tmp_path):
    file = tmp_path / "t.parquet"
    ROWS.assign(c=pd.Categorical(list("xyz") * 20), t="x").to_parquet(file)
    told = refusal(file, engine)
    assert "not numbers: 'c', 't'. Leave out with --drop c --drop t what is no number" in told
    assert "--encode (text) and --dates" in told
    ROWS.assign(a=ROWS["a"].where(ROWS.index != 3)).to_parquet(file)
    for metric in ("euclidean", "cosine"):
        told = refusal(file, engine, "--metric", metric)
        assert "--engine memory --missing drop" in told
        assert ("column 'a'" in told and "--drop a" in told) or metric == "cosine"
    ROWS.assign(a=ROWS["a"].where(ROWS.index != 3, np.inf)).to_parquet(file)
    told = refusal(file, engine)
    assert "column 'a'. Correct or delete such rows in the file, or leave the column out" in told
    assert "--missing" not in told


def test_ways_out_of_what_only_dask_reads():
    gap = (
        "Input X contains NaN: one value, in row 3 (counted from 0), column 'a b'. Drop those rows"
    )
    gap += " or fill them, e.g. with sklearn.impute.SimpleImputer."
    assert in_options(gap, "t.zarr").endswith("or leave the column out with --drop 'a b'.")
    many = "X has columns that are not numbers: 'a' and 9 more. Drop them, or encode them as x."
    assert "Leave out with --drop what is no number" in in_options(many, "t.csv")
    assert in_options("All else stays.", "t.csv") == "All else stays."


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
@pytest.mark.parametrize("whole_first", [True, False])
def test_files_of_whole_numbers_agree_with_either_decimal_sign(engine, whole_first, tmp_path):
    names = ("a.csv", "b.csv")[:: 1 if whole_first else -1]
    whole = ROWS.iloc[:30].round().astype(int)
    whole.to_csv(tmp_path / names[0], sep=";", index=False)
    ROWS.iloc[30:].to_csv(tmp_path / names[1], sep=";", decimal=",", index=False)
    place = tmp_path if engine != "dask" else tmp_path / "*.csv"
    found = answer(place, engine)
    assert (found["n_samples"], found["columns"]) == (60, ["a", "b"])
    expected = pd.concat([whole, ROWS.iloc[30:]])
    np.testing.assert_allclose(found["offset"], expected.mean(), rtol=1e-9)
    (tmp_path / "c.csv").write_text("a;b\n1.5;2.5\n2.5;1.5\n", encoding="utf-8")
    assert "differ in their decimal sign" in refusal(place, engine)


def test_dask_takes_names_for_names(tmp_path):
    ROWS.to_csv(tmp_path / "data[1].csv", index=False)
    (ROWS + 100).to_csv(tmp_path / "data1.csv", index=False)
    check_like_memory(tmp_path / "data[1].csv", "dask")
