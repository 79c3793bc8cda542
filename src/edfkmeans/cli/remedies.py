"""Remedies: what to do on the command line about columns that are odd."""

import ast
import re

from edfkmeans.cli.columns import quoted, repeated
from edfkmeans.rows.findings import Remedies

# Columns that are named in a command; more would hide the words.
_NAMED = 6
# The same of columns that have to go.
_DROPPED = 20
# What the library says of rows that it reads part by part, with a way out in Python.
_TEXT = re.compile(r"columns that are not numbers: (.+)\. Drop them, or encode them .+$")
_GAPS = re.compile(
    r"(, column (?P<name>'.*'|\".*\"))?\. Drop those rows or fill them"
    r"(?P<nan>, e\.g\. with sklearn\.impute\.SimpleImputer)?\.$"
)


def _options(option: str, names: list[str]) -> str:
    return repeated(option, names, _NAMED)


def _log(names: list[str]) -> str:
    few = _options("--log", names) if len(names) <= _NAMED else "--log auto"
    return f"Take logarithms: {few}"


def _again(names: list[str]) -> str:
    return f"See whether the answer stays without: {_options('--drop', names)}"


def _few(names: list[str]) -> str:
    if len(names) == 1:
        return _again(names)
    return (
        "Add up columns that ask for the same, or see whether the answer stays without: "
        f"{_options('--drop', names)}"
    )


def _number(names: list[str]) -> str:
    first, *rest = names
    left_out = f" {_options('--drop', rest)}" if rest else ""
    return f"Let it name the rows instead: --id {quoted(first)}{left_out}"


REMEDIES: Remedies = {
    "number": _number,
    "scales": lambda names: "Unless all columns share a unit: --scale standard",
    "skewed": _log,
    "tails": _again,
    "far": lambda names: "See whether that is an error; if so, correct or delete it in the file.",
    "copy": lambda names: f"Unless that is meant: {_options('--drop', names)}",
    "near": _again,
    "rare": _again,
    "constant": lambda names: f"Nothing need be done; {_options('--drop', names)} leaves it out.",
    "two": _again,
    "few": _few,
}
"""What to do about each kind of finding; an option stands last, to be copied."""


def remedies(rows_named: bool) -> Remedies:
    """Return what to do; where rows have their names already, another id is left out."""
    if not rows_named:
        return REMEDIES
    return {**REMEDIES, "number": lambda names: f"Leave it out: {_options('--drop', names)}"}


def in_options(text: str, file: str) -> str:
    """Replace the way out in Python that an error names by options."""
    whole = not file.lower().rstrip("/").endswith(".zarr")  # no other engine reads that
    if found := _TEXT.search(text):
        said = f"{text[: found.end(1)]}. Leave out with {_dropped(found[1])} what is no number, or "
        said += "turn it into numbers in the file."
        if whole:
            said += (
                " If the table fits in memory, --engine memory does that with --encode (text) and "
                "--dates."
            )
        return said
    if found := _GAPS.search(text):
        said = text[: found.start()] + (f", column {found['name']}" if found["name"] else "")
        said += ". Correct or delete such rows in the file"
        if found["name"]:
            said += f", or leave the column out with {_dropped(found['name'])}"
        if found["nan"] and whole:
            said += ". If the table fits in memory, --engine memory --missing drop leaves them out"
        return f"{said}."
    return text


def _dropped(listed: str) -> str:
    """Write the option for columns that are listed in quotation marks."""
    try:
        return repeated("--drop", ast.literal_eval(f"[{listed}]"), _DROPPED)
    except (SyntaxError, ValueError):  # "and 3 more"
        return "--drop"
