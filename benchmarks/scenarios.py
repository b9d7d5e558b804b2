"""The measured conversations. Each starts a runtime and returns its readings by name."""

import asyncio
import gc
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks import bare, driver, long_log
from benchmarks.driver import Driver, RunFailed, Session
from benchmarks.model_server import ModelServer, Request, script

Readings = dict[str, float]

QUIET = 0.5
"""Seconds for a process to finish what it does after it has said idle."""

NOOP: dict[str, Any] = {
    "name": "noop",
    "description": "Do nothing.",
    "parameters": {"type": "object", "properties": {}},
    "skipPermission": True,
}


@dataclass(frozen=True)
class Bench:
    """A runtime to measure: its command, a fresh home for this run, and the model server."""

    command: Sequence[str]
    home: Path
    server: ModelServer

    def options(self, *tools: str) -> dict[str, Any]:
        """Options of a session that offers the app's tool `noop`, or the built-in `tools`."""
        return {
            "model": "scripted",
            "streaming": True,
            "workingDirectory": str(self.home / "work"),
            "tools": [] if tools else [NOOP],
            "availableTools": list(tools) or ["noop"],
            "systemMessage": {"mode": "replace", "content": "You are measured."},
            "requestPermission": True,
            "infiniteSessions": {"enabled": False},
            "provider": {
                "type": "openai",
                "baseUrl": self.server.url,
                "apiKey": "none",
                "wireApi": "completions",
                "maxPromptTokens": 2_000_000,
            },
        }

    async def session(self, runtime: Driver, *tools: str, allow: tuple[str, ...] = ()) -> Session:
        """Create a session."""
        options = {**self.options(*tools), "allowTools": list(allow)}
        session = Session(runtime, str(uuid.uuid4()), options)
        await session.create()
        return session

    def logs(self) -> list[Path]:
        """The logs in the home, the newest last."""
        found = self.home.glob("copilot/session-state/*/events.jsonl")
        return sorted(found, key=lambda log: log.stat().st_mtime)


Scenario = Callable[[Bench], Awaitable[Readings]]


async def start(bench: Bench) -> Readings:
    """From nothing to the end of one turn."""
    bench.server.forget()
    async with driver.started(bench.command, bench.home) as runtime:
        connected = time.monotonic() - runtime.started
        session = await bench.session(runtime)
        await session.run(script())
        await asyncio.sleep(QUIET)
        return {
            "connect_s": connected,
            "first_request_s": bench.server.requests()[0].received - runtime.started,
            "peak_mb": runtime.footprint.peak_bytes / 1e6,
            "start_cpu_s": runtime.footprint.cpu_seconds,
        }


def turns(number: int) -> Scenario:
    """One prompt of so many turns, each with a call of the app's own tool."""

    async def scenario(bench: Bench) -> Readings:
        async with driver.started(bench.command, bench.home) as runtime:
            return await _turns(bench, runtime, number)

    return scenario


async def _turns(bench: Bench, runtime: Driver, number: int) -> Readings:
    warm = await bench.session(runtime)
    await warm.run(script(turns=3, id=1))
    session = await bench.session(runtime)
    bench.server.forget()
    cpu = runtime.footprint.cpu_seconds
    seconds = await session.run(script(turns=number))
    cpu = runtime.footprint.cpu_seconds - cpu
    requests = bench.server.requests()
    if len(requests) != number:
        raise RunFailed(f"{number} turns were asked for, {len(requests)} requests were sent")
    return {
        f"turn_{number}_ms": seconds * 1e3 / number,
        f"turn_{number}_cpu_ms": cpu * 1e3 / number,
        f"growth_{number}": _growth(requests),
    }


def _growth(requests: list[Request]) -> float:
    """The time between an answer and the next request, at the end of a long run over that at its start."""
    gaps = [after.received - before.sent for before, after in pairwise(requests)]
    return median(gaps[-50:]) / median(gaps[:50])


async def long_session(bench: Bench) -> Readings:
    """2,000 turns, beside 100 in the same process."""
    async with driver.started(bench.command, bench.home) as runtime:
        short = await _turns(bench, runtime, 100)
        long = await _turns(bench, runtime, 2000)
        return {"turn_2000_over_100": long["turn_2000_ms"] / short["turn_100_ms"]}


