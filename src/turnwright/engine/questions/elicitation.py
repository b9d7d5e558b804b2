"""Forms for the user: a client shows them and sends back what was filled in."""

from typing import TYPE_CHECKING, Any, Literal

from turnwright.engine.questions.broadcast import ask_clients
from turnwright.protocol import wire
from turnwright.protocol.events.questions import ElicitationCompleted, ElicitationRequested
from turnwright.protocol.wire import Wire

if TYPE_CHECKING:
    from turnwright.engine.session import Session


class Form(Wire):
    """What became of a form; `content` holds its fields when it was accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


async def elicit(s: "Session", message: str, schema: Any, *, mode: str | None = None) -> Form:
    """Show the user a form; it counts as put away when the last client that could show it leaves."""
    request_id = wire.new_id()

    def completed(form: Form | None) -> ElicitationCompleted:
        if form is None:
            return ElicitationCompleted(request_id, "cancel")
        return ElicitationCompleted(request_id, form.action, form.content)

    requested = ElicitationRequested(request_id, message, schema, mode)
    form = await ask_clients(s, request_id, requested, completed, lambda o: o.request_elicitation)
    return form or Form("cancel")
