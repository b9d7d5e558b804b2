"""The demo: it is right when it should be, says when it isn't, and counts the model's calls by itself."""

import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from turnwright.providers.scripted import Scripted, calls, text

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).parents[2] / "demo" / "run.py"
GREP = calls(("c1", "grep", '{"pattern": "port", "path": "service.ini"}'))


@pytest.fixture
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo_run", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_demo_accepts_the_right_answer_alone_and_shows_the_turns(
    demo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    puzzle = demo.puzzle(random.Random(7))
    for name, answer, expected in [("a", f"It is {puzzle.answer}.", True), ("b", "It is 1.", False)]:
        model, place = Scripted([GREP, text(answer)]), tmp_path / name
        place.mkdir()
        assert await demo.demonstrate(puzzle, model, place) is expected
        shown = capsys.readouterr().out
        assert "turn 1\n  ✓ grep port service.ini" in shown
        assert "turn 2\n" in shown
        assert f"Answer: {answer}\n" in shown
        assert shown.count("events.jsonl: 2; calls of the model: 2\n") == 1
        assert puzzle.answer in str(model.requests[1].messages[-1])


async def test_an_answer_without_a_tool_is_no_success(demo: ModuleType, tmp_path: Path) -> None:
    puzzle = demo.puzzle(random.Random(7))
    assert not await demo.demonstrate(puzzle, Scripted([text(puzzle.answer)]), tmp_path)


async def test_a_run_that_fails_is_told_and_is_no_success(
    demo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not await demo.demonstrate(demo.puzzle(random.Random(7)), Scripted(), tmp_path)
    assert "Answer: none: the script has no more replies" in capsys.readouterr().out


@pytest.mark.real_model
@pytest.mark.timeout(600)
def test_the_local_model_answers_the_demos_question() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, "--seed", "1"], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, "It is right" in done.stdout) == (0, True), done.stdout
