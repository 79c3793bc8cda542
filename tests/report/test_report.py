"""The report as a file, and as one sees it: in Chromium, where that can be had."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from conftest import blobs
from edfkmeans import fit_path, select_k
from edfkmeans.report import write_report

EVIL = "<img src=x onerror=alert(1)>"


def evil_frame():
    X, _ = blobs(4, n=40)
    return pd.DataFrame(X, columns=[EVIL, "</script><b>", "a \u2028 {{ 1 }}"])


def data_of(file):
    text = file.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_what_the_script_draws_from_is_what_the_library_gives(tmp_path, wine):
    result = select_k(wine, random_state=0, resample=True)
    result.to_html(tmp_path / "r.html", wine)
    data = data_of(tmp_path / "r.html")
    np.testing.assert_allclose(data["measures"]["agreement"], result.table["agreement"], rtol=1e-6)
    assert data["k"] == result.k
    assert data["sizes"] == [result.path.sizes(k).tolist() for k in range(1, 31)]
    np.testing.assert_allclose(data["measures"]["bic"], result.table["bic"], rtol=1e-6)
    np.testing.assert_allclose(data["centers"][2], result.centers, rtol=1e-3)
    assert data["points"]["clusters"][2] == result.labels.tolist()
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def told(file):
    """The words of a report, without the marks around them."""
    text = file.read_text(encoding="utf-8").partition("<main>")[2].partition("<script")[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


def test_it_tells_how_sure_and_why(tmp_path, wine):
    result = select_k(wine, 8, random_state=0, resample=True)
    result.to_html(tmp_path / "r.html", wine)
    text = told(tmp_path / "r.html")
    assert result.headline in text
    for k in (result.k, *(candidate.k for candidate in result.candidates)):
        row = result.confidence.loc[k]
        words = f" {k} {row.agreement:.2f} {100 * row.near:.0f} % {result.reasons[k]}".rstrip()
        assert words in text
    assert "Chosen again on 20 random parts of the rows" in text
    assert f"k = 1 to {result.path.k_max + 1}" in text
    data = data_of(tmp_path / "r.html")
    assert len(data["sizes"]) == len(data["centers"]) == 8  # no more than were asked for


@pytest.mark.parametrize("method", ["combined", "paper"])
def test_other_methods_do_not_say_how_sure(method, tmp_path, wine):
    result = select_k(wine, 6, method=method, random_state=0)
    result.to_html(tmp_path / "r.html", wine)
    text = told(tmp_path / "r.html")
    assert "Not known with this method." in text
    assert "agreement" not in data_of(tmp_path / "r.html")["measures"]
    for candidate in result.candidates[:5]:
        assert candidate.reason in text


def test_names_and_values_stay_text(tmp_path):
    frame = evil_frame()
    result = select_k(frame, 6, random_state=0)
    result.to_html(
        tmp_path / "r.html", frame, ids=[EVIL] * len(frame), title=EVIL, notes=[EVIL], command=EVIL
    )
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert "</script><b>" not in text
    assert data_of(tmp_path / "r.html")["columns"][0] == EVIL


def test_it_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 40)).astype(np.float32)
    X[:, 0] += rng.integers(0, 3, len(X)) * 8
    centers = {k: rng.integers(0, k, len(X)) for k in range(2, 6)}
    for k in centers:
        centers[k][:k] = np.arange(k)
    from edfkmeans import KMeansPath

    result = select_k(X, path=KMeansPath.from_labels(X, centers), method="naive")
    result.to_html(tmp_path / "r.html", X)
    assert (tmp_path / "r.html").stat().st_size < 2_000_000
    data = data_of(tmp_path / "r.html")
    assert (len(data["columns"]), data["hidden"]) == (24, 16)
    assert len(data["points"]["places"]) == 1200


def test_without_rows_and_with_one_column_or_cluster(tmp_path, wine):
    select_k(wine, 5, random_state=0).to_html(tmp_path / "no_rows.html")
    assert data_of(tmp_path / "no_rows.html")["points"] is None
    rng = np.random.default_rng(0)
    one = rng.normal(size=(80, 1))
    found = select_k(one, 5, method="combined", random_state=0)
    assert found.k == 1
    found.to_html(tmp_path / "one.html", one)
    assert "None: with one cluster" in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_messages(tmp_path, wine):
    result = select_k(wine, 4, random_state=0)
    with pytest.raises(ValueError, match="X has 5 rows, but the selection was made with 178"):
        result.to_html(tmp_path / "r.html", wine[:5])
    with pytest.raises(ValueError, match="names has 2 entries, but X has 13 columns"):
        write_report(result, tmp_path / "r.html", wine, names=["a", "b"])
    with pytest.raises(ValueError, match="ids has 3 entries, but X has 178 rows"):
        write_report(result, tmp_path / "r.html", wine, ids=[1, 2, 3])
    assert not list(tmp_path.iterdir())


# In the browser


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not shutil.which("chromium"):
        script = Path(__file__).parent / "install_chromium.sh"
        done = subprocess.run([script], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"needs chromium: {(done.stdout + done.stderr).strip()}")
    with playwright.sync_playwright() as engine:
        started = engine.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of a real run: breast cancer, its columns named dangerously."""
    data = sklearn.datasets.load_breast_cancer(as_frame=True).data.iloc[:, :10]
    X = ((data - data.mean()) / data.std()).rename(columns={"mean radius": EVIL})
    file = tmp_path_factory.mktemp("report") / "report.html"
    result = select_k(X, 8, random_state=0, resample=True)
    result.to_html(
        file,
        X,
        restore=lambda centers: centers * data.std().to_numpy() + data.mean().to_numpy(),
        title="Cells",
    )
    return file, result


