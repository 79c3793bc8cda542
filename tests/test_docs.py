"""The pages of the site: they name every command, option, field and public name there is."""

import json
import re
from pathlib import Path

import pytest

import edfkmeans
from edfkmeans import criteria, plots

pytest.importorskip("typer")
import typer
from typer.testing import CliRunner

from edfkmeans.cli import app

DOCS = Path(__file__).parent.parent / "docs"
CLI_PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import commands

    return commands.markdown()


def sections(text):
    """Return what the reference says of each command."""
    parts = re.split(r"^### `(.+)`$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_and_option_is_in_the_reference(reference):
    found = sections(reference)
    group = typer.main.get_command(app)
    assert list(found) == list(group.commands)
    for name, command in group.commands.items():
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                assert f"`{parameter.name.upper()}`" in found[name]
                continue
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert f"`{option}`" in found[name], (name, option)
            assert parameter.help in found[name]
        options = [o for p in command.params for o in (*p.opts, *p.secondary_opts) if o[0] == "-"]
        assert sorted(re.findall(r"`(--[a-z-]+)`", found[name])) == sorted(options)


def test_the_reference_gives_defaults_bounds_and_choices(reference):
    found = sections(reference)
    assert "| `--scale` `standard` or `robust` or `log` or `none` |" in found["select"]
    assert "| `--columns` TEXT, repeatable |" in found["select"]
    assert "| `--k` INTEGER from 2 | Number of clusters. | `5` |" in found["simulate"]
    assert "long-tails" in found["simulate"]


def fields(content, name=""):
    """Name every field of some JSON: ``a``, ``a.b``, ``a[].b``; names that are k are left out."""
    for key, value in content.items():
        yield f"{name}{key}"
        if isinstance(value, dict) and key not in ("confidence", "resamples"):
            yield from fields(value, f"{name}{key}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for each in value:
                yield from fields(each, f"{name}{key}[].")


def documented(mark):
    part = re.search(rf"<!-- {mark} -->\n(.*?)<!-- /{mark} -->", CLI_PAGE, re.DOTALL)[1]
    return re.findall(r"^\| `(.+?)` \|", part, re.MULTILINE)


def test_the_documented_fields_are_those_of_the_json_of_select():
    names, every = documented("json of select"), set()
    for options in ([], ["--method", "combined", "--resample"], ["--method", "paper"]):
        result = CliRunner().invoke(app, ["demo", "--k-max", "12", "--json", "-", *options])
        assert result.exit_code == 0
        written = list(dict.fromkeys(fields(json.loads(result.stdout))))
        assert [name for name in names if name in written] == written
        every |= set(written)
    assert set(names) == every


def test_the_documented_fields_are_those_of_the_json_of_compare(tmp_path):
    file = tmp_path / "table.csv"
    assert CliRunner().invoke(app, ["simulate", "uniform", "--output", str(file)]).exit_code == 0
    options = ["--truth", "cluster", "--criterion", "silhouette", "--k-max", "6", "--json", "-"]
    result = CliRunner().invoke(app, ["compare", str(file), *options])
    assert result.exit_code == 0
    written = list(dict.fromkeys(fields(json.loads(result.stdout))))
    assert sorted(documented("json of compare")) == sorted(written)


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    shown = re.findall(r"^::: (\S+)$", pages, re.MULTILINE)
    assert {f"edfkmeans.{name}" for name in edfkmeans.__all__} <= set(shown)
    assert {f"edfkmeans.criteria.{name}" for name in criteria.__all__} <= set(shown)
    for asked in criteria.registered().values():
        kind = type(asked)
        assert f"{kind.__module__}.{kind.__qualname__}" in shown
    drawers = {f"edfkmeans.plots.{name}" for name in vars(plots) if name.startswith("plot_")}
    assert drawers <= set(shown)
    assert len(shown) == len(set(shown))


def test_the_pictures_of_the_gallery_are_there_and_small():
    for page in (DOCS / "gallery").glob("*.md"):
        for name in re.findall(r"!\[.+?\]\((.+?)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).stat().st_size < 100_000


@pytest.mark.parametrize("name", ["wine", "report"])
def test_pictures_show_the_answer_of_today(name, wine):
    """Otherwise draw them again: make docs-pictures."""
    images = pytest.importorskip("PIL.Image")
    with images.open(DOCS / "pictures" / f"{name}.png") as picture:
        assert edfkmeans.select_k(wine, random_state=0).headline in picture.text["Title"]


def test_formulas_and_parts_of_pages_are_made_when_the_site_is_built(monkeypatch):
    pytest.importorskip("ziamath")
    monkeypatch.syspath_prepend(str(DOCS))
    import hooks

    class Page:
        class file:  # noqa: N801 - as mkdocs has it
            src_uri = "peers.md"

    text = (DOCS / "peers.md").read_text(encoding="utf-8")
    made = hooks.on_page_markdown(text, Page)
    assert "| 1,000 x 10 | edfkmeans |" in made
    Page.file.src_uri = "method.md"
    made = hooks.on_page_markdown("```math\na^2\n```\n", Page)
    assert made.startswith('<div class="formula" role="img" aria-label="a^2"><svg')
    Page.file.src_uri = "cli.md"
    with pytest.raises(AssertionError, match="0 places are marked commands"):
        hooks.on_page_markdown("nothing", Page)


def test_what_is_said_of_peers_is_what_the_script_printed():
    root = DOCS.parent
    printed = (root / "benchmarks" / "results" / "peer_checks.txt").read_text(encoding="utf-8")
    page = (DOCS / "peers.md").read_text(encoding="utf-8")
    left = dict(
        re.findall(r"^(\S+) +rows whose move would lower the inertia +(\d+)$", printed, re.M)
    )
    shown = dict(
        re.findall(r"^\| (scikit-learn|faiss|dask-ml|edfkmeans|R)[^|]* \| (\d+) \|$", page, re.M)
    )
    assert shown == left
    cloud = dict(
        re.findall(r"^(\S+) +k for one cloud[^0-9]*?(?:2001SEmax)? +(\d+)$", printed, re.M)
    )
    for name, start in (("gap-stat", "gap-stat"), ("kneed", "kneed"), ("R", "R `clusGap`")):
        row = re.search(rf"^\| {start} \|.*$", page, re.M)[0]
        assert row.split(" | ")[3] == cloud[name]
    for name, version in re.findall(r"^(\S+) +version +([\d.]+)$", printed, re.M):
        assert name == "edfkmeans" or f"{name} {version}" in page


def test_every_claim_has_what_shows_it():
    page = (DOCS / "claims.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .+? \| .+? \| (.+) \|$", page, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    for number, shown in rows:
        for file, _, test in (name.partition("::") for name in re.findall(r"`(\S+)`", shown)):
            assert (DOCS.parent / file).exists(), (number, file)
            if test:
                assert f"def {test}(" in (DOCS.parent / file).read_text(encoding="utf-8"), test
