"""`turnwright -p` without a terminal: prompts, answers, formats, permissions, exit status."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import turnwright
from turnwright.cli.denials import flags_for
from turnwright.engine.permissions.rules import Rule, Rules
from turnwright.testing.chat_answers import Say, call, refuse, say
from turnwright.testing.chat_server import ChatServer
from turnwright.tools.base import Call
from turnwright.tools.shell import Bash

pytestmark = pytest.mark.anyio

NO_PERMISSION = "Permission denied and could not request permission from user"


def log_of(tmp_path: Path, session_id: str) -> bytes:
    return (tmp_path / "copilot-home" / "session-state" / session_id / "events.jsonl").read_bytes()


def last_message(server: ChatServer, number: int = -1) -> dict[str, Any]:
    return server.requests[number]["messages"][-1]


async def test_the_answer_and_nothing_else_goes_to_stdout(folder: Path) -> None:
    async with ChatServer([say("It has 3 lines.\nNo more.")]) as server:
        done = await turnwright("-p", "How many?", cwd=folder, server=server)
    assert done == (0, "It has 3 lines.\nNo more.\n", "")
    assert last_message(server)["content"].endswith("How many?")


async def test_json_is_one_object_with_result_session_turns_and_usage(folder: Path, tmp_path: Path) -> None:
    (folder / "a.txt").write_text("one\n")
    async with ChatServer([call("view", {"path": "a.txt"}), say("It says one.")]) as server:
        done = await turnwright(
            "-p", "What is in a.txt?", "--output-format", "json", cwd=folder, server=server
        )
    found = json.loads(done.out)
    session_id = found.pop("sessionId")
    assert found == {
        "result": "It says one.",
        "turns": 2,
        "usage": {
            "inputTokens": 22,
            "outputTokens": 14,
            "cacheReadTokens": 0,
            "cacheWriteTokens": 0,
            "reasoningTokens": 0,
        },
        "cost": None,
        "taskComplete": None,
        "error": None,
    }
    assert (done.status, done.err) == (0, "")
    assert log_of(tmp_path, session_id).count(b"assistant.turn_start") == 2


async def test_what_a_run_cost_is_in_its_json_where_the_user_says_the_prices(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "copilot-home" / "turnwright" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[models."test-model"]\ninput_price = 1000\noutput_price = 5000\n')
    async with ChatServer([call("view", {"path": "."}), say("Nothing there.")]) as server:
        done = await turnwright("-p", "What?", "--output-format", "json", cwd=folder, server=server)
    found = json.loads(done.out)
    used = found["usage"]
    assert used["inputTokens"] > 0
    assert found["cost"] == pytest.approx(used["inputTokens"] / 1000 + used["outputTokens"] / 200)


async def test_stream_json_is_an_event_on_each_line_from_the_first_to_idle(folder: Path) -> None:
    async with ChatServer([say("Hello there.")]) as server:
        done = await turnwright(
            "-p", "hi", "--output-format", "stream-json", "--stream", cwd=folder, server=server
        )
    types = [json.loads(line)["type"] for line in done.out.splitlines()]
    assert types[0] == "session.start"
    assert types.count("assistant.turn_start") == len(server.requests) == 1
    assert types.count("assistant.message_delta") > 1
    assert types.index("assistant.turn_end") < types.index("session.idle")
    assert types[-1] in ("session.idle", "session.shutdown")


async def test_without_a_terminal_reading_in_the_folder_is_allowed_and_the_rest_denied(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "inside.txt").write_text("inside\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    calls = [
        ("view", {"path": "inside.txt"}),
        ("view", {"path": str(tmp_path / "outside.txt")}),
        ("create", {"path": "new.txt", "file_text": "x"}),
        ("bash", {"command": "touch ran", "description": "Touch"}),
    ]
    async with ChatServer([Say(calls=calls), say("done")]) as server:
        done = await turnwright("-p", "try", cwd=folder, server=server)
    results = [message["content"] for message in server.requests[1]["messages"][-4:]]
    assert results == ["1. inside\n2. ", NO_PERMISSION, NO_PERMISSION, NO_PERMISSION]
    assert (done.status, sorted(path.name for path in folder.iterdir())) == (0, ["inside.txt"])
    denied = "turnwright: denied, as nobody could be asked"
    assert sorted(done.err.splitlines()) == sorted(
        [
            f"{denied} (--allow-tool read allows it): view {tmp_path}/outside.txt",
            f"{denied} (--allow-tool write allows it): create new.txt",
            f"{denied} (--allow-tool 'shell(touch:*)' allows it): bash touch ran",
        ]
    )


@pytest.mark.parametrize(
    ("flags", "ran"),
    [
        (["--allow-all"], True),
        (["--allow-tool", "shell(touch:*)"], True),
        (["--allow-tool", "shell(echo:*)"], False),
        (["--allow-all", "--deny-tool", "shell(touch:*)"], False),
    ],
)
async def test_rules_decide_beforehand_and_a_denial_is_stronger(
    folder: Path, flags: list[str], ran: bool
) -> None:
    async with ChatServer(
        [call("bash", {"command": "touch ran", "description": "Touch"}), say("done")]
    ) as server:
        done = await turnwright("-p", "touch it", *flags, cwd=folder, server=server)
    assert (done.status, (folder / "ran").exists()) == (0, ran)


async def test_a_failed_run_is_status_1_and_says_why(folder: Path) -> None:
    async with ChatServer([refuse(400, "this model is asleep", code="asleep")] * 2) as server:
        text = await turnwright("-p", "hi", cwd=folder, server=server)
        as_json = await turnwright("-p", "hi", "--output-format", "json", cwd=folder, server=server)
    assert (text.status, text.out) == (1, "")
    assert "this model is asleep" in text.err
    found = json.loads(as_json.out)
    assert as_json.status == 1
    assert (found["result"], found["turns"]) == ("", 1)
    assert (found["error"]["type"], found["error"]["statusCode"]) == ("query", 400)
    assert "this model is asleep" in found["error"]["message"]


async def test_a_refused_key_is_named_by_its_endpoint_and_by_where_it_is_from(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "copilot-home" / "turnwright" / "config.toml"
    file.parent.mkdir(parents=True)
    async with ChatServer([], api_key="the-right-key") as server:
        file.write_text(
            f'[endpoints.work]\nbase_url = "{server.base_url}"\napi_key_env = "WORK_KEY"\nmodels = ["m"]\n'
        )
        done = await turnwright("-p", "hi", cwd=folder, environment={"WORK_KEY": "sk-of-last-year"})
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert done.status == 1
    assert done.err.startswith(f"turnwright: the API key of provider work at {host} was refused (401)")
    assert done.err.endswith(" (the key is from WORK_KEY)\n")
    assert "sk-of-last-year" not in done.err


async def test_without_an_endpoint_three_lines_say_how_to_set_one(folder: Path, tmp_path: Path) -> None:
    done = await turnwright("-p", "hi", cwd=folder)
    lines = done.err.splitlines()
    assert (done.status, done.out, len(lines)) == (1, "", 3)
    assert "TURNWRIGHT_BASE_URL" in lines[0]
    assert "turnwright doctor" in lines[1]
    assert "--model local" in lines[2]
    assert not (tmp_path / "copilot-home").exists()


async def test_a_run_that_could_not_begin_is_an_object_too(folder: Path) -> None:
    done = await turnwright("-p", "hi", "--output-format", "json", cwd=folder)
    found = json.loads(done.out)
    assert (done.status, found["sessionId"], found["turns"]) == (1, None, 0)
    assert found["error"]["type"] == "configuration"
    assert found["error"]["message"] in done.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        (["-p", "Review this."], b"+ line\n", "Review this.\n\n+ line"),
        (["-p", "-"], b"From stdin\n", "From stdin"),
        (["-p", "Alone."], b"", "Alone."),
    ],
)
async def test_what_is_piped_in_is_part_of_the_prompt(
    folder: Path, arguments: list[str], stdin: bytes, expected: str
) -> None:
    async with ChatServer([say("ok")]) as server:
        await turnwright(*arguments, cwd=folder, server=server, stdin=stdin)
    assert last_message(server)["content"].split("</current_datetime>")[1].strip() == expected


async def test_a_session_whose_log_was_emptied_is_told_of_and_how_to_remove_it(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "copilot-home" / "session-state" / "gone" / "events.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"")
    async with ChatServer([]) as server:
        done = await turnwright("-p", "hi", "--resume", "gone", cwd=folder, server=server)
    remove = "turnwright sessions delete gone"
    why = f"Session not found: gone: there is a log of it, but it is empty. To remove it: {remove}"
    assert done == (1, "", f"turnwright: {why}\n")
    assert (log.read_bytes(), [*log.parent.iterdir()]) == (b"", [log])
    assert (await turnwright(*remove.split()[1:], cwd=folder)).status == 0
    assert not log.parent.exists()


async def test_resume_and_continue_go_on_with_the_conversation(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with ChatServer([say("one"), say("elsewhere"), say("two"), say("three")]) as server:
        first = await turnwright("-p", "first", "--output-format", "json", cwd=folder, server=server)
        session_id = json.loads(first.out)["sessionId"]
        await turnwright("-p", "not this one", "-C", str(other), cwd=folder, server=server)
        second = await turnwright("-p", "second", "--continue", cwd=folder, server=server)
        third = await turnwright("-p", "third", "--resume", session_id[:8], cwd=other, server=server)
    assert (second.out, third.out) == ("two\n", "three\n")
    said = [m["content"] for m in server.requests[3]["messages"] if m["role"] == "assistant"]
    assert said == ["one", "two"]
    assert server.violations == []


async def test_a_session_that_goes_on_keeps_its_model_and_effort_unless_an_option_says_otherwise(
    folder: Path,
) -> None:
    async with ChatServer([say("on")] * 5) as server:
        for arguments in (
            ["--model", "small", "--reasoning-effort", "high"],
            ["--continue"],
            ["--continue", "--model", "big"],
            ["--continue", "--reasoning-effort", "low"],
            ["--continue"],
        ):
            await turnwright("-p", "go on", *arguments, cwd=folder, server=server)
    assert [(request["model"], request.get("reasoning_effort")) for request in server.requests] == [
        ("small", "high"),
        ("small", "high"),
        ("big", None),
        ("big", "low"),
        ("big", "low"),
    ]


async def test_autopilot_goes_on_until_the_task_is_complete(folder: Path) -> None:
    script = [say("I will."), call("task_complete", {"summary": "All done."})]
    async with ChatServer(script) as server:
        done = await turnwright(
            "-p", "do it", "--autopilot", "--output-format", "json", cwd=folder, server=server
        )
    found = json.loads(done.out)
    assert (done.status, found["turns"], found["taskComplete"]) == (0, 2, "All done.")


async def test_own_keys_reach_no_tool_no_log_and_no_output(folder: Path, tmp_path: Path) -> None:
    """B81: the runtime's keys are in no child's environment, on no disk and in no request's text."""
    script = [call("bash", {"command": "env", "description": "Show"}), say("done")]
    async with ChatServer(script, api_key="sk-test-CANARY-1") as server:
        done = await turnwright(
            "-p",
            "show",
            "--allow-all",
            "--output-format",
            "stream-json",
            cwd=folder,
            server=server,
            environment={
                "TURNWRIGHT_API_KEY": "sk-test-CANARY-1",
                "COPILOT_GITHUB_TOKEN": "gho-CANARY-2",
                "SAME_KEY_UNDER_ANOTHER_NAME": "sk-test-CANARY-1",
                "HARMLESS": "kept",
            },
        )
    output = last_message(server, 1)["content"]
    assert (done.status, "HARMLESS=kept" in output) == (0, True)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for text in (done.out.encode(), done.err.encode(), *server.bodies, *written):
        assert b"CANARY" not in text


