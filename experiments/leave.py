"""Ctrl-C ends a script at any moment, without a traceback."""

import os
import signal

SAID = "\nInterrupted. What is done is kept: the same command goes on.\n"


def at_once(*_):
    """Leave without waiting for the threads that still compute."""
    os.write(2, SAID.encode())
    os._exit(130)


def _unwind(*_):
    signal.signal(signal.SIGINT, at_once)  # should it be pressed again
    raise KeyboardInterrupt


def on_interrupt(*, cleaning_up):
    """Set what Ctrl-C does: `at_once`, or KeyboardInterrupt where files may be open.

    A script that is told to ignore Ctrl-C, as one in the background, goes on doing so.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, at_once):
        signal.signal(signal.SIGINT, _unwind if cleaning_up else at_once)
