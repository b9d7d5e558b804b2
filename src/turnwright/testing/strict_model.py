"""A scripted model without a server that refuses nothing, and says what a strict server would have."""

from collections.abc import Iterable
from typing import Any, cast

from turnwright.protocol import wire
from turnwright.protocol.messages import Reply
from turnwright.providers.base import ModelRequest, Progress
from turnwright.providers.chat_messages import ChatConversation, encode_request
from turnwright.providers.scripted import Scripted, Step
from turnwright.testing.chat_check import check_chat_request


class StrictModel(Scripted):
    """A `Scripted` that also puts each request into the form of chat completions, and checks that.

    `problems` says all that is wrong with the requests: nothing, if they are right.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        super().__init__(steps)

    async def respond(self, request: ModelRequest, progress: Progress) -> Reply:
        conversation = ChatConversation(request)
        conversation.extend(request.messages)
        body = wire.loads(encode_request(request, conversation))
        self.problems += check_chat_request(cast("dict[str, Any]", body))
        return await super().respond(request, progress)
