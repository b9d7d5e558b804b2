"""The history that the model sees: a pure fold of the log."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.base import Data
from turnwright.protocol.events.compaction import CompactionComplete, ContextCleared
from turnwright.protocol.events.conversation import AssistantMessage, SystemMessage, ToolRequest, UserMessage
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.media import PDF
from turnwright.protocol.message_size import size_of
from turnwright.protocol.messages import Assistant, Document, Image, Message, ToolCall, ToolOutput, User

SUMMARY_START = "Some of the conversation history has been summarized to free up context."
PROMPTS_START = (
    "You were originally given instructions from a user over one or more turns. Here were the user messages:"
)
INTERRUPTED = "The execution of this tool, or a previous tool was interrupted."
OF_THE_RUNTIME = frozenset({"autopilot", "hook", "output_limit", "response_schema"})
"""Sources of messages that stand in the user's place, and that no user wrote."""


class _Binary(wire.Wire):
    """An attachment that is shown to the model: a blob, or a file with its content."""

    mime_type: str
    data: str
    display_name: str = ""


class History:
    """Messages in a form that every model accepts: each call is answered once, in place and in order.

    `messages` only grows while `epoch` stays the same. Results wait in `open` until the reply's last call is
    answered; what the log leaves unanswered is answered as interrupted when the conversation goes on.
    `seed` names the message that has to come first, until one has come.
    `size` is how long they are together, in characters (`message_size`).
    """

    def __init__(self) -> None:
        self.system = ""
        self.messages: list[Message] = []
        self.epoch = 0
        self.size = 0
        self.open: dict[str, ToolOutput | None] = {}
        self.seed: ContextCleared | None = None

    def apply(self, event: Event) -> None:
        """Take one more event into account; those of sub-agents have a history of their own."""
        if event.agent_id is None and not event.ephemeral:
            self.take(event.data)

    def take(self, data: Data) -> None:
        """Take what an event of the main agent says into account."""
        kind = type(data)
        if kind in SAID:
            SAID[kind](self, data)

    def close(self) -> None:
        """Answer what is still open as interrupted, and put the results into place."""
        if self.open:
            for call_id, output in self.open.items():
                self._add(output or ToolOutput(call_id, INTERRUPTED))
            self.open = {}

    def system_message(self, data: SystemMessage) -> None:
        """Take the system prompt from here on."""
        if data.content != self.system:
            self.system = data.content
            self.epoch += 1

    def user_message(self, data: UserMessage) -> None:
        """Take what the user said."""
        self.close()
        self._plant(data.message_id)
        self._add(user_message(data))

    def reply(self, data: AssistantMessage) -> None:
        """Take a reply; its calls are open."""
        self.close()
        calls = tuple(map(tool_call, data.tool_requests))
        if data.content or calls:
            self._plant()
            self._add(Assistant(data.content, calls, data.reasoning_text or "", data.reasoning_opaque))
            self.open = dict.fromkeys([call.id for call in calls])

    def result(self, data: ToolComplete) -> None:
        """Take the result of a call that is open; the first one counts."""
        id = data.tool_call_id
        if id in self.open and self.open[id] is None:
            self.open[id] = tool_output(data)
            if data.modified_arguments is not None:
                self._amend(id, data.modified_arguments)
            if None not in self.open.values():
                self.close()

    def compaction(self, data: CompactionComplete) -> None:
        """Put the summary, if there is one, in the place of the first messages."""
        if not data.success:
            return
        kept = self.messages[data.messages_removed or 0 :]
        self.messages = [summary_message(data), *kept]
        self.size = self.length(self.messages)
        self.epoch += 1

    def clearing(self, data: ContextCleared) -> None:
        """Begin anew; results of calls that are still open have no place any more."""
        self.messages, self.open, self.size = [], {}, 0
        self.seed = data if is_seed(data) else None
        self.epoch += 1

    @staticmethod
    def length(messages: Iterable[Message]) -> int:
        """How long messages are, in characters."""
        return sum(map(size_of, messages))

    def _amend(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Show the model the arguments that were used; no request has carried this reply yet."""
        reply = self.messages[-1]
        if isinstance(reply, Assistant):
            text = wire.encode(arguments).decode()
            calls = tuple(
                ToolCall(call.id, call.name, text) if call.id == call_id else call
                for call in reply.tool_calls
            )
            self.messages[-1] = amended = msgspec.structs.replace(reply, tool_calls=calls)
            self.size += size_of(amended) - size_of(reply)

    def _plant(self, message_id: str | None = None) -> None:
        """Let the first message be the one that had to come first, unless it is that one."""
        if self.seed is not None:
            seed, self.seed = self.seed, None
            if message_id != seed.message_id:
                text = seed.initial_message or ""
                self._add(User(text, own=text.strip()))

    def _add(self, message: Message) -> None:
        self.messages.append(message)
        self.size += size_of(message)


SAID: dict[type[Data], Callable[[History, Any], None]] = {
    SystemMessage: History.system_message,
    UserMessage: History.user_message,
    AssistantMessage: History.reply,
    ToolComplete: History.result,
    CompactionComplete: History.compaction,
    ContextCleared: History.clearing,
}
"""The events that the history is made of; most are others."""


def is_seed(data: ContextCleared) -> bool:
    """Whether a conversation that is begun anew must begin with a certain message."""
    return data.initial_message is not None and data.message_id is not None


def summary_message(data: CompactionComplete) -> User:
    """What the model reads in the place of what was summarised: the user's own words, and the summary."""
    parts = [SUMMARY_START]
    if data.user_messages:
        told = (f"<user_message>\n{prompt}\n</user_message>" for prompt in data.user_messages)
        parts.append("\n".join([PROMPTS_START, *told]))
    summary = (data.summary_content or "").strip()
    parts.append(f"Here is a summary of the prior context:\n<summary>\n{summary}\n</summary>")
    return User("\n\n".join(parts))


def user_message(data: UserMessage) -> User:
    """What the model reads of a user's message."""
    content = data.content if data.transformed_content is None else data.transformed_content
    own = "" if data.source in OF_THE_RUNTIME else data.content.strip()
    if not data.attachments:
        return User(content, own=own)
    shown = list(_shown(data.attachments))
    images = (Image(each.mime_type, each.data, each.display_name) for each in shown if _is_picture(each))
    documents = (Document(PDF, each.data, each.display_name) for each in shown if each.mime_type == PDF)
    return User(content, tuple(images), tuple(documents), own)


def _shown(attachments: list[Any]) -> Iterator[_Binary]:
    for attachment in attachments:
        with suppress(InvalidParams):
            yield wire.convert(attachment, _Binary)


def _is_picture(attachment: _Binary) -> bool:
    kind = attachment.mime_type
    return kind.startswith("image/") and kind != "image/svg+xml"


def tool_call(request: ToolRequest) -> ToolCall:
    """The call as the model wrote it: text that wasn't JSON stays that text."""
    arguments = request.arguments
    text = arguments if isinstance(arguments, str) else wire.encode(arguments or {}).decode()
    return ToolCall(request.tool_call_id, request.name, text)


def tool_output(data: ToolComplete) -> ToolOutput:
    """What the model reads of a call's result."""
    if data.result is None:
        return ToolOutput(data.tool_call_id, data.error.message if data.error else INTERRUPTED)
    if not data.result.contents:
        return ToolOutput(data.tool_call_id, data.result.content)
    images = tuple(
        Image(str(part["mimeType"]), str(part["data"]))
        for part in data.result.contents
        if part.get("type") == "image"
    )
    return ToolOutput(data.tool_call_id, data.result.content, images)
