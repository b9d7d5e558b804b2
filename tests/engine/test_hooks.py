"""What each hook of the client is told, and what its answer does."""

from pathlib import Path

import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import results, scene
from tests.engine.harness import Recorder, answer_everything
from turnwright.errors import ProviderError
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.messages import Assistant, User
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import calls, text

pytestmark = pytest.mark.anyio


class Hooked(Recorder):
    """A client whose hooks answer by `answers`, and which keeps what each was told."""

    def __init__(self, **answers: Json) -> None:
        super().__init__()
        self.told: list[tuple[str, Json]] = []
        self.answers = answers
        self.handlers["hooks.invoke"] = self._invoke

    def _invoke(self, params: Json) -> Json:
        hook = params["hookType"]
        self.told.append((hook, params["input"]))
        return {"output": self.answers[hook]} if hook in self.answers else {}

    def inputs(self, hook: str) -> list[Json]:
        return [given for name, given in self.told if name == hook]


ONE_CALL = calls(("a", "ok", '{"value":"model"}'))


async def test_all_hooks_of_a_run_are_called_in_order(tmp_path: Path) -> None:
    client = Hooked()
    async with scene(
        tmp_path, [ONE_CALL, text("done")], machine=[LocalTool("ok")], client=client, hooks=True
    ) as at:
        await at.prompt("go")
        assert [name for name, _ in client.told] == [
            "userPromptSubmitted",
            "sessionStart",
            "userPromptTransformed",
            "preToolUse",
            "postToolUse",
            "agentStop",
            "sessionEnd",
        ]
        assert {given["sessionId"] for _, given in client.told} == {at.session.id}
        assert {given["cwd"] for _, given in client.told} == {str(tmp_path)}
        assert client.inputs("sessionStart")[0]["source"] == "new"
        assert client.inputs("preToolUse")[0]["toolArgs"] == '{"value":"model"}'
        assert client.inputs("sessionEnd")[0]["reason"] == "complete"
        await at.prompt("again")
        assert len(client.inputs("sessionStart")) == 1


async def test_a_prompt_is_rewritten_before_it_is_logged(tmp_path: Path) -> None:
    client = Hooked(
        userPromptSubmitted={"modifiedPrompt": "ask nicely", "additionalContext": "It is Sunday."}
    )
    async with scene(tmp_path, [text("done")], client=client, hooks=True) as at:
        await at.prompt("do it")
        assert [message.content for message in at.all(UserMessage)] == ["ask nicely"]
        said = at.model.requests[0].messages[0].content
        assert said.endswith("ask nicely\n\nIt is Sunday.")
        assert "do it" not in said


async def test_the_text_that_the_model_reads_is_replaced_and_the_users_stays(tmp_path: Path) -> None:
    client = Hooked(userPromptTransformed={"modifiedTransformedPrompt": "in other words"})
    async with scene(tmp_path, [text("done")], client=client, hooks=True) as at:
        await at.prompt("do it")
        assert at.said() == ["do it"]
        assert at.model.requests[0].messages[0] == User("in other words", own="do it")


async def test_context_of_the_sessions_start_goes_before_the_first_prompt_alone(tmp_path: Path) -> None:
    client = Hooked(sessionStart={"additionalContext": "The build is red."})
    async with scene(tmp_path, [text("one"), text("two")], client=client, hooks=True) as at:
        await at.prompt("first")
        await at.prompt("second")
        contents = [message.content for message in at.model.requests[1].messages]
        assert contents[0] == "The build is red."
        assert [c.count("The build is red.") for c in contents] == [1, 0, 0, 0]


async def test_arguments_that_a_hook_changed_are_used_and_shown_to_the_model(tmp_path: Path) -> None:
    tool = LocalTool("ok")
    client = Hooked(preToolUse={"permissionDecision": "allow", "modifiedArgs": {"value": "hook"}})
    async with scene(tmp_path, [ONE_CALL, text("done")], machine=[tool], client=client, hooks=True) as at:
        await at.prompt("go")
        reply = at.model.requests[1].messages[1]
        assert isinstance(reply, Assistant)
        assert reply.tool_calls[0].arguments == '{"value":"hook"}'
        assert at.completions()["a"].modified_arguments == {"value": "hook"}


