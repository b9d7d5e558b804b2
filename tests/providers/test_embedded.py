"""The local model as a provider, on a stand-in for its engine."""

import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec.structs
import pytest
from exchange import VIEW, Heard, request
from fake_llama import FakeLlama

from turnwright.errors import ProviderError
from turnwright.protocol.messages import Assistant, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.providers.base import ModelInfo
from turnwright.providers.embedded import Embedded
from turnwright.providers.embedded_schema import answer_schema, reply_schema

pytestmark = pytest.mark.anyio

NAME = "local/qwen2.5-coder-1.5b"
CALL = ['{"tool": "view", ', '"arguments": {"path": "a.txt"}}']


@pytest.fixture(autouse=True)
def model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands for the model."""
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setenv("TURNWRIGHT_MODEL_FILE", str(file))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return file


Install = Callable[[FakeLlama | None], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a stand-in where the package xllamacpp is looked for."""

    def put(llama: FakeLlama | None) -> None:
        monkeypatch.setitem(sys.modules, "xllamacpp", llama)

    return put


async def test_an_answer_streams_as_text_and_counts_the_engines_tokens(install: Install) -> None:
    install(FakeLlama(['{"answer": "Tw', "elve \\u00e9", '."}']))
    heard = Heard()
    reply = await Embedded().respond(request(stream=True), heard)
    assert reply == Reply("Twelve é.", usage=Usage(100, 3, 90), model=NAME)
    assert (heard.sends, heard.texts) == (1, ["Tw", "elve é", "."])


async def test_an_answer_that_must_fit_a_schema_is_written_by_it_and_comes_as_json(install: Install) -> None:
    wanted = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    llama = FakeLlama(['{"answer": {"n": 12}}'])
    install(llama)
    heard = Heard()
    reply = await Embedded().respond(request(stream=True, answer_schema=wanted, answer_only=True), heard)
    assert (reply.content, heard.texts) == ('{"n": 12}', [])
    assert llama.requests[0]["response_format"]["json_schema"]["schema"] == answer_schema(wanted)


async def test_without_streaming_no_text_is_told(install: Install) -> None:
    install(FakeLlama(['{"answer": "Twelve."}']))
    heard = Heard()
    await Embedded().respond(request(), heard)
    assert (heard.sends, heard.texts) == (1, [])


async def test_a_call_comes_back_with_an_id_and_its_arguments(install: Install) -> None:
    llama = FakeLlama(CALL)
    install(llama)
    heard = Heard()
    reply = await Embedded().respond(request(stream=True), heard)
    (call,) = reply.tool_calls
    assert call.id.startswith("call_")
    assert reply == Reply(
        tool_calls=(ToolCall(call.id, "view", '{"path": "a.txt"}'),),
        usage=Usage(100, 2, 90),
        finish_reason="tool_calls",
        model=NAME,
    )
    assert heard.texts == []
    assert llama.requests[0]["response_format"]["json_schema"]["schema"] == reply_schema([VIEW])


async def test_after_the_same_call_twice_only_an_answer_can_be_generated_and_only_once(
    install: Install,
) -> None:
    llama = FakeLlama(['{"answer": "It is empty."}'])
    install(llama)
    made = [ToolCall(number, "view", '{"path":"a.txt"}') for number in "12"]
    results = [message for call in made for message in (Assistant("", (call,)), ToolOutput(call.id, ""))]
    reply = await Embedded().respond(request((User("What is in a.txt?"), *results)), Heard())
    assert reply.content == "It is empty."
    schemas = [asked["response_format"]["json_schema"]["schema"] for asked in llama.requests]
    assert schemas == [answer_schema()]


@pytest.mark.parametrize(
    ("written", "content"), [('{"answer": "A long st', "A long st"), ('{"tool": "view", "argum', "")]
)
async def test_a_reply_that_was_cut_off_keeps_its_text_and_says_so(
    install: Install, written: str, content: str
) -> None:
    install(FakeLlama([written], finish="length"))
    reply = await Embedded().respond(request(), Heard())
    assert reply == Reply(content, usage=Usage(100, 1, 90), finish_reason="length", model=NAME)


