"""A model that takes only so many pictures in a request."""

import base64
import re
from pathlib import Path

import pytest

from tests.cases.wired import serving
from tests.pictures import picture
from tests.server.sessions import started
from turnwright.protocol.wire import encode
from turnwright.testing.answers import Say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


async def test_no_request_of_a_session_has_more_pictures_than_its_model_takes(tmp_path: Path) -> None:
    answers = [Say("one"), Say("two"), Say("all of it"), Say("four")]
    async with ChatServer(answers) as model, serving(tmp_path, None) as server:
        client = server.connect()
        session = await started(
            client,
            tmp_path,
            model="m",
            provider={"baseUrl": model.base_url},
            modelCapabilities={"limits": {"vision": {"max_prompt_images": 1}}},
        )
        for number in (1, 2):
            data = base64.b64encode(picture(size=(10, number))).decode()
            blob = {"type": "blob", "mimeType": "image/png", "data": data, "displayName": f"{number}.png"}
            await client.call("session.send", sessionId=session, prompt="look", attachments=[blob])
            await client.until("session.idle", number)
        await client.call("session.history.summarizeForHandoff", sessionId=session)
        await client.call("session.send", sessionId=session, prompt="and now?")
        await client.until("session.idle", 3)
    assert model.violations == []
    note = rb"\[The picture (\S+) is left out: a request may hold 1, and later ones took its place\.\]"
    sent = [encode(request["messages"]) for request in model.requests]
    assert [(body.count(b'image_url":{'), re.findall(note, body)) for body in sent] == [
        (1, []),
        (1, [b"1.png"]),
        (1, [b"1.png"]),
        (1, [b"1.png"]),
    ]