async def test_a_denial_names_its_reason_and_the_run_goes_on(tmp_path: Path) -> None:
    client = Hooked(preToolUse={"permissionDecision": "deny", "permissionDecisionReason": "not on a Sunday"})
    async with scene(
        tmp_path, [ONE_CALL, text("I see")], machine=[LocalTool("ok")], client=client, hooks=True
    ) as at:
        await at.prompt("go")
        assert results(at.model.requests[1]) == {"a": "Denied by preToolUse hook: not on a Sunday"}
        assert client.inputs("postToolUse") == []


@pytest.mark.parametrize(("decision", "asked"), [("ask", 1), ("allow", 0), (None, 1)])
async def test_a_hook_can_allow_what_would_be_asked_but_never_skip_a_question_it_wants(
    tmp_path: Path, decision: str | None, asked: int
) -> None:
    from turnwright.protocol.options import ToolSpec

    client = Hooked(preToolUse={"permissionDecision": decision} if decision else {})
    async with scene(
        tmp_path,
        [calls(("a", "mine", "{}")), text("done")],
        client=client,
        hooks=True,
        request_permission=True,
        tools=[ToolSpec("mine", "asks first")],
    ) as at:
        client.on_event = answer_everything(at.session)
        await at.prompt("go")
        assert client.count("permission.requested") == asked


@pytest.mark.parametrize("answer", [True, False])
async def test_a_hook_that_wants_a_question_gets_one_though_everything_is_allowed(
    tmp_path: Path, answer: bool
) -> None:
    client = Hooked(preToolUse={"permissionDecision": "ask"})
    async with scene(
        tmp_path,
        [ONE_CALL, text(".")],
        machine=[LocalTool("ok")],
        client=client,
        hooks=True,
        request_permission=answer,
    ) as at:
        client.on_event = answer_everything(at.session)
        at.session.permissions.approve_all = True
        await at.prompt("go")
        assert client.count("permission.requested") == int(answer)
        denied = "Permission denied and could not request permission from user"
        assert results(at.model.requests[1]) == {"a": "ok" if answer else denied}


async def test_a_result_is_replaced_added_to_and_hidden_from_people(tmp_path: Path) -> None:
    client = Hooked(
        postToolUse={
            "modifiedResult": {"textResultForLlm": "rewritten", "resultType": "success"},
            "additionalContext": "Mind the gap.",
            "suppressOutput": True,
        }
    )
    async with scene(
        tmp_path, [ONE_CALL, text("done")], machine=[LocalTool("ok")], client=client, hooks=True
    ) as at:
        await at.prompt("go")
        assert results(at.model.requests[1]) == {"a": "rewritten\n\nMind the gap."}
        shown = at.completions()["a"].result
        assert shown is not None
        assert shown.detailed_content is None


async def test_guidance_after_a_failure_reaches_the_model_with_the_failure(tmp_path: Path) -> None:
    client = Hooked(postToolUseFailure={"additionalContext": "Try the other door."})
    async with scene(tmp_path, [calls(("a", "nope", "{}")), text("I see")], client=client, hooks=True) as at:
        await at.prompt("go")
        assert client.inputs("postToolUseFailure")[0]["error"] == "Tool 'nope' does not exist."
        assert results(at.model.requests[1]) == {"a": "Tool 'nope' does not exist.\n\nTry the other door."}


async def test_an_agent_that_may_not_stop_yet_is_told_why_but_not_for_ever(tmp_path: Path) -> None:
    client = Hooked(agentStop={"decision": "block", "reason": "The tests are still red."})
    async with scene(tmp_path, [text("done")] * 20, client=client, hooks=True) as at:
        await at.prompt("go")
        assert len(at.model.requests) == 11
        assert at.model.requests[1].messages[-1] == User("The tests are still red.")
        active = [given["stop_hook_active"] for given in client.inputs("agentStop")]
        assert active[:2] == [False, True]
        assert client.count("session.idle") == 1


async def test_a_failed_run_is_told_before_its_error_is_said(tmp_path: Path) -> None:
    client = Hooked()
    refusal = ProviderError("the key was refused", kind="authentication", status=401)
    async with scene(tmp_path, [refusal], client=client, hooks=True) as at:
        await at.prompt("go")
        assert client.inputs("errorOccurred")[0]["error"] == "the key was refused"
        assert client.inputs("sessionEnd")[0]["reason"] == "error"
        assert client.types[-3:] == ["session.error", "assistant.idle", "session.idle"]
