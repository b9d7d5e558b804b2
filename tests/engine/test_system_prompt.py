"""What the app may change of the system prompt."""

from pathlib import Path

import pytest

from tests.cases.scene import scene
from tests.engine.harness import Recorder
from turnwright.engine.prompts.system_prompt import SECTIONS, customise, default_sections
from turnwright.protocol.options import SectionOverride, SystemMessageOptions
from turnwright.protocol.wire import Json
from turnwright.providers.scripted import text

pytestmark = pytest.mark.anyio


async def prompt_with(tmp_path: Path, options: SystemMessageOptions, client: Recorder | None = None) -> str:
    async with scene(tmp_path, [text("hi")], client=client, system_message=options) as at:
        await at.prompt("hello")
        return at.model.requests[0].system


async def test_the_default_prompt_says_where_the_agent_works_and_what_it_runs_on(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("hi")]) as at:
        await at.prompt("hello")
        system = at.model.requests[0].system
        assert f"Current working directory: {tmp_path}" in system
        assert "Turnwright" in system


async def test_text_is_appended(tmp_path: Path) -> None:
    system = await prompt_with(tmp_path, SystemMessageOptions(content="Speak Latin."))
    assert system.startswith("<preamble>")
    assert system.endswith("\n\nSpeak Latin.")


async def test_a_replacement_is_taken_verbatim(tmp_path: Path) -> None:
    options = SystemMessageOptions("replace", "  Only this.\n")
    assert await prompt_with(tmp_path, options) == "  Only this.\n"


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("replace", "NEW"),
        ("append", "OLD\nNEW"),
        ("prepend", "NEW\nOLD"),
        ("remove", ""),
        ("preserve", "OLD"),
    ],
)
@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_changed_as_the_action_says_and_no_other(
    tmp_path: Path, name: str, action: str, expected: str
) -> None:
    sections = dict.fromkeys(map(str, SECTIONS), "OLD")
    override = SectionOverride(action, "NEW")  # pyright: ignore[reportArgumentType]
    assert customise(sections, {name: override}) == {**sections, name: expected}


def test_a_change_of_the_identity_group_spares_parts_that_are_named_themselves(tmp_path: Path) -> None:
    sections = default_sections(tmp_path, "interactive")
    changed = customise(
        sections, {"identity": SectionOverride("remove"), "tone": SectionOverride("preserve")}
    )
    assert {name: changed[name] for name in ("preamble", "tone", "tool_efficiency")} == {
        "preamble": "",
        "tone": sections["tone"],
        "tool_efficiency": "",
    }


async def test_the_client_may_rewrite_a_section_itself(tmp_path: Path) -> None:
    given: list[Json] = []

    def transform(params: Json) -> Json:
        given.append(params["sections"])
        return {"sections": {"tone": {"content": "Sing."}}}

    client = Recorder()
    client.handlers["systemMessage.transform"] = transform
    overrides = {"tone": SectionOverride("transform"), "safety": SectionOverride("remove")}
    system = await prompt_with(tmp_path, SystemMessageOptions("customize", None, overrides), client)
    assert list(given[0]) == ["tone"]
    assert "<tone>\nSing.\n</tone>" in system
    assert "<safety>" not in system


async def test_a_client_that_fails_to_rewrite_a_section_leaves_it_as_it_was(tmp_path: Path) -> None:
    overrides = {"tone": SectionOverride("transform")}
    system = await prompt_with(tmp_path, SystemMessageOptions("customize", None, overrides))
    assert f"<tone>\n{default_sections(tmp_path, 'interactive')['tone']}\n</tone>" in system


async def test_the_prompt_is_logged_once_while_it_stays_the_same(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("one"), text("two"), text("three")]) as at:
        await at.prompt("one")
        await at.prompt("two")
        assert at.client.count("system.message") == 1
        at.session.set_mode("plan")
        await at.prompt("three")
        assert at.client.count("system.message") == 2
        assert "plan mode" in at.model.requests[2].system
