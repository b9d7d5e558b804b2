"""The JSON-RPC reader: frames out of bytes, messages out of frames."""

from collections.abc import Iterator

from tests.fuzzing.target import JSON_TOKENS, Target, pieces_of, require
from turnwright.errors import ConnectionClosed, RequestFailed
from turnwright.protocol import wire
from turnwright.rpc import messages
from turnwright.rpc.framing import HEADER_LIMIT, Decoder, encode

LIMIT = 1500
_BODIES = (
    b'{"jsonrpc":"2.0","id":1,"method":"session.send","params":{"prompt":"h\xc3\xa9 \\ud83d\\ude00"}}',
    b'{"jsonrpc":"2.0","method":"session.event","params":null}',
    b'{"jsonrpc":"2.0","id":"a","result":{"ok":true}}',
    b'{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no","data":[1]}}',
    b'[{"id":1}]',
    b'{"id":{"a":1},"method":1}',
    b'{"id":1,"method":"m","params":' + b"[" * 1100 + b"}",
)


def _samples() -> list[bytes]:
    whole = encode(_BODIES)
    other = b"content-type: x; charset=utf-8\r\nCONTENT-LENGTH:  2 \r\n\r\n{}"
    skipped = b"Content-Length: 1600\r\n\r\n" + b"x" * 1600 + encode(_BODIES[:1])
    return [
        b"\0" + whole,
        b"\7" + whole,
        b"\1" + other,
        b"\0" + skipped,
        *(b"\0" + encode([body]) for body in _BODIES),
    ]


def _attempt(data: bytes) -> None:
    """The first byte says in pieces of how many bytes the rest comes."""
    size, stream = data[:1], data[1:]
    found = list(_read(stream, size[0] if size else 0))
    require(found == list(_read(stream, 0)), "other messages when the bytes came otherwise")


def _read(stream: bytes, size: int) -> Iterator[bytes]:
    """What is made of a stream: each message that is answered or understood, and how it ends."""
    decoder = Decoder(LIMIT)
    for piece in pieces_of(stream, size):
        decoder.feed(piece)
        while True:
            try:
                body = decoder.next_message()
            except RequestFailed as error:
                yield str(error).encode()
                continue
            except ConnectionClosed:
                yield b"closed"
                return
            if body is None:
                break
            require(len(body) <= LIMIT, "a body over the limit")
            yield _understood(body)


def _understood(body: bytes) -> bytes:
    found = messages.parse(body)
    match found:
        case messages.Refusal():
            require(found.error.code in (messages.PARSE_ERROR, messages.INVALID_REQUEST), "an odd refusal")
        case messages.Response():
            try:
                messages.result_of("m", found)
            except RequestFailed:
                return b"failed"
        case messages.Request():
            require(
                wire.loads(wire.encode(found.method)) == wire.clean(found.method), "a method that is no text"
            )
    return wire.encode(found)


RPC = Target(
    "rpc", _samples, (*JSON_TOKENS, b"Content-Length: ", b"\r\n\r\n", b'"id":', b'"method":'), _attempt
)
assert HEADER_LIMIT > LIMIT
