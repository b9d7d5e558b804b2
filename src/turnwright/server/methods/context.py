"""How full the context window is, and of what; all counts are tokens, estimated from the texts' length."""

from typing import Any

from turnwright.engine import context_use
from turnwright.engine.prompts.prompt import custom_instructions
from turnwright.engine.session import Session
from turnwright.protocol.options import InfiniteSessions
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


class ContextInfoParams(SessionParams):
    """A model's limits in tokens; 0 where they aren't known."""

    prompt_token_limit: int = 0
    output_token_limit: int = 0
    selected_model: str | None = None


@methods.session("session.metadata.contextInfo", ContextInfoParams)
async def info(session: Session, params: ContextInfoParams) -> dict[str, Any]:
    """The parts of the context window; null before the first message."""
    sizes = session.context_sizes()
    if not _is_settled(session):
        return {"contextInfo": None}
    window = params.prompt_token_limit or sizes.limit
    return {
        "contextInfo": {
            "modelName": params.selected_model or session.model,
            "systemTokens": sizes.system,
            "conversationTokens": sizes.conversation,
            "toolDefinitionsTokens": sizes.tools,
            "mcpToolsTokens": 0,
            "totalTokens": sizes.total,
            "promptTokenLimit": window,
            "compactionThreshold": _threshold(session, window),
            "limit": window + params.output_token_limit,
            "bufferTokens": params.output_token_limit + _buffer(session, window),
        }
    }


@methods.session("session.metadata.getContextAttribution", SessionParams)
async def attribution(session: Session, params: SessionParams) -> dict[str, Any]:
    """What each source adds to the context window; null before the first message."""
    if not _is_settled(session):
        return {"contextAttribution": None}
    sizes, history = session.context_sizes(), session.journal.history
    custom = min(session.tokens(len(custom_instructions(session))), sizes.system)
    entries = [
        {"kind": "system", "id": "systemPrompt", "label": "System prompt", "tokens": sizes.system},
        {"kind": "system", "id": "toolDefinitions", "label": "Tool definitions", "tokens": sizes.tools},
    ]
    for name, size in context_use.by_definition(session.tools.definitions).items():
        entry = {"kind": "toolDefinition", "id": f"toolDefinition:{name}", "label": name}
        entries.append({**entry, "tokens": session.tokens(size), "parentId": "toolDefinitions"})
    for name, size in context_use.by_tool(history.messages).items():
        entries.append({"kind": "tool", "id": f"tool:{name}", "label": name, "tokens": session.tokens(size)})
    return {
        "contextAttribution": {
            "totalTokens": sizes.total,
            "modelId": session.model,
            "modelSource": "selected",
            "promptTokenLimit": sizes.limit,
            "limit": sizes.limit,
            "bufferTokens": _buffer(session, sizes.limit),
            "compactionThreshold": _threshold(session, sizes.limit),
            "categories": {
                "systemPrompt": sizes.system - custom,
                "customInstructions": custom,
                "systemTools": sizes.tools,
                "mcpTools": 0,
                "messages": sizes.conversation,
                "freeSpace": max(0, sizes.limit - sizes.total - _buffer(session, sizes.limit)),
                "buffer": _buffer(session, sizes.limit),
            },
            "entries": entries,
            "compactions": {"count": session.journal.state.compactions},
        }
    }


class HeaviestParams(SessionParams):
    """How many to tell."""

    limit: int = 10


@methods.session("session.metadata.getContextHeaviestMessages", HeaviestParams)
async def heaviest(session: Session, params: HeaviestParams) -> dict[str, Any]:
    """The largest messages in the context window, the largest first."""
    weights = sorted(context_use.weigh(session.journal.history.messages), key=lambda w: -w.size)
    return {
        "totalTokens": session.context_sizes().total,
        "messages": [
            {"id": w.id, "label": w.label, "role": w.role, "tokens": session.tokens(w.size)}
            for w in weights[: max(0, params.limit)]
        ],
    }


class RecomputeParams(SessionParams):
    """The model to count for."""

    model_id: str


@methods.session("session.metadata.recomputeContextTokens", RecomputeParams)
async def recompute(session: Session, params: RecomputeParams) -> dict[str, int]:
    """The tokens of the system prompt and of the messages; the estimate is the same for every model."""
    sizes = session.context_sizes()
    return {
        "totalTokens": sizes.system + sizes.conversation,
        "messagesTokenCount": sizes.conversation,
        "systemTokenCount": sizes.system,
    }


def _is_settled(session: Session) -> bool:
    return bool(session.journal.history.system or session.offer.size)


def _limits(session: Session) -> InfiniteSessions:
    return session.options.infinite_sessions or InfiniteSessions()


def _threshold(session: Session, window: int) -> int:
    return int(window * _limits(session).background_compaction_threshold)


def _buffer(session: Session, window: int) -> int:
    return window - int(window * _limits(session).buffer_exhaustion_threshold)
