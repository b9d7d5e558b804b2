"""What a model is told and shown of what a message attaches, and what the log keeps of it."""

import base64
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases.local_tool import LocalTool
from tests.cases.scene import Scene, scene, words
from tests.pictures import picture
from turnwright.engine.inbox import Prompt
from turnwright.engine.prompts.attachments import Attached, attach
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import UsageInfo
from turnwright.protocol.events.tools import ToolComplete
from turnwright.protocol.media import pixels
from turnwright.protocol.messages import Document, Image, ToolOutput, User
from turnwright.providers.media_limits import LARGEST_DOCUMENT, PictureLimits
from turnwright.providers.scripted import calls, text
from turnwright.store.history import user_message
from turnwright.tools.base import Call, ToolResult
from turnwright.tools.builtin import machine_tools

pytestmark = pytest.mark.anyio

LIMITS = PictureLimits(longest_side=200)
PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def blob(data: bytes, kind: str, name: str | None = None) -> dict[str, Any]:
    named = {"displayName": name} if name else {}
    return {"type": "blob", "data": coded(data), "mimeType": kind, **named}


async def read(folder: Path, *attachments: dict[str, Any], vision: bool = True) -> Attached:
    with anyio.fail_after(20):
        return await attach(attachments, folder, LIMITS, vision=vision)


async def send(at: Scene, *attachments: dict[str, Any]) -> None:
    idles = at.client.count("session.idle")
    at.session.send(Prompt(message_id="m", text="Look.", attachments=list(attachments)))
    await at.client.until("session.idle", idles + 1)


def shown(attached: Attached) -> User:
    """What the history makes of it."""
    return user_message(UserMessage("", transformed_content="", attachments=attached.logged))


async def test_each_kind_is_told_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x").touch()
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 3}}
    attached = await read(
        tmp_path,
        {"type": "file", "path": f"{tmp_path}/a.txt", "displayName": "a.txt"},
        {"type": "file", "path": "a.txt", "lineRange": {"start": 2, "end": 3}},
        {"type": "directory", "path": str(tmp_path / "sub"), "displayName": "sub"},
        {"type": "selection", "filePath": "a.txt", "displayName": "a.txt", "text": "two", "selection": place},
        blob("né".encode(), "text/plain", "note.txt"),
        {"type": "github_reference", "number": 7, "title": "A fault", "referenceType": "issue",
         "state": "open", "url": "https://example.com/7"},
        {"type": "github_commit", "message": "Mend it\n\nAt last.", "oid": "abc", "url": "https://example.com/c"},
        {"type": "extension_context", "extensionId": "board", "title": "Card", "payload": {"id": 3}},
        {"type": "hologram"},
    )  # fmt: skip
    assert attached.around("Look.").split("\n\n\n\n") == [
        "<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be "
        "related to their request.\nFile: a.txt (lines 2-3)\n```\ntwo\n```\n</ide_selection>",
        "Look.",
        f"<tagged_files>\n* {tmp_path}/a.txt (3 lines)\n* a.txt (lines 2-3 of 3 lines)\n"
        f"* {tmp_path}/sub (1 items)\n</tagged_files>",
        "<github_references>\n#7 - A fault [issue] [open] (https://example.com/7)\n"
        "commit Mend it At last. (https://example.com/c)\n</github_references>",
        '<attachment name="note.txt">\nné\n</attachment>',
        '<extension_context extension="board" title="Card">\n{"id":3}\n</extension_context>',
        "An attachment of type hologram can't be shown.",
    ]
    assert shown(attached) == User("")


