"""Output of any size and any bytes: bounded for the model, one line in the log, always UTF-8."""

import json
from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import results, scene
from turnwright.providers.scripted import calls, text
from turnwright.store.jsonl import JsonlStore
from turnwright.tools.base import Call, ToolResult
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

C_LOCALE = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def lines_of(log: Path) -> list[bytes]:
    """The lines of a log; each must be the JSON of an event, in UTF-8 without half of a character."""
    data = log.read_bytes()
    assert data.endswith(b"\n")
    lines = data.removesuffix(b"\n").split(b"\n")
    for line in lines:
        json.dumps(json.loads(line.decode("utf-8")), ensure_ascii=False).encode("utf-8")
    return lines


async def test_24_megabytes_of_output_are_cut_for_the_model_and_the_log_and_the_next_prompt_works(
    tmp_path: Path,
) -> None:
    """B45"""
    command = "head -c 24000000 /dev/zero | tr '\\\\0' x"
    script = [calls(("a", "bash", f'{{"command": "{command}"}}')), text("long"), text("and on")]
    store = JsonlStore(tmp_path / "state")
    async with scene(tmp_path, script, machine=machine_tools(), store=store) as at:
        at.session.permissions.approve_all = True
        await at.prompt("flood")
        told = results(at.model.requests[1])["a"]
        assert len(told) < 100_000
        assert "24000000 bytes" in told
        kept = [file for file in at.session.overflow.iterdir() if str(file) in told]
        assert [file.stat().st_size for file in kept] == [24_000_000]
        await at.prompt("more")
        assert at.session.journal.log.size < 1_000_000


@pytest.mark.parametrize("lead", range(4))
async def test_a_cut_never_splits_a_character(tmp_path: Path, lead: int) -> None:
    """B47"""
    (tmp_path / "keys.txt").write_text("a" * lead + "🔑" * 6000, encoding="utf-8")
    script = [calls(("a", "bash", '{"command": "cat keys.txt"}')), text("🔑" * 300)]
    store = JsonlStore(tmp_path / "state")
    async with scene(tmp_path, script, machine=machine_tools(), store=store, streaming=True) as at:
        at.session.permissions.approve_all = True
        await at.prompt("a" * lead + "🔑" * 300)
        told = results(at.model.requests[1])["a"]
        assert "left out" in told
        assert "\ufffd" not in told
        for event in at.client.events:
            event.encoded.decode("utf-8")
        lines_of(store.folder(at.session.id) / "events.jsonl")


async def test_half_a_character_from_a_model_a_tool_or_a_user_is_replaced(tmp_path: Path) -> None:
    """B47"""

    async def half(call: Call) -> ToolResult:
        return ToolResult("half: \ud83d")

    store = JsonlStore(tmp_path / "state")
    script = [calls(("a", "half", '{"x": "\\ud83d"}'), content="\udd11"), text("\ud83d")]
    async with scene(tmp_path, script, machine=[LocalTool("half", half)], store=store, streaming=True) as at:
        await at.prompt("\ud83d is half")
        lines = lines_of(store.folder(at.session.id) / "events.jsonl")
        assert len(lines) == len(at.client.persisted)
        assert at.client.types[-2:] == ["assistant.idle", "session.idle"]
        assert at.client.count("session.error") == 0


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\u2028", "\x85", "\x0b", "\0"])
async def test_one_event_is_one_line_whatever_a_result_holds(tmp_path: Path, newline: str) -> None:
    """B50"""
    content = f"one{newline}two{newline}"

    async def several(call: Call) -> ToolResult:
        return ToolResult(content)

    store = JsonlStore(tmp_path / "state")
    script = [calls(("a", "several", "{}")), text(content)]
    async with scene(tmp_path, script, machine=[LocalTool("several", several)], store=store) as at:
        await at.prompt(content)
        assert results(at.model.requests[1]) == {"a": content}
        lines = lines_of(store.folder(at.session.id) / "events.jsonl")
        assert lines == [event.encoded for event in at.client.persisted]


async def test_a_c_locale_loses_no_text_in_tools(tmp_path: Path) -> None:
    """B54"""
    folder = tmp_path / "中文"
    folder.mkdir()
    script = [
        calls(("a", "bash", '{"command": "printf 你好 | od -An -tx1; printf 你好 | wc -m; pwd"}')),
        calls(("b", "create", '{"path": "文件.txt", "file_text": "内容"}')),
        calls(("c", "view", '{"path": "文件.txt"}'), ("d", "bash", '{"command": "cat 文件.txt"}')),
        text("好"),
    ]
    async with scene(
        tmp_path, script, machine=machine_tools(), environment=C_LOCALE, working_directory=str(folder)
    ) as at:
        at.session.permissions.approve_all = True
        await at.prompt("你好")
        told = results(at.model.requests[3])
        assert told["a"].split() == [
            *["e4", "bd", "a0", "e5", "a5", "bd", "2"],
            str(folder),
            "<exited",
            *["with", "exit", "code", "0>"],
        ]
        assert told["c"] == "1. 内容"
        assert told["d"] == "内容\n<exited with exit code 0>"
        assert (folder / "文件.txt").read_text(encoding="utf-8") == "内容"
