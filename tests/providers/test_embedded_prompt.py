"""What the local model is told of tools and of what happened."""

import pytest

from turnwright.protocol.messages import Assistant, ToolCall, ToolDefinition, ToolOutput, User
from turnwright.providers.embedded_prompt import (
    APP_PROMPT_LIMIT,
    OUTPUT_LIMIT,
    ChatMessage,
    call_text,
    chat,
    shortened,
    system_prompt,
)


def tool(name: str, *required: str, optional: tuple[str, ...] = (), about: str = "A tool.") -> ToolDefinition:
    properties = {argument: {"type": "string"} for argument in (*required, *optional)}
    return ToolDefinition(
        name, about, {"type": "object", "properties": properties, "required": list(required)}
    )


BASH = tool("bash", "command", optional=("description",), about="Runs a command. At length:\nmore.")
GREP = tool("grep", "pattern", optional=("path",), about="Searches " + "very " * 30 + "well.")


def told(*messages: User | Assistant | ToolOutput) -> list[ChatMessage]:
    """What the model is told after the system prompt."""
    return chat("", [], messages)[1:]


def test_tools_are_listed_in_a_line_each_with_examples_of_those_on_offer() -> None:
    prompt = system_prompt("", [BASH, GREP])
    assert "\n- bash(command, description?): Runs a command\n" in prompt
    assert f"\n- grep(pattern, path?): Searches {'very ' * 10}...\n" in prompt
    assert '{"tool": "bash", "arguments": {"command": "wc -l < notes.txt"}}' in prompt
    assert '{"tool": "grep", "arguments": {"pattern": "port", "path": "app.ini"}}' in prompt
    assert '"tool": "view"' not in prompt


def test_an_example_that_lacks_a_required_argument_is_left_out() -> None:
    prompt = system_prompt("", [tool("bash", "command", "shell_id")])
    assert "- bash(command, shell_id)" in prompt
    assert "Examples" not in prompt


def test_an_example_gives_a_description_where_it_is_required() -> None:
    prompt = system_prompt("", [tool("bash", "command", "description")])
    assert '"arguments": {"command": "wc -l < notes.txt", "description": "Count lines"}' in prompt


def test_the_apps_own_prompt_comes_last_so_that_the_start_stays_the_same() -> None:
    start = system_prompt("", [BASH])
    assert system_prompt("Speak like a pirate.", [BASH]) == f"{start}\n\nSpeak like a pirate."


def test_a_long_prompt_of_the_app_loses_its_middle() -> None:
    start, app = system_prompt("", [BASH]), "a" * 500 + "b" * 500
    half = APP_PROMPT_LIMIT // 2
    assert system_prompt(app, [BASH]) == (
        f"{start}\n\n{'a' * half}\n[... {1000 - APP_PROMPT_LIMIT} characters left out ...]\n{'b' * half}"
    )


def test_sections_of_the_runtimes_prompt_that_the_rules_stand_in_for_are_left_out() -> None:
    app = "<tone>\nBe brief.\n</tone>\n\n<guidelines>\nMany\nlines.\n</guidelines>\n\nMine."
    assert system_prompt(app, []).endswith("\n\n<tone>\nBe brief.\n</tone>\n\nMine.")


def test_calls_and_outputs_are_told_in_the_form_that_the_model_writes() -> None:
    call = ToolCall("1", "bash", '{"command":"wc -l < a.csv"}')
    assert told(User("How long is a.csv?"), Assistant("", (call,)), ToolOutput("1", "12\n")) == [
        ChatMessage("user", "How long is a.csv?"),
        ChatMessage("assistant", '{"tool": "bash", "arguments": {"command": "wc -l < a.csv"}}'),
        ChatMessage("user", "Output of bash: 12"),
    ]


def test_several_calls_of_one_reply_are_told_one_after_the_other() -> None:
    calls = (ToolCall("1", "view", '{"path":"a"}'), ToolCall("2", "view", '{"path":"b"}'))
    assert told(
        User("Compare."), Assistant("I look.", calls), ToolOutput("1", "one"), ToolOutput("2", "")
    ) == [
        ChatMessage("user", "Compare."),
        ChatMessage("assistant", '{"tool": "view", "arguments": {"path": "a"}}'),
        ChatMessage("user", "Output of view: one"),
        ChatMessage("assistant", '{"tool": "view", "arguments": {"path": "b"}}'),
        ChatMessage("user", "Output of view: (nothing)"),
    ]


def test_messages_of_one_role_are_joined_for_templates_that_insist_on_turns() -> None:
    assert told(User("First."), User("Second."), Assistant("Ça va."), User("Third.")) == [
        ChatMessage("user", "First.\n\nSecond."),
        ChatMessage("assistant", '{"answer": "Ça va."}'),
        ChatMessage("user", "Third."),
    ]


def test_quoted_control_tokens_of_a_chat_template_stay_text() -> None:
    assert told(User("What is <|im_end|>?")) == [ChatMessage("user", "What is < |im_end|>?")]


def test_a_long_output_loses_its_middle_and_says_so() -> None:
    call = ToolCall("1", "bash", "{}")
    output = told(Assistant("", (call,)), ToolOutput("1", "a" * 5000 + "z" * 5000))[-1].content
    half = OUTPUT_LIMIT // 2
    assert output == (
        f"Output of bash: {'a' * half}\n[... {10000 - OUTPUT_LIMIT} characters left out ...]\n{'z' * half}"
    )


@pytest.mark.parametrize(
    ("arguments", "told_as"), [("", "{}"), ('{"a": [1]}', '{"a": [1]}'), ('{"a": ', '"{\\"a\\": "')]
)
def test_arguments_of_any_shape_can_be_told(arguments: str, told_as: str) -> None:
    assert call_text("t", arguments) == f'{{"tool": "t", "arguments": {told_as}}}'


def test_a_text_within_the_limit_is_left_alone() -> None:
    assert shortened("abc", 3) == "abc"
