import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs
from edfkmeans.cli import app
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.weights import weights_in


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path):
    """A file with three clear groups and a count for each row, some 0."""
    X, _ = blobs(3, n=30)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"])
    frame["times"] = np.random.default_rng(0).integers(0, 4, len(frame))
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_a_file_with_counts_is_the_file_with_repeated_rows(table, tmp_path):
    frame = pd.read_csv(table)
    repeated = frame.loc[frame.index.repeat(frame["times"])].drop(columns="times")
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    found = []
    for file, options in ((table, ["--weights", "times"]), (tmp_path / "repeated.csv", [])):
        made = [tmp_path / f"{file.stem}.{end}" for end in ("json", "html", "labels.csv")]
        done = run(
            "select", file, *options, "--k-max", 5, "--jobs", 1, "--json", made[0], "--report",
            made[1], "--labels", made[2],
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        found.append((json.loads(made[0].read_text(encoding="utf-8")), pd.read_csv(made[2])))
    (one, labels), (other, whole) = found
    assert (one["k"], one["sizes"], one["n_samples"]) == (3, other["sizes"], other["n_samples"])
    np.testing.assert_allclose(one["centers"], other["centers"], rtol=1e-8)
    for line, same in zip(one["table"], other["table"], strict=True):
        assert line["bic"] == pytest.approx(same["bic"], rel=1e-8)
    assert len(labels) == len(frame)
    assert labels["cluster"].repeat(frame["times"]).tolist() == whole["cluster"].tolist()


def test_compare_with_importances(table, tmp_path):
    frame = pd.read_csv(table)
    frame["times"] += 0.5
    frame.to_csv(table, index=False)
    done = run("compare", table, "--weights", "times", "--criterion", "bic", "--k-max", 4)
    assert done.exit_code == 0, done.output
    assert "importances" in done.output


@pytest.mark.parametrize(
    "options, said",
    [
        (["--weights", "tims"], "Did you mean 'times'"),
        (["--weights", "age", "--scale", "none"], "are no weights"),
        (["--weights", "times", "--scale", "robust"], "--scale robust knows no weights"),
        (["--weights", "times", "--missing", "mean"], "--missing mean knows no weights"),
        (["--weights", "times", "--id", "times"], "is the --id column too"),
        (["--weights", "times", "--drop", "times"], "is named by --drop too"),
        (["--weights", "times", "--columns", "times"], "is named by --columns too"),
        (["--weights", "tims", "--engine", "arrow"], "Did you mean 'times'"),
        (["--weights", "age", "--engine", "arrow"], "are no weights"),
        (["--weights", "tims", "--engine", "dask"], "Did you mean 'times'"),
        (["--weights", "age", "--engine", "dask"], "but weights are 0 or more"),
    ],
)
def test_what_cannot_be_weighed(options, said, table):
    frame = pd.read_csv(table)
    frame["age"] -= 100
    frame.to_csv(table, index=False)
    done = run("select", table, *options)
    assert done.exit_code == 2
    assert said in done.output.replace("\n", " ")


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
@pytest.mark.parametrize("weight, said", [("x", "Weights are numbers"), (0, "Name another column")])
def test_weights_that_are_text_or_all_zero(engine, weight, said, table):
    if engine != "memory":
        pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}[engine])
    pd.read_csv(table).assign(times=weight).to_csv(table, index=False)
    done = run("select", table, "--weights", "times", "--engine", engine)
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert "--weights" in told
    assert "OneHotEncoder" not in told
    assert "dtype" not in told
    assert said in told or (engine == "dask" and "above 0" in told)


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
@pytest.mark.parametrize("weights", [
    pd.to_timedelta(range(1, 91), "D"), pd.date_range("2024-01-01", periods=90),
    pd.period_range("2024-01", periods=90, freq="M"),
])  # fmt: skip
def test_durations_and_dates_are_no_weights(engine, weights, table):
    if engine != "memory":
        pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}[engine])
    file = table.with_suffix(".parquet")
    pd.read_csv(table).assign(times=weights).to_parquet(file)
    done = run("select", file, "--weights", "times", "--engine", engine)
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    if engine == "memory" or weights.dtype.kind != "O":  # Arrow knows periods as numbers
        assert f"--weights 'times' of {file}" in told.replace("- ", "-")
        assert "holds values that are no numbers. Weights are numbers, 0 or more" in told


