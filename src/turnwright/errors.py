"""Every exception that Turnwright raises on purpose, one level deep."""

from typing import Literal


class TurnwrightError(Exception):
    """Base of all deliberate errors; its text is written for the user and may go over the wire."""


class InvalidParams(TurnwrightError):
    """Input has the wrong shape; the text names the field and what it must be."""


class TooLarge(TurnwrightError):
    """Something has more bytes or pixels than can be shown; the text says how many are the most."""


class SessionNotFound(TurnwrightError):
    """No session with that id is live or logged."""


class SessionInUse(TurnwrightError):
    """Another live process holds the session."""


class StoreError(TurnwrightError):
    """The log could not be read or written."""


class OutputError(TurnwrightError):
    """What a command prints can't be written."""


class ConfigError(TurnwrightError):
    """A configuration file, environment variable or option is wrong."""


class RequestFailed(TurnwrightError):
    """A JSON-RPC request was answered with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ConnectionClosed(TurnwrightError):
    """The other side hung up before it answered."""


class SessionFailed(TurnwrightError):
    """A run that a client waited for ended in `session.error`."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


class LimitReached(TurnwrightError):
    """A session has cost as much as it may, and nobody lets it go on."""


class AnswerUnfit(TurnwrightError):
    """A model's final answer didn't come to fit the schema that was asked for."""


class GitError(TurnwrightError):
    """Git is missing, or can't tell what it was asked."""


ProviderErrorKind = Literal[
    "authentication", "authorization", "quota", "rate_limit", "context_limit", "query", "connection"
]


class ProviderError(TurnwrightError):
    """A model call failed.

    `kind` becomes `session.error`'s errorType. `sent` tells whether the request reached the wire.
    `retryable` tells whether the same request may succeed later; `retry_after` is in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ProviderErrorKind = "query",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        sent: bool = True,
        error_code: str | None = None,
        provider_call_id: str | None = None,
        detail: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ProviderErrorKind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.sent = sent
        self.error_code = error_code
        self.provider_call_id = provider_call_id
        self.detail = detail
