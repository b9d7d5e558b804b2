"""The real local model, where it is installed."""

import subprocess
import sys

import anyio
import pytest
from exchange import Heard

from turnwright.protocol.messages import Assistant, Message, ToolDefinition, ToolOutput, User
from turnwright.protocol.wire import loads
from turnwright.providers.base import ModelRequest
from turnwright.providers.embedded import Embedded

pytestmark = [pytest.mark.anyio, pytest.mark.real_model, pytest.mark.timeout(300)]

BASH = ToolDefinition(
    "bash",
    "Runs a command and returns its output.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
ASK = """\
import anyio
from turnwright.protocol.messages import User
from turnwright.providers.base import ModelRequest
from turnwright.providers.embedded import Embedded

class Deaf:
    async def ready(self): pass
    def sent(self): pass
    def text(self, delta): pass
    def reasoning(self, delta): pass

anyio.run(Embedded().respond, ModelRequest("local", "", (User("Say hello."),), (), "c"), Deaf())
"""


def asking(messages: list[Message]) -> ModelRequest:
    return ModelRequest("local", "", tuple(messages), (BASH,), "c", stream=True)


async def test_a_question_about_a_file_is_answered_from_a_tools_output() -> None:
    provider, heard = Embedded(), Heard()
    messages: list[Message] = [User("How many lines does data.csv have?")]
    with anyio.fail_after(240):
        called = await provider.respond(asking(messages), heard)
        (call,) = called.tool_calls
        messages += [Assistant("", called.tool_calls), ToolOutput(call.id, "3719")]
        answered = await provider.respond(asking(messages), heard)
    assert (call.name, "data.csv" in loads(call.arguments)["command"]) == ("bash", True)
    assert (answered.tool_calls, "3719" in answered.content) == ((), True)
    assert "".join(heard.texts) == answered.content
    assert answered.usage.cache_read_tokens > 0


async def test_a_request_given_up_while_its_prompt_is_read_leaves_the_engine_to_the_next() -> None:
    provider = Embedded()
    with anyio.fail_after(240):
        before = await provider.respond(asking([User("Say hello.")]), Heard())
    with anyio.move_on_after(0.5) as patience, anyio.fail_after(10):
        await provider.respond(asking([User("A long story. " * 400)]), Heard())
    with anyio.fail_after(60):
        after = await provider.respond(asking([User("Say hello.")]), Heard())
    assert (patience.cancelled_caught, after.content) == (True, before.content)


def test_the_engine_writes_nothing_to_the_processs_own_output() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
