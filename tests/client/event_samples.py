"""One event of each type that Turnwright emits, with every field that it ever sets."""

from typing import Any

from turnwright.protocol import wire
from turnwright.protocol.events import Data, conversation, questions, session, tools

ID = "11111111-2222-4333-8444-555555555555"
TIME = "2026-01-02T03:04:05.678Z"
CONTEXT = session.Context("/work", "/work", "owner/name", "github", "github.com", "main", "0" * 40, "1" * 40)
REQUEST: dict[str, Any] = {
    "kind": "custom-tool",
    "toolName": "ok",
    "toolDescription": "Ok.",
    "args": {},
    "toolCallId": "call",
}
USAGE = conversation.AssistantUsage(
    "model",
    1,
    2,
    3,
    4,
    5,
    None,
    6,
    7.5,
    None,
    "user",
    "conversation-agent",
    ID,
    ID,
    None,
    "stop",
    None,
    "high",
)
METRICS: dict[str, Any] = {
    "model": {
        "requests": {"count": 1, "cost": 1},
        "usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "cacheWriteTokens": 4},
    }
}

SAMPLES: tuple[Data, ...] = (
    conversation.SystemMessage("Be brief.", "system", ID),
    conversation.UserMessage("hi", "hi there", "user", ID, [], [], "interactive", None, "idle", ID),
    conversation.UserMessage("", "go on", "autopilot", ID, [], [], "autopilot", True, "idle", ID),
    conversation.UserMessage("more", delivery="steering", message_id=ID),
    conversation.UserMessage("more", delivery="queued", message_id=ID),
    conversation.TurnStart("0", ID),
    conversation.TurnEnd("0"),
    conversation.TurnEnd("0", request_sent=False),
    conversation.TurnRetry("0", "model", "rate_limit"),
    conversation.Intent("Looking around"),
    conversation.StreamingDelta(12),
    conversation.MessageStart(ID),
    conversation.MessageDelta(ID, "he"),
    conversation.ReasoningDelta(ID, "hm"),
    conversation.Reasoning(ID, "hmm"),
    conversation.AssistantMessage(
        ID,
        "hello",
        [
            conversation.ToolRequest("call", "ok", "function", {"a": 1}),
            conversation.ToolRequest("other", "ok", "function", '{"a": '),
        ],
        "model",
        ID,
        "0",
        2,
        "hmm",
        ID,
        ID,
        ID,
    ),
    USAGE,
    conversation.ModelCallStart("0", "model"),
    conversation.ModelCallFailure("top_level", "model", 429, 12, "api", "too many requests", ID, "http"),
    conversation.ModelCallFailure("top_level", "model", None, 12, "transport", "refused", None, "http"),
    questions.PermissionRequested(ID, REQUEST, REQUEST),
    questions.PermissionCompleted(ID, questions.PermissionResult("approved"), "call"),
    questions.PermissionCompleted(ID, questions.PermissionResult("cancelled", reason="interrupted"), "call"),
    questions.PermissionCompleted(
        ID, questions.PermissionResult("denied-interactively-by-user", feedback="no"), "call"
    ),
    questions.PermissionCompleted(
        ID,
        questions.PermissionResult("denied-no-approval-rule-and-could-not-request-from-user"),
        "call",
    ),
    questions.ExternalToolRequested(ID, ID, "call", "ok", {"a": 1}, "/work"),
    questions.ExternalToolCompleted(ID),
    questions.UserInputRequested(ID, "Which?", ["a", "b"], True, "call"),
    questions.UserInputCompleted(ID, "a", False),
    questions.ExitPlanModeRequested(ID, "Build.", "# Plan", ["interactive"], "interactive", "call"),
    questions.ExitPlanModeCompleted(ID, True, "interactive", False, "good"),
    questions.AutoModeSwitchRequested(ID, "rate_limited", 2),
    questions.AutoModeSwitchCompleted(ID, "no"),
    session.SessionStart(
        ID, 1, "turnwright", "0.1.0", TIME, None, CONTEXT, False, False, "model", "high", None, "app"
    ),
    session.SessionResume(
        TIME,
        3,
        context_tier=None,
        context=CONTEXT,
        already_in_use=False,
        remote_steerable=False,
        session_was_active=True,
        continue_pending_work=True,
        events_file_size_bytes=9,
        selected_model="model",
        reasoning_effort="high",
    ),
    session.ModelChange("new", "old", "high", None),
    session.ModeChanged("interactive", "plan"),
    session.TitleChanged("A title"),
    session.Renamed("A name"),
    session.ContextChanged("/work", "/work", "owner/name", "github", "github.com", "main"),
    session.ToolsUpdated("model"),
    session.SkillsLoaded([]),
    session.CustomAgentsUpdated([], [], []),
    session.Info("notification", "Note."),
    session.Warned("empty_reply", "Look."),
    session.SessionError("rate_limit", "Too many requests.", 429, ID, "rate_limited", True),
    session.Idle(),
    session.Idle(aborted=True),
    session.AssistantIdle(aborted=True),
    session.TaskComplete(True, "All done."),
    session.AutopilotStopped("cap_reached"),
    session.PlanChanged("create"),
    session.WorkspaceFileChanged("notes.txt", "update"),
    session.SnapshotRewind(ID, 3),
    session.UsageInfo(1000, 10, 2, 3, 4, 3, True),
    session.UsageRecord(wire.builtins(USAGE)),
    session.Shutdown(
        "routine", 1, 20, 1735786800000, session.CodeChanges(1, 2, ["a"]), METRICS, 0, "model", 5, 1, 2, 2, 99
    ),
    session.Shutdown("error", 0, 0, 0, session.CodeChanges(0, 0, []), {}, error_reason="why"),
    session.PendingMessagesModified(),
    session.BackgroundTasksChanged(),
    session.Abort("user_initiated"),
    tools.ToolStart("call", "ok", {"a": 1}, "0", "model"),
    tools.ToolStart("call", "ok", '{"a": ', "0", "model"),
    tools.ToolPartial("call", "line\n"),
    tools.ToolComplete(
        "call",
        True,
        "model",
        ID,
        "0",
        tools.ToolSuccess("ok", "ok!", [{"type": "image", "mimeType": "image/png", "data": "aGk="}]),
        None,
        [tools.FileEdited("/work/a", "create")],
        {"metrics": {"linesAdded": 1, "linesRemoved": 0}},
    ),
    tools.ToolComplete("call", False, "model", ID, "0", None, tools.ToolFailure("no", "denied")),
    tools.HookStart(ID, "preToolUse", {"toolName": "ok"}),
    tools.HookEnd(ID, "preToolUse", True, {"permissionDecision": "allow"}),
    tools.HookEnd(ID, "preToolUse", False, error={"message": "it failed"}),
)