async def test_a_workspaces_file_denies_and_what_it_may_not_set_is_named(folder: Path) -> None:
    (folder / ".turnwright.toml").write_text('deny_tools = ["read(secret.txt)"]\nallow_tools = ["shell"]\n')
    (folder / "secret.txt").write_text("secret\n")
    async with ChatServer([call("view", {"path": "secret.txt"}), say("no")]) as server:
        done = await turnwright("-p", "look", cwd=folder, server=server)
    assert last_message(server, 1)["content"] == "Permission denied by the rules of this session"
    assert "ignored allow_tools" in done.err


async def test_the_users_file_is_enough_to_run(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "copilot-home" / "turnwright" / "config.toml"
    file.parent.mkdir(parents=True)
    async with ChatServer([say("configured")], api_key="file-key-123") as server:
        file.write_text(
            f'[endpoints.test]\nbase_url = "{server.base_url}"\napi_key = "file-key-123"\nmodels = ["m"]\n'
        )
        done = await turnwright("-p", "hi", cwd=folder)
    assert done == (0, "configured\n", "")
    assert server.requests[0]["model"] == "m"


COUNT = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}


async def test_with_a_schema_the_answer_is_json_that_fits(folder: Path) -> None:
    (folder / "count.json").write_text(json.dumps(COUNT))
    async with ChatServer([say("It has 3 lines."), say('{"lines": 3}')]) as server:
        done = await turnwright("-p", "How many?", "--schema", "count.json", cwd=folder, server=server)
    assert done == (0, '{"lines": 3}\n', "")
    assert server.violations == []
    assert server.requests[1]["response_format"]["json_schema"]["schema"]["required"] == ["lines"]


