"""Progress bars, all of one kind: on request, and only for what takes a while."""

import sys
from typing import Any

from tqdm.auto import tqdm

# Seconds before a bar shows.
PATIENCE = 2


def progress_bar(show: bool, title: str, total: int, unit: str = "it") -> "tqdm[Any]":
    """Make a bar that is told of every step by `update`; it is closed as a context."""
    return tqdm(total=total, disable=not show, desc=title, unit=unit, delay=PATIENCE)


def tell(message: str) -> None:
    """Say something on standard error, above the bars that are there."""
    tqdm.write(message, file=sys.stderr)
