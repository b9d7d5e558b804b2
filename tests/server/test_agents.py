"""Custom agents: selecting one changes what the model is told, what it may use, and which model it is."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.scene import offered
from tests.cases.wired import Server, WireClient, serving
from tests.server.sessions import asked, prompted, started
from turnwright.engine.prompts.system_prompt import with_agent
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.protocol.events.agents import SubagentDeselected, SubagentSelected
from turnwright.protocol.events.session import ModelChange, Warned
from turnwright.providers.scripted import text
from turnwright.testing.answers import Say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio

PIRATE = {"name": "pirate", "displayName": "Pirate", "description": "Talks so", "prompt": "Say arr."}
READER = {"name": "reader", "prompt": "Read alone.", "tools": ["read", "search"]}
DESCRIBED = {"name": "pirate", "displayName": "Pirate", "description": "Talks so", "id": "pirate"}


def prompts(server: Server) -> list[str]:
    """What each request's system prompt says of an agent."""
    systems = [request.system for request in server.model.requests]
    return [found[1] if (found := re.search(INSTRUCTIONS, system)) else "" for system in systems]


INSTRUCTIONS = re.compile(r"<agent_instructions>\n(.*)\n</agent_instructions>\Z", re.DOTALL)


async def test_the_apps_agents_are_listed_selected_and_let_go(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE, READER])

        async def call(method: str, **params: Any) -> Any:
            return await client.call(f"session.agent.{method}", sessionId=session, **params)

        reader = {
            "name": "reader",
            "displayName": "reader",
            "description": "",
            "id": "reader",
            "tools": ["read", "search"],
        }
        assert await call("list") == {"agents": [DESCRIBED, reader]}
        assert await call("getCurrent") == {"agent": None}
        assert await call("select", name="pirate") == {"agent": DESCRIBED}
        assert await call("getCurrent") == {"agent": DESCRIBED}
        assert await call("deselect") == {}
        assert await call("deselect") == {}
        assert await call("getCurrent") == {"agent": None}
        said = [event.data for event in client.events if event.type.startswith("subagent.")]
        assert said == [SubagentSelected("pirate", "Pirate", None), SubagentDeselected()]


async def test_a_selected_agents_prompt_and_tools_hold_from_the_next_request_on(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1"), text("2"), text("3"), text("4")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE, READER])
        await prompted(client, session, "one")
        await client.call("session.agent.select", sessionId=session, name="reader")
        await prompted(client, session, "two")
        await client.call("session.agent.select", sessionId=session, name="pirate")
        await prompted(client, session, "three")
        await client.call("session.agent.deselect", sessionId=session)
        await prompted(client, session, "four")
        assert prompts(server) == ["", "Read alone.", "Say arr.", ""]
        everything, reading, *rest = [offered(request) for request in server.model.requests]
        assert everything > reading == {"view", "grep", "glob"}
        assert rest == [everything, everything]


async def test_a_replaced_system_prompt_is_verbatim_up_to_the_agents_instructions(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1")]) as server:
        client = server.connect()
        replaced = {"mode": "replace", "content": "Be terse."}
        session = await started(
            client, tmp_path, customAgents=[PIRATE], agent="pirate", systemMessage=replaced
        )
        await prompted(client, session, "one")
        assert [request.system for request in server.model.requests] == [with_agent("Be terse.", "Say arr.")]


async def test_tools_that_are_kept_from_the_default_agent_are_there_for_a_custom_one(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1"), text("2")]) as server:
        client = server.connect()
        session = await started(
            client, tmp_path, customAgents=[PIRATE], defaultAgent={"excludedTools": ["grep"]}
        )
        await prompted(client, session, "one")
        await client.call("session.agent.select", sessionId=session, name="pirate")
        await prompted(client, session, "two")
        one, two = (offered(request) for request in server.model.requests)
        assert two - one == {"grep"}


async def test_the_selection_outlives_the_session_and_the_app_defines_the_agent_anew(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1"), text("2"), text("3")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE], agent="pirate")
        await prompted(client, session, "one")
        await client.call("session.destroy", sessionId=session)

        await client.call("session.resume", sessionId=session)
        updated = wire.builtins(client.events[-2].data)
        assert updated == {
            "agents": [],
            "warnings": ["The agent pirate is not defined now: the default agent answers."],
            "errors": [],
        }
        await prompted(client, session, "two")
        await client.call("session.destroy", sessionId=session)

        changed = {**PIRATE, "prompt": "Say ahoy."}
        await client.call("session.resume", sessionId=session, customAgents=[changed])
        current = await client.call("session.agent.getCurrent", sessionId=session)
        assert current == {"agent": DESCRIBED}
        await prompted(client, session, "three")
        assert prompts(server) == ["Say arr.", "", "Say ahoy."]


async def test_a_client_that_resumes_may_select_another_agent(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE, READER], agent="pirate")
        await client.call("session.resume", sessionId=session, agent="reader")
        await prompted(client, session, "one")
        assert prompts(server) == ["Read alone."]


async def test_other_instructions_for_an_agent_hold_at_once_and_are_not_kept(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE], agent="pirate")
        await client.call("session.agent.setPrompt", sessionId=session, id="pirate", prompt="Say ahoy.")
        listed = await client.call("session.agent.list", sessionId=session, includePrompt=True)
        assert listed == {"agents": [{**DESCRIBED, "prompt": "Say ahoy."}]}
        await prompted(client, session, "one")
        assert prompts(server) == ["Say ahoy."]
        await client.call("session.destroy", sessionId=session)
        await client.call("session.resume", sessionId=session, customAgents=[PIRATE])
        listed = await client.call("session.agent.list", sessionId=session, includePrompt=True)
        assert listed == {"agents": [{**DESCRIBED, "prompt": "Say arr."}]}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"agent": "nobody"}, "agent: there is no agent 'nobody'; there are: none"),
    ({"agent": "nobody", "customAgents": [PIRATE, READER]}, "there are: pirate, reader"),
    ({"customAgents": [PIRATE, PIRATE]}, "customAgents[1].name: 'pirate' is taken"),
    ({"customAgents": [{"name": " ", "prompt": ""}]}, "customAgents[0].name: must not be empty"),
    ({"customAgents": [{"name": "x"}]}, "customAgents[0]"),
]


