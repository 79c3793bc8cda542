"""Downloads within bounds: https only, of limited size, and from no silent server."""

import gzip
import io
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from typing import Any
from urllib import request
from urllib.parse import urlsplit
from urllib.response import addinfourl

MOST_BYTES = 100_000_000
"""The largest answer that is taken, unpacked. The paper's sets have 9 MB at most, as text."""
SECONDS = 60
"""How long a server may keep silent."""

_lock = threading.Lock()


class RefusedError(ValueError):
    """The answer, or the address that it would come from, is not one to be taken."""


@contextmanager
def guarded() -> Iterator[None]:
    """Let scikit-learn's OpenML client fetch by `fetch` alone, as long as this lasts.

    The client has no setting for it, so the function that it opens addresses with is exchanged:
    only that of the client, but in all threads, one after the other.
    """
    from sklearn.datasets import _openml

    with _lock:
        usual = _openml.urlopen  # should it ever be gone, better an error than no limit
        _openml.urlopen = fetch
        try:
            yield
        finally:
            _openml.urlopen = usual


def fetch(wanted: request.Request) -> addinfourl:
    """Return an answer, whole and unpacked, as `urllib.request.urlopen` would."""
    _check_address(wanted.full_url)
    with _opener().open(wanted, timeout=SECONDS) as answer:
        content = _checked(answer.read(MOST_BYTES + 1), wanted.full_url)
        if answer.headers.get("Content-Encoding") == "gzip":
            content = _checked(_unpacked(content, wanted.full_url), wanted.full_url)
        return addinfourl(io.BytesIO(content), Message(), answer.url)


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


def _opener() -> request.OpenerDirector:
    """Make one that knows https only, unlike `build_opener`'s."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        _Redirects,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener
