"""Answers of a server of OpenAI's responses, whole and as events."""

from collections.abc import Iterator
from itertools import count

from turnwright.protocol.wire import Json, encode
from turnwright.testing.answers import ARGUMENTS_PIECE, TEXT_PIECE, Say, Send, arguments_text, pieces_of

_USAGE: Json = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 18,
}


def whole(answer: Say, body: dict[str, Json], number: int) -> dict[str, Json]:
    """`answer` as the body of a plain response to `body`, the server's `number`th.

    Any finish reason but "completed" is the one for which the answer is incomplete.
    """
    return {**_open(body, number), **_end(answer), "output": _items(answer, number)}


def stream(answer: Say, body: dict[str, Json], number: int) -> Iterator[bytes]:
    """`answer` as the events of a stream, in small pieces."""
    return map(event, events(answer, body, number))


def events(answer: Say, body: dict[str, Json], number: int) -> Iterator[dict[str, Json]]:
    """`answer` as events: each is one of a stream, or one message of a websocket."""
    numbers = count()

    def send(kind: str, **fields: Json) -> dict[str, Json]:
        return {"type": f"response.{kind}", "sequence_number": next(numbers), **fields}

    opened = _open(body, number)
    yield send("created", response=opened)
    yield send("in_progress", response=opened)
    for index, item in enumerate(_items(answer, number)):
        yield send("output_item.added", output_index=index, item=_emptied(item))
        for kind, fields in _filling(item):
            yield send(kind, output_index=index, item_id=item["id"], **fields)
        yield send("output_item.done", output_index=index, item=item)
    ended = whole(answer, body, number)
    yield send(ended["status"], response=ended)


def event(data: Json) -> bytes:
    """One event of a stream, named by its type."""
    return b"event: %b\ndata: %b\n\n" % (data["type"].encode(), encode(data))


def send_events(*events: Json) -> Send:
    """A stream of `events` as they are."""
    return Send([event(data) for data in events])


def _open(body: dict[str, Json], number: int) -> dict[str, Json]:
    """The response as it is before there is anything in it."""
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "store": body.get("store", True),
        "usage": None,
    }


def _end(answer: Say) -> dict[str, Json]:
    usage = _USAGE if answer.usage is None else answer.usage
    if answer.finish_reason in (None, "completed"):
        return {"status": "completed", "usage": usage}
    return {"status": "incomplete", "incomplete_details": {"reason": answer.finish_reason}, "usage": usage}


def _items(answer: Say, number: int) -> list[dict[str, Json]]:
    items: list[dict[str, Json]] = []
    if answer.reasoning:
        summary: Json = [{"type": "summary_text", "text": answer.reasoning}]
        sealed = f"encrypted-{number}"
        items.append(
            {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": sealed}
        )
    if answer.text:
        head = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        items.append(
            {
                **head,
                "content": [{"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}],
            }
        )
    for index, (name, arguments) in enumerate(answer.calls):
        head = {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}"}
        items.append({**head, "name": name, "arguments": arguments_text(arguments), "status": "completed"})
    return items


def _emptied(item: dict[str, Json]) -> dict[str, Json]:
    """The item as it is when the stream opens it."""
    match item["type"]:
        case "reasoning":
            return {**item, "summary": [], "encrypted_content": ""}
        case "message":
            return {**item, "content": [], "status": "in_progress"}
        case _:
            return {**item, "arguments": "", "status": "in_progress"}


def _filling(item: dict[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The events that fill an item: each a type and what it carries besides the item's place."""
    match item["type"]:
        case "reasoning":
            part = item["summary"][0]
            yield "reasoning_summary_part.added", {"summary_index": 0, "part": {**part, "text": ""}}
            for piece in pieces_of(part["text"], TEXT_PIECE):
                yield "reasoning_summary_text.delta", {"summary_index": 0, "delta": piece}
            yield "reasoning_summary_text.done", {"summary_index": 0, "text": part["text"]}
            yield "reasoning_summary_part.done", {"summary_index": 0, "part": part}
        case "message":
            part = item["content"][0]
            yield "content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
            for piece in pieces_of(part["text"], TEXT_PIECE):
                yield "output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
            yield "output_text.done", {"content_index": 0, "text": part["text"], "logprobs": []}
            yield "content_part.done", {"content_index": 0, "part": part}
        case _:
            for piece in pieces_of(item["arguments"], ARGUMENTS_PIECE):
                yield "function_call_arguments.delta", {"delta": piece}
            yield (
                "function_call_arguments.done",
                {"arguments": item["arguments"], "name": item["name"]},
            )
