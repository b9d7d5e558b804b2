"""What a model server's refusal means: its status and body as one ProviderError."""

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from turnwright.errors import InvalidParams, ProviderError, ProviderErrorKind
from turnwright.protocol.wire import Json, loads
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.loose import a_text, an_array, an_object

LONGEST_MESSAGE = 500
LONGEST_DETAIL = 4000
LONGEST_WAIT = 7 * 86400.0
"""Seconds; a server that asks for more is asking for nothing sensible."""

_WORTH_TELLING = 60.0

_CONTEXT_CODES = ("context_length", "exceed_context", "model_max_prompt_tokens", "string_above_max_length")
_CONTEXT_TEXT = re.compile(
    r"context (length|window|size|limit)|maximum context|prompt is too long|input is too long"
    r"|too many (input |prompt )?tokens|maximum prompt length|input token count .* exceeds",
    re.IGNORECASE,
)
_SERVER_FAULTS = frozenset(
    [
        "server_error",
        "internal_error",
        "api_error",
        "timeout",
        "timeout_error",
        "overloaded",
        "overloaded_error",
    ]
)
_QUOTA_CODES = ("quota", "billing", "insufficient_funds", "credit_balance")


def call_id(headers: Mapping[str, str]) -> str | None:
    """Return the server's own id of a request, from its response's headers."""
    names = ("x-request-id", "x-github-request-id", "request-id", "apim-request-id")
    return next((found for name in names if (found := headers.get(name))), None)


def refusal(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Turn a response whose status is not 2xx into the error to raise."""
    text = body.decode(errors="replace")
    try:
        said, code = _explanation(loads(body))
    except InvalidParams:
        said, code = ("" if text.lstrip().startswith("<") else text), None
    return _error(endpoint, status, said, code, detail=text, headers=headers)


def stream_error(endpoint: Endpoint, payload: Json, headers: Mapping[str, str], raw: str) -> ProviderError:
    """Turn an error that the server sent as a part of its answer into the error to raise."""
    said, code = _explanation(payload)
    told = (str(an_object(payload).get("status")), code or "")  # messages of a websocket have a status
    status = next((int(word) for word in told if re.fullmatch(r"[45]\d\d", word)), None)
    return _error(endpoint, status, said or "an error without a text", code, detail=raw, headers=headers)


def _error(
    endpoint: Endpoint,
    status: int | None,
    said: str,
    code: str | None,
    *,
    detail: str,
    headers: Mapping[str, str],
) -> ProviderError:
    kind = _kind(status, said, code)
    retryable = kind == "rate_limit" or status in (408, 409, 425) or _is_server_fault(status, kind, code)
    waitable = retryable or kind == "quota"
    wait = _retry_after(headers)
    return ProviderError(
        endpoint.mask(_sentence(endpoint, status, kind, said) + (_reset(wait) if waitable else "")),
        kind=kind,
        status=status,
        retryable=retryable,
        retry_after=wait,
        error_code=endpoint.mask(code) if code else None,
        provider_call_id=call_id(headers),
        detail=endpoint.mask(detail)[:LONGEST_DETAIL],
    )


def _is_server_fault(status: int | None, kind: ProviderErrorKind, code: str | None) -> bool:
    if kind != "query":
        return False
    if status is None:
        return code in _SERVER_FAULTS
    return status >= 500 and status not in (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)


def _kind(status: int | None, said: str, code: str | None) -> ProviderErrorKind:
    lowered = (code or "").lower()
    if status == HTTPStatus.UNAUTHORIZED:
        return "authentication"
    if status == HTTPStatus.PAYMENT_REQUIRED or any(word in lowered for word in _QUOTA_CODES):
        return "quota"
    if status == HTTPStatus.FORBIDDEN:
        return "authorization"
    if status == HTTPStatus.TOO_MANY_REQUESTS or "rate_limit" in lowered:
        return "rate_limit"
    if any(word in lowered for word in _CONTEXT_CODES) or _CONTEXT_TEXT.search(said):
        return "context_limit"
    return "query"


def _sentence(endpoint: Endpoint, status: int | None, kind: ProviderErrorKind, said: str) -> str:
    where = f"{endpoint.name} at {endpoint.host}"
    number = f" ({status})" if status is not None else ""
    match kind:
        case "authentication" if endpoint.has_credentials:
            claim = f"the API key of provider {where} was refused{number}"
        case "authentication":
            claim = f"provider {where} wants an API key and none is set{number}"
        case "authorization" if endpoint.has_credentials:
            claim = f"provider {where} does not allow this request to the API key that it was sent{number}"
        case "authorization":
            claim = f"provider {where} does not allow this request{number}"
        case "quota":
            claim = f"the quota at provider {where} is used up{number}"
        case "rate_limit":
            claim = f"provider {where} limits the rate of requests{number}"
        case "context_limit":
            claim = f"the conversation is too long for the model of provider {where}{number}"
        case _ if status == HTTPStatus.NOT_FOUND:
            claim = f"provider {where} does not know this model or address{number}"
        case _ if status is not None and status < 300:
            claim = f"provider {where} did not open a websocket{number}"
        case _ if status is not None and status < 400:
            claim = f"provider {where} answered with a redirection, which is not followed{number}"
        case _:
            claim = f"provider {where} answered with an error{number}"
    words = " ".join(said.split())
    if len(words) > LONGEST_MESSAGE:
        words = words[: LONGEST_MESSAGE - 1] + "…"
    return f"{claim}: {words}" if words else claim


def _reset(wait: float | None) -> str:
    """When a limit that lasts is over, as the end of a sentence; a short wait is not worth telling."""
    if wait is None or wait < _WORTH_TELLING:
        return ""
    until = datetime.fromtimestamp(time.time() + wait, UTC).isoformat(timespec="minutes")
    return f" (until {until.removesuffix('+00:00')} UTC)"


def _explanation(payload: Json) -> tuple[str, str | None]:
    """Find the server's message and its code in the shapes that servers use."""
    if items := an_array(payload):
        return _explanation(items[0])
    top = an_object(payload)
    error = top.get("error")
    inner = an_object(error) or an_object(next(iter(an_array(top.get("errors"))), None))
    said = (
        a_text(inner.get("message"))
        or a_text(error)
        or a_text(top.get("message"))
        or a_text(top.get("detail"))
        or a_text(an_object(next(iter(an_array(top.get("detail"))), None)).get("msg"))
        or a_text(payload)
    )
    upstream = a_text(an_object(inner.get("metadata")).get("raw"))
    code = next((c for c in (inner.get("code"), top.get("code"), inner.get("type")) if _is_code(c)), None)
    return (f"{said}: {upstream}" if upstream else said), None if code is None else str(code)


def _is_code(value: Json) -> bool:
    return (isinstance(value, str) and value != "") or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    seconds = _number(headers.get("retry-after-ms"))
    if seconds is not None:
        seconds /= 1000
    else:
        seconds = _number(headers.get("retry-after"))
    if seconds is None:
        try:
            date = parsedate_to_datetime(headers.get("retry-after", ""))
        except ValueError:
            return None
        seconds = date.timestamp() - time.time()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
