"""Rules of the source that no linter of ours knows."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "turnwright"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON_FILES = SOURCES + sorted((ROOT / "tests").rglob("*.py"))

LONGEST_MODULE = 400
PLACES_THAT_CATCH_EVERYTHING = (
    "rpc/peer.py",
    "engine/loop.py",
    "engine/tool_calls/tool_call.py",
    "client/app_code.py",
)
"""A request's answer, a run, a tool's run and the app's own functions: there a bug of anybody's becomes an
answer and a log line."""

HEAVY = {"aiohttp", "anyio", "asyncio", "pydantic", "sqlite3", "tree_sitter", "tree_sitter_bash", "xllamacpp"}


def name_in_package(source: Path) -> str:
    return source.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("source", PYTHON_FILES, ids=name_in_package)
def test_a_module_is_short_enough_to_be_one_thing(source: Path) -> None:
    assert len(source.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("source", SOURCES, ids=name_in_package)
def test_a_module_says_what_it_is_for(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body


def test_only_the_named_places_catch_every_exception() -> None:
    places = Counter(
        source.relative_to(PACKAGE).as_posix()
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    )
    assert places - Counter[str](PLACES_THAT_CATCH_EVERYTHING) == Counter()


def catches_everything(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id == "Exception" for kind in kinds)


@pytest.mark.parametrize("source", sorted((PACKAGE / "protocol").rglob("*.py")), ids=name_in_package)
def test_the_wires_types_stand_on_msgspec_and_the_standard_library_alone(source: Path) -> None:
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        for name in imported_names(node)
    }
    assert imported - sys.stdlib_module_names <= {"msgspec", "turnwright"}


def imported_names(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case _:
            return []


def test_importing_the_package_loads_nothing_heavy() -> None:
    print_loaded = "import turnwright, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", print_loaded], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
