"""What each refusal of a model server becomes."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from exchange import KEY, told

from turnwright.protocol.wire import encode
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.failures import refusal, stream_error

ENDPOINT = Endpoint.at("https://user@models.example/v1", name="acme", token=KEY)
WHERE = "acme at models.example"


def refused(status: int, error: object, **headers: str) -> dict[str, object]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return told(refusal(ENDPOINT, status, named, encode(error)))


def body(message: str, code: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "code": code}}


def told_as(message: str, kind: str, status: int, **more: object) -> dict[str, object]:
    return {"message": message, "kind": kind, "status": status, "retryable": False, "sent": True, **more}


def test_a_refused_key_is_named_by_its_provider_and_never_shown() -> None:
    error = refusal(ENDPOINT, 401, {}, encode(body(f"Incorrect API key provided: {KEY}.", "invalid_api_key")))
    assert told(error) == told_as(
        f"the API key of provider {WHERE} was refused (401): Incorrect API key provided: ***.",
        "authentication",
        401,
        error_code="invalid_api_key",
    )
    assert error.detail is not None
    assert KEY not in error.detail


def test_a_key_that_is_not_set_is_asked_for() -> None:
    error = refusal(Endpoint.at("http://h:1/v1", name="acme"), 401, {}, b"")
    assert told(error) == told_as(
        "provider acme at h:1 wants an API key and none is set (401)", "authentication", 401
    )


@pytest.mark.parametrize(
    ("status", "code", "kind", "claim", "retryable"),
    [
        (400, None, "query", "provider {} answered with an error", False),
        (402, None, "quota", "the quota at provider {} is used up", False),
        (403, None, "authorization",
         "provider {} does not allow this request to the API key that it was sent", False),
        (404, "model_not_found", "query", "provider {} does not know this model or address", False),
        (408, None, "query", "provider {} answered with an error", True),
        (409, None, "query", "provider {} answered with an error", True),
        (422, None, "query", "provider {} answered with an error", False),
        (429, "rate_limited", "rate_limit", "provider {} limits the rate of requests", True),
        (429, "insufficient_quota", "quota", "the quota at provider {} is used up", False),
        (500, None, "query", "provider {} answered with an error", True),
        (501, None, "query", "provider {} answered with an error", False),
        (503, None, "query", "provider {} answered with an error", True),
        (307, None, "query", "provider {} answered with a redirection, which is not followed", False),
        (413, "context_length_exceeded", "context_limit",
         "the conversation is too long for the model of provider {}", False),
    ],
)  # fmt: skip
def test_a_status_says_what_kind_of_failure_it_is(
    status: int, code: str | None, kind: str, claim: str, retryable: bool
) -> None:
    more: dict[str, object] = {"error_code": code} if code else {}
    assert refused(status, body("why", code)) == told_as(
        f"{claim.format(WHERE)} ({status}): why", kind, status, **{"retryable": retryable, **more}
    )


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens.",
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "prompt is too long: 250000 tokens > 200000 maximum",
    ],
)
def test_a_conversation_that_is_too_long_is_told_apart(message: str) -> None:
    assert refused(400, body(message))["kind"] == "context_limit"


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        ({"error": "plain words"}, "plain words", None),
        ({"message": "top", "code": 17}, "top", "17"),
        ({"detail": "from a framework"}, "from a framework", None),
        ({"detail": [{"msg": "field required", "loc": ["body"]}]}, "field required", None),
        ([{"error": {"message": "in a list", "status": "X"}}], "in a list", None),
        ({"errors": [{"message": "one of several"}]}, "one of several", None),
        (
            {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad tool"}}},
            "Provider returned error: bad tool",
            "400",
        ),
        ({"error": {"message": "typed", "type": "some_type"}}, "typed", "some_type"),
    ],
)
def test_the_servers_words_are_found_in_every_shape(error: object, said: str, code: str | None) -> None:
    found = refused(400, error)
    assert (found["message"], found.get("error_code")) == (
        f"provider {WHERE} answered with an error (400): {said}",
        code,
    )


def test_a_web_page_is_no_explanation_but_plain_text_is() -> None:
    page = refusal(ENDPOINT, 502, {}, b"<html>Bad gateway</html>")
    assert str(page) == f"provider {WHERE} answered with an error (502)"
    assert page.detail == "<html>Bad gateway</html>"
    assert str(refusal(ENDPOINT, 502, {}, b"no\n upstream")).endswith("(502): no upstream")


def test_a_long_explanation_is_trimmed_to_a_sentence() -> None:
    error = refusal(ENDPOINT, 400, {}, encode(body("x" * 10_000)))
    assert len(str(error)) < 600
    assert len(error.detail or "") == 4000


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1"}, 1.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e9"}, 604800.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_in_seconds_and_bounded(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert refusal(ENDPOINT, 429, headers, b"").retry_after == seconds


def test_the_wait_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    wait = refusal(ENDPOINT, 429, {"retry-after": date}, b"").retry_after
    assert wait is not None
    assert 50 < wait <= 60


def test_a_weekly_limit_of_the_copilot_service_keeps_its_code_wait_and_request() -> None:
    error = {
        "error": {"message": "You've reached your weekly rate limit.", "code": "user_weekly_rate_limited"}
    }
    assert refused(429, error, retry_after="1", x_github_request_id="some-request-id") == told_as(
        f"provider {WHERE} limits the rate of requests (429): You've reached your weekly rate limit.",
        "rate_limit",
        429,
        retryable=True,
        retry_after=1.0,
        error_code="user_weekly_rate_limited",
        provider_call_id="some-request-id",
    )


def test_a_limit_that_lasts_for_hours_says_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 3, 1, 22, 30, tzinfo=UTC).timestamp()
    monkeypatch.setattr("turnwright.providers.failures.time.time", lambda: now)
    error = refused(429, body("come back later"), retry_after="7200")
    assert error == told_as(
        f"provider {WHERE} limits the rate of requests (429): come back later (until 2026-03-02T00:30 UTC)",
        "rate_limit",
        429,
        retryable=True,
        retry_after=7200.0,
    )


def test_an_error_inside_an_answer_is_read_like_a_status() -> None:
    error = stream_error(ENDPOINT, {"error": {"message": "overloaded", "code": 503}}, {}, "raw")
    assert told(error) == told_as(
        f"provider {WHERE} answered with an error (503): overloaded",
        "query",
        503,
        retryable=True,
        error_code="503",
    )
