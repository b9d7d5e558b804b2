"""What a session has cost so far, as the app sees it."""

from turnwright.protocol.wire import Wire


class Requests(Wire):
    """Model calls that were answered, and what they cost in US dollars."""

    count: int = 0
    cost: float = 0


class Tokens(Wire):
    """Tokens as the model's server counted them; those of the cache are part of the input."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class ModelUsage(Wire):
    """One model's share."""

    requests: Requests
    usage: Tokens


class SessionUsage(Wire):
    """Totals over a session's whole log, sub-agents and summaries included; times are in milliseconds."""

    model_metrics: dict[str, ModelUsage]
    total_api_duration_ms: float = 0

    @property
    def cost(self) -> float:
        """US dollars; calls of models whose prices nobody knows count as nothing."""
        return sum(model.requests.cost for model in self.model_metrics.values())
