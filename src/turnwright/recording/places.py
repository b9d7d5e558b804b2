"""What differs from one run to the next, and what nobody else may see, in the texts of a recording."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

from turnwright.engine.secrets import MASK, Secrets
from turnwright.protocol.wire import Json

FOLDER, STATE, SESSION, HOME = "{{folder}}", "{{state}}", "{{session}}", "{{home}}"
_TIME = re.compile(r"<current_datetime>[^<]*</current_datetime>\n\n")
_KEYS = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r"|(?<=-----BEGIN PRIVATE KEY-----)[^-]+|(?<=-----BEGIN RSA PRIVATE KEY-----)[^-]+"
)
"""What is a key by its looks, whoever it belongs to."""


class Places:
    """Names for what is elsewhere in another run: folders and the session's id. Keys become asterisks.

    `folder` is where the session works, `state` where sessions are kept.
    """

    def __init__(
        self,
        *,
        folder: Path | None = None,
        state: Path | None = None,
        session_id: str | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        named = {str(folder): FOLDER, str(state): STATE, str(session_id): SESSION, str(Path.home()): HOME}
        known = [(real, name) for real, name in named.items() if real not in ("None", "/", "")]
        self._names = dict(sorted(known, key=lambda pair: -len(pair[0])))  # one folder may lie in another
        self._secrets = secrets or Secrets()

    def hide(self, text: str) -> str:
        """A text as it goes into a recording; without the time that stands before a prompt."""
        text = _TIME.sub("", text, count=1)
        for real, name in self._names.items():
            text = text.replace(real, name)
        return _KEYS.sub(MASK, self._secrets.mask(text))

    def show(self, text: str) -> str:
        """A text of a recording as it is here."""
        for real, name in self._names.items():
            text = text.replace(name, real)
        return text

    def hide_all(self, value: Json) -> Json:
        """Every text in a JSON value, as it goes into a recording."""
        return _mapped(value, self.hide)

    def show_all(self, value: Json) -> Json:
        """Every text in a JSON value of a recording, as it is here."""
        return _mapped(value, self.show)


def _mapped(value: Json, change: Callable[[str], str]) -> Json:
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(item, change) for item in cast("list[Json]", value)]
        case dict():
            pairs = cast("dict[str, Json]", value).items()
            return {key: _mapped(item, change) for key, item in pairs}
        case _:
            return value
