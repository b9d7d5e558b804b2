"""Before the model is called: the prompt's way into the log, the system prompt, the tools."""

from typing import TYPE_CHECKING, Any

import anyio

from turnwright.engine.answer_form import AnswerForm
from turnwright.engine.autopilot import NUDGE
from turnwright.engine.hooks import PromptSubmitted, PromptTransformed, SessionStarted
from turnwright.engine.inbox import Prompt
from turnwright.engine.prompts import instructions
from turnwright.engine.prompts.attachments import Attached, attach
from turnwright.engine.prompts.system_prompt import (
    IDENTITY,
    assemble,
    compose,
    customise,
    default_sections,
    transformed,
    with_agent,
)
from turnwright.errors import InvalidParams, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import SystemMessage, UserMessage
from turnwright.protocol.events.session import ModelChange, TitleChanged, ToolsUpdated
from turnwright.protocol.options import SystemMessageOptions
from turnwright.protocol.wire import Wire

if TYPE_CHECKING:
    from turnwright.engine.session import Session

TRANSFORM_TIMEOUT = 60.0


async def submit(s: "Session", prompt: Prompt, *, delivery: str) -> None:
    """Take a user's message into the conversation, past the hooks; an abort on the way doesn't lose it."""
    text = prompt.text or ""
    if prompt.response_schema is not None:
        s.run.form = AnswerForm(prompt.response_schema)
    attached: Attached | None = None
    logged = False
    try:
        submitted = await s.hooks.notify("userPromptSubmitted", PromptSubmitted, s.cwd, {"prompt": text})
        text = submitted.modified_prompt or text
        started = SessionStarted()
        if s.is_fresh:
            s.is_fresh = False
            fields = {"source": s.origin, "initialPrompt": text}
            started = await s.hooks.notify("sessionStart", SessionStarted, s.cwd, fields)
        await prepare(s)
        if started.additional_context:
            log_user_message(s, "", transformed=started.additional_context, delivery="idle", source="hook")
        attached = await _attach(s, prompt)
        whole = f"<current_datetime>{wire.now()}</current_datetime>\n\n{attached.around(text)}"
        if submitted.additional_context:
            whole += f"\n\n{submitted.additional_context}"
        if prompt.response_schema is not None and s.run.form is not None:
            whole += f"\n\n{s.run.form.instructions}"
        fields = {"prompt": text, "transformedPrompt": whole}
        change = await s.hooks.notify("userPromptTransformed", PromptTransformed, s.cwd, fields)
        logged = True
        log_user_message(
            s,
            text,
            transformed=change.modified_transformed_prompt or whole,
            prompt=prompt,
            attachments=attached.logged,
            delivery=delivery,
            source=prompt.source,
        )
    finally:
        if not logged:
            attached = attached or await _attach(s, prompt)
            log_user_message(
                s,
                text,
                transformed=attached.around(text) if attached.logged else None,
                prompt=prompt,
                attachments=attached.logged,
                delivery=delivery,
                source=prompt.source,
            )


async def _attach(s: "Session", prompt: Prompt) -> Attached:
    """Read the attachments, to the end also when an abort comes: what is logged must be fit to be sent."""
    if not prompt.attachments:
        return Attached()
    with anyio.CancelScope(shield=True):
        return await attach(prompt.attachments, s.cwd, s.choice.pictures, vision=s.choice.vision)
    raise AssertionError("a shielded scope is not left early")


def log_user_message(
    s: "Session",
    text: str,
    *,
    delivery: str,
    transformed: str | None = None,
    prompt: Prompt | None = None,
    attachments: list[Any] | None = None,
    source: str | None = None,
) -> None:
    """Log a message in the user's place in the conversation."""
    first = s.journal.state.title is None
    s.emit(
        UserMessage(
            text,
            transformed_content=transformed,
            source=source,
            message_id=prompt.message_id if prompt else wire.new_id(),
            attachments=attachments or [],
            agent_mode=s.run.mode,
            delivery=delivery,
            interaction_id=s.run.interaction_id,
            response_schema=_wanted_of(s),
        )
    )
    if first and s.journal.state.title:
        s.emit(TitleChanged(s.journal.state.name or s.journal.state.title))