async def test_cancellation_returns_at_once_and_stops_the_engine(install: Install) -> None:
    llama = FakeLlama(['{"answer": "'])
    llama.endless = True
    install(llama)
    heard = Heard()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Embedded().respond, request(stream=True), heard)
            await anyio.to_thread.run_sync(llama.writing.wait)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(llama.stopped.wait, 10)


async def test_a_conversation_too_long_for_the_model_is_called_that(install: Install) -> None:
    install(
        FakeLlama(
            {"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192, "message": "m"}
        )
    )
    with pytest.raises(ProviderError, match="outgrown the local model: 9000 tokens") as caught:
        await Embedded().respond(request(), Heard())
    assert (caught.value.kind, caught.value.sent) == ("context_limit", True)


async def test_any_other_refusal_of_the_engine_is_told(install: Install) -> None:
    install(FakeLlama({"type": "server_error", "message": "out of memory"}))
    with pytest.raises(ProviderError, match="The local model failed: out of memory"):
        await Embedded().respond(request(), Heard())


async def test_without_the_engine_the_user_is_told_what_to_install(install: Install) -> None:
    install(None)
    with pytest.raises(ProviderError, match=r"pip install 'turnwright\[local\]'") as caught:
        await Embedded().respond(request(), Heard())
    assert not caught.value.sent


async def test_without_the_file_the_user_is_told_how_to_fetch_it(model_file: Path) -> None:
    model_file.unlink()
    with pytest.raises(ProviderError, match="fetch it with `turnwright models pull`") as caught:
        await Embedded().respond(request(), Heard())
    assert not caught.value.sent


async def test_a_file_that_is_no_model_is_refused_with_advice(install: Install, model_file: Path) -> None:
    llama = FakeLlama()
    llama.refuses_models = True
    install(llama)
    with pytest.raises(ProviderError, match=r"model\.gguf could not be loaded .* remove it"):
        await Embedded().respond(request(), Heard())


async def test_one_thread_is_used_unless_the_user_asks_for_more(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    for setting in (None, "2"):
        if setting:
            monkeypatch.setenv("TURNWRIGHT_LOCAL_THREADS", setting)
        llama = FakeLlama(['{"answer": ""}'])
        install(llama)
        await Embedded().respond(request(), Heard())
        threads.append(llama.params.cpuparams.n_threads)
    assert threads == [1, 2]


async def test_a_number_of_threads_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWRIGHT_LOCAL_THREADS", "many")
    with pytest.raises(ProviderError, match="TURNWRIGHT_LOCAL_THREADS must be a number of threads"):
        await Embedded().respond(request(), Heard())


async def test_sessions_share_one_engine_until_the_last_lets_go(install: Install) -> None:
    first, second = Embedded(), Embedded()
    llama = FakeLlama(['{"answer": "1"}'], ['{"answer": "2"}'])
    install(llama)
    answers = [(await each.respond(request(), Heard())).content for each in (first, second)]
    await first.aclose()
    await second.aclose()
    replacement = FakeLlama(['{"answer": "3"}'])
    install(replacement)
    answers.append((await first.respond(request(), Heard())).content)
    assert (answers, len(llama.requests), len(replacement.requests)) == (["1", "2", "3"], 2, 1)


async def test_the_one_model_is_listed_installed_or_not() -> None:
    title = "Local demo model (Qwen2.5-Coder-1.5B-Instruct, Q4_K_M)"
    assert await Embedded().models() == [
        ModelInfo(id=NAME, name=title, context_window=8192, output_limit=1024, vision=False)
    ]


async def test_a_request_without_tools_can_only_be_answered(install: Install) -> None:
    llama = FakeLlama(['{"answer": "5"}'])
    install(llama)
    await Embedded().respond(msgspec.structs.replace(request(), tools=()), Heard())
    assert llama.requests[0]["response_format"]["json_schema"]["schema"] == answer_schema()
