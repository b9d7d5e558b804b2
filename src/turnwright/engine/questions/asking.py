"""Questions to the user that a client answers by a call: the model's own, its plan, a rate limit."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

import anyio
import anyio.to_thread

from turnwright.engine.clients import Client
from turnwright.engine.questions.broadcast import ask_clients
from turnwright.engine.tool_calls.session_tools import PlanAnswer, UserAnswer
from turnwright.errors import TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events import Data
from turnwright.protocol.events.questions import (
    AutoModeSwitchCompleted,
    AutoModeSwitchRequested,
    ExitPlanModeCompleted,
    ExitPlanModeRequested,
    UserInputCompleted,
    UserInputRequested,
)
from turnwright.protocol.events.session import Mode
from turnwright.protocol.wire import Wire

if TYPE_CHECKING:
    from turnwright.engine.session import Session

A = TypeVar("A", bound=Wire)


AUTO_MODE = "auto_mode_switch.requested"


class AutoModeAnswer(Wire):
    """Whether to go on with an automatic choice of model; `yes_always` is a `yes` here."""

    response: Literal["yes", "yes_always", "no"]


class Asking:
    """Puts questions to the first client that takes them; another may answer by its own call first."""

    def __init__(self, s: "Session") -> None:
        self._s = s

    async def ask_user(
        self, question: str, choices: list[str] | None, allow_freeform: bool, call_id: str
    ) -> UserAnswer | None:
        request_id = wire.new_id()
        params = {
            "sessionId": self._s.id,
            "question": question,
            "choices": choices,
            "allowFreeform": allow_freeform,
        }
        return await self._ask(
            request_id,
            self._s.clients.find(lambda o: o.request_user_input),
            UserInputRequested(request_id, question, choices, allow_freeform, call_id),
            lambda answer: UserInputCompleted(
                request_id, answer and answer.answer, answer.was_freeform if answer else None
            ),
            "userInput.request",
            {key: value for key, value in params.items() if value is not None},
            UserAnswer,
        )

    async def ask_about_plan(
        self, summary: str, actions: list[str], recommended: str, call_id: str
    ) -> PlanAnswer | None:
        request_id = wire.new_id()
        plan = await anyio.to_thread.run_sync(self._plan_text)
        params = {
            "sessionId": self._s.id,
            "summary": summary,
            "planContent": plan,
            "actions": actions,
            "recommendedAction": recommended,
        }
        return await self._ask(
            request_id,
            self._s.clients.find(lambda o: o.request_exit_plan_mode),
            ExitPlanModeRequested(request_id, summary, plan, actions, recommended, call_id),
            lambda answer: ExitPlanModeCompleted(
                request_id,
                answer.approved if answer else None,
                answer and answer.selected_action,
                answer.auto_approve_edits if answer else None,
                answer and answer.feedback,
            ),
            "exitPlanMode.request",
            params,
            PlanAnswer,
        )

    async def ask_about_auto_mode(self, error_code: str, retry_after: float | None) -> AutoModeAnswer | None:
        """Ask whether to go on with an automatic choice of model; None when there is nobody to ask.

        A client that registered for it hears of the question as an event alone.
        """
        request_id = wire.new_id()
        seconds = None if retry_after is None else math.ceil(retry_after)
        requested = AutoModeSwitchRequested(request_id, error_code, seconds)

        def completed(answer: AutoModeAnswer | None) -> AutoModeSwitchCompleted:
            return AutoModeSwitchCompleted(request_id, answer.response if answer else "no")

        if AUTO_MODE in self._s.interests.values():
            return await ask_clients(self._s, request_id, requested, completed, lambda _: True)
        params = {"sessionId": self._s.id, "errorCode": error_code, "retryAfterSeconds": seconds}
        return await self._ask(
            request_id,
            self._s.clients.find(lambda o: o.request_auto_mode_switch),
            requested,
            completed,
            "autoModeSwitch.request",
            {key: value for key, value in params.items() if value is not None},
            AutoModeAnswer,
        )

    def leave_plan_mode(self, mode: Mode) -> None:
        self._s.set_mode(mode)
        self._s.run.mode = mode

    def _plan_text(self) -> str:
        try:
            return (self._s.folder / "plan.md").read_text("utf-8", "replace")
        except OSError:
            return ""

    async def _ask(
        self,
        request_id: str,
        client: Client | None,
        requested: Data,
        completed: Callable[[A | None], Data],
        method: str,
        params: object,
        kind: type[A],
    ) -> A | None:
        if client is None:
            return None
        answer: A | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._relay, request_id, client, method, params, kind)
            answer = await self._s.questions.ask(request_id, requested, completed)
            group.cancel_scope.cancel()
        return answer

    async def _relay(
        self, request_id: str, client: Client, method: str, params: object, kind: type[Wire]
    ) -> None:
        await self._s.journal.published()
        try:
            answer = wire.decode(await client.call(method, params), kind)
        except TurnwrightError:
            answer = None  # the handler raised, hung up or answered in the wrong shape: nobody answers
        self._s.questions.answer(request_id, answer)
