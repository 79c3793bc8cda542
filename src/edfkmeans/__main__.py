"""``edfkmeans`` and ``python -m edfkmeans``: the command line, which Ctrl-C ends at any moment."""

import _thread
import signal
import sys
import threading
from typing import NoReturn


class Interrupted(SystemExit):
    """Ctrl-C: not a KeyboardInterrupt, which libraries catch and tell in their own words.

    Some catch this as well, and what is raised in a callback from C is lost. It comes once more
    then: it is gone before the command is on its way out.
    """

    def __del__(self) -> None:
        if signal.getsignal(signal.SIGINT) is _leave:
            threading.Timer(0.01, _thread.interrupt_main).start()


def _leave(*_: object) -> NoReturn:
    raise Interrupted(130)


def _tell_others(lost: "sys.UnraisableHookArgs") -> None:
    """Say nothing of an interrupt that was lost."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # before the imports, which take a second
        sys.unraisablehook = _tell_others
    try:
        from edfkmeans import cli

        cli.main()
    except Interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is on its way out
        print("\nInterrupted; nothing was written.", file=sys.stderr)
        raise


if __name__ == "__main__":
    main()
