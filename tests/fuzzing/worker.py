"""`python -m tests.fuzzing.worker`: one campaign in its own process, guided by coverage if Atheris is there.

It ends with the inputs, or is ended when one hangs; `tally.json` says how far it came.
"""

import argparse
import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from turnwright.protocol.wire import encode

WRITE_EVERY = 500
HUNG = 30
"""Seconds after which an input is given up, and the worker with it."""


def main() -> None:
    """Run the campaign that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("folder", type=Path, help="where the tally, the findings and the corpus go")
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    logging.disable()
    given.folder.mkdir(parents=True, exist_ok=True)
    run = guided if is_guided() else plain
    run(given.target, given.folder, given.inputs, given.seed)


def is_guided() -> bool:
    """Whether Atheris is installed, which has wheels for some systems only."""
    return importlib.util.find_spec("atheris") is not None


def plain(name: str, folder: Path, inputs: int, seed: int) -> None:
    """Try mutations of samples."""
    from tests.fuzzing.campaign import TARGETS, inputs_for

    try_one = _counting(name, folder, inputs)
    for data in islice(inputs_for(TARGETS[name], seed), inputs):
        try_one(data)


def guided(name: str, folder: Path, inputs: int, seed: int) -> None:
    """Let Atheris choose inputs that reach new code; never returns."""
    atheris: Any = importlib.import_module("atheris")

    with atheris.instrument_imports(include=["turnwright"]):
        from tests.fuzzing.campaign import TARGETS
    from tests.fuzzing.mutation import LONGEST

    corpus, tokens = folder / "corpus", folder / "tokens"
    corpus.mkdir(exist_ok=True)
    for number, sample in enumerate(TARGETS[name].samples()):
        (corpus / f"sample-{number}").write_bytes(sample)
    tokens.write_text("".join(f'"{_escaped(token)}"\n' for token in TARGETS[name].tokens), "ascii")
    options = [f"-seed={seed}", f"-max_len={LONGEST}", f"-dict={tokens}", f"-timeout={HUNG}", "-verbosity=0"]
    atheris.Setup(
        [sys.argv[0], *options, "-close_fd_mask=0", f"-artifact_prefix={folder}/", str(corpus)],
        _counting(name, folder, inputs),
    )
    atheris.Fuzz()


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _counting(name: str, folder: Path, inputs: int) -> Callable[[bytes], None]:
    """What tries one input, keeps the tally up to date, and ends the process after the last one."""
    from tests.fuzzing.campaign import TARGETS, Campaign

    campaign = Campaign(TARGETS[name], folder)

    def try_one(data: bytes) -> None:
        campaign.try_one(data)
        if campaign.tally.tried % WRITE_EVERY == 0 or campaign.tally.tried == inputs:
            (folder / "tally.json").write_bytes(encode(campaign.tally))
        if campaign.tally.tried == inputs:
            os._exit(0)  # Atheris knows no other end

    return try_one


if __name__ == "__main__":
    main()
