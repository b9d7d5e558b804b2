"""llama.cpp in this process: one loaded model, shared by all who ask for it."""

import importlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary, finalize

import msgspec
from platformdirs import user_cache_path

from turnwright.errors import ProviderError
from turnwright.protocol.messages import FinishReason, Usage
from turnwright.protocol.wire import Json
from turnwright.providers.embedded_prompt import ChatMessage
from turnwright.providers.embedded_slot import Slot

CONTEXT_TOKENS = 8192
OUTPUT_TOKENS = 1024

_BATCH_TOKENS = 64
"""How much of a prompt is read between two looks at the stop flag: two to four seconds on one core."""

_CACHE_MEGABYTES = 256
_SILENT = -1


class Generated(msgspec.Struct, frozen=True):
    """What the model wrote for one request."""

    text: str
    usage: Usage
    finish_reason: FinishReason


class Engine:
    """One model in memory; loading takes a few seconds and about 1.5 GB."""

    def __init__(self, model: Path, threads: int, starts: Path) -> None:
        """Load `model`, a GGUF file, and keep the starts of prompts in the folder `starts`.

        Blocks. Raises ProviderError when xllamacpp is missing or refuses the file.
        """
        llama = _xllamacpp()
        params = llama.CommonParams()
        params.model.path = str(model)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = _BATCH_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.cache_ram_mib = _CACHE_MEGABYTES
        params.verbosity = _SILENT
        params.warmup = False
        params.fit_params = False
        # Repacked weights write a sixth faster, but take 600 MB more, and a longer load with the GIL held.
        params.no_extra_bufts = True
        params.ui = False
        starts.mkdir(mode=0o700, parents=True, exist_ok=True)
        params.slot_save_path = f"{starts}/"
        # The engine insists on an HTTP server: in a folder that only this user can enter.
        folder = tempfile.mkdtemp(prefix="turnwright-")
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        address = Path(folder, "engine.sock")
        params.hostnames = [str(address)]
        try:
            self._server = llama.Server(params)
        except RuntimeError as error:
            raise ProviderError(
                f"{model} could not be loaded as a local model. It may be damaged: "
                "remove it and run `turnwright models pull`.",
                sent=False,
                detail=str(error),
            ) from error
        facts = model.stat()
        engine_id = f"{llama.__version__} {model} {facts.st_size} {facts.st_mtime_ns}"
        self._slot = Slot(address, starts, engine_id)
        self._begun: set[str] = set()

    def begin(self, start: str, stop: threading.Event) -> None:
        """Read the start of the prompts to come, unless that was done before, if only by another process.

        Blocks; returns early after `stop`.
        """
        if start in self._begun:
            return
        if not self._slot.restore(start):
            self._request([ChatMessage("system", start)], {"max_tokens": 0}, _Run(stop, _ignore))
            if stop.is_set():
                return
            self._slot.keep(start)
        self._begun.add(start)

    def generate(
        self,
        messages: Sequence[ChatMessage],
        schema: dict[str, Json],
        *,
        stop: threading.Event,
        hear: Callable[[str], None],
    ) -> Generated:
        """Write a reply that fits `schema`, greedily, telling `hear` each piece; return early after `stop`.

        Blocks. Raises ProviderError when the engine refuses the request.
        """
        run = _Run(stop, hear)
        form = {"type": "json_schema", "json_schema": {"schema": schema}}
        self._request(messages, {"max_tokens": OUTPUT_TOKENS, "response_format": form}, run)
        return run.result()

    def _request(self, messages: Sequence[ChatMessage], options: dict[str, Json], run: "_Run") -> None:
        self._server.handle_chat_completions(
            {
                "messages": msgspec.to_builtins(messages),
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
                "return_progress": True,
                **options,
            },
            run.take,
        )


_loaded: WeakValueDictionary[tuple[Path, int], Engine] = WeakValueDictionary()
_loading = threading.Lock()


def shared_engine(model: Path, threads: int) -> Engine:
    """The process's engine for `model`, loaded now if need be, kept while anyone holds it. Blocks."""
    with _loading:
        engine = _loaded.get((model, threads))
        if engine is None:
            starts = user_cache_path("turnwright") / "prompt-starts"
            engine = _loaded[model, threads] = Engine(model, threads, starts)
        return engine


def _xllamacpp() -> Any:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ProviderError(
            "The local model needs the package xllamacpp: pip install 'turnwright[local]'",
            sent=False,
            detail=str(error),
        ) from error


def _ignore(piece: str) -> None:
    pass


class _Run:
    """Gathers the chunks of one request."""

    def __init__(self, stop: threading.Event, hear: Callable[[str], None]) -> None:
        self._stop = stop
        self._hear = hear
        self._pieces: list[str] = []
        self._finish: FinishReason = "unknown"
        self._usage = Usage()
        self._refusal: ProviderError | None = None

    def take(self, chunk: dict[str, Any]) -> bool:
        """Take a chunk; True ends the request."""
        if self._stop.is_set():
            return True
        if "error" in chunk:
            self._refusal = _refusal(chunk["error"])
            return True
        for choice in chunk.get("choices", ()):
            if piece := choice["delta"].get("content"):
                self._pieces.append(piece)
                self._hear(piece)
            if choice["finish_reason"] is not None:
                self._finish = "length" if choice["finish_reason"] == "length" else "stop"
        if usage := chunk.get("usage"):
            cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            self._usage = Usage(usage["prompt_tokens"], usage["completion_tokens"], cached)
        return False

    def result(self) -> Generated:
        if self._refusal is not None:
            raise self._refusal
        return Generated("".join(self._pieces), self._usage, self._finish)


def _refusal(error: dict[str, Any]) -> ProviderError:
    if error.get("type") == "exceed_context_size_error":
        return ProviderError(
            f"The conversation has outgrown the local model: {error.get('n_prompt_tokens')} tokens, "
            f"where it can read {error.get('n_ctx')}.",
            kind="context_limit",
            detail=str(error.get("message")),
        )
    return ProviderError(f"The local model failed: {error.get('message')}")
