"""The floor: the least that a Python server can do on this wire.

It speaks just enough of it for the measured conversations: events go to a log without fsync, messages are
encoded once, and one loop tick is one write. There are no permissions, hooks, usage records, notifications
of a session's changes, checks or error handling. It is the practical limit, not the same work.

The one thing that it syncs is the end of a turn that was aborted: that must be on the disk before the session
is idle.
"""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

Json = dict[str, Any]

encode = msgspec.json.encode
decode = msgspec.json.decode


def new_id() -> str:
    """Return a random id in the form of a UUID."""
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def now() -> str:
    """Return the time as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class Client:
    """The other side: what one loop tick sends it goes out in one write."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []

    def send(self, message: Json) -> None:
        """Queue a message."""
        body = encode(message)
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting += (b"Content-Length: %d\r\n\r\n" % len(body), body)

    def _flush(self) -> None:
        self._writer.write(b"".join(self._waiting))
        self._waiting.clear()


@dataclass
class Reply:
    """A model's answer as it comes in."""

    text: list[str] = field(default_factory=list[str])
    calls: dict[int, Json] = field(default_factory=dict[int, Json])

    def add_call(self, piece: Json) -> None:
        """Take a piece of a tool call."""
        call = self.calls.setdefault(piece["index"], {"id": piece.get("id"), "name": "", "arguments": ""})
        call["name"] += piece["function"].get("name") or ""
        call["arguments"] += piece["function"].get("arguments") or ""

    def message(self) -> Json:
        """Return the reply as the model wants to see it again."""
        message: Json = {"role": "assistant", "content": "".join(self.text) or None}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in self.calls.values()
            ]
        return message


