"""The models that an endpoint lists, in OpenAI's shape and in its relatives'."""

from turnwright.protocol.wire import Json
from turnwright.providers.base import ModelInfo
from turnwright.providers.loose import a_count, a_text, an_array, an_object


def model_list(answer: Json) -> list[ModelInfo]:
    """Read the answer to GET /models; an entry without an id is left out."""
    fields = an_object(answer)
    entries = an_array(fields.get("data")) or an_array(fields.get("models")) or an_array(answer)
    return [_model(entry) for entry in map(an_object, entries) if a_text(entry.get("id"))]


def _model(entry: dict[str, Json]) -> ModelInfo:
    capabilities = an_object(entry.get("capabilities"))
    limits = an_object(capabilities.get("limits"))
    modalities = an_array(an_object(entry.get("architecture")).get("input_modalities"))
    return ModelInfo(
        id=entry["id"],
        name=a_text(entry.get("name")) or a_text(entry.get("display_name")) or entry["id"],
        context_window=a_count(
            limits.get("max_context_window_tokens"),
            entry.get("context_window"),
            entry.get("context_length"),
            entry.get("max_model_len"),
            an_object(entry.get("meta")).get("n_ctx"),
        ),
        output_limit=a_count(
            limits.get("max_output_tokens"),
            entry.get("max_output_tokens"),
            an_object(entry.get("top_provider")).get("max_completion_tokens"),
        ),
        vision=_vision(an_object(capabilities.get("supports")).get("vision"), modalities),
        raw=entry,
    )


def _vision(supported: Json, modalities: list[Json]) -> bool | None:
    if isinstance(supported, bool):
        return supported
    return "image" in modalities if modalities else None
