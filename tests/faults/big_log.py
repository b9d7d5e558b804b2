"""How long a big log takes to load, beside a bare decoding of its lines, and how much memory."""

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.faults.long_log import LongLog
from turnwright.store.disk import Disk
from turnwright.store.jsonl_log import JsonlLog
from turnwright.store.load import load

EVENTS = 100_000
MOST_MEGABYTES = 150
MOST_OF_BARE = 1.0
"""How much of the time of a bare decoding it may take to load a log of that many events."""


class Cost(NamedTuple):
    """Seconds of the processor, and the most memory that the process had, in megabytes."""

    seconds: float
    megabytes: float


def write(file: Path, events: int = EVENTS) -> int:
    """Write a log of about so many events; its size in bytes."""
    with file.open("wb") as log:
        for event in LongLog().events(events):
            log.write(event.encoded + b"\n")
        return log.tell()


def cost(file: Path, *, bare: bool) -> Cost:
    """What loading the log costs, or decoding its lines, in a process of its own."""
    command = [sys.executable, "-m", __name__, str(file), "bare" if bare else "load"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    return msgspec.json.decode(done.stdout, type=Cost)


def measure(file: Path, *, bare: bool) -> Cost:
    """What it costs here and now."""
    started = time.process_time()
    if bare:
        with file.open("rb") as lines:
            for line in lines:
                msgspec.json.decode(line)
    else:
        log = JsonlLog(file, Disk(), new=False)
        load(log)
        log.close()
    return Cost(time.process_time() - started, most_megabytes())


def most_megabytes() -> float:
    """The most memory that this process had since its program began.

    On Linux it is VmHWM: `ru_maxrss` keeps, across exec, the size of the process that forked this one.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(measure(Path(sys.argv[1]), bare=sys.argv[2] == "bare")))
