"""Answers of a type of the app's: the schema that goes out, and the value that comes back."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from turnwright.client.json_schema import Schema, schema_of, validated
from turnwright.errors import InvalidParams, SessionFailed
from turnwright.protocol import wire
from turnwright.protocol.explanation import explain


def schema_for(wanted: object) -> Schema:
    """The JSON Schema of a type, or the one that was given. Raises TypeError for what has none."""
    return dict(cast("Schema", wanted)) if isinstance(wanted, Mapping) else schema_of(wanted)


def read(content: str, wanted: object) -> Any:
    """An answer as the type that was wanted, or as plain data where that was a schema.

    Raises SessionFailed for what the type refuses beyond its schema, and where a denial ended the run before
    there was an answer.
    """
    kind: Any = Any if isinstance(wanted, Mapping) else wanted
    try:
        return msgspec.convert(wire.loads(content), kind, dec_hook=validated)
    except InvalidParams as error:
        raise SessionFailed("response_schema", "The run ended without an answer in JSON.") from error
    except msgspec.ValidationError as error:
        raise SessionFailed("response_schema", f"The answer can't be used: {explain(error, kind)}") from error
