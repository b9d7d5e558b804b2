"""The loop: serve prompts, run each to its end, one model call a turn."""

import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from turnwright.engine import cut_off, retry, session_limits
from turnwright.engine.answer_form import AnswerForm
from turnwright.engine.auto_mode import switch_to_auto
from turnwright.engine.context_clearing import deliver_seed
from turnwright.engine.hooks import AgentStop, Noted
from turnwright.engine.inbox import Prompt, QueuedCommand
from turnwright.engine.model_call import Listener, call_model
from turnwright.engine.prompts.prompt import log_nudge, log_user_message, prepare, submit
from turnwright.engine.questions.pending import finish_open_calls, interrupt_open_calls, repair
from turnwright.engine.run import Run
from turnwright.engine.tool_calls.tool_call import decode_arguments, run_tool
from turnwright.engine.turn_end import end_turn
from turnwright.errors import AnswerUnfit, LimitReached, ProviderError, StoreError, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import TurnRetry, TurnStart
from turnwright.protocol.events.session import (
    AssistantIdle,
    AutopilotStopped,
    Idle,
    Info,
    PendingMessagesModified,
    SessionError,
    Warned,
)
from turnwright.protocol.events.tools import ToolStart
from turnwright.protocol.messages import Reply
from turnwright.protocol.options import InfiniteSessions

if TYPE_CHECKING:
    from turnwright.engine.session import Session

log = logging.getLogger(__name__)

EMPTY_REPLIES = 2
DEFAULT_LIMITS = InfiniteSessions()


async def serve(s: "Session") -> None:
    """Run each prompt to its end, one at a time; say idle when none is left."""
    while True:
        item = await s.inbox.next()
        aborted = item is not None and await begin(s, item)
        s.inbox.requeue_steering()  # came too late to steer: prompts of their own
        deliver_seed(s)
        if not s.inbox.is_ready:
            s.inbox.rest()
            say_idle(s, aborted)


def say_idle(s: "Session", aborted: bool) -> None:
    """The mechanical end: last, always, once for each time the queue drains. Others may write again."""
    s.journal.rest()
    if aborted:
        s.emit(Info("cancellation", "Operation cancelled by user"))
    s.emit(AssistantIdle(aborted or None))
    s.emit(Idle(aborted or None))


async def begin(s: "Session", item: Prompt | QueuedCommand) -> bool:
    """Carry out what is next in the queue; whether it was aborted."""
    with anyio.CancelScope() as scope:
        s.run_scope = scope
        if isinstance(item, Prompt):
            await run(s, item)
        elif failed := await guarded(s, s.commands.run_queued(item)):
            s.emit(failed)
    s.run_scope = None
    return scope.cancel_called


async def run(s: "Session", prompt: Prompt) -> None:
    """One prompt: turns until the model asks for no more tools. An error is said last, beside the idle."""
    s.run = Run(prompt, s.options.autopilot, s.run.refusals)
    failed = await guarded(s, to_disk(s, converse(s, prompt)))
    failed = await guarded(s, conclude(s, failed)) or failed
    if failed:
        say_error(s, failed)


def say_error(s: "Session", failed: SessionError) -> None:
    """Say what ended a run, also where the log takes nothing."""
    if failed.error_type != "store":
        with suppress(StoreError):
            s.emit(failed)
            return
    s.emit(failed, ephemeral=True)
    if not s.clients:
        s.untold.append(failed)


async def guarded(s: "Session", work: Coroutine[Any, Any, object]) -> SessionError | None:
    """Do a part of a run; give what went wrong as the event to say."""
    try:
        await work
    except Exception as error:  # a bug of ours must end in an error and an idle, not in silence
        cause = first_cause(error)
        if not isinstance(cause, TurnwrightError):
            log.exception("session %s: the run failed", s.id)
        return describe(cause)
    return None


def first_cause(error: Exception) -> Exception:
    """The error itself, or the first one of calls that ran side by side."""
    match error:
        case ExceptionGroup():
            return first_cause(error.exceptions[0])
        case _:
            return error


def describe(error: Exception) -> SessionError:
    """What is said of an error; of one that is a bug, only that it was one."""
    match error:
        case ProviderError(kind=kind, status=status, provider_call_id=call_id, error_code=code):
            return SessionError(kind, str(error), status, call_id, code)
        case StoreError():
            return SessionError("store", str(error))
        case LimitReached():
            return SessionError("quota", str(error), error_code=session_limits.EXHAUSTED_CODE)
        case AnswerUnfit():
            return SessionError("response_schema", str(error))
        case TurnwrightError():
            return SessionError("query", str(error))
        case _:
            return SessionError("internal", "Internal error")


async def to_disk(s: "Session", work: Coroutine[Any, Any, object]) -> None:
    """Do a part of a run, until all of it is on the disk as far as it must be.

    Raises StoreError when the disk has refused something since the run before.
    """
    try:
        await work
    finally:
        with anyio.CancelScope(shield=True):
            await s.journal.published()
            told, s.run.refusals = s.run.refusals, s.journal.refusals
            await s.journal.settled(told)


async def converse(s: "Session", prompt: Prompt) -> None:
    """Log what the user said, then call the model until nothing keeps the run going."""
    s.emit(PendingMessagesModified())
    if prompt.text is not None:
        repair(s)  # what a full disk kept from being logged
        await submit(s, prompt, delivery="queued" if prompt.waited else "idle")
        session_limits.tell_model(s)
    else:
        if s.journal.state.response_schema is not None:
            s.run.form = AnswerForm(s.journal.state.response_schema)
        if not await finish_open_calls(s):
            return
    going = True
    while going:
        more = await reliable_turn(s)
        going = not s.run.over and (more or bool(s.inbox.steering) or await keep_going(s))
        going = going or asks_for_form(s)


