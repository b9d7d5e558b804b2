"""Values that a client wants kept out of the log and away from the model."""

from typing import TYPE_CHECKING

from turnwright.protocol.wire import Wire
from turnwright.server.methods.base import Methods

if TYPE_CHECKING:
    from turnwright.server.connection import Connection

methods = Methods()
METHODS = methods.table


class FilterParams(Wire):
    """Secret values, of at least 8 characters each."""

    values: list[str]


@methods.runtime("secrets.addFilterValues", FilterParams)
async def add(connection: "Connection", params: FilterParams) -> dict[str, bool]:
    """Mask these values in every tool's result from here on."""
    connection.runtime.secrets.add(*params.values)
    return {"ok": True}
