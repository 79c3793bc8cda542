import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import edfkmeans
from conftest import blobs
from edfkmeans import select_k
from edfkmeans.chart import chart
from edfkmeans.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_demo_answers_with_chart_and_table():
    result = run("demo")
    assert result.exit_code == 0
    assert result.output.startswith("3 clusters in scikit-learn's wine data (178 rows, 13 columns")
    assert "BIC against k" in result.output
    assert "<- chosen" in result.output


def test_select_equals_the_library(tmp_path):
    X, _ = blobs(4, d=4)
    frame = pd.DataFrame(X * [1, 10, 100, 1000], columns=list("abcd"))
    frame.to_csv(tmp_path / "own.csv", index=False)
    result = run("select", tmp_path / "own.csv", "--k-max", 9, "--seed", 5)
    assert result.exit_code == 0
    assert "(160 rows, 4 columns, standardised)" in result.output
    standard = (frame - frame.mean()) / frame.std(ddof=0)
    selection = select_k(standard, 9, random_state=5)
    assert result.output.startswith(f"{selection.k} clusters in")
    assert f"{selection.table.loc[selection.k, 'bic']:.1f}" in result.output
    raw = run("select", tmp_path / "own.csv", "--scale", "none", "--k-max", 9)
    assert "as they are" in raw.output


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "There is no file"),
        ("", "could not be read as CSV"),
        ("a,b\n", "0 sample"),
        ("a,b\n1,2\n3,x\n", "columns that are not numbers: 'b'"),
        ("a,b\n1,2\n,4\n5,6\n", "contains NaN: one value, in row 1 (counted from 0), column 'a'"),
        ("a\n1\n1\n1\n", "X has 1 distinct row"),
        ("a;b\n1;2\n3;4\n", "seems to use another separator than the comma: 'a;b'"),
        ("a,b\n1,2,3\n4,5,6\n", "has rows with more fields than its header"),
    ],
)
def test_bad_files_say_what_to_do(tmp_path, content, message):
    file = tmp_path / "bad.csv"
    if content is not None:
        file.write_text(content)
    result = run("select", file)
    assert result.exit_code == 2
    assert message in result.output.replace("\n", " ")
    assert "Traceback" not in result.output


def test_odd_names_and_huge_values(tmp_path):
    X, _ = blobs(3, n=60)
    file = tmp_path / "q[bold].csv"
    pd.DataFrame(X * 1e300).to_csv(file, index=False)
    result = run("select", file, "--method", "paper", "--rule", "r-package")
    assert result.exit_code == 0
    assert "3 clusters in" in result.output
    assert "q[bold].csv (180 rows, 3 columns, standardised)" in result.output


def test_version():
    assert run("--version").output == f"edfkmeans {edfkmeans.__version__}\n"


def test_a_folder_is_not_a_table(tmp_path):
    result = run("select", tmp_path)
    assert result.exit_code == 2
    assert "could not be read as CSV" in result.output.replace("\n", " ")


def test_help_shows_examples():
    for command in ("select", "compare", "demo"):
        assert f"edfkmeans {command}" in run(command, "--help").output


def test_chart_marks_every_k():
    values = [9.0, 4.0, 1.0, 3.0, 2.0, 6.0]
    drawn = chart(values, chosen=3, minima=[5], width=40)
    # four dots are marks, four are the decimal points of the axis
    assert (drawn.count("O"), drawn.count("o"), drawn.count(".")) == (1, 1, 4 + 4)
    assert max(map(len, drawn.splitlines())) <= 40
    assert chart([2.0, 2.0], chosen=1, minima=[]).count("O") == 1
    assert len(max(chart(list(np.arange(30.0)), 1, [], 80).splitlines(), key=len)) <= 80


def test_compare_prints_a_line_for_each_criterion(tmp_path):
    X, _ = blobs(3, n=30)
    file = tmp_path / "own.csv"
    pd.DataFrame(X).to_csv(file, index=False)
    result = run("compare", file, "--k-max", 6, "--criterion", "bic", "--criterion", "silhouette")
    assert result.exit_code == 0
    assert "own.csv (90 rows, 3 columns, standardised)" in result.output.replace("\n", " ")
    assert [line.split()[:2] for line in result.output.splitlines()[-2:]] == [
        ["bic", "3"],
        ["silhouette", "3"],
    ]
    bad = run("compare", file, "--criterion", "magic")
    assert bad.exit_code == 2
    assert "There is no criterion 'magic'" in bad.output.replace("\n", " ")


def test_confidence_is_told_on_request(tmp_path):
    X, _ = blobs(3, n=30)
    pd.DataFrame(X).to_csv(tmp_path / "own.csv", index=False)
    sure = run("select", tmp_path / "own.csv", "--k-max", 6, "--confidence")
    assert re.search(r"Chosen in \d+ % of the resamples\.", sure.output)
    assert "resamples" not in run("select", tmp_path / "own.csv", "--k-max", 6).output
