"""What the model reads of attachments that are text: selections, references, context of extensions."""

import json
import re

from turnwright.engine.prompts.attachment_shapes import Attachment
from turnwright.protocol import wire

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def named(name: str) -> str:
    """A name or path as it stands in a line of text; one that would break the line is a JSON string."""
    return json.dumps(name) if _BREAKS.search(name) else name


def selection(item: Attachment) -> str:
    """What is selected in an editor, with its place."""
    where = named(item.display_name or item.file_path or "unknown")
    if item.selection is not None:
        first, last = item.selection.start.line + 1, item.selection.end.line + 1
        where += f" (line {first})" if first == last else f" (lines {first}-{last})"
    return (
        "<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be "
        f"related to their request.\nFile: {where}\n```\n{item.text or ''}\n```\n</ide_selection>"
    )


def reference(item: Attachment) -> str:
    """Something on GitHub in a line: an issue by its number and title, anything else by what it is."""
    if item.type == "github_reference":
        facts = "".join(f" [{fact}]" for fact in (item.reference_type, item.state) if fact)
        return f"#{item.number} - {item.title}{facts} ({item.url})"
    kind = item.type.removeprefix("github_").replace("_", " ")
    words = " ".join((item.path or item.name or item.title or item.message or "").split())
    return f"{kind} {words} ({item.url})" if words else f"{kind} ({item.url})"


def extension_context(item: Attachment) -> str:
    """What an extension of the app contributes, as JSON."""
    payload = wire.encode(item.payload).decode()
    return (
        f'<extension_context extension="{item.extension_id or "unknown"}" title="{item.title or ""}">\n'
        f"{payload}\n</extension_context>"
    )
