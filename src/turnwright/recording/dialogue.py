"""A conversation as its requests make it: what is new in each."""

import hashlib
from collections.abc import Sequence

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode
from turnwright.protocol.messages import Assistant, Image, Message, Reply, ToolCall, ToolOutput, Usage, User
from turnwright.recording.form import Answer, Call, Exchange, Said, Tokens, as_lines, as_text
from turnwright.recording.places import Places

SUMMARY = "compaction"
"""How the conversation is called, after its session's, in which summaries are asked for."""


class Dialogue:
    """Follows one conversation, request by request."""

    def __init__(self, name: str, places: Places) -> None:
        self._name = name
        self._places = places
        self._is_summary = name.endswith(f"/{SUMMARY}")
        self._system: str | None = None
        self._messages: Sequence[Message] = ()

    def ask(self, system: str, messages: Sequence[Message], mode: Mode = "interactive") -> Exchange:
        """The next request, still without its reply."""
        if self._is_summary:  # it repeats what the conversation's own requests have shown
            return Exchange(self._name)
        before, self._messages = self._messages, tuple(messages)
        goes_on = self._messages[: len(before)] == before
        new = self._messages[len(before) :] if goes_on else self._messages
        if goes_on and before and new and isinstance(new[0], Assistant):
            new = new[1:]  # the reply to the request before
        told = None if system == self._system else as_lines(self._places.hide(system))
        self._system = system
        return Exchange(
            self._name, mode=mode, system=told, anew=not goes_on, messages=[self._said(each) for each in new]
        )

    def _said(self, message: Message) -> Said:
        match message:
            case User(content, images):
                return Said(user=self._text(content), images=_digests(images))
            case ToolOutput(call_id, content, images):
                return Said(result=self._text(content), of=call_id, images=_digests(images))
            case Assistant(content, calls):
                return Said(assistant=self._text(content), calls=tuple(call.id for call in calls))

    def _text(self, text: str) -> str | list[str]:
        return as_lines(self._places.hide(text))


def answer_of(reply: Reply, places: Places) -> Answer:
    """A reply in the form of the file; what is for its provider alone is left out."""
    return Answer(
        as_lines(places.hide(reply.content)),
        tuple(
            Call(call.id, call.name, places.hide_all(_decoded(call.arguments))) for call in reply.tool_calls
        ),
        as_lines(places.hide(reply.reasoning)),
        reply.finish_reason,
        Tokens(*msgspec.structs.astuple(reply.usage)),
    )


def reply_of(answer: Answer, places: Places) -> Reply:
    """A recorded reply, as the model would give it here."""
    return Reply(
        places.show(as_text(answer.text)),
        tuple(
            ToolCall(call.id, call.name, _encoded(places.show_all(call.arguments))) for call in answer.calls
        ),
        places.show(as_text(answer.reasoning)),
        Usage(*msgspec.structs.astuple(answer.tokens)),
        answer.finish_reason,
    )


def _decoded(arguments: str) -> object:
    try:
        return wire.loads(arguments) if arguments.strip() else {}
    except InvalidParams:
        return arguments


def _encoded(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else wire.encode(arguments).decode()


def _digests(images: Sequence[Image]) -> tuple[str, ...]:
    return tuple(
        f"{image.mime_type} {hashlib.sha256(image.data.encode()).hexdigest()[:16]}" for image in images
    )
