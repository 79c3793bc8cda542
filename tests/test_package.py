"""The package as a whole: what importing costs, and what the README promises."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import edfkmeans
from edfkmeans.criteria import criterion

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


def test_the_numbers_of_the_docs_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "experiments"))
    import choice
    import dof_accuracy
    import one_cluster
    import pages

    answers = pd.read_csv(one_cluster.RESULTS, comment="#")
    for page, tables in (
        (one_cluster.PAGE, {"one_cluster": one_cluster.page(answers)}),
        (choice.PAGE, choice.tables()),
        (dof_accuracy.PAGE, {"accuracy": dof_accuracy.table()}),
    ):
        text = page.read_text()
        assert pages.filled(text, tables) == text, page.name


def test_the_numbers_of_the_page_on_large_data_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "benchmarks"))
    import large

    text = large.PAGE.read_text()
    assert large.filled(text) == text


PAGES = [README, *sorted((README.parent / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_of_the_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.setattr(criterion, "_registered", dict(criterion.registered()))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert blocks
    namespace = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page.name, "exec"), namespace)
    if page == README:
        assert namespace["result"].k == 3
