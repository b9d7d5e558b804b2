"""A stand-in for the package xllamacpp: an engine that writes what it is told to."""

import threading
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace

from turnwright.protocol.wire import Json

Take = Callable[[dict[str, Json]], object]

PACE = 0.001
"""Seconds for a piece that has no end: written without any, they would keep the event loop from all else."""


class FakeLlama(ModuleType):
    """A request that is more than a prompt's start gets the next of `replies`: pieces, or an error.

    After its pieces a reply goes on for ever where `endless` is set, until the request is stopped.
    """

    def __init__(self, *replies: Sequence[str] | dict[str, Json], finish: str = "stop") -> None:
        super().__init__("xllamacpp")
        self.__version__ = "1"
        self.CommonParams = _params
        self.Server = self._load
        self.replies = list(replies)
        self.finish = finish
        self.endless = False
        self.refuses_models = False
        self.requests: list[dict[str, Json]] = []
        self.writing = threading.Event()
        self.stopped = threading.Event()

    def _load(self, params: SimpleNamespace) -> "FakeLlama":
        if self.refuses_models:
            raise RuntimeError("Failed to init server, please check the input params.")
        self.params = params
        return self

    def handle_chat_completions(self, request: dict[str, Json], take: Take) -> None:
        take({"choices": [{"delta": {"content": None}, "finish_reason": None}], "prompt_progress": {}})
        if request["max_tokens"] == 0:
            return
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, dict):
            take({"error": reply})
            return
        for piece in reply:
            take({"choices": [{"delta": {"content": piece}, "finish_reason": None}]})
        while self.endless:
            self.writing.set()
            self.stopped.wait(PACE)
            if take({"choices": [{"delta": {"content": "more"}, "finish_reason": None}]}):
                self.stopped.set()
                return
        take({"choices": [{"delta": {}, "finish_reason": self.finish}]})
        take(
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": len(reply),
                    "prompt_tokens_details": {"cached_tokens": 90},
                },
            }
        )


def _params() -> SimpleNamespace:
    return SimpleNamespace(
        model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
    )
