"""The form that a run's last reply must have: JSON that fits a schema of the app's."""

import re
from typing import TYPE_CHECKING, Any

from turnwright.errors import AnswerUnfit, InvalidParams, ProviderError
from turnwright.protocol import wire

if TYPE_CHECKING:
    from jsonschema_rs import Validator

MOST_REPAIRS = 2
_LONGEST_FAULT = 500
_REFUSALS = (400, 422, 501)
_OF_SCHEMA = re.compile("format|schema|grammar|structured|output_config", re.IGNORECASE)

Schema = dict[str, Any]


class AnswerForm:
    """Judges a run's answer by `schema`, and counts how often a better one was asked for.

    `by_endpoint` is whether the endpoint is told of the schema: until it refuses that.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.repairs = 0
        self.by_endpoint = True
        self._validator = validator(schema)

    @property
    def instructions(self) -> str:
        """What the model is told beside the prompt."""
        schema = wire.encode(self.schema).decode()
        return (
            "<answer_format>\nUse tools as you need them. Your final answer, when you call no more tools, "
            "must be one JSON value that fits this JSON Schema, and nothing else: no words around it, no "
            f"code fence.\n{schema}\n</answer_format>"
        )

    def fault(self, answer: str) -> str | None:
        """What is wrong with an answer; None if it fits."""
        try:
            value: object = wire.loads(answer)
        except InvalidParams:
            return "it is not JSON" if answer.strip() else "it is empty"
        error = next(self._validator.iter_errors(value), None)
        if error is None:
            return None
        place = "/".join(str(part) for part in error.instance_path)
        said = f"{place}: {error.message}" if place else error.message
        return said if len(said) <= _LONGEST_FAULT else said[: _LONGEST_FAULT - 1] + "…"

    def was_refused(self, error: ProviderError) -> bool:
        """Whether an endpoint takes no schema, or not this one; it isn't told of it again then."""
        refused = self.by_endpoint and error.status in _REFUSALS and _OF_SCHEMA.search(str(error)) is not None
        self.by_endpoint = self.by_endpoint and not refused
        return refused

    def repair(self, fault: str) -> str:
        """Ask for a better answer; what the model is told. Raises AnswerUnfit when that was done enough."""
        if self.repairs == MOST_REPAIRS:
            raise AnswerUnfit(
                f"The final answer does not fit the schema, after {MOST_REPAIRS} repairs: {fault}"
            )
        self.repairs += 1
        return (
            f"Your final answer does not fit the schema that was asked for: {fault}. Give the answer again: "
            "one JSON value that fits the schema, and nothing else."
        )


def check_schema(field: str, schema: Schema) -> None:
    """Raise InvalidParams that names the field when a schema can't be used."""
    try:
        validator(schema)
    except InvalidParams as error:
        raise InvalidParams(f"{field}: {error}") from error


def validator(schema: Schema) -> "Validator":
    """What checks values by the schema. Raises InvalidParams; what the schema refers to must be in it."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse)
    except ValueError as error:
        reason, *_ = str(error).splitlines()
        raise InvalidParams(f"is no JSON Schema: {reason}") from error


def _refuse(uri: str) -> None:
    """Nothing is fetched: a schema comes from outside."""
    raise ValueError(f"{uri} is not in the schema")
