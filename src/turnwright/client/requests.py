"""What the runtime sends: events, and calls that the app's handlers answer."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from turnwright.client.handlers import Invocation, Plan, PlanDecision, UserAnswer, UserQuestion
from turnwright.client.session import Session
from turnwright.errors import RequestFailed
from turnwright.protocol.envelope import parse
from turnwright.protocol.wire import Wire
from turnwright.rpc.messages import METHOD_NOT_FOUND
from turnwright.rpc.router import Method

Sessions = Mapping[str, Session]
"""The open sessions by id: the context of every method."""


class EventParams(Wire):
    """An event of a session."""

    session_id: str
    event: Raw


async def event(sessions: Sessions, params: EventParams) -> None:
    """Hand an event to its session; sessions that are not open here are none of our business."""
    session = sessions.get(params.session_id)
    if session is not None:
        session.receive(parse(bytes(params.event)))


async def lifecycle(sessions: Sessions, params: Raw) -> None:
    """Sessions come and go: nothing depends on it here."""


class UserInputParams(UserQuestion, kw_only=True):
    """A question to the user."""

    session_id: str


async def user_input(sessions: Sessions, params: UserInputParams) -> UserAnswer:
    """Let the app ask the user."""
    session = _find(sessions, params.session_id)
    handler = session.handlers.on_user_input
    if handler is None:
        raise _unhandled("userInput.request")
    question = UserQuestion(params.question, params.choices, params.allow_freeform)
    answer = await session.questions.answer_call(handler, question, Invocation(session.id))
    if isinstance(answer, UserAnswer):
        return answer
    return UserAnswer(answer, was_freeform=answer not in question.choices)


class PlanParams(Plan, kw_only=True):
    """A plan to approve."""

    session_id: str


async def exit_plan_mode(sessions: Sessions, params: PlanParams) -> PlanDecision:
    """Let the app show a plan to the user."""
    session = _find(sessions, params.session_id)
    handler = session.handlers.on_exit_plan
    if handler is None:
        raise _unhandled("exitPlanMode.request")
    plan = Plan(params.summary, params.plan_content, params.actions, params.recommended_action)
    answer = await session.questions.answer_call(handler, plan, Invocation(session.id))
    return answer if isinstance(answer, PlanDecision) else PlanDecision(answer)


class HookParams(Wire):
    """A hook to call."""

    session_id: str
    hook_type: str
    input: dict[str, Any]


async def hook(sessions: Sessions, params: HookParams) -> dict[str, Any]:
    """Call a hook of the app; one that the app doesn't have changes nothing."""
    session = _find(sessions, params.session_id)
    function: Any = session.handlers.hooks.get(_snake(params.hook_type))
    if function is None:
        return {}
    given = {_snake(name): value for name, value in params.input.items()}
    output = await session.questions.answer_call(function, given, Invocation(session.id))
    if isinstance(output, Mapping):
        output = {_camel(str(name)): value for name, value in output.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return {"output": output}


Methods = Mapping[str, Method[Sessions, Any]]

METHODS: Methods = {
    "session.event": Method(EventParams, event, inline=True),
    "session.lifecycle": Method(Raw, lifecycle, inline=True),
    "userInput.request": Method(UserInputParams, user_input),
    "exitPlanMode.request": Method(PlanParams, exit_plan_mode),
    "hooks.invoke": Method(HookParams, hook),
}


def _find(sessions: Sessions, session_id: str) -> Session:
    try:
        return sessions[session_id]
    except KeyError:
        raise RequestFailed(METHOD_NOT_FOUND, f"Session {session_id} is not open here") from None


def _unhandled(method: str) -> RequestFailed:
    return RequestFailed(METHOD_NOT_FOUND, f"Unhandled method {method}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)
