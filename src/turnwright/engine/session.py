"""A session: its journal, its inbox, its clients, and the collaborators that the loop works with."""

from collections.abc import Awaitable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from turnwright.engine.agents.agents import Agents
from turnwright.engine.clients import Clients
from turnwright.engine.commands.commands import Commands
from turnwright.engine.compaction import Compaction
from turnwright.engine.hooks import Hooks
from turnwright.engine.inbox import Inbox, Prompt
from turnwright.engine.journal.event_feed import EventFeed
from turnwright.engine.journal.journal import Journal
from turnwright.engine.lifecycle.checkout import context_of
from turnwright.engine.lifecycle.idle_timeout import Use
from turnwright.engine.lifecycle.working_directory import existing_folder, working_directory
from turnwright.engine.models import routing
from turnwright.engine.models.choice import ModelChoice
from turnwright.engine.models.endpoint import Endpoint, Endpoints
from turnwright.engine.permissions.approvals import Approvals
from turnwright.engine.permissions.permissions import Permissions, Verdict
from turnwright.engine.permissions.rules import Rule, Rules
from turnwright.engine.prompts.instructions import InstructionSource
from turnwright.engine.prompts.instructions import find as find_instructions
from turnwright.engine.questions.asking import Asking
from turnwright.engine.questions.questions import Questions
from turnwright.engine.rewind.capture import Capture
from turnwright.engine.run import Run
from turnwright.engine.secrets import Secrets
from turnwright.engine.tool_calls.offer import Offer
from turnwright.engine.tool_calls.session_tools import AskUser, CompleteTask, ExitPlanMode
from turnwright.engine.tool_calls.toolset import Toolset
from turnwright.protocol.events.session import (
    Abort,
    ContextChanged,
    Mode,
    ModeChanged,
    PendingMessagesModified,
    SessionError,
)
from turnwright.protocol.events.tools import ToolPartial
from turnwright.protocol.identity import Identity
from turnwright.protocol.options import OptionChanges, SessionOptions
from turnwright.protocol.permissions import PermissionRequest
from turnwright.providers.transport import USER_AGENT, Route
from turnwright.tools.base import Call, Tool

DEFAULTS = SessionOptions()
OF_A_CLIENT = frozenset({"session_id", "tools", "commands", "hooks"}) | {
    name for name in SessionOptions.__struct_fields__ if name.startswith("request_")
}
"""Options that say what one client does; the others hold for the session."""


class Sizes(msgspec.Struct, frozen=True):
    """How full the context window is, in tokens, estimated from the length of the texts."""

    limit: int
    system: int
    conversation: int
    tools: int

    @property
    def total(self) -> int:
        return self.system + self.conversation + self.tools


