"""Downloads by the real client from a server on this machine: how much, from where, unharmed."""

import contextlib
import gzip
import hashlib
import http.client
import json
import shutil
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from sklearn.datasets import _openml

from edfkmeans import _download as download
from edfkmeans import datasets
from edfkmeans.datasets import load

ROWS = "\n".join(f"{a},{b},{'x' if a < 5 else 'y'}" for a in range(10) for b in (0, 1, 3))
ARFF = (
    "@RELATION seeds\n@ATTRIBUTE a REAL\n@ATTRIBUTE b REAL\n@ATTRIBUTE class {x,y}\n@DATA\n"
    f"{ROWS}\n"
).encode()
SEEDS = 1499


class OpenML:
    """What the server answers: path, then what is sent, packed or not, or where it lies."""

    def __init__(self):
        self.asked = []
        self.arff, self.packed, self.moved = ARFF, False, {}
        self.awake = threading.Event()
        self.awake.set()
        self.drips = None  # what comes first, where single bytes follow without an end
        self.changed = {}  # of the description
        self.address = f"https://api.openml.org/data/v1/download/{SEEDS}"
        self.md5 = hashlib.md5(ARFF).hexdigest()

    def answer(self, path):
        end = path.split("/data/")[-1]
        about = {
            "name": "seeds",
            "version": "1",
            "status": "active",
            "format": "ARFF",
            "description": "",
            "url": self.address,
            "file_id": str(SEEDS),
            "md5_checksum": self.md5,
        }
        about = {k: v for k, v in (about | self.changed).items() if v is not None}
        kinds = {"a": "numeric", "b": "numeric", "class": "nominal"}
        features = [
            {
                "index": str(i),
                "name": name,
                "data_type": kind,
                "is_target": str(name == "class").lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for i, (name, kind) in enumerate(kinds.items())
        ]
        answers = {
            f"{SEEDS}": {"data_set_description": about},
            f"features/{SEEDS}": {"data_features": {"feature": features}},
            f"qualities/{SEEDS}": {
                "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "30"}]}
            },
        }
        return json.dumps(answers[end]).encode() if end in answers else self.arff


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """Play OpenML on this machine: every https connection leads to it, without encryption."""
    store = OpenML()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            store.asked.append(self.path)
            store.awake.wait(10)
            if self.path in store.moved:
                self.send_response(302)
                self.send_header("Location", store.moved[self.path])
                self.end_headers()
                return
            if store.drips is not None:
                self.wfile.write(store.drips)
                with contextlib.suppress(OSError):  # until the other side has left
                    while True:
                        self.wfile.write(b"x")
                        time.sleep(0.02)
                return
            content = store.answer(self.path)
            self.send_response(200)
            if store.packed:
                content = gzip.compress(content)
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def connect(self):
        self.host, self.port = server.server_address
        self._tunnel_host = None
        http.client.HTTPConnection.connect(self)

    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(datasets.FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(http.client.HTTPSConnection, "connect", connect)
    yield store
    server.shutdown()
    server.server_close()


def download_seeds():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these are not the real seeds; that it tries again
        return load("seeds", download=True)


def kept(folder):
    """What lies in the cache, but for the descriptions, which are json."""
    files = [file for file in folder.rglob("*") if file.is_file() and "json" not in file.parts]
    return [file.relative_to(folder) for file in files]


@pytest.mark.parametrize("packed", [False, True])
def test_a_set_comes_whole_and_is_asked_for_once(openml, packed, tmp_path):
    openml.packed = packed
    found = download_seeds()
    assert found.X.shape == (30, 2)
    assert np.bincount(found.labels[0]).tolist() == [15, 15]
    assert len(openml.asked) == 4
    assert len(kept(tmp_path)) == 1
    download_seeds()
    assert len(openml.asked) == 4


@pytest.mark.parametrize("packed", [False, True])
def test_too_much_is_refused_and_not_kept(openml, packed, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 5000)
    openml.packed, openml.arff = packed, ARFF + b"%" * 5000
    openml.md5 = hashlib.md5(openml.arff).hexdigest()
    assert len(gzip.compress(openml.arff)) < 5000  # a small file that unpacks to a large one
    with pytest.raises(FileNotFoundError, match=r"more than 0\.005 MB, the most.*seeds\.csv"):
        download_seeds()
    assert kept(tmp_path) == []


def test_as_much_as_is_allowed_is_taken(openml, monkeypatch):
    openml.arff = ARFF + b"%" * (5000 - len(ARFF))
    openml.md5 = hashlib.md5(openml.arff).hexdigest()
    monkeypatch.setattr(download, "MOST_BYTES", 5000)
    assert len(download_seeds().X) == 30


def test_the_bound_is_the_one_that_is_promised():
    promised = (Path(__file__).parents[1] / "SECURITY.md").read_text(encoding="utf-8")
    assert f"takes\n  {download.MOST_BYTES // 10**6} MB at most" in promised
    assert "silent for a minute" in promised
    assert download.SECONDS == 60
    assert "not whole after ten" in promised
    assert download.LONGEST == 600
    assert f"{download.MOST_BYTES // 10**6} MB" in load.__doc__


def test_a_description_without_end_is_refused(openml, monkeypatch, tmp_path):
    monkeypatch.setattr(download, "MOST_BYTES", 50)
    with pytest.raises(FileNotFoundError, match="more than 5e-05 MB"):
        download_seeds()
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/x", "ftp://127.0.0.1/x"])
def test_redirects_to_other_than_https_are_refused(openml, address, tmp_path):
    openml.moved[f"/data/v1/download/{SEEDS}"] = address
    with pytest.raises(FileNotFoundError, match=f"{address} is not an https address"):
        download_seeds()
    assert kept(tmp_path) == []


def test_redirects_to_https_are_followed(openml):
    openml.moved[f"/data/v1/download/{SEEDS}"] = "https://elsewhere.invalid/data/x.arff"
    assert len(download_seeds().X) == 30
    assert "/data/x.arff" in openml.asked


@pytest.mark.parametrize("address", ["http://x.invalid/", "file:///etc/hostname", "data:,x"])
def test_only_https_is_asked(address):
    with pytest.raises(download.RefusedError, match="is not an https address"):
        download.fetch(download.request.Request(address))


def test_a_silent_server_is_left(openml, monkeypatch):
    openml.awake.clear()
    monkeypatch.setattr(download, "SECONDS", 0.1)
    with pytest.raises(TimeoutError):
        download.fetch(download.request.Request(openml.address))
    openml.awake.set()
    assert download.fetch(download.request.Request(openml.address)).read() == ARFF


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_server_that_is_never_silent_and_never_done_is_left(openml, start, monkeypatch):
    openml.drips = start
    monkeypatch.setattr(download, "LONGEST", 0.2)
    with pytest.raises(download.RefusedError, match=r"was not there after 0\.2 seconds"):
        download.fetch(download.request.Request(openml.address))
    openml.drips = None
    monkeypatch.undo()


by_address = pytest.mark.skipif(
    hasattr(_openml, "_DATA_FILE"),
    reason="this scikit-learn asks for a file by its number, and not by the address it was given",
)


@by_address
def test_a_file_outside_the_cache_is_not_written_read_or_deleted(openml, tmp_path, monkeypatch):
    """The client names files by the address, which the server gives, and deletes what is wrong."""
    cache = tmp_path / "a" / "b" / "cache"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(cache))
    mine = tmp_path / "a" / "mine.gz"
    mine.parent.mkdir()
    mine.write_bytes(gzip.compress(ARFF))
    for name in ("mine", "new"):
        openml.changed["url"] = f"https://x.invalid/../../../../{name}"
        with pytest.raises(FileNotFoundError, match="lies outside") as told:
            download_seeds()
        assert f"Delete {cache / 'openml'} to ask again" in str(told.value)
        shutil.rmtree(cache)
    openml.changed["url"] = "https://x.invalid/folder/../here"
    assert len(download_seeds().X) == 30
    outside = [f for f in tmp_path.rglob("*") if f.is_file() and not f.is_relative_to(cache)]
    assert outside == [mine]
    assert gzip.decompress(mine.read_bytes()) == ARFF


@pytest.mark.parametrize(
    "name, value",
    [
        pytest.param("url", None, marks=by_address),
        pytest.param("url", 3, marks=by_address),
        ("md5_checksum", None),
    ],
)
def test_a_description_that_lacks_something_is_refused(openml, name, value):
    openml.changed[name] = value
    with pytest.raises(FileNotFoundError, match=r"OpenML gave: .*Error\(.*seeds\.csv"):
        download_seeds()


@pytest.mark.parametrize("content", [b"{}", b"[]", b"null", b"<html>", b"[" * 100_000, b"\xff"])
def test_a_description_that_is_none_is_refused(openml, content, monkeypatch):
    monkeypatch.setattr(openml, "answer", lambda path: content)
    with pytest.raises(FileNotFoundError, match=r"OpenML gave: .*seeds\.csv"):
        download_seeds()


@pytest.mark.parametrize("row", ["a,b,x", "1e400,1,x", "?,1,x", "'1,1,x"])
def test_a_table_that_is_not_all_numbers_is_refused(openml, row):
    openml.arff = ARFF + f"{row}\n".encode()
    openml.md5 = hashlib.md5(openml.arff).hexdigest()
    with pytest.raises(FileNotFoundError, match=r"OpenML gave: .*(parse|infinite).*seeds\.csv"):
        download_seeds()


def test_a_wrong_checksum_is_refused_now_and_later(openml):
    openml.arff = ARFF.replace(b"9,3,y", b"9,4,y")
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match="md5 checksum"):
            download_seeds()
    openml.arff = ARFF
    assert len(download_seeds().X) == 30


def test_a_packed_answer_that_is_cut_off_is_refused(openml, tmp_path, monkeypatch):
    openml.packed = True
    monkeypatch.setattr(gzip, "compress", lambda content: b"\x1f\x8b\x08\x00\x00")
    with pytest.raises(FileNotFoundError, match="cannot be unpacked"):
        download_seeds()
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_the_client_is_as_it_was_afterwards(openml, monkeypatch):
    usual = _openml.urlopen
    download_seeds()
    assert _openml.urlopen is usual
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        load("seeds", download=True)
    assert _openml.urlopen is usual
