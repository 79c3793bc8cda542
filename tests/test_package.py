"""The package as a whole: what importing costs, and what the README promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import edfkmeans

README = Path(__file__).parent.parent / "README.md"


def test_import_is_light():
    script = "import sys, edfkmeans; print(*[m for m in sys.modules])"
    modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "edfkmeans" in modules
    assert not {"matplotlib", "sklearn", "numba", "dask", "torch"} & set(modules)


def test_public_names():
    for name in edfkmeans.__all__:
        assert getattr(edfkmeans, name).__doc__
    assert set(edfkmeans.__all__) <= set(dir(edfkmeans))
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        edfkmeans.magic  # noqa: B018


def test_the_numbers_of_the_readme_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "benchmarks"))
    import tables

    text = README.read_text()
    assert tables.filled(text) == text


def test_every_python_block_of_the_readme_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert blocks
    namespace = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["result"].k == 3
