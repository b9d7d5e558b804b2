"""After a rate limit the user may let the endpoint choose another model."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases.scene import scene
from tests.engine.harness import Recorder
from turnwright.errors import ProviderError
from turnwright.protocol.events.questions import AutoModeSwitchCompleted, AutoModeSwitchRequested
from turnwright.protocol.events.session import ModelChange, SessionError
from turnwright.providers.base import ModelInfo
from turnwright.providers.scripted import Scripted, Step, text
from turnwright.providers.transport import DIRECT, Route

pytestmark = pytest.mark.anyio

LIMITED = ProviderError("slow down", kind="rate_limit", error_code="user_daily_limited", retry_after=3600.0)


class Offering(Scripted):
    """A scripted model beside others."""

    def __init__(self, steps: list[Step], *names: str) -> None:
        super().__init__(steps)
        self._names = names

    async def models(self, route: Route = DIRECT) -> list[ModelInfo]:
        return [ModelInfo(name, name) for name in self._names]


def user_who_says(response: str) -> Recorder:
    """A client whose user answers so."""
    client = Recorder()
    client.handlers["autoModeSwitch.request"] = lambda params: {"response": response}
    return client


ASKED: dict[str, Any] = {"request_auto_mode_switch": True}


async def test_a_run_goes_on_with_auto_when_the_user_says_yes(tmp_path: Path) -> None:
    model = Offering([LIMITED, text("by another")], "scripted", "auto")
    async with scene(tmp_path, model, client=user_who_says("yes"), **ASKED) as at:
        await at.prompt("go")
        question = at.all(AutoModeSwitchRequested)[0]
        assert question == AutoModeSwitchRequested(question.request_id, "user_daily_limited", 3600)
        assert at.all(AutoModeSwitchCompleted) == [AutoModeSwitchCompleted(question.request_id, "yes")]
        assert at.all(ModelChange)[1:] == [ModelChange("auto", "scripted", cause="rate_limit_auto_switch")]
        assert [request.model for request in model.requests] == ["scripted", "auto"]
        assert at.all(SessionError) == []


async def test_a_no_ends_the_run_with_the_error(tmp_path: Path) -> None:
    model = Offering([LIMITED], "scripted", "auto")
    async with scene(tmp_path, model, client=user_who_says("no"), **ASKED) as at:
        await at.prompt("go")
        assert [error.message for error in at.all(SessionError)] == ["slow down"]
        assert len(at.all(ModelChange)) == 1


@pytest.mark.parametrize("names", [("scripted",), ("auto",)], ids=["no auto", "auto itself"])
async def test_nobody_is_asked_where_auto_would_be_no_help(tmp_path: Path, names: tuple[str, ...]) -> None:
    model = Offering([LIMITED], *names)
    client = user_who_says("yes")
    async with scene(tmp_path, model, client=client, model=names[0], **ASKED) as at:
        await at.prompt("go")
        assert at.all(AutoModeSwitchRequested) == []
        assert [error.message for error in at.all(SessionError)] == ["slow down"]
