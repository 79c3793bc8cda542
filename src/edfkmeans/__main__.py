"""``edfkmeans`` and ``python -m edfkmeans``: the command line, which Ctrl-C ends at any moment."""

import _thread
import signal
import sys
import threading
from typing import NoReturn


class Interrupted(SystemExit):
    """Ctrl-C: not a KeyboardInterrupt, which libraries catch and tell in their own words."""


def _leave(*_: object) -> NoReturn:
    raise Interrupted(130)


def _again(lost: "sys.UnraisableHookArgs") -> None:
    """Let an interrupt that was lost, as one in a callback from C is, come once more."""
    if isinstance(lost.exc_value, Interrupted):
        threading.Timer(0.01, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # before the imports, which take a second
        sys.unraisablehook = _again
    try:
        from edfkmeans import cli

        cli.main()
    except Interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is on its way out
        print("\nInterrupted; nothing was written.", file=sys.stderr)
        raise


if __name__ == "__main__":
    main()