def opened(browser, file, width=1200, **options):
    """Open a page, noting what goes wrong and what it asks the network for."""
    page = browser.new_context(viewport={"width": width, "height": 800}, **options).new_page()
    page.trouble, page.asked = [], []
    page.on("console", lambda message: page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("dialog", lambda dialog: page.trouble.append("a dialog opened"))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("#profiles tbody tr")
    return page


def test_no_error_and_no_request(browser, report):
    page = opened(browser, report[0])
    assert page.trouble == []
    assert page.asked == [report[0].as_uri()]
    assert page.locator("#profiles thead th", has_text=EVIL).count() == 1
    assert page.locator("img").count() == 0


def seen(page):
    return (
        page.locator("#scatter").inner_html(),
        page.locator("#profiles").inner_text(),
        page.locator("#said").inner_text(),
        page.locator("#profiles tbody tr").count(),
    )


def test_another_k_shows_other_clusters(browser, report):
    file, result = report
    page = opened(browser, file)
    first = seen(page)
    assert first[3] == result.k
    page.locator('#curve g[data-k="6"] rect').first.click()
    clicked = seen(page)
    assert clicked[3] == 6
    assert all(one != other for one, other in zip(first, clicked, strict=True))
    sizes = [row.split("\t")[1] for row in clicked[1].splitlines()[1:]]
    assert sorted(int(s.replace(",", "")) for s in sizes) == sorted(result.path.sizes(6).tolist())
    # the same by keyboard
    page.locator("#more").focus()
    page.keyboard.press("Enter")
    assert seen(page)[3] == 7
    page.select_option("#k", str(result.k))
    assert seen(page) == first
    for measure in ("bic", "dof", "inertia", "silhouette_above"):
        before = page.locator("#curve").inner_html()
        page.select_option("#measure", measure)
        assert page.locator("#curve").inner_html() != before
    assert page.trouble == []


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_accessible(browser, report, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    page = opened(browser, report[0], width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"]) for v in found if v["impact"] != "minor"] == []


def test_many_clusters_and_rows_that_are_not_there(browser, tmp_path):
    X = sklearn.datasets.load_iris().data
    path = fit_path(X, 30, random_state=0)
    select_k(X, path=path, random_state=0).to_html(tmp_path / "r.html")
    page = opened(browser, tmp_path / "r.html")
    page.select_option("#k", "30")
    assert page.locator("#profiles tbody tr").count() == 30
    assert page.locator("#scatter").count() == 0
    assert page.trouble == []


def test_the_clusters_on_screen_can_be_downloaded(browser, report, tmp_path):
    file, result = report
    page = opened(browser, file)
    page.select_option("#k", "4")
    with page.expect_download() as waiting:
        page.locator("#download").click()
    assert waiting.value.suggested_filename == "clusters-4.csv"
    waiting.value.save_as(tmp_path / "c.csv")
    written = pd.read_csv(tmp_path / "c.csv")
    assert list(written.columns) == ["row", "cluster"]
    assert written["row"].tolist() == list(range(1, len(written) + 1))
    assert written["cluster"].tolist() == result.path.labels(4).tolist()
    assert page.asked == [file.as_uri()]
    assert page.trouble == []


def test_a_download_names_rows_and_holds_no_formula(browser, tmp_path):
    X, _ = blobs(3, n=20)
    ids = pd.Series(['=1+1, "quoted"', *(f"r{i}" for i in range(59))], name="who, really")
    select_k(X, 5, random_state=0).to_html(tmp_path / "r.html", X, ids=ids)
    page = opened(browser, tmp_path / "r.html")
    with page.expect_download() as waiting:
        page.locator("#download").click()
    waiting.value.save_as(tmp_path / "c.csv")
    written = pd.read_csv(tmp_path / "c.csv")
    assert written["who, really"].tolist() == ["'" + ids[0], *ids[1:]]


def test_rows_that_take_too_much_room_cannot_be_downloaded(tmp_path, wine, monkeypatch):
    found = select_k(wine, 4, random_state=0)
    found.to_html(tmp_path / "r.html", wine)
    assert data_of(tmp_path / "r.html")["rows"] is not None
    monkeypatch.setattr("edfkmeans.report.page._MOST_CHARACTERS", 100)
    found.to_html(tmp_path / "s.html", wine)
    assert data_of(tmp_path / "s.html")["rows"] is None
    assert 'id="download"' not in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_another_k_knows_its_rows_between_clusters_if_it_has_the_rows(tmp_path, wine):
    other = select_k(wine, 6, random_state=0).with_k(5)
    other.to_html(tmp_path / "without.html")
    assert "Not known: with_k(k, X) tells." in told(tmp_path / "without.html")
    other.to_html(tmp_path / "with.html", wine)
    assert "Not known: with_k" not in told(tmp_path / "with.html")
    assert "5 clusters, as asked for (the answer was 3" in told(tmp_path / "with.html")
