"""What a session has cost so far."""

from typing import Any

from turnwright.engine.session import Session
from turnwright.protocol.prices import nano_credits
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


@methods.session("session.usage.getMetrics", SessionParams)
async def metrics(session: Session, params: SessionParams) -> dict[str, Any]:
    """Totals over the whole log: requests and tokens by model, milliseconds, changed lines."""
    state = session.journal.state
    usage, changes = state.usage, state.usage.code_changes()
    found: dict[str, Any] = {
        "totalPremiumRequestCost": usage.cost,
        "totalUserRequests": state.prompts,
        "totalNanoAiu": nano_credits(usage.cost),
        "totalApiDurationMs": round(usage.duration),
        "sessionStartTime": state.start.start_time if state.start else state.modified,
        "codeChanges": {
            "linesAdded": changes.lines_added,
            "linesRemoved": changes.lines_removed,
            "filesModifiedCount": len(changes.files_modified),
            "filesModified": changes.files_modified,
        },
        "modelMetrics": {name: totals.metrics() for name, totals in usage.models.items()},
        "lastCallInputTokens": usage.last.input_tokens if usage.last else 0,
        "lastCallOutputTokens": usage.last.output_tokens if usage.last else 0,
    }
    if state.model:
        found["currentModel"] = state.model
    return found
