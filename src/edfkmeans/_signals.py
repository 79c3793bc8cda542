"""Signals by which a command is told to end: Ctrl-C, a closed terminal, a system that ends it."""

import signal

# Those that this system has.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def ignore() -> None:
    """Go on whatever comes: the command is on its way out."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
