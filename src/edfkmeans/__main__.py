"""``python -m edfkmeans``: the command line."""

from edfkmeans.cli import main

main()
