"""Downloads within bounds: https only, of limited size and time, kept in the cache alone."""

import gzip
import io
import os
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib import request
from urllib.parse import urlsplit
from urllib.response import addinfourl

MOST_BYTES = 100_000_000
"""The largest answer that is taken, unpacked. The paper's sets have 9 MB at most, as text."""
SECONDS = 60
"""How long a server may keep silent."""
LONGEST = 600
"""How many seconds an answer may take as a whole: one byte a minute is not silence, and no end."""

_lock = threading.Lock()


class RefusedError(ValueError):
    """The answer, or the address that it would come from, is not one to be taken."""


@contextmanager
def guarded() -> Iterator[None]:
    """Let scikit-learn's OpenML client fetch by `fetch` alone, as long as this lasts.

    The client has no setting for it, so the functions that it opens addresses with, and names the
    files of its cache, are exchanged: only those of the client, but in all threads, one after the
    other.
    """
    from sklearn.datasets import _openml

    with _lock:
        # Should they ever be gone, better an error than no limit.
        usual, path = _openml.urlopen, _openml._get_local_path
        _openml.urlopen = fetch
        _openml._get_local_path = lambda *given: _inside(path(*given), given[1])
        try:
            yield
        finally:
            _openml.urlopen, _openml._get_local_path = usual, path


def _inside(file: str, cache: str) -> str:
    """Refuse a file that is not in the cache: its name comes from the server, dots and all."""
    if not Path(os.path.abspath(file)).is_relative_to(os.path.abspath(cache)):
        raise RefusedError(f"{file} lies outside {cache}, where downloads are kept")
    return file


def fetch(wanted: request.Request) -> addinfourl:
    """Return an answer, whole and unpacked, as `urllib.request.urlopen` would."""
    _check_address(wanted.full_url)
    with (
        _ended_in_time(wanted.full_url) as connections,
        _opener(connections).open(wanted, timeout=SECONDS) as answer,
    ):
        content = _checked(answer.read(MOST_BYTES + 1), wanted.full_url)
    if answer.headers.get("Content-Encoding") == "gzip":
        content = _checked(_unpacked(content, wanted.full_url), wanted.full_url)
    return addinfourl(io.BytesIO(content), Message(), answer.url)


@contextmanager
def _ended_in_time(address: str) -> Iterator["_Connections"]:
    """Cut the connections when the time is over. What has come by then is not the answer."""
    connections = _Connections()
    clock = threading.Timer(LONGEST, connections.cut)
    clock.daemon = True
    clock.start()
    try:
        yield connections
    except Exception as error:
        if not connections.over:
            raise
        raise RefusedError(_too_slow(address)) from error
    finally:
        clock.cancel()
    if connections.over:
        raise RefusedError(_too_slow(address))


def _too_slow(address: str) -> str:
    return f"{address} was not there after {LONGEST:g} seconds, the longest that is waited"


class _Connections(request.HTTPSHandler):
    """Opens connections, and can cut them, whatever is being waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.over = False
        self._open: list[socket.socket] = []

    def https_open(self, req: request.Request) -> Any:
        known = self._open

        class Connection(HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                known.append(self.sock)

        return self.do_open(Connection, req)

    def cut(self) -> None:
        self.over = True
        for each in self._open:
            with suppress(OSError):  # closed already
                each.shutdown(socket.SHUT_RDWR)


def _unpacked(content: bytes, address: str) -> bytes:
    try:
        return gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise RefusedError(f"{address} cannot be unpacked: {error}") from error


def _checked(content: bytes, address: str) -> bytes:
    if len(content) > MOST_BYTES:
        raise RefusedError(
            f"{address} has more than {MOST_BYTES / 1e6:g} MB, the most that is taken. Fetch it by "
            "other means if it is right all the same"
        )
    return content


def _check_address(address: str) -> None:
    if urlsplit(address).scheme != "https":
        raise RefusedError(f"{address} is not an https address, and no other is asked")


class _Redirects(request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(connections: _Connections) -> request.OpenerDirector:
    """Make one that knows https only, unlike `build_opener`'s."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.UnknownHandler(),
        connections,
        request.HTTPDefaultErrorHandler(),
        _Redirects(),
        request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