async def test_an_answer_that_never_fits_the_schema_is_a_failure_with_nothing_on_stdout(folder: Path) -> None:
    (folder / "count.json").write_text(json.dumps(COUNT))
    async with ChatServer(lambda _: say("It has 3 lines.")) as server:
        done = await turnwright("-p", "How many?", "--schema", "count.json", cwd=folder, server=server)
    reason = "The final answer does not fit the schema, after 2 repairs: it is not JSON"
    assert done == (1, "", f"turnwright: {reason}\nThe last reply was: It has 3 lines.\n")
    assert len(server.requests) == 3


async def test_with_a_schema_what_was_said_before_a_failure_is_not_on_stdout(folder: Path) -> None:
    (folder / "count.json").write_text(json.dumps(COUNT))
    look = Say("I will look.", calls=[("view", {"path": "."})])
    async with ChatServer([look, refuse(400, "this model is asleep")]) as server:
        done = await turnwright("-p", "How many?", "--schema", "count.json", cwd=folder, server=server)
    assert (done.status, done.out) == (1, "")
    assert done.err.endswith("this model is asleep\nThe last reply was: I will look.\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "can't read count.json: No such file or directory"),
        ("[1]", "count.json doesn't hold a JSON object: Expected `object`, got `array`"),
        ('{"type": "nope"}', "count.json: is no JSON Schema: "),
    ],
)
async def test_a_file_that_is_no_schema_is_wrong_usage(
    folder: Path, content: str | None, reason: str
) -> None:
    if content is not None:
        (folder / "count.json").write_text(content)
    done = await turnwright("-p", "How many?", "--schema", "count.json", cwd=folder)
    assert done.status == 2
    assert done.err.startswith(f"turnwright: --schema: {reason}")


