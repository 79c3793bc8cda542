"""The reference of the command line, from the functions behind the commands."""

import inspect
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

from edfkmeans.cli import app

_KINDS = {int: "INTEGER", float: "NUMBER", Path: "FILE", str: "TEXT"}


def markdown():
    """Write every command with its arguments and options as Markdown."""
    return "\n\n".join(_command(each.callback) for each in app.registered_commands)


def _command(function):
    words, _, example = inspect.getdoc(function).partition("Example: ")
    hints = get_type_hints(function, include_extras=True)
    arguments, options = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        annotation, info = get_args(hints[name])[:2]
        kind = _bare(annotation)
        if isinstance(info, ArgumentInfo):
            arguments.append((name.upper(), info.help))
        else:
            named = f"{_names(name, kind, info)}{_value(annotation, kind, info)}"
            options.append((named, info.help, _default(parameter.default)))
    usage = ["edfkmeans", function.__name__, *(name for name, _ in arguments)]
    usage += ["[OPTIONS]"] * bool(options)
    parts = [f"### `{function.__name__}`", words.strip(), f"```bash\n{' '.join(usage)}\n```"]
    if example:
        parts.append(f"Example:\n\n```bash\n{example.strip()}\n```")
    if arguments:
        parts.append(_table(("argument", "what"), [(f"`{a}`", text) for a, text in arguments]))
    if options:
        parts.append(_table(("option", "what", "default"), options))
    return "\n\n".join(parts)


def _bare(annotation):
    """Return the type of one value: int of ``int | None``, str of ``list[str] | None``."""
    if get_origin(annotation) is Literal:
        return annotation
    inner = [part for part in get_args(annotation) if part is not NoneType]
    return _bare(inner[0]) if inner else annotation


def _names(name, kind, info):
    # In an annotation the first name given to typer.Option stands in the place of its default.
    given = (info.default, *(info.param_decls or ()))
    names = [each for each in given if isinstance(each, str) and each.startswith("-")]
    if not names:
        word = name.replace("_", "-")
        names = [f"--{word}"] + [f"--no-{word}"] * (kind is bool)
    return ", ".join(f"`{each}`" for each in names)


def _value(annotation, kind, info):
    if kind is bool:
        return ""
    words = " or ".join(f"`{word}`" for word in get_args(kind))  # of a Literal
    text = f" {words or _KINDS[kind]}"
    if info.min is not None:
        text += f" from {info.min}"
    if info.max is not None:
        text += f" to {info.max}"
    many = any(get_origin(part) is list for part in get_args(annotation))
    return text + ", repeatable" * many


def _default(value):
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    return f"`{value}`"


def _table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells])
