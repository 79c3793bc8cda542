"""What a notebook shows, and what is said while kernels are compiled."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from conftest import blobs
from edfkmeans import compare, select_k

EVIL = "<img src=x onerror=alert(1)>"


class Balanced(HTMLParser):
    """Notes the elements of a text and refuses what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words = [], set(), []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def results():
    X, _ = blobs(3, n=40)
    frame = pd.DataFrame(X, columns=["x", "y", "z"]).assign(**{EVIL: np.arange(120) % 2})
    selection = select_k(frame, 6, random_state=0)
    return {
        "Selection": selection,
        "Comparison": compare(frame, ["bic", "silhouette"], path=selection.path.up_to(6)),
        "KMeansPath": selection.path,
    }


@pytest.mark.parametrize("name", ["Selection", "Comparison", "KMeansPath"])
def test_notebooks_show_a_small_page_without_scripts(name, results):
    text = results[name]._repr_html_()
    page = Balanced(text)
    assert "table" in page.seen
    assert not {"script", "style", "img", "iframe"} & page.seen
    assert len(text) < 10_000
    if name == "Selection":
        words = " ".join(page.words)
        assert results[name].headline in words
        assert EVIL in words  # as text, in a remark
        assert EVIL not in text


COLD = """
import numpy as np
from edfkmeans.kernels import compile
compile.PATIENCE = {patience}
from edfkmeans.kernels import lloyd
labels = np.empty(3, np.int32)
lloyd.assign(np.zeros((3, 1)), np.zeros((2, 1)), labels)
print(labels.sum())
"""


@pytest.mark.parametrize("patience, said", [(0.01, 1), (600, 0)])
def test_a_cold_start_says_why_it_waits(patience, said, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    script = COLD.format(patience=patience)
    for expected in (said, 0):  # the second time kernels are found in the cache
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        assert done.stdout == "0\n", done.stderr
        assert len(re.findall("compiling its inner loops, once", done.stderr)) == expected
