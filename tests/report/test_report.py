"""The report as a file, and as one sees it: in Chromium, where that can be had."""

import html
import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from conftest import blobs, opened
from edfkmeans import KMeansPath, fit_path, select_k
from edfkmeans.profiles import describe
from edfkmeans.report import write_report
from edfkmeans.report.page import _options_whole
from edfkmeans.soundness import assess_several, worth_a_look

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
    own = result.k - 1
    np.testing.assert_allclose(data["centers"][own], result.centers, rtol=1e-3)
    assert data["points"]["clusters"][own] == result.labels.tolist()
    assert data["points"]["between"] == np.flatnonzero(result.ambiguity > 0.1).tolist()
    profiles = describe(result, wine)
    told_of = data["differences"][own]
    assert told_of["words"] == [each.description for each in profiles.clusters]
    first = [data["columns"][j] for j in told_of["first"]]
    assert first == list(profiles.explained.index[:6])
    shares = [told_of["explained"][j] for j in told_of["first"]]
    np.testing.assert_allclose(shares, profiles.explained[:6], atol=1e-4)
    parts, ticks = np.array(told_of["quantiles"]), np.array(told_of["ticks"])
    assert {*parts.min(axis=(1, 2)), *parts.max(axis=(1, 2))} == {0, 1}
    medians = ticks[:, :1] + parts[:, :, 2] * (ticks[:, 2:] - ticks[:, :1])
    columns = [int(name.split()[1]) - 1 for name in first]
    for c in range(result.k):
        expected = np.median(wine[result.labels == c][:, columns], axis=0)
        np.testing.assert_allclose(medians[:, c], expected, rtol=1e-3, atol=2e-3)
    rules = [[str(e.rule), e.rule.precision, e.rule.coverage] for e in profiles.clusters]
    closely = data["closely"][str(result.k)]
    assert closely["rules"] == rules
    sound = assess_several(result, wine, worth_a_look(result), random_state=0)
    assert closely["sound"] == list(sound[result.k].words)
    assert sorted(data["closely"]) == sorted(map(str, worth_a_look(result)))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_the_index_of_a_data_frame_names_the_rows(tmp_path):
    X, _ = blobs(2, n=20)
    frame = pd.DataFrame(X, index=pd.Index([f"<w{i}>" for i in range(40)], name="who"))
    found = select_k(frame, 4, random_state=0)
    found.to_html(tmp_path / "named.html", frame)
    data = data_of(tmp_path / "named.html")
    assert (data["rows"]["id"], data["points"]["ids"][:2]) == ("who", ["<w0>", "<w1>"])
    found.to_html(tmp_path / "counted.html", frame.reset_index(drop=True))
    data = data_of(tmp_path / "counted.html")
    assert (data["rows"]["id"], data["points"]["ids"][:2]) == ("row", ["1", "2"])


def test_dates_are_shown_as_dates(browser, tmp_path):
    kind = np.repeat([0, 1], 30)
    days = 19_000 + 400.0 * kind + np.arange(60) % 7
    frame = pd.DataFrame({"joined": days, "noise": np.arange(60) % 5})
    path = KMeansPath.from_labels(frame, {2: kind, 3: np.where(np.arange(60), kind, 2)})
    found = select_k(frame, path=path, method="naive")
    found.with_k(2, frame).to_html(tmp_path / "r.html", frame, dates=["joined"])
    page = opened(browser, tmp_path / "r.html")
    means = {cell.inner_text() for cell in page.locator("#profiles tbody td").all()}
    assert {"2022-01-10", "2023-02-14"} <= means
    rules = " ".join(page.locator("#clusters").all_inner_texts())
    assert "joined <= 2022-" in rules or "joined <= 2023-" in rules
    assert "2022-01-08" in page.locator("#column-1").text_content()
    assert page.trouble == []


