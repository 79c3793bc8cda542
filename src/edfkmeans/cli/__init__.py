"""The command line: thin commands over the library."""

from edfkmeans.cli.commands import app, main

__all__ = ["app", "main"]
