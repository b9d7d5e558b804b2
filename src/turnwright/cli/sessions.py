"""`turnwright sessions`: list, show, repair, delete."""

from argparse import Namespace

from turnwright.cli.archive import Archive
from turnwright.cli.output import brief, show, tell
from turnwright.cli.transcript import transcript
from turnwright.protocol import wire
from turnwright.server.settings import home

TITLE_WIDTH = 60


def main(given: Namespace) -> int:
    """Do what the command line asks for. Raises SessionNotFound, SessionInUse or StoreError."""
    archive = Archive(home())
    match given.action:
        case "list":
            _list(archive, as_json=given.json)
        case "show":
            _show(archive, archive.find(given.id), as_json=given.json)
        case "repair":
            from turnwright.cli import repair

            return repair.main(archive.store, archive.find(given.id))
        case _:
            archive.store.delete(archive.whole(given.id))
            tell(f"deleted session {given.id}")
    return 0


def _list(archive: Archive, *, as_json: bool) -> None:
    for entry in archive.entries():
        if as_json:
            show(wire.encode(entry).decode())
        else:
            used = entry.modified_time[:16].replace("T", " ")
            place = entry.context.cwd if entry.context else ""
            show(f"{entry.session_id}  {used}  {brief(entry.summary or '', TITLE_WIDTH)}  {place}")


def _show(archive: Archive, session_id: str, *, as_json: bool) -> None:
    if as_json:
        for event in archive.events(session_id):
            show(event.encoded.decode())
    else:
        for line in transcript(archive.events(session_id)):
            show(line)
