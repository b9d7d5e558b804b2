"""The one primitive behind every requested/completed pair: a pending table and two events."""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from turnwright.engine.journal.journal import Journal
from turnwright.errors import StoreError
from turnwright.protocol.events import Data

A = TypeVar("A")


class _Pending(Generic[A]):
    def __init__(self, completed: Callable[[A | None], Data]) -> None:
        self.completed = completed
        self.answered = asyncio.Event()
        self.answer: A | None = None
        self.refusal: StoreError | None = None


class Questions:
    """Questions that wait for an answer from any client: the first one counts.

    `completed` is emitted whatever happens, an abort included. While `leave_open` is set, a question that is
    cancelled stays pending in the log, for a client that resumes the session later. An answer that the log
    doesn't take is refused to whoever gave it, and ends the wait: nobody knows when the log takes one.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._pending: dict[str, _Pending[Any]] = {}
        self._early: dict[str, object] = {}
        self.leave_open = False

    async def ask(self, request_id: str, requested: Data | None, completed: Callable[[A | None], Data]) -> A:
        """Emit `requested` (None: the log has it), wait for an answer, emit `completed(answer)`.

        Raises StoreError when the log doesn't take one of them.
        """
        pending = _Pending(completed)
        self._pending[request_id] = pending
        try:
            if request_id in self._early:
                self.answer(request_id, self._early.pop(request_id))
            if requested is not None:
                self._journal.emit(requested)
            await pending.answered.wait()
            if pending.refusal is not None:
                raise pending.refusal
        finally:
            if self._pending.pop(request_id, None) is not None and not self.leave_open:
                self._journal.emit(completed(None))
        return cast("A", pending.answer)

    def answer(self, request_id: str, answer: object) -> bool:
        """Settle a question, and say so at once. False when it is gone: answered, aborted or never asked.

        A question of a session that was resumed may be answered before its run waits for that. Raises
        StoreError when the log doesn't take the answer.
        """
        pending = self._pending.get(request_id)
        if pending is None:
            return self._keep(request_id, answer)
        try:
            self._journal.emit(pending.completed(answer))
        except StoreError as refusal:
            pending.refusal = refusal
            raise
        else:
            pending.answer, pending.refusal = answer, None
            del self._pending[request_id]
            return True
        finally:
            pending.answered.set()

    def _keep(self, request_id: str, answer: object) -> bool:
        if self.leave_open or request_id in self._early or request_id not in self._journal.state.questions:
            return False
        self._early[request_id] = answer
        return True

    @property
    def are_open(self) -> bool:
        """Whether any waits for its answer, here or in the log."""
        return bool(self._pending or self._journal.state.questions)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._pending or request_id in self._journal.state.questions
