"""A fixture for tests of apps: the first run records what the model replies, later runs replay it.

To use it, a conftest says `pytest_plugins = ["turnwright.testing.pytest_plugin"]`.
"""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from turnwright.engine.secrets import Secrets
from turnwright.protocol.counted import counted
from turnwright.protocol.options import ProviderOptions
from turnwright.providers.base import Provider
from turnwright.providers.open import open_provider
from turnwright.recording import form
from turnwright.recording.model import Recorder, Replay
from turnwright.recording.places import Places

FOLDER = "recordings"
OPTION = "--record-anew"


class RecordedModel:
    """The model of one test; `path` is its recording. The test's tmp_path has a name in it."""

    def __init__(self, path: Path, folder: Path, *, anew: bool) -> None:
        self.path = path
        self._folder = folder
        self._anew = anew
        self._recorder: Recorder | None = None
        self._replay: Replay | None = None
        self._secrets = Secrets()

    @property
    def is_replayed(self) -> bool:
        """Whether there is a recording to replay, and no wish for a new one."""
        return self.path.exists() and not self._anew

    def provider(self, source: ProviderOptions | Provider) -> Provider:
        """What to give to `Client` as its provider: the recording, or else `source`, which is recorded.

        Raises StoreError when the recording can't be read.
        """
        if self.is_replayed:
            self._replay = Replay(form.read(self.path), self._places)
            return self._replay
        if isinstance(source, ProviderOptions):
            self._secrets.add_keys_of(source)
            source = open_provider(source)
        self._recorder = Recorder(source, self._places)
        return self._recorder

    def finish(self, *, passed: bool) -> None:
        """Keep what a test that passed has recorded, or fail with the first difference."""
        if self._recorder is not None and passed:
            form.write(self._recorder.recording, self.path)
        if self._replay is None:
            return
        if self._replay.difference is not None:
            pytest.fail(f"{self._replay.difference}\n\n{self._remedy()}", pytrace=False)
        if self._replay.left and passed:
            came = counted(self._replay.served, "request")
            fault = f"{came} came, and {self._replay.left} more had been recorded."
            pytest.fail(f"{fault}\n\n{self._remedy()}", pytrace=False)

    def _places(self, session_id: str) -> Places:
        return Places(folder=self._folder, session_id=session_id, secrets=self._secrets)

    def _remedy(self) -> str:
        return f"If that is meant to be so: pytest {OPTION} writes {self.path} anew."


_PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which recordings are made anew."""
    parser.addoption(OPTION, action="store_true", help="record what models reply anew, with the real ones")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether the test itself passed, for the fixture that ends after it."""
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = call.excinfo is None
    return report


@pytest.fixture
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecordedModel]:
    """The model of this test, recorded at `recordings/FILE.TEST.json` beside the test's file."""
    node = request.node
    name = f"{request.path.stem}.{node.name.replace('/', '_')}.json"
    anew = bool(request.config.getoption(OPTION))
    model = RecordedModel(request.path.parent / FOLDER / name, tmp_path, anew=anew)
    yield model
    model.finish(passed=node.stash.get(_PASSED, False))
