"""Which types of events say nothing to the folds, so that their lines need not be decoded."""

MATTER_TO_NO_FOLD = frozenset(
    [
        "assistant.reasoning",
        "hook.end",
        "hook.start",
        "model.call_failure",
        "session.compaction_start",
        "session.error",
        "session.file_captured",
        "session.info",
        "session.shutdown",
        "session.state_record",
        "session.warning",
        "tool.execution_start",
    ]
)
"""Types of which a log holds many, or large ones, and that say nothing of the session's state or history."""

ASKED = frozenset(["external_tool.requested", "permission.requested"])
ANSWERED = frozenset(["external_tool.completed", "permission.completed"])

MATTER_TO_THE_STATE_ALONE = (
    ASKED
    | ANSWERED
    | {
        "assistant.turn_end",
        "assistant.turn_start",
        "session.usage_record",
    }
)
"""Types of which a log holds many, and that say nothing of the history."""
