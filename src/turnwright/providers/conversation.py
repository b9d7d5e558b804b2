"""Conversations as JSON, encoded once and only ever appended to; each API has a form of its own."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from turnwright.protocol.messages import Assistant, Document, Message, ToolDefinition
from turnwright.protocol.wire import Json, encode
from turnwright.providers.base import ModelRequest
from turnwright.providers.shown_pictures import Tally, without_first

UNNAMED = "document.pdf"
"""What a document without a name is called where the API wants one."""

MOST_CONVERSATIONS = 4096
MOST_BYTES = 64 * 1024 * 1024


class Conversation(ABC):
    """The messages of one conversation: `encoded` is the inside of a JSON array, `call_ids` all ids in it."""

    def __init__(self, request: ModelRequest) -> None:
        self.encoded: bytearray = bytearray()
        self.call_ids: set[str] = set()
        self._model = request.model
        self._vision = request.vision
        self._documents = request.documents
        self._most_pictures = request.most_pictures if request.vision else None
        self._pictures = Tally()
        self._fixed = _fixed(request)
        self._count = 0
        self._last: Message | None = None
        self._tools: tuple[ToolDefinition, ...] = ()
        self._encoded_tools = b""

    def tools(self, request: ModelRequest, shaped: Callable[[Sequence[ToolDefinition]], Json]) -> bytes:
        """The request's tools as a further field of a JSON object, nothing if there are none.

        They are encoded anew when they are others: they can be most of what a turn would encode.
        """
        if request.tools is not self._tools:
            self._tools = request.tools
            self._encoded_tools = b',"tools":' + encode(shaped(request.tools)) if request.tools else b""
        return self._encoded_tools

    def precedes(self, request: ModelRequest) -> bool:
        """Whether the request's messages begin with what is encoded here, and can be shown so."""
        count = self._count
        return (
            _fixed(request) == self._fixed
            and len(request.messages) >= count
            and (count == 0 or request.messages[count - 1] == self._last)
            and self._with(request.messages[count:]).hidden == self._pictures.hidden
        )

    def extend(self, messages: Sequence[Message]) -> None:
        """Encode what comes after the messages that are here already."""
        new = messages[self._count :]
        shown_before, self._pictures = self._pictures.total, self._with(new)
        to_hide = self._pictures.hidden - shown_before
        for message in new:
            self._encode(without_first(message, to_hide, self._most_pictures))
            self._last = message
            to_hide -= 0 if isinstance(message, Assistant) else len(message.images)
        self._count = len(messages)

    def _with(self, messages: Sequence[Message]) -> Tally:
        return self._pictures.after(messages, self._most_pictures)

    @abstractmethod
    def _encode(self, message: Message) -> None:
        """Append the message's JSON to `encoded`, and the ids of its calls to `call_ids`."""


C = TypeVar("C", bound=Conversation)


class Conversations(Generic[C]):
    """The conversations that were sent lately, so that a request costs only its new messages."""

    def __init__(
        self,
        begin: Callable[[ModelRequest], C],
        *,
        most: int = MOST_CONVERSATIONS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._begin = begin
        self._most = most
        self._most_bytes = most_bytes
        self._known: OrderedDict[str, C] = OrderedDict()
        self._held = 0  # bytes of all that is known

    def of(self, request: ModelRequest) -> C:
        """Return the request's conversation with all its messages encoded."""
        known = self._known.pop(request.conversation, None)
        self._held -= len(known.encoded) if known else 0
        if known is None or not known.precedes(request):
            known = self._begin(request)
        known.extend(request.messages)
        self._known[request.conversation] = known
        self._held += len(known.encoded)
        self._forget()
        return known

    def _forget(self) -> None:
        while len(self._known) > 1 and (len(self._known) > self._most or self._held > self._most_bytes):
            _, oldest = self._known.popitem(last=False)
            self._held -= len(oldest.encoded)


def unshown(document: Document) -> str:
    """What a model reads in the place of a document that its server doesn't take."""
    return f"The document {document.name or 'without a name'} ({document.mime_type}) can't be shown here."


def _fixed(request: ModelRequest) -> tuple[object, ...]:
    """What must stay the same for the messages encoded so far to stay as they are."""
    shown = (request.vision, request.documents, request.citations, request.most_pictures)
    return request.epoch, request.model, request.system, *shown
