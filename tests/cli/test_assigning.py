"""A k of one's own, and new rows by a saved model, from the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs
from edfkmeans.cli import app

K_MAX = ("--k-max", 6)


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def table(tmp_path):
    X, _ = blobs(3, n=20)
    frame = pd.DataFrame(np.exp(X[:, :2] / 9).round(4), columns=["x", "y"])
    frame["plan"] = np.where(np.arange(60) % 2, "a", "b")
    frame["day"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    frame.insert(0, "who", [f"=w{i}" for i in range(60)])
    frame.loc[4, "y"] = np.nan
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    return file


OPTIONS = ("--id", "who", "--encode", "--dates", "--log", "x", "--missing", "mean")


def test_a_model_gives_rows_their_clusters_again(table, tmp_path):
    files = {name: tmp_path / name for name in ("m.json", "l.csv", "n.csv")}
    done = run(
        "select", table, *OPTIONS, *K_MAX, "--model", files["m.json"], "--labels", files["l.csv"]
    )
    assert done.exit_code == 0, done.output
    again = run("assign", files["m.json"], table, "--id", "who", "--labels", files["n.csv"])
    assert again.exit_code == 0, again.output
    first, second = pd.read_csv(files["l.csv"]), pd.read_csv(files["n.csv"])
    pd.testing.assert_frame_equal(first[["who", "cluster"]], second[["who", "cluster"]])
    assert (second["distance"] >= 0).all()
    sizes = np.bincount(first["cluster"])
    assert (np.diff(sizes) <= 0).all()
    printed = run("assign", files["m.json"], table)
    shown = pd.read_csv(io.StringIO(printed.stdout))
    assert shown["row"].tolist() == list(range(1, 61))
    assert "Not looked at, as the model has no such columns: 'who'." in printed.stderr
    assert (
        "is there already"
        in run("assign", files["m.json"], table, "--labels", files["n.csv"]).output
    )


def test_what_does_not_match_is_refused(table, tmp_path):
    model = tmp_path / "m.json"
    assert (
        run("select", table, *OPTIONS[:-2], "--missing", "drop", *K_MAX, "--model", model).exit_code
        == 0
    )
    frame = pd.read_csv(table)
    for change, message in (
        ({"x": "xx"}, "has no column 'x', which the model needs. Did you mean 'xx'?"),
        (frame.assign(plan="c"), "'plan' holds 'c', which is none of the values it had"),
        (frame.assign(x="?"), "'x' holds what is not a number, such as '?'"),
        (frame.fillna({"y": 1.0}).assign(x=0.0), "'x' holds zeros (0 in row 1), which have"),
        ({"x": "p", "y": "q"}, "has no columns 'x', 'y', which the model needs. It has 'who', 'p'"),
        (frame, "Missing or infinite values in 1 row, in 'y'"),
        (frame, "or leave those rows out with --missing drop."),
        (frame[:0], "has a header but no rows"),
    ):
        new = frame.rename(columns=change) if isinstance(change, dict) else change
        new.to_csv(tmp_path / "new.csv", index=False)
        done = run("assign", model, tmp_path / "new.csv")
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in " ".join(done.output.split())
    left = run("assign", model, table, "--missing", "drop")
    assert len(pd.read_csv(io.StringIO(left.stdout))) == 59
    assert "1 row with missing values left out." in left.stderr
    frame.dropna().assign(plan="c").to_csv(tmp_path / "new.csv", index=False)
    again = run("assign", model, tmp_path / "new.csv")
    assert "--missing" not in again.output  # which would not help
    none = run("assign", table, table)
    assert (none.exit_code, "is not a model" in none.output) == (2, True)
    answer = tmp_path / "answer.json"
    assert run("select", table, *OPTIONS, *K_MAX, "--json", answer).exit_code == 0
    none = run("assign", answer, table)
    assert "is not a model but what --json wrote. `edfkmeans select --model FILE`" in none.output


def test_rows_are_called_as_before(table, tmp_path):
    files = {name: tmp_path / name for name in ("r.csv", "m.json", "l.csv", "n.csv")}
    named = pd.read_csv(table)[["x", "who"]].rename(columns={"who": ""})
    named[["", "x"]].to_csv(files["r.csv"], index=False)  # as R writes a table
    outputs = ("--model", files["m.json"], "--labels", files["l.csv"])
    assert run("select", files["r.csv"], *K_MAX, *outputs).exit_code == 0
    again = run("assign", files["m.json"], files["r.csv"], "--labels", files["n.csv"])
    assert (again.exit_code, "Not looked at" in again.output) == (0, False), again.output
    first, second = pd.read_csv(files["l.csv"]), pd.read_csv(files["n.csv"])
    pd.testing.assert_frame_equal(first[["row", "cluster"]], second[["row", "cluster"]])
    assert first["row"].str.lstrip("'").tolist() == named[""].tolist()


def test_a_k_of_ones_own(table, tmp_path):
    labels, report = tmp_path / "l.csv", tmp_path / "r.html"
    done = run("select", table, *OPTIONS, *K_MAX, "--k", 5, "--labels", labels, "--report", report,
               "--json", "-")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["k"], len(found["sizes"]), found["chosen"] != 5) == (5, 5, True)
    written = pd.read_csv(labels)
    assert np.bincount(written["cluster"]).tolist() == found["sizes"]
    assert written["ambiguity"].notna().all()
    assert "5 clusters, as asked for (the answer was" in report.read_text(encoding="utf-8")
    assert run("select", table, *OPTIONS, *K_MAX, "--k", 5, "--quiet").output == "5\n"
    more = run("select", table, *OPTIONS, *K_MAX, "--k", 7)
    assert (more.exit_code, "--k 7 is more than --k-max 6." in more.output) == (2, True)
    # Few rows have a lower bound by default, which is no bound for one's own choice.
    assert run("select", table, *OPTIONS, "--k", 14, "--quiet").output == "14\n"
    over = run("select", table, *OPTIONS, "--k", 500)
    assert over.exit_code == 2
    told = "--k 500 needs at least 501 distinct rows, as a fit of one cluster more is needed; the "
    assert told + "table has 60. Lower --k." in over.output


def test_none_is_a_word_for_new_rows_too(tmp_path):
    X, _ = blobs(2, n=30, d=2)
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(bags=["None", "front", "both"] * 20)
    frame.to_csv(tmp_path / "t.csv", index=False)
    files = ("--encode", "--model", tmp_path / "m.json", "--labels", tmp_path / "l.csv")
    assert run("select", tmp_path / "t.csv", *K_MAX, *files).exit_code == 0
    frame[:1].to_csv(tmp_path / "new.csv", index=False)
    done = run("assign", tmp_path / "m.json", tmp_path / "new.csv")
    found = pd.read_csv(io.StringIO(done.stdout))
    assert found["cluster"][0] == pd.read_csv(tmp_path / "l.csv")["cluster"][0]


def test_remarks_call_rows_as_the_file_does(tmp_path):
    X, _ = blobs(2, n=30)
    X[7] = 900
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame.loc[2, "c0"] = np.nan
    frame.insert(0, "who", [f"w{i}" for i in range(60)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ("select", tmp_path / "t.csv", *K_MAX, "--k", "3", "--missing", "drop")
    named = " ".join(run(*command, "--id", "who").output.split())
    assert "Cluster 2 is a single row: the row 'w7', far from all others." in named
    assert "The row 'w7' lies far from all others" in named
    assert "1 row with missing values left out, 59 kept." in named
    frame.rename(columns={"who": ""}).to_csv(tmp_path / "t.csv", index=False)
    nameless = " ".join(run(*command).output.split())
    assert "Cluster 2 is a single row: the row 'w7', far from all others." in nameless
    frame.to_csv(tmp_path / "t.csv", index=False)
    numbered = " ".join(run(*command, "--drop", "who").output.split())
    assert "Cluster 2 is a single row: row 8, far from all others." in numbered
    assert "there is, with the columns as they are: " in numbered


def test_a_model_may_have_a_byte_order_mark(table, tmp_path):
    model, labels = tmp_path / "m.json", tmp_path / "l.csv"
    assert run("select", table, *OPTIONS, *K_MAX, "--model", model).exit_code == 0
    model.write_text(model.read_text(encoding="utf-8"), encoding="utf-8-sig")
    done = run("assign", model, table, "--id", "who", "--labels", labels)
    assert done.exit_code == 0, done.output
