"""The site, built and opened from disk in a real browser."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import opened

for name in ("mkdocs", "material", "mkdocstrings", "ziamath"):
    pytest.importorskip(name, reason="needs the extra docs")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_first_page_shows_the_report_and_how_to_install(browser, site):
    page = opened(browser, site / "index.html", wait="h1")
    assert "pip install" in page.locator("article code").nth(1).inner_text()
    picture = page.locator('article img[src$="report.png"]')
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 0
    assert [url for url in page.asked if not url.startswith("file:")] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "tutorials/analyst"])
def test_text_and_links_can_be_told_apart(browser, site, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    page = opened(browser, site / f"{name}.html", wait="h1", color_scheme=scheme)
    rules = ["color-contrast", "link-in-text-block", "image-alt", "heading-order", "link-name"]
    found = axe.Axe().run(page, options={"runOnly": rules}).response["violations"]
    assert [node["html"] for each in found for node in each["nodes"]] == []


def test_the_search_works_from_disk(browser, site):
    page = opened(browser, site / "index.html", wait="h1")
    page.locator(".md-search__input").click()
    page.keyboard.type("silhouette", delay=50)
    page.wait_for_selector(".md-search-result__item a")
    assert page.locator(".md-search-result__item").count() > 3
    assert [url for url in page.asked if not url.startswith("file:")] == []
    assert page.trouble == []


@pytest.mark.parametrize("width", [390, 1200])
def test_the_gallery_has_a_picture_for_every_page(browser, site, width):
    page = opened(browser, site / "gallery" / "index.html", width, wait=".thumbs img")
    pages = {file.stem for file in (ROOT / "docs" / "gallery").glob("*.md")} - {"index"}
    links = page.locator(".thumbs a:has(img)")
    assert {Path(link.get_attribute("href")).stem for link in links.all()} == pages
    widths = page.locator(".thumbs img").evaluate_all("all => all.map(i => i.naturalWidth)")
    assert min(widths) > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
