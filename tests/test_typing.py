"""The types in the package, as the program of a user meets them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
USER = Path(__file__).parents[1] / "release" / "user.py"
WRONG = """
from edfkmeans import select_k
k: str = select_k([[0.0], [1.0], [5.0]]).k
select_k([[0.0]], methud="paper")
select_k([[0.0]], method="magic")
"""


def mypy(file):
    options = ("--strict", "--config-file=", "--cache-dir", str(file.parent / "cache"))
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    return subprocess.run(command, cwd=file.parent, capture_output=True, text=True)


def test_mypy_accepts_a_users_program_and_refuses_a_wrong_one(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(USER.read_text(encoding="utf-8"), encoding="utf-8")
    bad.write_text(WRONG, encoding="utf-8")
    done = mypy(good)
    assert done.returncode == 0, done.stdout
    told = mypy(bad).stdout
    assert [line.split(":")[1] for line in told.splitlines()[:-1] if "error" in line] == list("345")
