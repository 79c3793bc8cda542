"""The page for those who come from other packages: every line of it runs."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

PAGE = (Path(__file__).parents[1] / "docs" / "migrate.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| .+? \| `([^`]+)`[^|]* \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def namespace():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = {}
    exec(re.search(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1], found)
    return found


def test_every_line_of_the_tables_is_looked_at():
    rows = re.findall(r"^\| .+ \|$", PAGE, re.MULTILINE)
    assert len(LINES) == len(rows) - PAGE.count("|---|---|") > 50


@pytest.mark.parametrize("line", dict.fromkeys(LINES))
def test_the_line_runs(line, namespace):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise is told of
        assert eval(line, namespace) is not None
    pytest.importorskip("matplotlib.pyplot").close("all")


def test_what_should_be_the_same_is(namespace):
    X, found, result = (namespace[name] for name in ("X", "found", "result"))
    kneed = pytest.importorskip("kneed")
    knee = kneed.KneeLocator(
        range(1, 11), found.path.inertia[:-1], curve="convex", direction="decreasing"
    )
    assert knee.knee == eval(LINES[1], namespace)
    theirs = silhouette_samples(X, result.labels)
    ours = namespace["silhouettes"](X, result.labels)
    np.testing.assert_allclose(ours.per_point, theirs, atol=1e-12)
