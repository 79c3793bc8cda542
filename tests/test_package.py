"""The package as a whole: what importing costs, and what the README promises."""

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import edfkmeans
from edfkmeans.criteria import criterion, registered

README = Path(__file__).parent.parent / "README.md"
CONTRIBUTING = README.parent / "CONTRIBUTING.md"


def test_import_is_light():
    script = "import sys, edfkmeans; print(*[m for m in sys.modules])"
    modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "edfkmeans" in modules
    assert not {"matplotlib", "sklearn", "numba", "dask", "torch"} & set(modules)


ANSWER = """
import sys
import numpy as np
import pandas as pd
from edfkmeans import select_k
X = np.random.default_rng(0).normal(size=(60, 3)).round(2)
for given in (X, X.astype(np.float32), (100 * X).astype(int), pd.DataFrame(X)):
    select_k(given, 5, random_state=0)
print(*sys.modules)
"""


def test_an_answer_does_not_import_what_takes_long():
    needed = "import sys, numba, pandas, scipy.special; print(*sys.modules)"
    modules, without_us = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        .stdout.split()
        for code in (ANSWER, needed)
    )  # fmt: skip
    assert "edfkmeans.choosing.judge" in modules
    slow = {"sklearn", "scipy.stats", "scipy.optimize", "scipy.sparse", "matplotlib", "jinja2"}
    # Older versions of scipy bring some of them along.
    assert not slow & (set(modules) - set(without_us))


def test_public_names():
    for name in edfkmeans.__all__:
        assert getattr(edfkmeans, name).__doc__
    assert set(edfkmeans.__all__) <= set(dir(edfkmeans))
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        edfkmeans.magic  # noqa: B018


def test_the_numbers_of_the_readme_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "benchmarks"))
    import tables

    text = README.read_text(encoding="utf-8")
    assert tables.filled(text, tables.tables()) == text


def test_the_numbers_of_the_page_on_speed_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "benchmarks"))
    import many
    import small
    import threads

    text = small.PAGE.read_text(encoding="utf-8")
    for made in (many, small, threads):
        assert small.filled(text, made.tables()) == text, made.__name__


def test_the_numbers_of_the_docs_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "experiments"))
    import choice
    import dof_accuracy
    import one_cluster
    import pages
    import paper_page

    answers = pd.read_csv(one_cluster.RESULTS, comment="#")
    made = paper_page.make_tables(README.parent / "experiments" / "results" / "reproduction")
    shown = {name: pages.markdown(table) for name, (_, table) in made.items()}
    for page, tables in (
        (one_cluster.PAGE, {"one_cluster": one_cluster.page(answers)}),
        (choice.PAGE, choice.tables()),
        (dof_accuracy.PAGE, dof_accuracy.tables()),
        (README.parent / "docs" / "reproduction.md", shown),
    ):
        text = page.read_text(encoding="utf-8")
        assert pages.filled(text, tables) == text, page.name


def test_every_criterion_was_asked_about_one_cluster(monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / "experiments"))
    import one_cluster

    answers = pd.read_csv(one_cluster.RESULTS, comment="#")
    asked = answers.groupby("criterion")["can_say_one"].first().to_dict()
    assert asked == {name: each.can_say_one for name, each in registered().items()}


@pytest.mark.parametrize(
    "folder, script",
    [
        ("benchmarks", "choosers"),
        ("benchmarks", "large"),
        ("benchmarks", "memory"),
        ("robustness", "mutation"),
    ],
)
def test_the_numbers_of_a_page_are_those_of_the_results(folder, script, monkeypatch):
    monkeypatch.syspath_prepend(str(README.parent / folder))
    module = importlib.import_module(script)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(text, module.tables()) == text


# A block of Python, and what it prints where a block of text follows.
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
PAGES = [
    page
    for page in (README, CONTRIBUTING, *sorted((README.parent / "docs").rglob("*.md")))
    # The blocks of tutorials need the commands between them: test_tutorials.py runs both.
    if BLOCK.search(page.read_text(encoding="utf-8")) and page.parent.name != "tutorials"
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(README.parent)))
def test_every_python_block_of_the_pages_runs(page, tmp_path, monkeypatch, capsys):
    importlib.import_module("edfkmeans.comparison")  # all criteria are registered
    monkeypatch.setattr(criterion, "_registered", dict(criterion.registered()))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block, printed in BLOCK.findall(page.read_text(encoding="utf-8")):
        capsys.readouterr()
        exec(compile(block, page.name, "exec"), namespace)
        if printed:
            shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
            assert shown == [line.rstrip() for line in printed.splitlines()]
    if page == README:
        assert namespace["result"].k == 3


def test_the_readme_on_pypi_points_to_nothing_beside_it():
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))
    shown = README.read_text(encoding="utf-8")
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(each["pattern"], each["replacement"], shown)
    assert "Picture, in the checkout: " in shown
    assert not re.findall(r"\]\((?!https?:|#)", shown)
