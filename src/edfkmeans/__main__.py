"""``edfkmeans`` and ``python -m edfkmeans``: the command line, which Ctrl-C ends at any moment."""

import signal
import sys
from typing import NoReturn


class Interrupted(SystemExit):
    """Ctrl-C: not a KeyboardInterrupt, which libraries catch and tell in their own words."""


def _leave(*_: object) -> NoReturn:
    raise Interrupted(130)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # before the imports, which take a second
    try:
        from edfkmeans import cli

        cli.main()
    except Interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is on its way out
        print("\nInterrupted; nothing was written.", file=sys.stderr)
        raise


if __name__ == "__main__":
    main()
