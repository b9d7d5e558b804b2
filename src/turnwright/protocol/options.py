"""What a client sets for a session when it creates or resumes it."""

from typing import Annotated, Any, Literal

import msgspec

from turnwright.protocol.events.commands import CommandSpec
from turnwright.protocol.events.limits import SessionLimits
from turnwright.protocol.events.session import Mode
from turnwright.protocol.prices import Prices
from turnwright.protocol.wire import Wire

Durability = Literal["turn", "event", "none"]
"""What a client sees only once it is on the disk: a turn's end with all before it, each event, nothing."""


class ToolSpec(Wire):
    """A tool of the app. A successful call of a terminal one ends the run; a failed one doesn't."""

    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    skip_permission: bool = False
    overrides_built_in_tool: bool = False
    is_terminal: bool = False


class SectionOverride(Wire):
    """What shall happen to one section of the system prompt."""

    action: Literal["replace", "remove", "append", "prepend", "transform", "preserve"]
    content: str | None = None


class SystemMessageOptions(Wire):
    """Changes to the system prompt."""

    mode: Literal["append", "replace", "customize"] = "append"
    content: str | None = None
    sections: dict[str, SectionOverride] | None = None


Tokens = Annotated[int, msgspec.Meta(ge=1)]


class AzureOptions(Wire):
    """What Azure's endpoint needs besides."""

    api_version: str | None = None


class ProviderOptions(Wire):
    """A model endpoint of the user's own; of several, each has a name."""

    base_url: str
    type: Literal["openai", "azure", "anthropic"] = "openai"
    name: str | None = None
    wire_api: Literal["completions", "responses"] = "completions"
    transport: Literal["http", "websockets"] = "http"
    api_key: str | None = None
    bearer_token: str | None = None
    has_bearer_token_provider: bool = False
    azure: AzureOptions | None = None
    headers: dict[str, str] | None = None
    model_id: str | None = None
    wire_model: str | None = None
    max_prompt_tokens: Tokens | None = None
    max_context_window_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    prices: Prices | None = None


class GitHubModels(Wire):
    """How models are reached by GitHub's protocol."""

    enable_web_socket_responses: bool | None = None


class ModelOptions(Wire):
    """A model of a named provider; sessions select it as `provider/id`.

    `wire_model` is what the provider calls it, by default `id`; `model_id` the well-known model that it is,
    by which its limits and prices are found. Limits are in tokens.
    """

    id: str
    provider: str
    wire_model: str | None = None
    model_id: str | None = None
    name: str | None = None
    max_prompt_tokens: Tokens | None = None
    max_context_window_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    prices: Prices | None = None
    capabilities: dict[str, Any] | None = None

    @property
    def selection(self) -> str:
        """The name under which a session selects it."""
        return f"{self.provider}/{self.id}"


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class InfiniteSessions(Wire):
    """When the conversation is summarised; thresholds are shares of the context window."""

    enabled: bool = True
    background_compaction_threshold: Share = 0.8
    buffer_exhaustion_threshold: Share = 0.95


class AutopilotLimits(Wire):
    """When autopilot stops asking the model to go on."""

    max_idle_continuations: int = 5
    max_continuations: int = 50


class CustomAgent(Wire):
    """An agent of the app: instructions, the tools that it may use (all without), and the model it wants."""

    name: str
    prompt: str
    display_name: str | None = None
    description: str | None = None
    tools: list[str] | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    skills: list[str] | None = None
    mcp_servers: dict[str, Any] | None = None


class DefaultAgent(Wire):
    """What holds while no custom agent is selected."""

    excluded_tools: list[str] | None = None


class SessionOptions(Wire):
    """Options of `session.create` and `session.resume`; fields that we don't know are passed over."""

    session_id: str | None = None
    client_name: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    model_capabilities: dict[str, Any] | None = None
    streaming: bool | None = None
    working_directory: str | None = None
    mode: Mode | None = None
    tools: list[ToolSpec] | None = None
    commands: list[CommandSpec] | None = None
    available_tools: list[str] | None = None
    excluded_tools: list[str] | None = None
    system_message: SystemMessageOptions | None = None
    provider: ProviderOptions | None = None
    providers: list[ProviderOptions] | None = None
    models: list[ModelOptions] | None = None
    git_hub_token: str | None = None
    capi: GitHubModels | None = None
    request_permission: bool = False
    request_user_input: bool = False
    request_exit_plan_mode: bool = False
    request_auto_mode_switch: bool = False
    request_elicitation: bool = False
    hooks: bool = False
    default_agent: DefaultAgent | None = None
    custom_agents: list[CustomAgent] | None = None
    agent: str | None = None
    enable_config_discovery: bool | None = None
    instruction_directories: list[str] | None = None
    skip_custom_instructions: bool | None = None
    ask_user_disabled: bool | None = None
    allow_tools: list[str] = msgspec.field(default_factory=list[str])
    deny_tools: list[str] = msgspec.field(default_factory=list[str])
    infinite_sessions: InfiniteSessions | None = None
    autopilot: AutopilotLimits = msgspec.field(default_factory=AutopilotLimits)
    session_limits: SessionLimits | None = None
    enable_citations: bool | None = None
    enable_file_change_tracking: bool | None = None
    continue_pending_work: bool | None = None
    disable_resume: bool = False
    ephemeral: bool = False


class OptionChanges(Wire):
    """Options to change in a live session; what is left out stays, what we don't know is passed over."""

    client_name: str | None = None
    working_directory: str | None = None
    streaming: bool | None = msgspec.field(default=None, name="enableStreaming")
    skip_custom_instructions: bool | None = None
    ask_user_disabled: bool | None = None
    available_tools: list[str] | None = None
    excluded_tools: list[str] | None = None