async def test_pictures_and_documents_of_blobs_and_files_are_shown_whole(tmp_path: Path) -> None:
    small = picture()
    (tmp_path / "b.png").write_bytes(small)
    (tmp_path / "c.pdf").write_bytes(PDF)
    attached = await read(
        tmp_path,
        blob(small, "image/png", "a.png"),
        {"type": "file", "path": "b.png", "displayName": "b.png"},
        {"type": "file", "path": "c.pdf", "displayName": "c.pdf"},
        blob(PDF, "application/pdf", "d.pdf"),
    )
    assert shown(attached) == User(
        "",
        (Image("image/png", coded(small), "a.png"), Image("image/png", coded(small), "b.png")),
        (Document("application/pdf", coded(PDF), "c.pdf"), Document("application/pdf", coded(PDF), "d.pdf")),
    )
    assert attached.after == (
        f"<tagged_files>\n* b.png (image/png, {len(small)} bytes)\n"
        f"* c.pdf (application/pdf, {len(PDF)} bytes)\n</tagged_files>",
    )


async def test_a_large_picture_is_logged_and_sent_as_small_as_the_model_takes_it(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(picture("JPEG", (400, 3000), orientation=6))
    async with scene(tmp_path, [text("A photo.")]) as at:
        await send(at, {"type": "file", "path": str(tmp_path / "photo.jpg"), "displayName": "photo.jpg"})
        (message,) = at.all(UserMessage)
        (told,) = at.model.requests[0].messages
    assert isinstance(told, User)
    (image,) = told.images
    assert pixels(base64.b64decode(image.data)) == (2000, 267)
    assert message.attachments[0]["data"] == image.data
    assert len(image.data) < 5 * 1024 * 1024


async def test_a_picture_counts_in_the_estimate_of_the_context(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("one"), text("two")], available_tools=[]) as at:
        await send(at)
        await send(at, blob(picture(size=(1000, 750)), "image/png"))
        without, with_ = at.all(UsageInfo)
        assert without.conversation_tokens is not None
        assert with_.conversation_tokens is not None
        assert 1000 < with_.conversation_tokens - without.conversation_tokens < 1100


async def test_a_document_counts_in_the_estimate_of_the_context(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("one"), text("two")], available_tools=[]) as at:
        await send(at)
        await send(at, blob(PDF + b" " * 120_000, "application/pdf"))
        without, with_ = at.all(UsageInfo)
        assert without.conversation_tokens is not None
        assert with_.conversation_tokens is not None
        assert with_.conversation_tokens - without.conversation_tokens >= 7500


@pytest.mark.parametrize(
    ("attachment", "note", "reason"),
    [
        (
            {"type": "blob", "mimeType": "image/png", "displayName": "a.png", "data": "%%%"},
            "is not valid base64.",
            "asset_unavailable",
        ),
        (
            blob(b"\x89PNG\r\n\x1a\n" + bytes(99), "image/png", "a.png"),
            "can't be shown: it is damaged, or of a kind that can't be read.",
            "asset_unavailable",
        ),
        (
            blob(b"hello", "image/png", "a.png"),
            "can't be shown: it is no picture of a known kind.",
            "asset_unavailable",
        ),
        (blob(b"hello", "application/pdf", "a.png"), "can't be shown: it is no PDF.", "asset_unavailable"),
        (
            blob(PDF + b" " * LARGEST_DOCUMENT, "application/pdf", "a.png"),
            f"can't be shown: it has {len(PDF) + LARGEST_DOCUMENT} bytes, "
            f"and {LARGEST_DOCUMENT} are the most.",
            "too_large",
        ),
        (blob(b"PK", "application/zip", "a.png"), "(application/zip) can't be shown to this model.", None),
    ],
)
async def test_what_cannot_be_shown_is_said_to_be_so_and_never_sent(
    tmp_path: Path, attachment: dict[str, Any], note: str, reason: str | None
) -> None:
    attached = await read(tmp_path, attachment)
    assert attached.after == (f"The attachment a.png {note}",)
    assert [item.get("omittedReason") for item in attached.logged] == [reason]
    assert shown(attached) == User("")


