"""The pairs in the log are the requests that the model's server saw, over real HTTP."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.harness import Recorder, answer_everything, app_tools, options, say
from turnwright.engine.models.endpoint import Fixed
from turnwright.engine.runtime import Runtime
from turnwright.protocol.events.conversation import TurnEnd
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.transport import Timeouts
from turnwright.store.memory import MemoryStore
from turnwright.testing.chat_answers import DONE, ChatAnswer, call, cut, event, refuse, send_json, stall
from turnwright.testing.chat_answers import say as answer
from turnwright.testing.chat_server import ChatServer

half = event({"choices": [{"index": 0, "delta": {"content": "half an ans"}}]})
half_call = event(
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {"index": 0, "id": "x", "function": {"name": "ok", "arguments": '{"path":"a","new'}}
                    ]
                },
            }
        ]
    }
)

ANSWERS: dict[str, Callable[[], ChatAnswer]] = {
    "text": lambda: answer("done"),
    "call": lambda: call("ok", "{}"),
    "busy": lambda: refuse(503, "busy", headers={"retry-after": "0"}),
    "limited": lambda: refuse(429, "slow down", headers={"retry-after": "7200"}),
    "refused": lambda: refuse(400, "no"),
    "stalls": lambda: stall(half),
    "cut": lambda: cut(half_call),
    "ends early": lambda: cut(half),
    "no choices": lambda: send_json({"choices": []}),
    "empty": lambda: cut(DONE),
}


async def scenario(script: list[str], aborts: list[int], streaming: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        client = Recorder()
        names = list(script)
        async with ChatServer(lambda _: ANSWERS[names.pop(0) if names else "text"]()) as server:
            model = OpenAIChat(server.base_url, timeouts=Timeouts(read=0.2))
            store = MemoryStore(tmp)
            async with Runtime(store, Fixed(model, "m"), home=tmp, environment={}) as runtime:
                session = await runtime.create(
                    options(tmp, tools=app_tools("ok"), streaming=streaming), client
                )
                client.on_event = answer_everything(session)
                say(session, "begin")
                due = sorted(aborts)
                with anyio.fail_after(20):
                    while client.count("session.idle") < 1:
                        await anyio.lowlevel.checkpoint()
                        if due and len(client.events) >= due[0]:
                            due.pop(0)
                            session.abort()
                lines = store.logs[session.id].lines
            await model.aclose()
            starts = sum(b'"assistant.turn_start"' in line for line in lines)
            ends = [e.data for e in client.persisted if isinstance(e.data, TurnEnd)]
            unsent = sum(not end.request_sent for end in ends)
            assert starts == len(ends)
            assert starts - unsent == len(server.requests)
            assert server.violations == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(ANSWERS)), max_size=6),
    st.lists(st.integers(5, 40), max_size=2),
    st.booleans(),
)
def test_pairs_equal_the_requests_that_the_server_saw(
    script: list[str], aborts: list[int], streaming: bool
) -> None:
    anyio.run(scenario, script, aborts, streaming)
