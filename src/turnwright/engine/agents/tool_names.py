"""What agents call tools: files that are shared between products name them by what they do."""

from collections.abc import Iterable

ALIASES = {
    "execute": ("bash",),
    "shell": ("bash",),
    "powershell": ("bash",),
    "read": ("view",),
    "notebookread": ("view",),
    "edit": ("edit", "create"),
    "write": ("edit", "create"),
    "multiedit": ("edit", "create"),
    "notebookedit": ("edit", "create"),
    "search": ("grep", "glob"),
}
"""By the name in small letters; a tool that has such a name itself is meant too."""


def expand(listed: Iterable[str] | None) -> tuple[str, ...] | None:
    """The tools that a list allows, as a filter takes them; None for all, which is also what `*` says."""
    if listed is None:
        return None
    names = tuple(listed)
    if "*" in names:
        return None
    allowed = (allowed for name in names for allowed in (name, name.lower(), *ALIASES.get(name.lower(), ())))
    return tuple(dict.fromkeys(allowed))
