"""Arguments that are not data: whole numbers, and words out of a list."""

import numbers
from collections.abc import Collection
from typing import Any


def check_whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number, {least} or more.")
    return int(value)


def check_one_of(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {list(choices)}.")


def some(names: list[str], most: int = 5) -> str:
    """Quote the first names of a list, and count the others."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, noun: str) -> str:
    """Write how many there are: 1 row, 2 rows."""
    return f"{number} {noun}{'s' * (number != 1)}"
