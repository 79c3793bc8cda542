"""The page of a comparison, as a file and in the browser."""

import re

import numpy as np
import pandas as pd
import pytest

from conftest import blobs, opened
from edfkmeans import compare
from edfkmeans.comparison import Comparison
from edfkmeans.criteria.criterion import registered
from edfkmeans.report import write_comparison
from edfkmeans.report.comparison import _LOOKS_AT


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, kind = blobs(3, n=30)
    found = compare(
        X, ["judge", "bic", "silhouette", "gap", "elbow", "jump"], k_max=8, labels=kind,
        random_state=0,
    )  # fmt: skip
    file = tmp_path_factory.mktemp("comparison") / "criteria.html"
    write_comparison(
        found, file, title="<b>Who</b>", remarks=["Odd."], notes=["Standardised."], command="again"
    )
    return file, found


def said(ks, k_max=10, able=()):
    """A comparison in which criteria a, b, ... say these k."""
    names = [chr(97 + i) for i in range(len(ks))]
    table = pd.DataFrame(
        {"k": pd.array(ks, dtype="Int64"), "can_say_one": [name in able for name in names]},
        index=names,
    )
    path = type("Path", (), {"k_max": k_max})()
    return Comparison(table, {}, path)


def test_a_summary_counts_the_answers():
    assert said([3, 3, 3, 4, 4, 7]).summary == "3 of 6 criteria say 3; 2 say 4; 7 is said once."
    assert said([5, 2, 2, None, 9]).summary == "2 of 4 criteria say 2; 5 and 9 are said once."
    assert said([4]).summary == said([None, 4]).summary == "1 criterion says 4."
    assert said([4, 2]).summary == "2 criteria: 2 and 4 are said once."
    assert said([None]).summary == "No criterion has an answer."


def test_the_meaning_says_whether_they_agree():
    assert said([3, 3, 3]).meaning[0].startswith("All agree on 3")
    assert said([3, 3, 4]).meaning[0].startswith("Most agree on 3")
    assert said([3, 4, 5, 3]).meaning[0].startswith("They do not agree")
    assert said([4]).meaning == ("One criterion alone has an answer: others may say another k.",)
    assert said([None]).meaning == ("The remarks say why none of them has an answer.",)


def test_the_meaning_names_one_cluster_and_k_max():
    words = " ".join(said([1, 3, 3, 10, 10], able="abc").meaning)
    assert "Of the 3 that can answer 1, 1 does: there may be one cluster only." in words
    assert "d and e answer 10, the largest k there was" in words
    assert "only. The 2 that cannot always say 2 or more." in words
    assert "The one that cannot always says 2 or" in said([1, 3, 3], able="ab").meaning[1]
    assert said([1, 3, 3], able="abc").meaning[1].endswith("there may be one cluster only.")
    words = " ".join(said([3, 3, 3], able="abc").meaning)
    assert "can answer 1" not in words
    assert "the largest k" not in words
    words = " ".join(said([1, 3, 3, 3, 3], able="abcd").meaning)  # one voice of four
    assert "can answer 1" not in words


def test_the_judge_is_no_further_voice(report):
    words = " ".join(report[1].meaning)
    assert "has weighed the others' evidence: it says 3." in words
    assert report[1].meaning[1].startswith("The judge, whose answer")
    assert "Do not take a vote" in words
    assert report[1].summary in repr(report[1])


def test_the_page_says_what_each_looks_at():
    assert set(_LOOKS_AT) == set(registered())


def test_the_page_shows_every_criterion(browser, report):
    file, found = report
    page = opened(browser, file, wait="#drawn svg")
    assert page.locator("h1").inner_text() == "<b>Who</b>"
    assert found.summary in page.locator(".answer").inner_text()
    rows = page.locator("#table tbody tr")
    assert rows.count() == len(found.table)
    for name, k in found.table["k"].items():
        row = page.locator(
            "#table tbody tr", has=page.get_by_role("rowheader", name=name, exact=True)
        )
        assert row.locator("td").first.inner_text() == str(k)
        assert page.locator(f"#{name} circle").count() == 1
    assert page.locator("#drawn figure").count() == len(found.curves)
    text = page.locator("main").inner_text()
    for sentence in (*found.meaning, "Odd.", "Standardised.", "again"):
        assert sentence in text
    for name in found.curves:
        assert f"{name}: {found.table['k'][name]}. It looks at {_LOOKS_AT[name]}." in text
    heights = [float(bar.get_attribute("height")) for bar in page.locator("#answers rect").all()]
    votes = found.table["k"].value_counts()
    both = np.add(heights[::2], heights[1::2])
    np.testing.assert_allclose(both[votes.index - 1] / both.max(), votes / votes.max())
    assert page.asked == [file.as_uri()]
    assert page.trouble == []


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_accessible(browser, report, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    page = opened(browser, report[0], width, wait="#drawn svg", color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"]) for v in found] == []


def test_its_figures_can_be_saved(browser, report):
    page = opened(browser, report[0], wait="#drawn svg")
    for kind in ("SVG", "PNG"):
        buttons = page.get_by_text(f"Save {kind}")
        assert buttons.count() == 1 + len(report[1].curves)
        with page.expect_download() as waiting:
            buttons.nth(1).focus()
            page.keyboard.press("Enter")
        assert waiting.value.suggested_filename == f"judge.{kind.lower()}"
    assert page.trouble == []


def test_the_command_writes_it(tmp_path):
    typer = pytest.importorskip("typer.testing")
    from edfkmeans.cli import app

    table, file = tmp_path / "table.csv", tmp_path / "criteria.html"
    X, _ = blobs(3, n=20)
    pd.DataFrame(X, columns=list("abc")).to_csv(table, index=False)
    options = ["--criterion", "bic", "--criterion", "silhouette", "--k-max", "6"]
    result = typer.CliRunner().invoke(app, ["compare", str(table), "--report", str(file), *options])
    assert result.exit_code == 0, result.output
    assert "2 of 2 criteria say 3." in result.output
    assert f"Wrote the report: {file}" in result.output
    text = file.read_text(encoding="utf-8")
    assert "All agree on 3" in text
    assert not re.findall(r"https?://(?!www\.w3\.org)", text)