async def test_a_blob_may_be_wrapped_and_its_media_type_written_in_any_way(tmp_path: Path) -> None:
    data = picture(size=(30, 20))
    lines = base64.encodebytes(data).decode()
    sent = {"type": "blob", "data": lines, "mimeType": "Image/PNG; name=a.png"}
    attached = await read(tmp_path, sent)
    assert attached.logged == [
        {"type": "blob", "data": coded(data), "mimeType": "image/png", "byteLength": len(data)}
    ]
    assert shown(attached).images == (Image("image/png", coded(data)),)
    attached = await read(tmp_path, blob(b"{}", "application/json; charset=utf-8", "a.json"))
    assert attached.after == ('<attachment name="a.json">\n{}\n</attachment>',)


async def test_a_long_text_is_cut(tmp_path: Path) -> None:
    attached = await read(tmp_path, blob(b"x" * 70_000, "text/plain", "t"))
    assert attached.after == (f'<attachment name="t">\n{"x" * 65536}\n[cut]\n</attachment>',)


async def test_a_model_without_vision_is_told_of_a_picture_that_another_may_see_later(tmp_path: Path) -> None:
    attached = await read(tmp_path, blob(picture(), "image/png", "a.png"), vision=False)
    assert attached.after == ("The attachment a.png is a picture, which this model can't see.",)
    assert len(shown(attached).images) == 1


async def test_without_pillow_a_picture_that_is_too_large_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attachment = blob(picture(size=(900, 10)), "image/png", "a.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    attached = await read(tmp_path, attachment)
    assert attached.after == (
        "The attachment a.png can't be shown: it has 900x10 pixels, and this model takes 200 a side; "
        "pip install 'turnwright[images]' lets it be made fit.",
    )
    length = len(base64.b64decode(attachment.pop("data")))
    assert attached.logged == [{**attachment, "omittedReason": "too_large", "byteLength": length}]


async def test_an_abort_before_the_message_is_logged_logs_a_picture_that_can_be_sent(tmp_path: Path) -> None:
    async with scene(tmp_path, [text("fine")]) as at:

        def abort_at_once(event: Event) -> None:
            if event.type == "pending_messages.modified":
                at.session.abort()

        at.client.on_event = abort_at_once
        await send(at, blob(picture(size=(4000, 10)), "image/png", "wide.png"))
        at.client.on_event = lambda event: None
        await at.prompt("and now?")
        (image,) = [i for m in at.model.requests[0].messages if isinstance(m, User) for i in m.images]
        assert pixels(base64.b64decode(image.data)) == (2000, 5)


async def test_pictures_of_any_tool_are_made_fit_or_said_not_to_be(tmp_path: Path) -> None:
    (tmp_path / "wide.bmp").write_bytes(picture("BMP", (4000, 20)))
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))

    async def draw(call: Call) -> ToolResult:
        return ToolResult("Drawn.", images=(Image("image/png", "%%%"), Image("image/png", coded(picture()))))

    script = [
        calls(
            ("a", "view", '{"path": "wide.bmp"}'),
            ("b", "view", '{"path": "broken.png"}'),
            ("c", "draw", "{}"),
        ),
        text("Seen."),
    ]
    async with scene(tmp_path, script, machine=[*machine_tools(), LocalTool("draw", draw)]) as at:
        await at.prompt("look")
        outputs = [m for m in at.model.requests[1].messages if isinstance(m, ToolOutput)]
        assert [done.success for done in at.all(ToolComplete)] == [True] * 3
        assert words(at.model.requests[0]) == ["look"]
    damaged = "it is damaged, or of a kind that can't be read"
    assert [output.content for output in outputs] == [
        "Viewed image file successfully.",
        f"Viewed image file successfully.\nThe picture can't be shown: {damaged}.",
        "Drawn.\nThe picture can't be shown: it is not valid base64.",
    ]
    (wide,) = outputs[0].images
    assert (wide.mime_type, pixels(base64.b64decode(wide.data))) == ("image/png", (2000, 10))
    assert (outputs[1].images, outputs[2].images) == ((), (Image("image/png", coded(picture())),))
