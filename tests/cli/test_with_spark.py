"""The command line with Spark: tables and files, with ids of one's own."""

import json

import numpy as np
import pandas as pd
import pytest
from test_commands import NUMBERS, USED, flat, run, same

from conftest import blobs
from in_spark import session

pytest.importorskip("pyspark", reason="needs pyspark: pip install '.[spark]'")


@pytest.fixture
def people(tmp_path):
    """Three clear groups, a name for each row and the group, as a CSV file and as Parquet."""
    X, labels = blobs(3, n=40)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"])
    frame.insert(0, "who", [f"person {i:03d}" for i in range(len(frame))])
    frame["group"] = np.array(["a", "b", "c"])[labels]
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    return tmp_path


def test_spark_gives_the_answer_of_memory(people):
    session()
    labels, report = people / "l.parquet", people / "r.html"
    outputs = ("--json", "-", "--labels", labels, "--report", report)
    options = ("--engine", "spark", "--id", "who", "--drop", "group", "--k-max", 4)
    found = run("select", people / "people.parquet", *options, *outputs)
    assert found.exit_code == 0, found.output
    memory = run("select", people / "people.csv", *USED[:-1], 4, "--json", "-")
    lazy, here = json.loads(found.output), json.loads(memory.output)
    for name in ("k", "sizes", "columns", "table", "as_good", "confidence", "reason"):
        assert same(lazy[name], here[name]), name
    written = pd.read_parquet(labels)
    assert list(written.columns) == ["who", "cluster"]
    assert np.bincount(written["cluster"]).tolist() == lazy["sizes"]
    page = report.read_text(encoding="utf-8")
    assert "in 120 rows and 3 columns" in page
    assert "person 007" in page


@pytest.mark.parametrize("name", ["cluster", "Cluster"])  # Spark takes them for the same
def test_an_id_called_like_our_column_keeps_its_name(people, name):
    session()
    file, labels = people / "t.parquet", people / "l.parquet"
    pd.read_csv(people / "people.csv").rename(columns={"who": name}).to_parquet(file)
    options = ("--engine", "spark", "--id", name, "--drop", "group", "--k-max", 3)
    done = run("select", file, *options, "--labels", labels)
    assert done.exit_code == 0, done.output
    assert "t.parquet: 120 rows, 3 columns" in flat(done)
    assert "in the labels our column is 'edfkmeans_cluster'" in flat(done)
    written = pd.read_parquet(labels)
    assert list(written.columns) == [name, "edfkmeans_cluster"]
    assert sorted(written[name]) == [f"person {i:03d}" for i in range(120)]
    assert written["edfkmeans_cluster"].value_counts().tolist() == [40, 40, 40]


def test_rows_count_as_a_column_says(people):
    session()
    frame = pd.read_parquet(people / "people.parquet")
    frame["times"] = np.random.default_rng(0).integers(0, 4, len(frame))
    frame.to_parquet(people / "people.parquet", index=False)
    options = ("--id", "who", "--drop", "group", "--weights", "times", "--k-max", 4, "--jobs", 1)
    labels, report = people / "l.parquet", people / "r.html"
    found = run("select", people / "people.parquet", *options, "--engine", "spark", "--json", "-",
                "--labels", labels, "--report", report)  # fmt: skip
    assert found.exit_code == 0, found.output
    memory = run("select", people / "people.parquet", *options, "--json", "-")
    lazy, here = json.loads(found.output), json.loads(memory.output)
    assert (lazy["k"], lazy["n_samples"]) == (3, frame["times"].sum())
    for name in ("sizes", "columns", "centers", "table"):
        assert same(lazy[name], here[name]), name
    written = pd.read_parquet(labels).set_index("who").loc[frame["who"], "cluster"]
    assert np.bincount(written, frame["times"]).tolist() == lazy["sizes"]
    assert "times" in report.read_text(encoding="utf-8")
    frame["times"] -= 1
    frame.to_parquet(people / "people.parquet", index=False)
    done = run("select", people / "people.parquet", *options, "--engine", "spark")
    assert (done.exit_code, "weights are 0 or more" in flat(done)) == (2, True), done.output


def test_what_spark_cannot_do_is_told(people):
    spark = session()
    pd_frame = pd.read_csv(people / "people.csv")
    spark.createDataFrame(pd_frame).createOrReplaceTempView("people")
    asked = run("select", "people", "--engine", "spark", *NUMBERS[:-2], "--k-max", 3, "--quiet")
    assert (asked.exit_code, asked.output.strip()) == (0, "3")
    for words, message in (
        (("nobody",), "There is no file nobody"),
        (("people", "--id", "nope"), "--id 'nope': people has no such column."),
        (("people",), "not numbers: 'who', 'group'"),
        (("people", "--encode"), "--encode is for rows in memory."),
    ):
        done = run("select", *words, "--engine", "spark")
        assert (done.exit_code, message in flat(done)) == (2, True), done.output
    lone = run("select", people / "people.csv", "--master", "local[2]")
    assert "--master local[2] is for --engine spark." in flat(lone)


@pytest.mark.parametrize(
    "how, said",
    [
        ({"sep": ";", "decimal": ","}, "has the separator ';' and decimal commas"),
        ({"header": False}, "has no names in its first line"),
    ],
)
def test_text_that_spark_would_misread_is_refused(how, said, people):
    session()
    frame = pd.read_parquet(people / "people.parquet")[["height", "weight"]]
    frame.to_csv(people / "t.csv", index=False, **how)
    done = run("select", people / "t.csv", "--engine", "spark")
    assert done.exit_code == 2
    assert said in flat(done)
    assert "--engine arrow" in flat(done)


@pytest.mark.parametrize("options", [(), ("--columns", "height")])
def test_a_longer_row_far_down_is_refused_by_spark(options, people):
    session()
    frame = pd.read_parquet(people / "people.parquet")[["height", "weight"]]
    text = pd.concat([frame] * 3).to_csv(index=False) + "1,2,3\n"
    (people / "t.csv").write_text(text, encoding="utf-8")
    assert run("select", people / "t.csv", "--engine", "spark", *options).exit_code == 2


def test_an_index_without_a_name_is_no_column_to_spark(people):
    session()
    frame = pd.read_parquet(people / "people.parquet")[["height", "weight"]]
    frame.sample(frac=1, random_state=0).to_parquet(people / "t.parquet")
    options = ("--engine", "spark", "--k-max", 3, "--method", "naive", "--json", "-")
    for more, told in (((), 1), (("--id", "__index_level_0__"), 0)):
        done = run("select", people / "t.parquet", *options, *more)
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["columns"] == ["height", "weight"]
        assert sum("The table's index" in note for note in found["notes"]) == told
