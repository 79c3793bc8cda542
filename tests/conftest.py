"""What the tests share: data, and a browser to look at pages with."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import HealthCheck, settings

from edfkmeans._signals import ENDING

HERE = Path(__file__).parent
REFERENCE = HERE / "reference"

# What not every system has: tests/test_platforms.py holds every use of it to one of these marks.
posix_only = pytest.mark.skipif(
    os.name == "nt", reason="signals, links or names that Windows lacks"
)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# A shell starts what runs in the background with Ctrl-C ignored, and its children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("default", deadline=None, max_examples=60)
settings.register_profile("nightly", deadline=None, max_examples=3000)
settings.register_profile(
    "mutation",
    deadline=None,
    max_examples=10,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def standardise(X):
    """Unit variance (ddof=1), constant columns dropped."""
    X = np.asarray(X, dtype=float)
    spread = X.std(axis=0, ddof=1)
    return (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]


def reference(name):
    """Read one of the files of reference numbers."""
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


def reference_data(case):
    """The data of a case: given, or a scikit-learn set by name."""
    if "X" in case:
        return np.array(case["X"])
    return standardise(getattr(sklearn.datasets, "load_" + case["data"].split(":")[1])().data)


def blobs(k, n=40, d=3, gap=12.0, seed=0):
    """k Gaussian clusters far apart, and their labels."""
    rng = np.random.default_rng(seed)
    index = np.arange(k)
    centers = gap * np.array([index + 1, index % 2, index // 2 % 2, 0 * index])[:d].T
    labels = np.repeat(np.arange(k), n)
    return centers[labels] + rng.normal(size=(k * n, d)), labels


@pytest.fixture(autouse=True)
def ctrl_c_as_before():
    """Undo what a test has made of Ctrl-C: ignored, it would be in all processes started later.

    The same holds for the other signals by which a command ends.
    """
    before = {each: signal.getsignal(each) for each in ENDING}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


def need(name):
    """Have a program of the system's installed, or skip the test and say why."""
    if os.name == "nt":
        pytest.skip(f"needs {name}")
    done = subprocess.run([HERE / "install.sh", name], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs {name}: {(done.stdout + done.stderr).strip()}")


@pytest.fixture
def benchmark_folder():
    """Folder of the paper's data sets; the test is skipped where there is none."""
    folder = Path(os.environ.get("EDFKMEANS_DATA", HERE.parent.parent / "shared" / "benchmark"))
    if not (folder / "INDEX.csv").exists():
        pytest.skip(f"needs the benchmark sets in {folder} (or set EDFKMEANS_DATA)")
    return folder


@pytest.fixture
def wine():
    return standardise(sklearn.datasets.load_wine().data)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    need("chromium")
    with playwright.sync_playwright() as engine:
        started = engine.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()


def opened(browser, file, width=1200, wait="#profiles tbody tr", **options):
    """Open a page, noting what goes wrong and what it asks the network for."""
    page = browser.new_context(viewport={"width": width, "height": 800}, **options).new_page()
    page.trouble, page.asked = [], []
    page.on("console", lambda message: page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("dialog", lambda dialog: page.trouble.append("a dialog opened"))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(wait)
    return page
