"""Many inputs for one target, and what they came to."""

import hashlib
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import msgspec

from tests.fuzzing.bounds import bounded
from tests.fuzzing.logs import LOG, REPAIR
from tests.fuzzing.mutation import mutations
from tests.fuzzing.rpc_reader import RPC
from tests.fuzzing.streams import CHAT, MESSAGES, RESPONSES
from tests.fuzzing.target import InvalidRequest, Target
from turnwright.protocol.wire import Wire

TARGETS = {target.name: target for target in (RPC, CHAT, RESPONSES, MESSAGES, LOG, REPAIR)}
SHOWN = 5


class Tally(Wire):
    """How many inputs were tried, and in how many there was a fault; `faults` are the first of each kind.

    `lost` counts crashes, inputs that cost too much, and what was lost of an input; `invalid` counts replies
    that a strict server would refuse to hear again.
    """

    tried: int = 0
    lost: int = 0
    invalid: int = 0
    faults: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Campaign:
    """Tries inputs on a target; those with a fault are kept as files in `folder`.

    What each `every`-th one costs is counted, which takes ten times as long.
    """

    def __init__(self, target: Target, folder: Path, *, every: int = 50) -> None:
        self.tally = Tally()
        self._target = target
        self._folder = folder
        self._every = every

    def try_one(self, data: bytes) -> None:
        """Count what comes of one input."""
        self.tally.tried += 1
        try:
            with nullcontext() if self.tally.tried % self._every else bounded(len(data)):
                self._target.attempt(data)
        except InvalidRequest as error:
            self.tally.invalid += 1
            self._keep(data, error)
        except Exception as error:  # noqa: BLE001  any error is a finding
            self.tally.lost += 1
            self._keep(data, error)

    def _keep(self, data: bytes, error: Exception) -> None:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f" in {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
        kind = f"{type(error).__name__}{where}"
        if kind in self.tally.faults or len(self.tally.faults) >= SHOWN:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{self._target.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        file.write_bytes(data)
        self.tally.faults[kind] = f"{kind}: {str(error)[:200]} ({file})"


def try_all(target: Target, inputs: Iterable[bytes], folder: Path, *, every: int = 50) -> Tally:
    """Try inputs one after the other."""
    campaign = Campaign(target, folder, every=every)
    for data in inputs:
        campaign.try_one(data)
    return campaign.tally


def inputs_for(target: Target, seed: int) -> Iterable[bytes]:
    """The samples of a target, and mutations of them without end."""
    return mutations(target.samples(), target.tokens, seed)