class Session:
    """One conversation and its log."""

    def __init__(self, client: Client, http: aiohttp.ClientSession, home: Path, params: Json) -> None:
        self._client = client
        self._http = http
        self._id = params["sessionId"]
        self._url = params["provider"]["baseUrl"] + "/chat/completions"
        folder = home / "session-state" / self._id
        folder.mkdir(parents=True)
        self._log = (folder / "events.jsonl").open("ab", buffering=0)
        self._last_id: str | None = None
        self.questions: dict[str, asyncio.Future[Any]] = {}
        tools = [
            {"type": "function", "function": {k: tool[k] for k in ("name", "description", "parameters")}}
            for tool in params["tools"]
        ]
        head = {
            "model": params["model"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": tools,
        }
        self._head = encode(head)[:-1] + b',"messages":['
        self._messages: list[bytes] = []
        self._command: asyncio.subprocess.Process | None = None
        self._is_aborted = False

    def emit(self, type: str, data: Json, *, ephemeral: bool = False) -> None:
        """Log an event and send it."""
        event: Json = {
            "type": type,
            "data": data,
            "id": new_id(),
            "timestamp": now(),
            "parentId": self._last_id,
        }
        if ephemeral:
            event["ephemeral"] = True
        else:
            self._last_id = event["id"]
            self._log.write(encode(event) + b"\n")
        params = {"sessionId": self._id, "event": event}
        self._client.send({"jsonrpc": "2.0", "method": "session.event", "params": params})

    async def run(self, prompt: str) -> None:
        """Carry a prompt to its end."""
        self._messages.append(encode({"role": "user", "content": prompt}))
        self.emit("user.message", {"content": prompt})
        turn = 0
        while await self._turn(str(turn)):
            turn += 1
        self.emit("session.idle", {}, ephemeral=True)

    async def _turn(self, turn_id: str) -> bool:
        message_id = new_id()
        self.emit("assistant.turn_start", {"turnId": turn_id})
        sizes = {"tokenLimit": 1, "currentTokens": 1, "messagesLength": len(self._messages)}
        self.emit("session.usage_info", sizes, ephemeral=True)
        self.emit("model.call_start", {"turnId": turn_id, "model": "scripted"}, ephemeral=True)
        reply = await self._ask(message_id)
        self._messages.append(encode(reply.message()))
        self.emit(
            "assistant.usage", {"model": "scripted", "inputTokens": 1, "outputTokens": 1}, ephemeral=True
        )
        requests = [
            {
                "toolCallId": call["id"],
                "name": call["name"],
                "arguments": decode(call["arguments"]),
                "type": "function",
            }
            for call in reply.calls.values()
        ]
        self.emit(
            "assistant.message",
            {"messageId": message_id, "content": "".join(reply.text), "toolRequests": requests},
        )
        for call in requests:
            await self._call(call)
        if self._is_aborted:
            os.fsync(self._log.fileno())
        self.emit("assistant.turn_end", {"turnId": turn_id})
        return bool(requests) and not self._is_aborted

    async def _ask(self, message_id: str) -> Reply:
        reply = Reply()
        body = self._head + b",".join(self._messages) + b"]}"
        headers = {"content-type": "application/json"}
        async with self._http.post(self._url, data=body, headers=headers) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *events, rest = (rest + chunk).split(b"\n\n")
                for event in events:
                    if event != b"data: [DONE]":
                        self._take(decode(event[6:]), reply, message_id)
        return reply

    def _take(self, chunk: Json, reply: Reply, message_id: str) -> None:
        if not chunk["choices"]:
            return
        delta = chunk["choices"][0]["delta"]
        if text := delta.get("content"):
            if not reply.text:
                self.emit("assistant.message_start", {"messageId": message_id}, ephemeral=True)
            reply.text.append(text)
            shown = {"messageId": message_id, "deltaContent": text}
            self.emit("assistant.message_delta", shown, ephemeral=True)
            self.emit("assistant.streaming_delta", {"totalResponseSizeBytes": len(text)}, ephemeral=True)
        for piece in delta.get("tool_calls") or ():
            reply.add_call(piece)

    async def _call(self, call: Json) -> None:
        named = {
            "toolCallId": call["toolCallId"],
            "toolName": call["name"],
            "arguments": call["arguments"],
        }
        self.emit("tool.execution_start", named)
        if call["name"] == "bash":
            text = await self._run(call["arguments"]["command"])
        else:
            text = await self._ask_app(named)
        done = {"toolCallId": call["toolCallId"], "success": True, "result": {"content": text}}
        self.emit("tool.execution_complete", done)
        message = {"role": "tool", "tool_call_id": call["toolCallId"], "content": text}
        self._messages.append(encode(message))

    async def _ask_app(self, named: Json) -> str:
        request_id = new_id()
        answer = self.questions[request_id] = asyncio.get_running_loop().create_future()
        self.emit("external_tool.requested", {"requestId": request_id, "sessionId": self._id, **named})
        text = (await answer)["textResultForLlm"]
        self.emit("external_tool.completed", {"requestId": request_id})
        return text

    async def _run(self, command: str) -> str:
        self._command = await asyncio.create_subprocess_shell(
            command, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
        )
        return str(await self._command.wait())

    def abort(self) -> None:
        """End the command that runs, and the conversation with this turn."""
        assert self._command is not None
        self._is_aborted = True
        os.killpg(self._command.pid, signal.SIGTERM)
        self.emit("abort", {"reason": "user_initiated"})


class Server:
    """The methods that the measured conversations call."""

    def __init__(self, client: Client, http: aiohttp.ClientSession) -> None:
        self._client = client
        self._http = http
        self._home = Path(os.environ["COPILOT_HOME"])
        self._sessions: dict[str, Session] = {}
        self._runs: set[asyncio.Task[None]] = set()

    def answer(self, method: str, params: Json) -> Json:
        """Carry out a request and return its result."""
        match method:
            case "connect":
                return {"ok": True, "protocolVersion": 3, "version": "0"}
            case "session.create":
                session = Session(self._client, self._http, self._home, params)
                self._sessions[params["sessionId"]] = session
                return {"sessionId": params["sessionId"]}
            case "session.send":
                run = asyncio.create_task(self._sessions[params["sessionId"]].run(params["prompt"]))
                self._runs.add(run)
                run.add_done_callback(self._runs.discard)
                return {"messageId": new_id()}
            case "session.abort":
                self._sessions[params["sessionId"]].abort()
                return {"success": True}
            case "session.tools.handlePendingToolCall":
                question = self._sessions[params["sessionId"]].questions.pop(params["requestId"])
                question.set_result(params["result"])
                return {"success": True}
            case _:
                return {}


async def main() -> None:
    """Serve one client on stdio until it hangs up."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    client = Client(asyncio.StreamWriter(transport, protocol, None, loop))
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=1 << 20) as http:
        server = Server(client, http)
        while True:
            try:
                header = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            message: Json = decode(await reader.readexactly(int(header[15:])))
            result = server.answer(message["method"], message.get("params") or {})
            client.send({"jsonrpc": "2.0", "id": message["id"], "result": result})


if __name__ == "__main__":
    asyncio.run(main())
