"""What has been allowed beyond one call: for the session, for a place, for good."""

import logging
import os
from pathlib import Path
from typing import Any

import msgspec

from turnwright.errors import InvalidParams, StoreError
from turnwright.protocol import permissions as ask
from turnwright.protocol import wire
from turnwright.protocol.permissions import PermissionRequest

log = logging.getLogger(__name__)


class Approval(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A class of requests; `kind` is the wire's, and the other fields narrow it."""

    kind: str
    command_identifiers: tuple[str, ...] = ()
    server_name: str | None = None
    tool_name: str | None = None
    domain: str | None = None

    def covers(self, request: PermissionRequest) -> bool:
        """Whether this approval was meant for such a request."""
        match request:
            case ask.Shell():
                wanted = {command.identifier for command in request.commands}
                return self.kind == "commands" and wanted <= set(self.command_identifiers)
            case ask.Write():
                return self.kind == "write"
            case ask.Read():
                return self.kind == "read"
            case ask.CustomTool():
                return self.kind == "custom-tool" and self.tool_name in (None, request.tool_name)
            case ask.Mcp():
                same = self.server_name == request.server_name
                return self.kind == "mcp" and same and self.tool_name in (None, request.tool_name)
            case ask.Memory():
                return self.kind == "memory"
            case ask.Url():
                return self.kind == "url" and self.domain == domain(request.url)


def domain(url: str) -> str | None:
    """The host of an address."""
    from urllib.parse import urlsplit

    return urlsplit(url).hostname


def default_for(request: PermissionRequest) -> Approval:
    """What "for the session" means when the client doesn't say more."""
    match request:
        case ask.Shell():
            return Approval("commands", tuple(command.identifier for command in request.commands))
        case ask.CustomTool():
            return Approval("custom-tool", tool_name=request.tool_name)
        case ask.Mcp():
            return Approval("mcp", server_name=request.server_name, tool_name=request.tool_name)
        case ask.Url():
            return Approval("url", domain=domain(request.url))
        case ask.Read():
            return Approval("read")
        case ask.Write():
            return Approval("write")
        case ask.Memory():
            return Approval("memory")


class Approvals:
    """Approvals of one session, with those that were kept for its place or for good."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._session: set[Approval] = set()

    def cover(self, request: PermissionRequest, place: str) -> bool:
        """Whether anything allowed before covers the request at this place."""
        if any(approval.covers(request) for approval in self._session):
            return True
        kept = self._load()
        return any(approval.covers(request) for key in (place, "*") for approval in kept.get(key, ()))

    def for_session(self, approval: Approval) -> None:
        """Remember until the session is unloaded."""
        self._session.add(approval)

    def for_place(self, approval: Approval, place: str) -> None:
        """Remember on disk for a place: a git root or a folder; `*` is everywhere. Raises StoreError."""
        kept = self._load()
        kept[place] = [*kept.get(place, []), approval]
        draft = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(draft, "wb", opener=_private) as file:
                file.write(wire.encode(kept))
            draft.replace(self._file)
        except OSError as error:
            raise StoreError(f"can't keep the approval in {self._file}: {error.strerror}") from error

    def reset(self) -> None:
        """Forget what was allowed for the session."""
        self._session.clear()

    def _load(self) -> dict[str, list[Approval]]:
        """What is kept; a file that can't be understood is set aside, so that nothing of it is lost."""
        try:
            return wire.decode(self._file.read_bytes(), dict[str, list[Approval]])
        except FileNotFoundError:
            return {}
        except OSError as error:
            log.warning("can't read %s: %s", self._file, error.strerror)
            return {}
        except InvalidParams as error:
            log.warning("%s is not a file of approvals, it is set aside: %s", self._file, error)
            self._file.replace(self._file.with_suffix(".bad"))
            return {}


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def approval_of(value: Any, request: PermissionRequest) -> Approval:
    """The approval that a client's answer names, or the default one for the request."""
    if value is None:
        return default_for(request)
    try:
        return wire.convert(value, Approval)
    except InvalidParams:
        return default_for(request)
