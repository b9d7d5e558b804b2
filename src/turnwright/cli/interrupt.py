"""Ctrl-C: the first ends the run in order, the second ends the process."""

import signal

import anyio

STATUS_BASE = 128
"""A shell's exit status for a process that a signal ended is this and the signal's number."""


def stopping_signals() -> list[signal.Signals]:
    """The signals that ask us to stop; not the terminal's hang-up where `nohup` says to outlive it."""
    hang_up = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hang_up]


async def interrupted() -> int:
    """Wait for a signal to stop and return its number; the next one then kills the process at once."""
    stopping = stopping_signals()
    with anyio.open_signal_receiver(*stopping) as signals:
        number = await anext(signals)
    for each in stopping:
        signal.signal(each, signal.SIG_DFL)
    return number
