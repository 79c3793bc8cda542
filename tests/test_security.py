"""Hostile tables through the real commands, and what the package must never do."""

import ast
import csv
import html.parser
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs, posix_only
from edfkmeans.cli import app

SOURCE = Path(__file__).parents[1] / "src" / "edfkmeans"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "=HYPERLINK(\"http://evil\",\"x\")",
    "+1+1",
    "-2+3|cmd",
    "@SUM(1)",
    "\t=1+1",
    "two\nlines",
    "]]>&lt;&amp;",
    "{{ 7*7 }}{% raw %}",
    "$\\frac{1}{$ [bold]",
    "\u202ertl",
]  # fmt: skip


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def hostile_table(file, nul=False):
    """Three columns with hostile names, and hostile names of the rows."""
    X, _ = blobs(3, n=40)
    frame = pd.DataFrame(X, columns=[HOSTILE[0], HOSTILE[1], HOSTILE[2] + "$x_{"])
    ids = [HOSTILE[i % len(HOSTILE)] + (f" {i}" if i >= len(HOSTILE) else "") for i in range(120)]
    frame.insert(0, "=cmd<b>", ids)
    if nul:
        frame.iloc[0, 0] = "nul\0in it"
    if file.suffix == ".parquet":
        frame.to_parquet(file, index=False)
    else:
        frame.to_csv(file, index=False)
    return ids


class Tags(html.parser.HTMLParser):
    """Collects the tags that a browser would see, and their attributes."""

    def __init__(self):
        super().__init__()
        self.scripts, self.tags, self.handlers, self.addresses = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]
        self.addresses += [
            value for name, value in attributes if name in ("src", "href", "action") and value
        ]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(data)


def tags_of(file):
    found = Tags()
    found.feed(file.read_text(encoding="utf-8"))
    return found


@posix_only
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_hostile_names_and_ids_stay_text_in_every_output(ending, tmp_path):
    table = tmp_path / f"<script>alert(2)<{ending}"
    ids = hostile_table(table)
    files = {name: tmp_path / f"o{end}" for name, end in OUTPUTS.items()}
    options = [word for name, file in files.items() for word in (f"--{name}", file)]
    done = run("select", table, "--id", "=cmd<b>", "--k-max", 6, *options)
    assert done.exit_code == 0, done.output

    harmless = tmp_path / "harmless.csv"
    X, _ = blobs(3, n=40)
    pd.DataFrame(X, columns=list("abc")).to_csv(harmless, index=False)
    plain = tmp_path / "plain.html"
    assert run("select", harmless, "--k-max", 6, "--report", plain).exit_code == 0
    page, expected = tags_of(files["report"]), tags_of(plain)
    assert page.tags.count("script") == expected.tags.count("script")
    assert set(page.tags) == set(expected.tags)
    assert page.handlers == expected.handlers
    assert not [a for a in page.addresses if not a.startswith(("#", "data:"))]
    assert "alert(1)" in files["report"].read_text(encoding="utf-8")  # shown, as text

    picture = ElementTree.parse(files["plot"])
    assert not [e for e in picture.iter() if e.tag.endswith("script")]

    assert json.loads(files["json"].read_text(encoding="utf-8"))["columns"][0] == HOSTILE[0]
    with open(files["labels"], newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert len(rows) == 1 + len(ids)
    assert all(len(row) == 3 for row in rows)
    for row in rows:
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert [row[0].replace("\t'", "\t").removeprefix("'") for row in rows[1:]] == ids


OUTPUTS = {"report": ".html", "plot": ".svg", "json": ".json", "labels": ".csv"}


def test_nul_is_refused_or_kept_as_text(tmp_path):
    for ending in (".csv", ".parquet"):
        table = tmp_path / f"nul{ending}"
        hostile_table(table, nul=True)
        files = {name: tmp_path / f"nul-{ending[1:]}{end}" for name, end in OUTPUTS.items()}
        options = [word for name, file in files.items() for word in (f"--{name}", file)]
        done = run("select", table, "--id", "=cmd<b>", "--k-max", 6, *options)
        assert done.exit_code in (0, 2), done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
        if done.exit_code == 0:
            json.loads(files["json"].read_text(encoding="utf-8"))
            ElementTree.parse(files["plot"])


@posix_only
def test_the_picture_of_a_comparison(tmp_path):
    table = tmp_path / "<i>&.csv"
    hostile_table(table)
    done = run(
        "compare", table, "--id", "=cmd<b>", "--k-max", 5, "--criterion", "bic",
        "--json", tmp_path / "c.json", "--plot", tmp_path / "c.svg",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    ElementTree.parse(tmp_path / "c.svg")
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["source"] == str(table)


# What Spark's workers send back to the program that sent them the code, as Spark itself does.
PICKLES = ("_spark_partitions.py", "_spark_tables.py")


def test_nothing_is_unpickled_or_run():
    for file in SOURCE.rglob("*.py"):
        forbidden = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
        forbidden -= {"pickle"} if file.name in PICKLES else set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not forbidden & {name.name.split(".")[0] for name in node.names}, file
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, file
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), file
                assert node.value.value is False, file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "__import__"), file
            if isinstance(node, ast.Attribute):
                assert node.attr != "read_pickle", file
                assert ast.unparse(node) not in ("os.system", "os.popen"), file


def test_a_pickled_array_is_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.save(tmp_path / "t.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    done = run("select", tmp_path / "t.npy")
    assert done.exit_code == 2, done.output
    assert not (tmp_path / "sprung").exists()


OFFLINE = """
import socket, sys
def refuse(*_, **__):
    raise SystemExit("the network was asked for")
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = refuse
socket.getaddrinfo = socket.socket.bind = socket.socket.sendto = refuse
socket.socket.__init__ = refuse
from edfkmeans import cli
for words in (
    "select t.csv --k-max 5 --report r.html --plot p.svg --json j.json --labels l.csv",
    "compare t.csv --k-max 5 --plot c.svg",
    "info",
):
    try:
        cli.app(words.split())
    except SystemExit as end:
        if end.code:
            raise
"""


def test_no_network(tmp_path):
    X, _ = blobs(3, n=30)
    pd.DataFrame(X, columns=list("abc")).to_csv(tmp_path / "t.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert not [a for a in tags_of(tmp_path / "r.html").addresses if a.startswith("http")]