def told(file):
    """The words of a report, without the marks around them."""
    text = file.read_text(encoding="utf-8").partition("<main>")[2].partition("<script")[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


def test_it_tells_how_sure_and_why(tmp_path, wine):
    result = select_k(wine, 8, random_state=0, resample=True)
    result.to_html(tmp_path / "r.html", wine)
    text = told(tmp_path / "r.html")
    assert result.headline in text
    near = f"{100 * result.table['near'][result.k]:.0f} %"
    assert f"comes near the best there is: {result.sureness} ({near})" in text
    for sentence in result.advice:
        assert sentence in text
    for k in (result.k, *(candidate.k for candidate in result.candidates)):
        row = result.confidence.loc[k]
        words = f" {k} {row.agreement:.2f} {100 * row.near:.0f} % {result.reasons[k]}".rstrip()
        assert words in text
    assert "Chosen again on 20 random parts of the rows" in text
    assert f"k = 1 to {result.path.k_max + 1}" in text
    data = data_of(tmp_path / "r.html")
    assert len(data["sizes"]) == len(data["centers"]) == 8  # no more than were asked for


def test_options_are_not_torn_and_one_cluster_has_no_differences(browser, tmp_path, wine):
    said = _options_whole("<b> --log x--y")
    assert str(said) == "&lt;b&gt; <code>--log</code> x--y"
    found = select_k(wine, 6, random_state=0)
    found.to_html(tmp_path / "r.html", wine)
    page = opened(browser, tmp_path / "r.html")
    assert page.locator("#differ").is_visible()
    page.locator("#k").select_option("1")
    assert not page.locator("#differ").is_visible()
    assert page.trouble == []


def test_clusters_that_do_not_hold_are_told_among_what_to_do(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = select_k(X, 8, random_state=0).with_k(7, X)
    sound = assess_several(found, X, [7], random_state=0)
    assert sound[7].unsound
    found.to_html(tmp_path / "r.html", X, soundness=sound)
    assert "not hold when rows are drawn again: do not build on" in told(tmp_path / "r.html")


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
    assert "None: with one cluster" in told(tmp_path / "one.html")
    assert "in 80 rows and 1 column." in told(tmp_path / "one.html")


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


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """A report with clusters: three kinds of wine, rows and columns named."""
    data = sklearn.datasets.load_wine(as_frame=True).data.rename(columns={"hue": EVIL})
    X = (data - data.mean()) / data.std()
    file = tmp_path_factory.mktemp("report") / "wine.html"
    result = select_k(X, 8, random_state=0)
    ids = [f"bottle {i}" for i in range(len(X))]
    result.to_html(
        file, X, ids=ids, restore=lambda rows: rows * data.std().to_numpy() + data.mean().to_numpy()
    )
    return file, result


def test_no_error_and_no_request(browser, report):
    page = opened(browser, report[0])
    assert page.trouble == []
    assert page.asked == [report[0].as_uri()]
    assert page.locator("#profiles thead th", has_text=EVIL).count() == 1
    assert page.locator("img").count() == 0


def seen(page):
    return (
        page.locator("#scatter").inner_html(),
        page.locator("#clusters").inner_text(),
        page.locator("#spreads").inner_html(),
        page.locator("#flow").inner_html(),
        page.locator("#profiles").inner_text(),
        page.locator("#said").inner_text(),
        page.locator("#profiles tbody tr").count(),
    )


def test_another_k_shows_other_clusters(browser, report):
    file, result = report
    page = opened(browser, file)
    first = seen(page)
    assert first[-1] == result.k
    other = 6 if result.k != 6 else 5
    # At its upper end: a dot of the curve may lie on the middle.
    page.locator(f'#curve g[data-k="{other}"] rect').first.click(position={"x": 5, "y": 5})
    clicked = seen(page)
    assert clicked[-1] == other
    assert all(one != other for one, other in zip(first, clicked, strict=True))
    sizes = [row.split("\t")[1] for row in clicked[4].splitlines()[1:]]
    assert [int(size.replace(",", "")) for size in sizes] == result.path.sizes(other).tolist()
    # the same by keyboard
    page.locator("#more").focus()
    page.keyboard.press("Enter")
    assert seen(page)[-1] == other + 1
    page.select_option("#k", str(result.k))
    assert seen(page) == first
    for measure in ("bic", "dof", "inertia", "silhouette_above"):
        before = page.locator("#curve").inner_html()
        page.select_option("#measure", measure)
        assert page.locator("#curve").inner_html() != before
    assert page.trouble == []


def test_clusters_are_described_ruled_and_judged(browser, clusters):
    file, result = clusters
    page = opened(browser, file)
    cards = page.locator("#clusters li")
    assert cards.count() == result.k
    text = [each.strip() for each in cards.all_inner_texts()]
    for own, size in enumerate(result.path.sizes(result.k)):
        assert text[own].startswith(f"Cluster {own}: {size} rows")
        assert "% of the rows it names are in the cluster" in text[own]
        assert "(stability " in text[own]
    others = [k for k in range(2, 9) if k not in worth_a_look(result)]
    page.select_option("#k", str(others[0]))
    assert f"--k {others[0]}" in page.locator("#closely").inner_text()
    assert page.locator("#flows").inner_text().startswith(f"From {others[0] - 1} to {others[0]}")
    page.select_option("#k", str(result.k))
    assert page.locator("#closely").inner_text() == ""
    assert page.trouble == []


def test_columns_that_tell_most_come_first(browser, clusters):
    page = opened(browser, clusters[0])
    heads = page.locator("#profiles thead th").all_inner_texts()[2:]
    shares = [int(re.search(r"· (\d+) %$", head)[1]) for head in heads]
    assert len(shares) == 13
    assert shares == sorted(shares, reverse=True)
    captions = page.locator("#spreads figcaption").all_inner_texts()
    assert len(captions) == 6
    assert [head.split(" · ")[0] for head in heads[:6]] == [c.partition(": ")[0] for c in captions]


def test_logarithms_are_not_crowded(browser, tmp_path):
    X, _ = blobs(3, n=30)
    selection = select_k(X, 5, random_state=0)
    selection.to_html(tmp_path / "r.html", X, restore=np.exp, names=["spend", "visits", "days"])
    even = tmp_path / "even.html"
    selection.to_html(even, X, names=["spend", "visits", "days"])
    told_of = data_of(tmp_path / "r.html")["differences"][selection.k - 1]
    plain = data_of(even)["differences"][selection.k - 1]
    assert told_of["quantiles"] == plain["quantiles"]
    np.testing.assert_allclose(told_of["ticks"], np.exp(plain["ticks"]), rtol=0.02)
    caption = "The axis is that of its logarithms."
    captions = opened(browser, tmp_path / "r.html").locator("#spreads figcaption")
    assert all(each.endswith(caption) for each in captions.all_inner_texts())
    assert caption not in opened(browser, even).locator("#spreads").inner_text()


def test_means_of_logarithms_are_told_where_they_stand(browser, tmp_path):
    X, _ = blobs(3, n=30)
    selection = select_k(X, 5, random_state=0)
    names = ["spend", "root", "days"]
    selection.to_html(
        tmp_path / "r.html", X, names=names, restore=lambda rows: np.column_stack(
            [np.exp(rows[:, 0] / 9) - 0.3, rows[:, 1] ** 3, 2 * rows[:, 2] + 7]
        ),
    )  # fmt: skip
    data = data_of(tmp_path / "r.html")
    kinds = {"spend": "logarithms", "root": "transformed values", "days": ""}
    assert dict(zip(data["columns"], data["bent"], strict=True)) == kinds
    page = opened(browser, tmp_path / "r.html")
    heads = page.locator("#profiles thead th").all_inner_texts()[2:]
    assert [head.endswith(" %") for head in heads] == [True] * 3
    assert {head.split(" · ")[0] for head in heads} == {"spend *", "root *", "days"}
    assert "the mean of these, turned back. Of logarithms that is" in page.inner_text("#bent")
    spreads = page.locator("#spreads").inner_text()
    assert spreads.count("The axis is that of its ") == 2
    assert "The axis is that of its transformed values." in spreads
    assert page.trouble == []
    selection.to_html(tmp_path / "even.html", X, names=names, restore=lambda rows: 2 * rows)
    assert 'id="bent"' not in (tmp_path / "even.html").read_text(encoding="utf-8")
    selection.to_html(tmp_path / "no_rows.html", names=names, restore=np.exp)
    assert data_of(tmp_path / "no_rows.html")["bent"] == ["logarithms"] * 3


def test_years_have_no_thousands(browser, tmp_path):
    kind = np.repeat([0, 1], 900)
    years = 2001.0 + 14 * kind + np.arange(1800) % 3
    frame = pd.DataFrame({"year": years, "spend": 20_000.0 + 9000 * kind})
    labels = {2: kind, 3: np.where(np.arange(1800), kind, 2)}
    path = KMeansPath.from_labels(frame, labels)
    found = select_k(frame, path=path, method="naive").with_k(2, frame)
    found.to_html(tmp_path / "r.html", frame)
    page = opened(browser, tmp_path / "r.html")
    cells = page.locator("#profiles tbody td").all_inner_texts()
    assert {"900", "2002", "2016", "20,000", "29,000"} <= set(cells)
    drawn = page.locator("#column-1").text_content() + page.locator("#column-2").text_content()
    assert "2001" in drawn
    assert "20,000" in drawn
    assert "in 1800 rows and 2 columns" in page.locator(".answer").inner_text()
    assert not re.search(r"\b\d,\d{3}\b", page.locator("main").inner_text())
    assert page.trouble == []


def test_a_rule_ends_before_what_is_said_of_it(browser, clusters):
    page = opened(browser, clusters[0])
    said = page.locator("#clusters li").first.inner_text().splitlines()
    rule = next(nth for nth, line in enumerate(said) if line.startswith("Rule: "))
    assert said[rule] == f"Rule: {page.locator('#clusters li code').first.inner_text()}"
    after = next(line for line in said[rule + 1 :] if line)
    assert re.match(r"(over )?\d+ % of the rows it names are in the cluster; it names", after)


def test_a_cluster_of_one_row_is_one_row(browser, tmp_path):
    X, _ = blobs(2, n=40)
    X[0] = 500
    found = select_k(X, 4, random_state=0).with_k(3, X)
    found.to_html(tmp_path / "r.html", X, soundness=assess_several(found, X, [3], random_state=0))
    page = opened(browser, tmp_path / "r.html")
    card = page.locator("#clusters li").last.inner_text()
    assert card.strip().startswith("Cluster 2: 1 row")
    assert "Cluster 2 is one row, no group" in card
    assert "None of its rows" not in card
    assert page.trouble == []


@pytest.mark.parametrize("scheme, least", [("light", 2.7), ("dark", 4.5)])
def test_clusters_stand_out_from_the_ground(browser, clusters, scheme, least):
    page = opened(browser, clusters[0], color_scheme=scheme)
    names = ["--wash", *(f"--c{c}" for c in range(8))]
    script = "names => names.map(n => getComputedStyle(document.body).getPropertyValue(n).trim())"
    ground, *colours = map(luminance, page.evaluate(script, names))
    for own in colours:
        assert (max(own, ground) + 0.05) / (min(own, ground) + 0.05) >= least


def luminance(colour):
    """Return WCAG's relative luminance of a colour such as #0072b2."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_rows_say_who_they_are(browser, clusters):
    page = opened(browser, clusters[0])
    assert page.locator("#pointed").is_hidden()
    data = data_of(clusters[0])
    x, y = data["points"]["places"][5]
    scatter = page.locator("#scatter")
    box = scatter.bounding_box()
    across = (280 + 0.26 * x) * box["width"] / 560
    down = (160 - 0.145 * y) * box["height"] / 320
    scatter.hover(position={"x": across, "y": down})
    shown = page.locator("#pointed").inner_text()
    same = [i for i, place in enumerate(data["points"]["places"]) if place == [x, y]]
    labels = clusters[1].labels
    assert any(shown.startswith(f"bottle {i}: cluster {labels[i]}") for i in same)
    page.mouse.move(1, 1)
    assert page.locator("#pointed").is_hidden()


def test_rows_between_clusters_are_hollow_and_nothing_is_drawn_over_them(browser, clusters):
    page = opened(browser, clusters[0])
    assert page.locator("#scatter circle").count() == 0
    hollow = page.locator('#scatter path[data-hollow="true"]')
    marks = sum(
        d.count("M") for d in hollow.evaluate_all("all => all.map(p => p.getAttribute('d'))")
    )
    assert marks == (clusters[1].ambiguity > 0.1).sum() > 0
    assert "none" in hollow.first.get_attribute("fill")


@pytest.mark.parametrize("kind", ["SVG", "PNG"])
def test_every_figure_can_be_saved(browser, clusters, tmp_path, kind):
    page = opened(browser, clusters[0])
    assert page.locator("figure").count() == page.get_by_text(f"Save {kind}").count() == 9
    for number in (0, 1, 2, 8):
        with page.expect_download() as waiting:
            page.get_by_text(f"Save {kind}").nth(number).click()
        file = tmp_path / waiting.value.suggested_filename
        assert file.suffix == f".{kind.lower()}"
        waiting.value.save_as(file)
        content = file.read_bytes()
        if kind == "SVG":
            root = ElementTree.fromstring(content)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert b"var(" not in content
            assert len(root) > 3
        else:
            assert content.startswith(b"\x89PNG")
            assert len(content) > 3000
    assert [url for url in page.asked if not url.startswith(("data:", "blob:"))] == [
        clusters[0].as_uri()
    ]
    assert page.trouble == []


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["report", "clusters"])
def test_it_fits_and_is_accessible(browser, which, request, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    file, _ = request.getfixturevalue(which)
    page = opened(browser, file, width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"]) for v in found] == []


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
    monkeypatch.setattr("edfkmeans.report.content._MOST_CHARACTERS", 100)
    found.to_html(tmp_path / "s.html", wine)
    assert data_of(tmp_path / "s.html")["rows"] is None
    assert 'id="download"' not in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_another_k_knows_its_rows_between_clusters_if_it_has_the_rows(tmp_path, wine):
    found = select_k(wine, 6, random_state=0)
    other = found.with_k(5 if found.k != 5 else 4)
    other.to_html(tmp_path / "without.html")
    assert "Not known: with_k(k, X) tells." in told(tmp_path / "without.html")
    other.to_html(tmp_path / "with.html", wine)
    text = told(tmp_path / "with.html")
    assert "Not known: with_k" not in text
    assert f"{other.k} (asked for)" in text
    assert f"{found.k} (the answer)" in text
    asked = f"{other.k} clusters, as asked for (the answer was {found.k}"
    assert asked in told(tmp_path / "with.html")