class Session:
    """One conversation with everything it needs; the log is its only state that lasts.

    `folder` is for its own files; `emit` is the journal's.
    """

    def __init__(
        self,
        session_id: str,
        options: SessionOptions,
        journal: Journal,
        *,
        endpoints: Endpoints,
        tools: Sequence[Tool],
        folder: Path,
        approvals: Approvals,
        environment: Mapping[str, str],
        secrets: Secrets,
        home: Path,
        origin: str,
    ) -> None:
        self.id = session_id
        self.options = msgspec.structs.replace(options)
        self.journal = journal
        self.emit = journal.emit
        self.use = Use()
        self.folder = folder
        self.origin = origin
        self._home = home
        self.is_fresh = True
        self.identity: Identity | None = None
        self._environment = environment
        self.secrets = secrets
        secrets.add_keys_of(options.provider, *(options.providers or ()))
        secrets.add(options.git_hub_token)
        self.inbox = Inbox()
        self.questions = Questions(journal)
        self.permissions = Permissions(self.questions, approvals)
        self.permissions.rules = _rules(options)
        self.hooks = Hooks(journal, session_id, lambda: self.clients.find(lambda o: o.hooks))
        self.run = Run(Prompt(message_id="", text=None), options.autopilot)
        self.run_scope: anyio.CancelScope | None = None
        self.prompt_cache: tuple[object, str] | None = None
        self.clients = Clients(session_id, journal)
        self.compaction = Compaction(self)
        self.background: TaskGroup | None = None
        self.commands = Commands(self)
        self.feed = EventFeed(journal)
        self.capture = Capture(self)
        self.interests: dict[str, str] = {}
        self.untold: list[SessionError] = []
        self.unsent_turns: set[tuple[str | None, str]] = set()
        model, effort = journal.state.wanted_model
        self.choice = ModelChoice(self, endpoints, options.model or model)
        if options.reasoning_effort is None and self.choice.wanted == model:
            self.options.reasoning_effort = effort
        self.agents = Agents(self, home)
        self.cwd = working_directory(options.working_directory, journal.state)
        self.asking = Asking(self)
        self.offer = Offer(self, (*tools, AskUser(self.asking), ExitPlanMode(self.asking), CompleteTask()))

    # What others ask of a session

    def send(self, prompt: Prompt, *, immediate: bool = False) -> None:
        """Take a message: to steer the run in hand, or to wait for its turn. Raises SessionInUse."""
        is_busy = self.is_busy
        prompt.waited = is_busy or not self.inbox.empty  # behind what was on hold
        if not is_busy:
            self.journal.begin()
        if immediate and self.run_scope is not None:
            self.inbox.steer(prompt)
        else:
            self.inbox.put(prompt)
        if prompt.waited:
            self.emit(PendingMessagesModified())

    def abort(self, reason: str = "user_initiated") -> bool:
        """Stop the run in hand; what is queued stays queued. False if nothing runs."""
        if self.run_scope is None or self.run_scope.cancel_called:
            return False
        self.run_scope.cancel()
        self.emit(Abort(reason))
        return True

    @property
    def is_busy(self) -> bool:
        """Whether a run is in hand or about to begin."""
        return self.run_scope is not None or self.inbox.is_ready

    def reconfigure(self, options: SessionOptions) -> None:
        """Take over what a client that resumes sets; what it leaves out stays as it was. Raises InvalidParams
        naming the field, and then nothing has changed.
        """
        cwd = existing_folder(options.working_directory) if options.working_directory else self.cwd
        for name in options.__struct_fields__:
            value = getattr(options, name)
            if name not in OF_A_CLIENT and value is not None and value != getattr(DEFAULTS, name):
                setattr(self.options, name, value)
        self.secrets.add_keys_of(options.provider, *(options.providers or ()))
        if options.model:
            self.choice.wanted = options.model
        self.cwd = cwd
        self.permissions.rules = _rules(self.options)

    def update(self, changes: OptionChanges) -> None:
        """Change some options from the next model call on. Raises InvalidParams naming the field, and then
        nothing has changed.
        """
        moved = None if changes.working_directory is None else existing_folder(changes.working_directory)
        for name in OptionChanges.__struct_fields__:
            value = getattr(changes, name)
            if value is not None:
                setattr(self.options, name, value)
        if moved is not None:
            self.cwd = moved
            self.emit(ContextChanged(**msgspec.structs.asdict(context_of(self.cwd))))

    @property
    def is_abandoned(self) -> bool:
        """Whether a run goes on that no client is there to see."""
        return self.is_busy and not self.clients

    # What the loop asks

    @property
    def mode(self) -> Mode:
        """The mode of the run in hand, or of the session."""
        return self.run.mode or self.journal.state.mode

    @property
    def model(self) -> str:
        return self.choice.model

    @property
    def reasoning_effort(self) -> str | None:
        return self.options.reasoning_effort

    @property
    def request_headers(self) -> dict[str, str]:
        """Headers of this run's model calls: who asks, and what the client adds to its message."""
        name = self.options.client_name
        agent = {"User-Agent": f"{USER_AGENT} {name}"} if name else {}
        return {**agent, **self.run.headers}

    def route(self, *, agent: str | None = None, interaction: str = routing.CONVERSATION) -> Awaitable[Route]:
        """The way of the next model call. Raises ProviderError, and then nothing was sent."""
        return routing.route(self, self.endpoint.options, agent=agent, interaction=interaction)

    @property
    def tools(self) -> Toolset:
        """The tools on offer, as they were settled last."""
        return self.offer.tools

    @property
    def streaming(self) -> bool:
        return bool(self.options.streaming)

    @cached_property
    def overflow(self) -> Path:
        """The folder for output that is too large for the model."""
        return self.folder / "output"

    @cached_property
    def processes(self) -> Path:
        """The folder for notes of commands that run."""
        return self.folder / "processes"

    @property
    def place(self) -> str:
        """The key under which decisions for this location are kept: the git root, or the folder."""
        context = self.journal.state.context
        return (context and context.git_root) or str(self.cwd)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint in use. Only once the choice of a model is settled."""
        return self.choice.endpoint

    def use_token(self, token: str) -> None:
        """Go to the endpoint with another GitHub token from the next call on."""
        self.secrets.add(token)
        self.options.git_hub_token = token

    def set_mode(self, mode: Mode) -> None:
        """Change the mode, from the next model call on."""
        self.run.mode = None
        previous = self.journal.state.mode
        if mode != previous:
            self.emit(ModeChanged(previous, mode))

    def instructions(self) -> list[InstructionSource]:
        """The instruction files that hold for this session, as they are now.

        They are few and short: a thread for each session that begins would cost more than the reading.
        """
        return find_instructions(self.cwd, self._home, self.options.instruction_directories or ())

    def invocation(self, call_id: str, arguments: dict[str, Any]) -> Call:
        """A call with its surroundings, as tools get it."""
        return Call(
            call_id,
            arguments,
            self.cwd,
            self.overflow,
            lambda partial: self.emit(ToolPartial(call_id, self.secrets.mask(partial))) and None,
            self.tool_environment,
            self.secrets.values,
            self.capture.preserve,
            self.processes,
        )

    @property
    def tool_environment(self) -> Mapping[str, str]:
        """The environment less what holds a key of the session's own endpoint."""
        own = (self.options.provider, *(self.options.providers or ()))
        keys = {
            key for provider in own if provider for key in (provider.api_key, provider.bearer_token) if key
        }
        if keys.isdisjoint(self._environment.values()):
            return self._environment
        return {name: value for name, value in self._environment.items() if value not in keys}

    async def permit(self, request: PermissionRequest, hook: str | None) -> Verdict:
        """Whether a call may be made."""
        return await self.permissions.check(
            request,
            cwd=self.cwd,
            place=self.place,
            askable=self.clients.any(lambda o: o.request_permission),
            hook=hook,
        )

    def may_plan_with(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a tool that writes may run in plan mode: only to write the plan itself."""
        path = arguments.get("path")
        return tool in ("create", "edit") and isinstance(path, str) and Path(path) == self.folder / "plan.md"

    def context_sizes(self, conversation: int | None = None) -> Sizes:
        """How full the context window is, or would be; costs the same however long the conversation."""
        history = self.journal.history
        size = history.size if conversation is None else conversation
        per_token = self.journal.state.usage.characters_per_token
        return Sizes(
            self.choice.window,
            int(len(history.system) / per_token),
            int(size / per_token),
            int(self.offer.size / per_token),
        )

    def tokens(self, characters: int) -> int:
        """About how many tokens so many characters are, by what the model's server counted last."""
        return int(characters / self.journal.state.usage.characters_per_token)

    @property
    def input_characters(self) -> int:
        """The length of the next request: prompt, tools and messages; pictures aside."""
        history = self.journal.history
        return len(history.system) + history.size + self.offer.size


def _rules(options: SessionOptions) -> Rules:
    return Rules(
        tuple(Rule.parse(text) for text in options.allow_tools),
        tuple(Rule.parse(text) for text in options.deny_tools),
    )
