"""Ctrl-C: the first ends the run in order, the second ends the process."""

import signal

import anyio

STATUS_BASE = 128
"""A shell's exit status for a process that a signal ended is this and the signal's number."""


async def interrupted() -> int:
    """Wait for SIGINT or SIGTERM and return its number; the next one then kills the process at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        number = await anext(signals)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)
    return number