@pytest.mark.parametrize(("options", "fault"), WRONG)
async def test_wrong_agents_are_refused_and_no_session_is_left(
    tmp_path: Path, options: dict[str, Any], fault: str
) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        with pytest.raises(RequestFailed, match=re.escape(fault)):
            await client.call("session.create", sessionId="wrong", workingDirectory=str(tmp_path), **options)
        with pytest.raises(RequestFailed, match="Session not found"):
            await client.call("session.getMessages", sessionId="wrong")


async def test_agents_of_files_are_found_and_read_again_on_demand(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "agents"
    folder.mkdir(parents=True)
    file = folder / "cook.agent.md"
    file.write_text("---\nname: Cook\ndescription: Cooks\nmodel: hot\n---\nCook.\n")
    (folder / "inner.md").write_text("---\nuser-invocable: false\n---\nServe.\n")
    (folder / "broken.md").write_text("no agent")
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        cook = {
            "name": "cook",
            "displayName": "Cook",
            "description": "Cooks",
            "id": "cook",
            "model": "hot",
            "source": "project",
            "path": str(file),
        }
        inner = {
            "name": "inner",
            "displayName": "inner",
            "description": "",
            "id": "inner",
            "source": "project",
            "userInvocable": False,
            "path": str(folder / "inner.md"),
        }
        listed = await client.call("session.agent.list", sessionId=session)
        assert listed == {"agents": [cook, inner]}
        with pytest.raises(RequestFailed, match="name: agent 'inner' is for other agents alone"):
            await client.call("session.agent.select", sessionId=session, name="inner")
        file.unlink()
        assert await client.call("session.agent.list", sessionId=session) == listed
        assert await client.call("session.agent.reload", sessionId=session) == {"agents": [inner]}
        updated = await asked(client, "session.custom_agents_updated")
        assert updated == {
            "agents": [
                {
                    "name": "inner",
                    "displayName": "inner",
                    "description": "",
                    "id": "inner",
                    "source": "project",
                    "tools": None,
                    "userInvocable": False,
                }
            ],
            "warnings": [],
            "errors": [f"{folder / 'broken.md'}: it doesn't begin with a block of YAML between lines of ---"],
        }


async def test_without_the_discovery_of_configuration_no_file_is_an_agent(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "agents"
    folder.mkdir(parents=True)
    (folder / "cook.md").write_text("---\n---\nCook.\n")
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, enableConfigDiscovery=False)
        assert await client.call("session.agent.list", sessionId=session) == {"agents": []}


async def test_agents_are_discovered_without_a_session(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for folder in (project / ".github" / "agents", home / "agents"):
        folder.mkdir(parents=True)
        (folder / f"of-{folder.parts[-2].strip('.')}.md").write_text("---\n---\nCook.\n")
    async with serving(tmp_path) as server:
        client = server.connect()
        both = await client.call("agents.discover", projectPaths=[str(project)])
        assert [agent["name"] for agent in both["agents"]] == ["of-home", "of-github"]
        alone = await client.call("agents.discover", projectPaths=[str(project)], excludeHostAgents=True)
        assert [agent["name"] for agent in alone["agents"]] == ["of-github"]
        assert await client.call("agents.getDiscoveryPaths", projectPaths=[str(project)]) == {
            "paths": [
                {"path": str(home / "agents"), "scope": "user", "preferredForCreation": True},
                {
                    "path": str(project / ".github" / "agents"),
                    "scope": "project",
                    "preferredForCreation": True,
                    "projectPath": str(project),
                },
                {
                    "path": str(project / ".claude" / "agents"),
                    "scope": "project",
                    "preferredForCreation": False,
                    "projectPath": str(project),
                },
            ]
        }


async def test_the_command_shows_selects_and_lets_go(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[PIRATE, READER])

        async def said(input: str = "") -> str:
            answer = await client.call(
                "session.commands.invoke", sessionId=session, name="agent", input=input
            )
            return answer["text"]

        assert await said() == "The agent is default. Custom agents: pirate, reader."
        assert await said("reader") == "The agent is reader. Custom agents: pirate, reader."
        assert await said("default") == "The agent is default. Custom agents: pirate, reader."
        with pytest.raises(RequestFailed, match="/agent: there is no agent 'x'"):
            await said("x")


def changes(client: WireClient) -> list[str]:
    return [event.data.new_model for event in client.events if isinstance(event.data, ModelChange)]


def models(server: ChatServer) -> list[tuple[str, str | None]]:
    return [(request["model"], request.get("reasoning_effort")) for request in server.requests]


async def test_an_agents_model_answers_until_it_is_let_go_or_another_is_chosen(tmp_path: Path) -> None:
    agents = [
        {**PIRATE, "model": "red/deep", "reasoningEffort": "high"},
        {**READER, "model": "red/wide"},
    ]
    async with (
        ChatServer([Say(str(number)) for number in range(7)]) as red,
        serving(tmp_path, None) as server,
    ):
        named: dict[str, Any] = {
            "providers": [{"name": "red", "baseUrl": red.base_url}],
            "models": [{"id": name, "provider": "red"} for name in ("small", "deep", "wide")],
        }
        client = server.connect()
        session = await started(
            client, tmp_path, model="red/small", reasoningEffort="low", customAgents=agents, **named
        )

        async def agent(method: str, **params: str) -> None:
            await client.call(f"session.agent.{method}", sessionId=session, **params)
            await prompted(client, session, "go")

        await agent("select", name="pirate")
        await agent("select", name="reader")
        await client.call("session.destroy", sessionId=session)
        await client.call("session.resume", sessionId=session, customAgents=agents, **named)
        await prompted(client, session, "go")
        await agent("deselect")
        await agent("select", name="pirate")
        await client.call("session.model.switchTo", sessionId=session, modelId="red/wide")
        await prompted(client, session, "go")
        await agent("deselect")
        assert models(red) == [
            ("deep", "high"),
            ("wide", None),
            ("wide", None),
            ("small", "low"),
            ("deep", "high"),
            ("wide", "high"),
            ("wide", "high"),
        ]
        assert changes(client) == ["red/deep", "red/wide", "red/small", "red/deep", *["red/wide"] * 2]


async def test_where_an_agents_model_is_not_offered_the_one_before_answers(tmp_path: Path) -> None:
    async with serving(tmp_path, [text("1"), text("2")]) as server:
        client = server.connect()
        session = await started(client, tmp_path, customAgents=[{**PIRATE, "model": "deep"}], agent="pirate")
        await prompted(client, session, "one")
        await prompted(client, session, "two")
        assert [request.model for request in server.model.requests] == ["scripted", "scripted"]
        assert [event.data for event in client.events if isinstance(event.data, Warned)] == [
            Warned("agent_model", "The model deep of the agent pirate isn't offered: another one answers.")
        ]
