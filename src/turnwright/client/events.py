"""Events as handlers see them, with the type of their payload."""

from typing import Protocol, TypeVar

from turnwright.protocol.events import Data

D = TypeVar("D", bound=Data)
D_co = TypeVar("D_co", bound=Data, covariant=True)


class EventOf(Protocol[D_co]):
    """An event whose payload is a `D`; `agent_id` names the sub-agent that it came from."""

    @property
    def type(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def timestamp(self) -> str: ...
    @property
    def parent_id(self) -> str | None: ...
    @property
    def ephemeral(self) -> bool: ...
    @property
    def agent_id(self) -> str | None: ...
    @property
    def data(self) -> D_co: ...
