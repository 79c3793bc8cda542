"""``edfkmeans`` and ``python -m edfkmeans``: the command line, which Ctrl-C ends at any moment.

So do the signals by which a system ends a process. The exit code is 128 more than the signal's
number, for Ctrl-C 130.
"""

import _thread
import signal
import sys
import threading
from typing import NoReturn

from edfkmeans._signals import ENDING, ignore


class Interrupted(SystemExit):
    """Ctrl-C or the like: no KeyboardInterrupt, which libraries catch and tell in their own words.

    Some catch this as well, and what is raised in a callback from C is lost. It comes once more
    then: it is gone before the command is on its way out.
    """

    def __del__(self) -> None:
        number = int(str(self.code)) - 128
        if signal.getsignal(number) is _leave:
            threading.Timer(0.01, _thread.interrupt_main, [number]).start()


def _leave(number: int, _: object) -> NoReturn:
    raise Interrupted(128 + number)


def _tell_others(lost: "sys.UnraisableHookArgs") -> None:
    """Say nothing of an interrupt that was lost."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    for number in ENDING:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _leave)  # before the imports, which take a second
            sys.unraisablehook = _tell_others
    try:
        from edfkmeans import cli

        cli.main()
    except Interrupted:
        ignore()
        print("\nInterrupted; nothing was written.", file=sys.stderr)
        raise
    finally:
        ignore()  # Python takes another second to end, and would end by the signal itself


if __name__ == "__main__":
    main()