async def stream(bench: Bench) -> Readings:
    """A burst of 20,000 deltas, each of which must arrive once."""
    deltas = 20_000
    seen: Counter[str] = Counter()

    def count(type: str) -> None:
        seen[type] += 1

    async with driver.started(bench.command, bench.home) as runtime:
        session = await bench.session(runtime)
        await session.run(script(id=1))
        session.on_event = count
        cpu = runtime.footprint.cpu_seconds
        seconds = await session.run(script(deltas=deltas))
        cpu = runtime.footprint.cpu_seconds - cpu
        if seen["assistant.message_delta"] != deltas:
            raise RunFailed(f"{deltas} deltas were sent, {seen['assistant.message_delta']} arrived")
        return {"deltas_per_s": deltas / seconds, "delta_cpu_us": cpu * 1e6 / deltas}


async def sessions(bench: Bench) -> Readings:
    """200 sessions of 5 turns side by side, which then stay."""
    number = 200

    async def one(id: int) -> None:
        session = await bench.session(runtime)
        await session.run(script(turns=5, id=id))

    async with driver.started(bench.command, bench.home) as runtime:
        await one(number)
        await asyncio.sleep(QUIET)
        before = runtime.footprint.resident_bytes
        gc.collect()
        cpu, started = runtime.footprint.cpu_seconds, time.monotonic()
        async with asyncio.TaskGroup() as group:
            for id in range(number):
                group.create_task(one(id))
        seconds = time.monotonic() - started
        cpu = runtime.footprint.cpu_seconds - cpu
        await asyncio.sleep(QUIET)
        return {
            "sessions_per_s": number / seconds,
            "session_cpu_ms": cpu * 1e3 / number,
            "mb_per_session": (runtime.footprint.resident_bytes - before) / 1e6 / number,
        }


def idle(seconds: float) -> Scenario:
    """100 sessions that have had a turn each, and nothing to do."""

    async def scenario(bench: Bench) -> Readings:
        async with driver.started(bench.command, bench.home) as runtime:
            for id in range(100):
                session = await bench.session(runtime)
                await session.run(script(id=id))
            await asyncio.sleep(QUIET)
            cpu = runtime.footprint.cpu_seconds
            await asyncio.sleep(seconds)
            return {"idle_percent": (runtime.footprint.cpu_seconds - cpu) / seconds * 100}

    return scenario


async def abort(bench: Bench) -> Readings:
    """Aborts of a `sleep` that a tool runs, beside the bare ending of one."""
    took: list[float] = []
    alone: list[float] = []
    async with driver.started(bench.command, bench.home) as runtime:
        for id in range(5):
            session = await bench.session(runtime, "bash", allow=("shell",))
            await session.send(script(turns=2, tool="bash", command="exec sleep 77", id=id))
            bare.wait_until_a_child_sleeps(runtime.footprint)
            await asyncio.sleep(bare.PAUSE)
            began = time.monotonic()
            await runtime.call("session.abort", {"sessionId": session.id})
            await session.idle()
            took.append(time.monotonic() - began)
            alone.append(bare.ending())
    return {
        "abort_ms": median(took) * 1e3,
        "kill_ms": median(alone) * 1e3,
        "abort_over_kill": median(took) / median(alone),
    }


def resume(name: str, *, events: int, text: int = 0, compacted: bool = False) -> Scenario:
    """Taking up a long log, beside the bare decoding of its lines."""

    async def scenario(bench: Bench) -> Readings:
        async with driver.started(bench.command, bench.home) as runtime:
            await (await bench.session(runtime)).run(script(turns=4))
        session_id = str(uuid.uuid4())
        log = long_log.beside(bench.logs()[-1], session_id)
        long_log.stretch(bench.logs()[0], log, events=events, text=text, compacted=compacted)
        alone = mean([bare.decoding(log), bare.decoding(log)])
        async with driver.started(bench.command, bench.home) as runtime:
            session = Session(runtime, session_id, bench.options())
            began = time.monotonic()
            await session.resume()
            seconds = time.monotonic() - began
            readings = {
                f"resume_{name}_s": seconds,
                f"resume_{name}_over_decoding": seconds / alone,
                f"resume_{name}_peak_mb": runtime.footprint.peak_bytes / 1e6,
            }
            await session.run(script(id=3))
        return readings

    return scenario


def synced(memory: Path) -> Scenario:
    """The fsync at each turn's end: turns whose log is on the disk, and in memory, where it costs nothing."""

    async def scenario(bench: Bench) -> Readings:
        on_disk = await turns(100)(bench)
        in_memory = await turns(100)(Bench(bench.command, memory / bench.home.name, bench.server))
        return {
            "disk_turn_ms": on_disk["turn_100_ms"],
            "memory_turn_ms": in_memory["turn_100_ms"],
            "sync_turn_ms": on_disk["turn_100_ms"] - in_memory["turn_100_ms"],
            "bare_sync_ms": bare.syncing(bench.home) * 1e3,
        }

    return scenario