def asks_for_form(s: "Session") -> bool:
    """Whether the answer lacks the form that it must have, and is asked for again. Raises AnswerUnfit."""
    form = s.run.form
    ended = s.run.rejected or s.run.seed
    fault = form.fault(s.run.answer) if form and not ended else None
    if form is None or fault is None:
        return False
    log_user_message(s, form.repair(fault), source="response_schema", delivery="idle")
    s.run.over = False
    return True


async def conclude(s: "Session", failed: SessionError | None) -> None:
    """Tell the hooks that the run is over."""
    if failed:
        context = {"error": failed.message, "errorContext": "model_call", "recoverable": False}
        await s.hooks.notify("errorOccurred", Noted, s.cwd, context)
    reason = {"reason": "error" if failed else "complete"}
    await s.hooks.notify("sessionEnd", Noted, s.cwd, reason)


async def reliable_turn(s: "Session") -> bool:
    """A turn, and further ones while the model's server says that another try may help."""
    attempt = empty = 0
    failed_at: float | None = None
    while True:
        attempt += 1
        try:
            reply = await turn(s)
        except ProviderError as error:
            now = anyio.current_time()
            failed_at = now if failed_at is None else failed_at
            pause = retry.delay(error, attempt, now - failed_at, wire.chance)
            if await make_room(s, error):
                pause = 0.0
            if pause is None and s.run.form and s.run.form.was_refused(error):
                pause = 0.0
            if pause is None and await switch_to_auto(s, error):
                attempt, pause = 0, 0.0
            if pause is None:
                raise
            s.emit(TurnRetry(s.run.turn_id, s.model, error.kind))
            await anyio.sleep(pause)
            continue
        if cut_off.tell_model(s, reply):
            return True
        if reply.content or reply.tool_calls or s.run.over:
            return bool(reply.tool_calls)
        empty += 1
        if empty > EMPTY_REPLIES:
            s.emit(Warned("empty_reply", f"The model's reply was empty ({reply.finish_reason})."))
            return False
        s.emit(TurnRetry(s.run.turn_id, s.model, "empty_reply"))


async def turn(s: "Session") -> Reply:
    """One model call and its tools: one pair of events, whatever happens."""
    while s.inbox.steering:
        await submit(s, s.inbox.steering.popleft(), delivery="steering")
    await prepare(s)
    await session_limits.stay_within(s)
    await watch_window(s)
    if s.run_scope is not None and s.run_scope.cancel_called:
        await anyio.lowlevel.checkpoint()  # an abort that came before lands here: no turn, no call
    s.run.next_turn()
    s.emit(TurnStart(s.run.turn_id, s.run.interaction_id))
    listener = Listener(s)
    try:
        reply = await call_model(s, listener)
        await run_tools(s, reply)
    finally:
        if not s.questions.leave_open:
            interrupt_open_calls(s)
            end_turn(s, s.run.turn_id, was_sent=listener.was_sent)
    return reply


async def watch_window(s: "Session") -> None:
    """Summarise the conversation in the background once the window fills, and wait when it is nearly full."""
    limits = s.options.infinite_sessions or DEFAULT_LIMITS
    if not limits.enabled:
        return
    sizes = s.context_sizes()
    if s.compaction.is_due(limits.buffer_exhaustion_threshold, sizes):
        await s.compaction.run("threshold")
    elif s.compaction.is_due(limits.background_compaction_threshold, sizes) and not s.compaction.is_under_way:
        assert s.background is not None
        s.background.start_soon(in_background, s)


async def in_background(s: "Session") -> None:
    """Summarise while the run goes on. What goes wrong is in the log, or was the run's own news."""
    failed = await guarded(s, s.compaction.run("threshold"))
    if failed:
        log.warning("session %s: the summary failed: %s", s.id, failed.message)


async def make_room(s: "Session", error: ProviderError) -> bool:
    """After a request that was too long: summarise, once a run. True if it is worth another turn."""
    if error.kind != "context_limit" or s.run.made_room:
        return False
    s.run.made_room = True
    done = await s.compaction.run("context_limit")
    return done is None or done.success


async def run_tools(s: "Session", reply: Reply) -> None:
    """Run the calls of one reply side by side."""
    calls = [(call, decode_arguments(call.arguments)) for call in reply.tool_calls]
    for call, arguments in calls:
        shown = call.arguments if arguments is None else arguments
        s.emit(ToolStart(call.id, call.name, shown, s.run.turn_id, s.model))
    s.run.called_tools = s.run.called_tools or bool(calls)
    if len(calls) < 2:  # most replies: a task of its own would cost as much as all its events
        for call, arguments in calls:
            await run_tool(s, call, arguments)
        return
    async with anyio.create_task_group() as tools:
        for call, arguments in calls:
            tools.start_soon(run_tool, s, call, arguments)


async def keep_going(s: "Session") -> bool:
    """Whether something but the model wants another turn: a stop hook, or autopilot."""
    fields = {
        "transcriptPath": f"{s.folder}/events.jsonl",
        "stopReason": "end_turn",
        "stop_hook_active": s.run.stop_blocks > 0,
    }
    stop = await s.hooks.notify("agentStop", AgentStop, s.cwd, fields)
    if stop.decision == "block" and stop.reason and s.run.may_block_stop():
        log_user_message(s, stop.reason, source="hook", delivery="idle")
        return True
    if s.mode != "autopilot" or s.inbox.queued or (s.run.form and s.run.form.repairs):
        return False
    if s.run.autopilot.may_nudge(called_tools=s.run.called_tools):
        s.run.restart()
        log_nudge(s)
        return True
    s.emit(AutopilotStopped("cap_reached"))
    return False
