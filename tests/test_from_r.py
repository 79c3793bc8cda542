"""R and Julia: the blocks of docs/from_r.md print what stands below them."""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from conftest import need

pytest.importorskip("typer", reason="needs the command line")
DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "from_r.md").read_text(encoding="utf-8")


def block(language):
    """A block of the page, and what it must print."""
    found = re.findall(rf"^```{language}\n(.*?)^```$\n\n^```text\n(.*?)^```$", PAGE, re.S | re.M)
    assert len(found) == 1, f"{len(found)} blocks of {language}"
    return found[0]


def printed(command, script, tmp_path):
    """Run a script where the command is on the path."""
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    done = subprocess.run(
        [*command, script], cwd=tmp_path, env=os.environ | {"PATH": path},
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_block_for_r(tmp_path):
    need("r")
    code, text = block("r")
    (tmp_path / "block.R").write_text(code, encoding="utf-8")
    assert printed(["Rscript"], "block.R", tmp_path) == text.splitlines()


@pytest.mark.skipif(shutil.which("julia") is None, reason="needs julia")
def test_the_block_for_julia(tmp_path):
    code, text = block("julia")
    (tmp_path / "block.jl").write_text(code, encoding="utf-8")
    assert printed(["julia"], "block.jl", tmp_path) == text.splitlines()


def test_the_numbers_of_r_and_ours(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import r_numbers

    assert r_numbers.filled(PAGE) == PAGE
    for row in re.findall(r"^\| \w+ \| \d.*\|$", r_numbers.table(), re.M):
        theirs, ours = row.split(" | ")[-2:]
        assert float(theirs) == pytest.approx(float(ours.rstrip(" |")), abs=2e-7)