async def test_an_answer_that_was_cut_off_is_told_to_be(folder: Path) -> None:
    async with ChatServer([Say("It has", finish_reason="length")]) as server:
        done = await turnwright("-p", "How many?", cwd=folder, server=server)
    hint = "The reply was cut off at the model's output limit: ask for less at once, or raise the limit."
    assert done == (0, "It has\n", f"turnwright: {hint}\n")


async def test_a_reply_that_stays_empty_is_told_and_has_a_status_of_its_own(folder: Path) -> None:
    async with ChatServer([say("")] * 6) as server:
        text = await turnwright("-p", "hi", cwd=folder, server=server)
        as_json = await turnwright("-p", "hi", "--output-format", "json", cwd=folder, server=server)
    why = "The model's reply was empty (stop)."
    assert text == (3, "", f"turnwright: {why}\n")
    assert as_json.status == 3
    assert json.loads(as_json.out)["error"] == {"type": "empty_reply", "message": why, "statusCode": None}


async def test_a_reply_of_blanks_alone_is_told_and_has_the_status_of_an_empty_one(folder: Path) -> None:
    async with ChatServer([say(" \n")]) as server:
        done = await turnwright("-p", "hi", cwd=folder, server=server)
    assert done == (3, "", "turnwright: The model gave no answer: its reply was blank.\n")


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("git status && git log", "--allow-tool 'shell(git:*)'"),
        ("git diff | wc -l", "--allow-tool 'shell(git:*)' --allow-tool 'shell(wc:*)'"),
        ("echo x > file", "--allow-tool shell"),
        ("$EDITOR file", "--allow-tool shell"),
    ],
)
def test_the_flag_that_is_named_for_a_command_line_allows_it_and_little_more(
    command: str, flags: str
) -> None:
    assert flags_for("bash", {"command": command}) == flags
    rules = [Rule.parse(word) for word in shlex.split(flags)[1::2]]
    request = Bash().permission(call_of(command))
    assert Rules(tuple(rules), ()).decide(request, Path("/")) == "allow"


def call_of(command: str) -> Call:
    folder = Path("/nowhere")
    return Call("a", {"command": command}, folder, folder, lambda _: None, {})
