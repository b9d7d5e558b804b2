"""What a session tells of itself: where it works, if it is at work, what fills its context, what it cost."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.wired import serving
from tests.server.sessions import prompted, started
from turnwright.errors import RequestFailed
from turnwright.protocol.events.session import ContextChanged, ModelChange, TitleChanged
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest
from turnwright.providers.scripted import calls, text

pytestmark = pytest.mark.anyio


async def test_a_snapshot_follows_the_session(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, model="some-model", clientName="a test")
        moved = await client.call(
            "session.metadata.setWorkingDirectory", sessionId=session, workingDirectory=str(elsewhere)
        )
        await client.call("session.mode.set", sessionId=session, mode="plan")
        found = await client.call("session.metadata.snapshot", sessionId=session)
        assert moved == {"workingDirectory": str(elsewhere)}
        times = (found.pop("startTime"), found.pop("modifiedTime"))
        assert times == (found["workspace"].pop("created_at"), found["workspace"].pop("updated_at"))
        assert found == {
            "sessionId": session,
            "isRemote": False,
            "alreadyInUse": False,
            "workspacePath": str(server.log_of(session).parent),
            "workingDirectory": str(elsewhere),
            "currentMode": "plan",
            "selectedModel": "some-model",
            "clientName": "a test",
            "sessionLimits": None,
            "workspace": {"id": session, "cwd": str(elsewhere), "user_named": False},
        }


async def test_a_working_directory_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        for path in ("", "relative", str(tmp_path / "missing"), "/" + "x" * 300):
            with pytest.raises(RequestFailed, match=r"workingDirectory: .* (is needed|no such folder): '"):
                await client.call(
                    "session.metadata.setWorkingDirectory", sessionId=session, workingDirectory=path
                )
        assert client.types.count("session.context_changed") == 0
        snapshot = await client.call("session.metadata.snapshot", sessionId=session)
        assert snapshot["workingDirectory"] == str(tmp_path)


async def test_a_session_whose_folder_is_gone_is_resumed_and_can_be_moved(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, gone)
        await client.call("session.destroy", sessionId=session)
        gone.rmdir()
        with pytest.raises(RequestFailed, match="workingDirectory: there is no such folder"):
            await client.call("session.resume", sessionId=session, workingDirectory=str(gone))
        await client.call("session.resume", sessionId=session)
        moved = await client.call(
            "session.metadata.setWorkingDirectory", sessionId=session, workingDirectory=str(tmp_path)
        )
        assert moved == {"workingDirectory": str(tmp_path)}


async def test_a_client_may_tell_of_the_sessions_checkout_and_of_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        for cwd in (str(tmp_path / "other"), str(tmp_path)):
            context = {"cwd": cwd, "branch": "topic", "repository": "o/r"}
            await client.call("session.metadata.recordContextChange", sessionId=session, context=context)
        told = [event.data for event in client.events if isinstance(event.data, ContextChanged)]
        assert told == [ContextChanged(str(tmp_path), branch="topic", repository="o/r")]


async def test_a_session_is_at_work_while_its_model_answers(tmp_path: Path) -> None:
    asked, answer = anyio.Event(), anyio.Event()

    async def slow(request: ModelRequest) -> Reply:
        asked.set()
        await answer.wait()
        return text("done")

    async with serving(tmp_path, [slow]) as server:
        client = server.connect()
        session = await started(client, tmp_path)

        async def told() -> tuple[Any, Any]:
            return (
                await client.call("session.metadata.isProcessing", sessionId=session),
                await client.call("session.metadata.activity", sessionId=session),
            )

        rest = ({"processing": False}, {"hasActiveWork": False, "abortable": False})
        assert await told() == rest
        await client.call("session.send", sessionId=session, prompt="go")
        with anyio.fail_after(5):
            await asked.wait()
        assert await told() == ({"processing": True}, {"hasActiveWork": True, "abortable": True})
        answer.set()
        await client.until("session.idle")
        assert await told() == rest


@pytest.mark.parametrize("mode", ["append", "replace"])
async def test_instruction_files_count_only_where_the_system_prompt_holds_them(
    tmp_path: Path, mode: str
) -> None:
    (tmp_path / "AGENTS.md").write_text("Be kind. " * 40)
    async with serving(tmp_path, [text("Done.")]) as server:
        client = server.connect()
        given = {"mode": mode, "content": "You are a tailor. " * 100}
        session = await started(client, tmp_path, systemMessage=given)
        await prompted(client, session, "go")
        found = await client.call("session.metadata.getContextAttribution", sessionId=session)
        told = found["contextAttribution"]["categories"]["customInstructions"]
        assert ("Be kind." in server.model.requests[0].system) == (told > 0) == (mode == "append")


async def test_the_parts_of_the_context_add_up_and_name_their_sources(tmp_path: Path) -> None:
    script = [calls(("a", "view", f'{{"path": "{tmp_path}"}}')), text("x" * 4000)]
    async with serving(tmp_path, script) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        asked = {"sessionId": session, "promptTokenLimit": 10_000, "outputTokenLimit": 500}
        assert await client.call("session.metadata.contextInfo", **asked) == {"contextInfo": None}
        await prompted(client, session, "look")
        info = (await client.call("session.metadata.contextInfo", **asked))["contextInfo"]
        parts = info["systemTokens"] + info["conversationTokens"] + info["toolDefinitionsTokens"]
        assert parts == info["totalTokens"]
        assert (info["limit"], info["bufferTokens"], info["compactionThreshold"]) == (10_500, 1000, 8000)
        named = await client.call("session.metadata.getContextAttribution", sessionId=session)
        ids = {entry["id"] for entry in named["contextAttribution"]["entries"]}
        assert {"systemPrompt", "toolDefinitions", "toolDefinition:view", "tool:view"} <= ids
        assert named["contextAttribution"]["totalTokens"] == info["totalTokens"]
        heaviest = await client.call(
            "session.metadata.getContextHeaviestMessages", sessionId=session, limit=1
        )
        assert heaviest["messages"] == [
            {"id": "message-3", "label": f"assistant: {'x' * 59}…", "role": "assistant", "tokens": 1000}
        ]
        counted = await client.call(
            "session.metadata.recomputeContextTokens", sessionId=session, modelId="scripted"
        )
        assert counted == {
            "totalTokens": info["systemTokens"] + info["conversationTokens"],
            "messagesTokenCount": info["conversationTokens"],
            "systemTokenCount": info["systemTokens"],
        }


async def test_usage_is_summed_over_the_log(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("four by 4"), text("b" * 40)]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "one")
        await prompted(client, session, "two")
        found = await client.call("session.usage.getMetrics", sessionId=session)
        del found["totalApiDurationMs"], found["sessionStartTime"]
        assert found == {
            "totalPremiumRequestCost": 0,
            "totalUserRequests": 2,
            "totalNanoAiu": 0,
            "codeChanges": {
                "linesAdded": 0,
                "linesRemoved": 0,
                "filesModifiedCount": 0,
                "filesModified": [],
            },
            "modelMetrics": {
                "scripted": {
                    "requests": {"count": 2, "cost": 0},
                    "usage": {
                        "inputTokens": 20,
                        "outputTokens": 12,
                        "cacheReadTokens": 0,
                        "cacheWriteTokens": 0,
                        "reasoningTokens": 0,
                    },
                    "totalNanoAiu": 0,
                }
            },
            "lastCallInputTokens": 10,
            "lastCallOutputTokens": 10,
            "currentModel": "scripted",
        }


async def test_a_name_that_nobody_chose_lasts_and_gives_way_to_one_that_was_chosen(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)

        async def auto(name: str) -> bool:
            answer = await client.call("session.name.setAuto", sessionId=session, summary=name)
            return answer["applied"]

        assert [await auto("   "), await auto("  Autumn  ")] == [False, True]
        await client.call("session.destroy", sessionId=session)
        await client.call("session.resume", sessionId=session)
        assert await client.call("session.name.get", sessionId=session) == {"name": "Autumn"}
        await client.call("session.name.set", sessionId=session, name="Winter")
        assert await auto("Spring") is False
        assert await client.call("session.name.get", sessionId=session) == {"name": "Winter"}
        logged = [event.data for event in server.logged(session) if isinstance(event.data, TitleChanged)]
        assert logged == [TitleChanged("Autumn")]


async def test_the_effort_of_reasoning_holds_from_the_next_call_on(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("a"), text("b")]) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        await prompted(client, session, "one")
        set_to = await client.call(
            "session.model.setReasoningEffort", sessionId=session, reasoningEffort="low"
        )
        await prompted(client, session, "two")
        assert set_to == {"reasoningEffort": "low"}
        assert [request.reasoning_effort for request in server.model.requests] == [None, "low"]
        changes = [event.data for event in server.logged(session) if isinstance(event.data, ModelChange)]
        assert changes[1:] == [ModelChange("scripted", "scripted", "low")]
        listed = await client.call("session.model.list", sessionId=session)
        assert [model["id"] for model in listed["list"]] == ["scripted"]


async def test_the_tools_on_offer_can_be_settled_before_the_first_message(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        all_tools = await client.call("tools.list")
        session = await started(client, tmp_path, availableTools=["view", "mine"], tools=[{"name": "mine"}])
        before = await client.call("session.tools.getCurrentMetadata", sessionId=session)
        await client.call("session.tools.initializeAndValidate", sessionId=session)
        after = await client.call("session.tools.getCurrentMetadata", sessionId=session)
        assert before == {"tools": None}
        assert sorted(tool["name"] for tool in after["tools"]) == ["mine", "view"]
        assert {"view", "bash"} <= {tool["name"] for tool in all_tools["tools"]}


async def test_the_mode_of_permissions_is_told_as_it_was_set(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        seen = [await client.call("session.permissions.getMode", sessionId=session)]
        for mode in ("allow-all", "manual"):
            seen.append(await client.call("session.permissions.setMode", sessionId=session, mode=mode))
        assert seen == [
            {"mode": "manual"},
            {"success": True, "mode": "allow-all"},
            {"success": True, "mode": "manual"},
        ]
