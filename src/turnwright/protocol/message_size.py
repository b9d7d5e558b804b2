"""How long a message is, for the estimate of what fills the context window."""

from turnwright.protocol.media import document_tokens, picture_tokens
from turnwright.protocol.messages import Assistant, Message, ToolOutput

CHARACTERS_PER_TOKEN = 4.0
"""How long a token is, until a model's server has counted some."""


def size_of(message: Message) -> int:
    """The characters of its text and calls; pictures and documents count as text that costs as much."""
    size = len(message.content)
    if isinstance(message, Assistant):
        return size + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    if not message.images and (isinstance(message, ToolOutput) or not message.documents):
        return size
    tokens = sum(picture_tokens(image.data) for image in message.images)
    if not isinstance(message, ToolOutput):
        tokens += sum(document_tokens(document.data) for document in message.documents)
    return size + int(tokens * CHARACTERS_PER_TOKEN)
