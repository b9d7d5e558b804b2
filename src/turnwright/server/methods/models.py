"""The models on offer."""

from typing import TYPE_CHECKING, Any

from turnwright.engine.models.inference import Origin
from turnwright.protocol.options import ProviderOptions, SessionOptions
from turnwright.protocol.wire import Wire
from turnwright.providers.base import ModelInfo
from turnwright.providers.transport import Route
from turnwright.server.methods.base import Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class ListParams(Wire):
    """Whose models: those that a GitHub token opens, or the configured endpoint's."""

    git_hub_token: str | None = None


@methods.runtime("models.list", ListParams)
async def listing(connection: "Connection", params: ListParams) -> dict[str, Any]:
    """The models of the endpoint that sessions use when they bring none."""
    options = SessionOptions(git_hub_token=params.git_hub_token)

    async def routing(provider: ProviderOptions) -> Route:
        inference = connection.inference
        return Route(transport=inference.transport(Origin()) if inference else None)

    found = await connection.runtime.endpoints.models(options, routing)
    return {"models": [describe(info) for info in found]}


def describe(info: ModelInfo) -> dict[str, Any]:
    """A model in the wire's shape: the endpoint's own words where it has them."""
    raw = info.raw or {}
    limits = {
        "max_context_window_tokens": info.context_window,
        "max_output_tokens": info.output_limit,
    }
    known = {name: value for name, value in limits.items() if value is not None}
    capabilities: Any = raw.get("capabilities") or {
        "supports": {"vision": info.vision},
        "limits": known,
    }
    return {"id": info.id, "name": info.name, "capabilities": capabilities}