def log_nudge(s: "Session") -> None:
    """Ask the model to go on, as a synthetic user message with empty content."""
    s.emit(
        UserMessage(
            "",
            transformed_content=NUDGE,
            source="autopilot",
            message_id=wire.new_id(),
            agent_mode="autopilot",
            is_autopilot_continuation=True,
            delivery="idle",
            interaction_id=s.run.interaction_id,
            response_schema=_wanted_of(s),
        )
    )


def _wanted_of(s: "Session") -> dict[str, Any] | None:
    """What the run's answer must fit, logged with each message, so that a run cut off can go on with it."""
    return s.run.form.schema if s.run.form else None


async def prepare(s: "Session") -> None:
    """Settle model, tools and system prompt for the next model call, and log what changed."""
    await s.agents.check_model()
    await s.choice.settle()
    state = s.journal.state
    if (state.model, state.reasoning_effort) != (s.model, s.reasoning_effort):
        s.emit(ModelChange(s.model, state.model, s.reasoning_effort))
    offered = s.offer.settle()
    agent = s.agents.current
    content = with_agent(await system_prompt(s), agent.prompt if agent else "")
    if content != s.journal.history.system:
        s.emit(SystemMessage(content, "system", s.run.interaction_id))
    if offered:
        s.emit(ToolsUpdated(s.model))


async def system_prompt(s: "Session") -> str:
    """The system prompt as it is now, with the app's changes and the client's transforms."""
    options = s.options.system_message
    if (whole := _replacement(options)) is not None:
        return whole
    key = (s.mode, s.cwd, options, s.options.instruction_directories, s.options.skip_custom_instructions)
    if s.prompt_cache is not None and s.prompt_cache[0] == key:
        return s.prompt_cache[1]
    sections = default_sections(s.cwd, s.mode, custom_instructions(s))
    overrides = (options.sections if options and options.mode == "customize" else None) or {}
    sections = customise(sections, overrides)
    wanted = transformed(overrides)
    if wanted:
        sections = await _transform(s, sections, wanted)
    content = compose(options, sections)
    s.prompt_cache = (key, content)
    return content


def custom_instructions(s: "Session") -> str:
    """What instruction files add to the system prompt; nothing where the app gives the whole of it."""
    if s.options.skip_custom_instructions or _replacement(s.options.system_message) is not None:
        return ""
    return instructions.text(s.instructions())


def _replacement(options: SystemMessageOptions | None) -> str | None:
    return options.content if options and options.mode == "replace" else None


class _Section(Wire):
    content: str


class _Sections(Wire):
    sections: dict[str, _Section]


async def _transform(s: "Session", sections: dict[str, str], wanted: list[str]) -> dict[str, str]:
    """Let the client rewrite sections. A client that fails to leaves them as they are."""
    client = s.clients.find()
    if client is None:
        return sections
    given: dict[str, Any] = {}
    for name in wanted:
        text = (
            assemble({part: sections[part] for part in IDENTITY})
            if name == "identity"
            else sections.get(name, "")
        )
        given[name] = {"content": text}
    params = {"sessionId": s.id, "sections": given}
    try:
        raw = await client.call("systemMessage.transform", params, timeout=TRANSFORM_TIMEOUT)
        answer = wire.decode(raw, _Sections).sections
    except (InvalidParams, TurnwrightError, TimeoutError):
        return sections
    changed = dict(sections)
    for name in wanted:
        if name not in answer:
            continue
        if name == "identity":
            changed.update(dict.fromkeys(IDENTITY, ""))
            changed["preamble"] = answer[name].content
        else:
            changed[name] = answer[name].content
    return changed
