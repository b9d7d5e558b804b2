"""What a function's docstring says of it and of its parameters."""

import inspect
import re

_SECTION = re.compile(
    r"^(args|arguments|parameters|params|returns?|raises|yields|examples?|notes?):\s*$", re.IGNORECASE
)
_ARGUMENTS = re.compile(r"^(args|arguments|parameters|params):", re.IGNORECASE)
_ITEM = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_FIELD = re.compile(r"^:(\w+)(?:\s+[^:]*?)??(?:\s+(\w+))?:\s*(.*)$")


def read(function: object) -> tuple[str, dict[str, str]]:
    """The description, and a text for each parameter that has one.

    Takes sections as Google writes them (`Args:`) and fields as Sphinx does (`:param name: text`).
    """
    lines = (inspect.getdoc(function) or "").splitlines()
    described: list[str] = []
    found: dict[str, str] = {}
    rest = iter(lines)
    for line in rest:
        if _SECTION.match(line) or _FIELD.match(line):
            found = _parameters([line, *rest])
            break
        described.append(line)
    return "\n".join(described).strip(), found


def _parameters(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    inside, indent, name = False, 0, ""
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if field := _FIELD.match(line):
            inside, name = False, (field[2] or "") if field[1] == "param" else ""
            if name:
                found[name] = field[3]
        elif _SECTION.match(line):
            inside, indent, name = bool(_ARGUMENTS.match(line)), 0, ""
        elif inside and text and depth and (not indent or depth == indent) and (item := _ITEM.match(text)):
            indent, name = depth, item[1]
            found[name] = item[2]
        elif name and text and depth > indent:
            found[name] = f"{found[name]} {text}".strip()
    return found
