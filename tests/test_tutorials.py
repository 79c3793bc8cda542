"""The tutorials run from the first block to the last, and show what they say."""

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("dask.dataframe")
from typer.testing import CliRunner

from edfkmeans.cli import app

PAGES = sorted((Path(__file__).parent.parent / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(kind, block, namespace, capsys):
    """Run a block and return what it prints."""
    if kind == "python":
        capsys.readouterr()
        exec(compile(block, "tutorial", "exec"), namespace)
        return capsys.readouterr().out
    printed = ""
    for line in block.replace("\\\n", " ").splitlines():
        command, *words = shlex.split(line)
        assert command == "edfkmeans"
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        printed += result.output
    return printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_and_shows_what_it_says(page, tmp_path, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace, kind, printed = {"__name__": "__main__"}, "", ""
    for which, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if which != "text":
            kind, printed = which, run(which, block, namespace, capsys)
        elif kind == "python":  # all that it prints
            assert [line.rstrip() for line in printed.splitlines()] == block.splitlines()
        else:  # of a command a few lines are shown
            for line in block.splitlines():
                assert line in printed, (line, printed)
