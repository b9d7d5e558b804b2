"""Which pictures of a conversation a request shows: a model takes only so many, and the oldest give way.

They give way by half of what the model takes at once, so that the requests after that begin with the bytes of
the one before, up to the next time. What is shown follows from the messages alone: whoever encodes them anew
comes to the same bytes.
"""

import math
from collections.abc import Iterable

import msgspec

from turnwright.protocol.messages import Assistant, Image, Message


class Tally(msgspec.Struct, frozen=True):
    """`total` pictures in a conversation so far, the first `hidden` of which are not shown.

    `seen` and `settled` are what these were at the last reply: a picture that no reply has seen stays as long
    as there is room for it.
    """

    total: int = 0
    hidden: int = 0
    seen: int = 0
    settled: int = 0

    def after(self, messages: Iterable[Message], most: int | None) -> "Tally":
        """The tally when `messages` have followed, of a model that takes `most` pictures in a request."""
        if most is None:
            return self
        tally = self
        for message in messages:
            if isinstance(message, Assistant):
                tally = Tally(tally.total, tally.hidden, tally.total, tally.hidden)
            elif message.images:
                total = tally.total + len(message.images)
                tally = Tally(total, tally._hidden_of(total, most), tally.seen, tally.settled)
        return tally

    def _hidden_of(self, total: int, most: int) -> int:
        needed = total - most
        if needed <= self.settled:
            return self.settled
        block = math.ceil(most / 2)
        whole_blocks = math.ceil((needed - self.settled) / block) * block
        return max(needed, min(self.settled + whole_blocks, self.seen))


def without_first(message: Message, count: int, most: int | None) -> Message:
    """The message with a word in the place of each of its first `count` pictures."""
    if count <= 0 or isinstance(message, Assistant) or not message.images:
        return message
    notes = [_note(image, most) for image in message.images[:count]]
    content = "\n".join([message.content, *notes] if message.content else notes)
    return msgspec.structs.replace(message, content=content, images=message.images[count:])


def _note(image: Image, most: int | None) -> str:
    name = f" {image.name}" if image.name.strip() else ""
    return f"[The picture{name} is left out: a request may hold {most}, and later ones took its place.]"