def test_categories_are_weights_by_their_values():
    column = pd.Series(pd.Categorical([2, 1, 2]), name="w")
    assert weights_in(column, "none", None, "x").tolist() == [2, 1, 2]
    column = pd.Series(pd.Categorical(pd.to_timedelta([2, 1], "D")), name="w")
    with pytest.raises(BadFileError, match="no numbers"):
        weights_in(column, "none", None, "x")


def test_the_rows_that_are_told_of_are_those_that_are_kept(table):
    frame = pd.read_csv(table).assign(times=[2, 1] * 45)
    frame.loc[0, "age"] = np.nan
    frame.to_csv(table, index=False)
    done = run("select", table, "--weights", "times", "--missing", "drop", "--k-max", 4)
    assert done.exit_code == 0, done.output
    assert "Rows count as often as 'times' says: 133 rows." in done.output
    weights = done.output.split("Weight in each: ")[1].split(".")[0]
    assert sum(map(int, weights.split(", "))) == 133


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
def test_a_column_that_varies_only_where_rows_do_not_count(engine, table, tmp_path):
    if engine != "memory":
        pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}[engine])
    frame = pd.read_csv(table).assign(times=1, flag=7)
    frame.loc[85:, ["times", "flag"]] = 0, 8
    frame.to_csv(table, index=False)
    made = tmp_path / "o.json"
    options = ("--weights", "times", "--engine", engine, "--json", made, "--k-max", 5)
    done = run("select", table, *options)
    assert done.exit_code == 0, done.output
    found = json.loads(made.read_text(encoding="utf-8"))
    assert (found["k"], found["offset"][-1], found["spread"][-1]) == (3, 7, 1)
    assert np.abs(np.array(found["centers"])[:, -1]).max() == 0


@pytest.mark.parametrize("engine", ["memory", "arrow", "dask"])
def test_a_single_row_that_counts_is_told_of(engine, table):
    if engine != "memory":
        pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}[engine])
    frame = pd.read_csv(table).assign(times=0)
    frame.loc[4, "times"] = 3
    frame.to_csv(table, index=False)
    for options in ([], ["--scale", "none"]):
        done = run("select", table, "--weights", "times", "--engine", engine, *options)
        assert done.exit_code == 2
        told = " ".join(done.output.split())
        assert "has 1 row with 'times' above 0, but at least 2 are needed." in told
    if engine == "memory":
        frame.loc[4, "age"] = np.nan
        frame.to_csv(table, index=False)
        done = run("select", table, "--weights", "times", "--missing", "drop")
        told = " ".join(done.output.split())
        assert "has 0 rows with 'times' above 0 and nothing missing" in told


@pytest.mark.parametrize("gap", [False, True])
def test_dask_takes_weights_of_columns_that_may_have_gaps(gap, table):
    pytest.importorskip("dask.dataframe", reason="needs dask")
    frame = pd.read_csv(table).astype({"times": "Int64"})
    if gap:
        frame.loc[3, "times"] = pd.NA
    frame.to_parquet(table.with_suffix(".parquet"))
    options = ("--weights", "times", "--engine", "dask", "--k-max", 5)
    done = run("select", table.with_suffix(".parquet"), *options)
    assert done.exit_code == (2 if gap else 0), done.output
    assert not gap or "is nan in row 3" in done.output.replace("\n", " ")


@pytest.mark.parametrize("engine", ["arrow", "dask"])
@pytest.mark.parametrize("more", [0, 0.5])
def test_a_file_that_is_read_part_by_part_has_the_same_answer(engine, more, table, tmp_path):
    pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}[engine])
    frame = pd.read_csv(table)
    frame["times"] += more
    frame.to_csv(table, index=False)
    found = []
    for name in ("memory", engine):
        made = tmp_path / f"{name}.json"
        done = run(
            "select", table, "--weights", "times", "--engine", name, "--k-max", 5, "--jobs", 1,
            "--json", made, "--report", tmp_path / f"{name}.html",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "times" in done.output
        found.append(json.loads(made.read_text(encoding="utf-8")))
    one, other = found
    assert (one["k"], one["n_samples"]) == (3, other["n_samples"])
    assert other["k"] == 3
    np.testing.assert_allclose(one["sizes"], other["sizes"], rtol=1e-12)
    np.testing.assert_allclose(one["centers"], other["centers"], rtol=1e-8)
    # The pilot may be another optimum with importances, which a stream has copies of at first.
    for line, same in zip(one["table"], other["table"], strict=True) if not more else ():
        assert line["bic"] == pytest.approx(same["bic"], rel=1e-8)
