"""What has changed in the working directory, by git and by what a session keeps track of."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases.wired import WireClient, serving
from tests.server.sessions import prompted, started
from turnwright.engine.changes import git as git_of_the_engine
from turnwright.errors import RequestFailed
from turnwright.protocol import wire
from turnwright.providers.scripted import calls, text

pytestmark = pytest.mark.anyio

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one commit on its branch `main`."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    write(
        folder,
        {"kept.txt": "same\n", "gone.txt": "remove me\n", "old name.txt": "a\nb\nc\nd\n", "ü.txt": "1\n"},
    )
    git(folder, "add", ".")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, timeout=30, capture_output=True)


def commit(folder: Path) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    git(folder, *identity, "commit", "-q", "-m", "more")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")


async def diff(client: WireClient, session: str, mode: str, **more: Any) -> dict[str, Any]:
    return await client.call("session.workspaces.diff", sessionId=session, mode=mode, **more)


def kinds(found: dict[str, Any]) -> dict[str, str]:
    """The kind of each change, by path."""
    return {change["path"]: change["changeType"] for change in found["changes"]}


async def test_changes_are_told_by_file(tmp_path: Path, checkout: Path) -> None:
    write(checkout, {"kept.txt": "same\nmore\n", "ü.txt": "2\n", "new.txt": "fresh\n"})
    (checkout / "gone.txt").unlink()
    (checkout / "data.bin").write_bytes(b"\0\1")
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        found = await diff(client, session, "unstaged")
    diffs = {change["path"]: change.pop("diff") for change in found["changes"]}
    assert found == {
        "requestedMode": "unstaged",
        "mode": "unstaged",
        "changes": [
            {"path": "data.bin", "changeType": "added"},
            {"path": "gone.txt", "changeType": "deleted"},
            {"path": "kept.txt", "changeType": "modified"},
            {"path": "new.txt", "changeType": "added"},
            {"path": "ü.txt", "changeType": "modified"},
        ],
        "isFallback": False,
    }
    assert diffs["kept.txt"].startswith("diff --git a/kept.txt b/kept.txt\nindex ")
    assert diffs["kept.txt"].endswith("\n@@ -1 +1,2 @@\n same\n+more")
    assert diffs["gone.txt"].endswith("-remove me")
    assert diffs["new.txt"].endswith("@@ -1,0 +1,1 @@\n+fresh")
    assert "Binary files" in diffs["data.bin"]


async def test_paths_are_as_from_the_working_directory(tmp_path: Path, checkout: Path) -> None:
    below = checkout / "below"
    below.mkdir()
    write(checkout, {"kept.txt": "other\n", "below/new": "x"})
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, below)
        found = await diff(client, session, "unstaged")
    assert kinds(found) == {"../kept.txt": "modified", "new": "added"}


async def test_white_space_can_be_passed_over(tmp_path: Path, checkout: Path) -> None:
    write(checkout, {"kept.txt": " same\n", "ü.txt": "2\n"})
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        found = await diff(client, session, "unstaged", ignoreWhitespace=True)
    assert kinds(found) == {"ü.txt": "modified"}


async def test_a_branch_is_compared_with_where_it_left_the_default_one(
    tmp_path: Path, checkout: Path
) -> None:
    git(checkout, "checkout", "-q", "-b", "feature")
    git(checkout, "mv", "old name.txt", "new name.txt")
    commit(checkout)
    (checkout / "kept.txt").unlink()
    (checkout / "kept.txt").symlink_to("gone.txt")
    git(checkout, "branch", "-f", "other")
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        found = await diff(client, session, "branch")
        assert kinds(found) == {"kept.txt": "modified", "new name.txt": "renamed"}
        assert found["changes"][1]["oldPath"] == "old name.txt"
        assert (found["mode"], found["baseBranch"], found["isFallback"]) == ("branch", "main", False)
        git(checkout, "branch", "-D", "main")
        found = await diff(client, session, "branch")
        assert kinds(found) == {"kept.txt": "modified"}
        assert (found["mode"], found["isFallback"], "baseBranch" in found) == ("unstaged", True, False)


async def test_what_is_too_long_is_told_without_its_diff(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(checkout, {"kept.txt": "x\n" * 600_000, "huge.txt": "y\n" * 600_000, "ü.txt": "2\n"})
    (checkout / "gone.txt").unlink()
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        found = await diff(client, session, "unstaged")
        cut = {change["path"] for change in found["changes"] if change.get("isTruncated")}
        assert (cut, kinds(found)) == (
            {"huge.txt", "kept.txt"},
            {"gone.txt": "deleted", "huge.txt": "added", "kept.txt": "modified", "ü.txt": "modified"},
        )
        monkeypatch.setattr(git_of_the_engine, "OUTPUT_LIMIT", 1000)
        again = await diff(client, session, "unstaged")
        assert kinds(again) == kinds(found)
        whole = [change["path"] for change in again["changes"] if not change.get("isTruncated")]
        assert whole == ["gone.txt"]


async def test_without_git_or_a_checkout_the_answer_says_so(tmp_path: Path, checkout: Path) -> None:
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, tmp_path)
        with pytest.raises(RequestFailed, match="not a git repository"):
            await diff(client, session, "unstaged")
    async with serving(tmp_path / "other", environment={"PATH": str(tmp_path)}) as server:
        client = server.connect()
        session = await started(client, checkout)
        with pytest.raises(RequestFailed, match="git is not installed, or not on the PATH"):
            await diff(client, session, "unstaged")


async def test_without_a_checkout_why_the_sessions_own_changes_cant_be_had_is_not_lost(
    tmp_path: Path,
) -> None:
    script = [calls(("a", "wait", "{}"))]
    async with serving(tmp_path, script, environment=ENVIRONMENT) as server:
        client = server.connect()
        tools = [{"name": "wait", "skipPermission": True}]
        session = await started(client, tmp_path, tools=tools, enableFileChangeTracking=True)
        await client.call("session.send", sessionId=session, prompt="do it")
        await client.until("external_tool.requested")
        found = await diff(client, session, "session")
        assert found == {
            "requestedMode": "session",
            "mode": "session",
            "changes": [],
            "isFallback": False,
            "unavailableReason": "session-busy",
        }
        await client.call("session.abort", sessionId=session)
        await client.until("session.idle")


async def test_what_a_checkouts_configuration_names_is_not_run(tmp_path: Path, checkout: Path) -> None:
    for name in ("core.fsmonitor", "diff.external"):
        git(checkout, "config", name, f"touch {tmp_path}/{name}; true")
    for key in ("clean", "process"):
        git(checkout, "config", f"filter.a=b \U0001f642.{key}", f"touch {tmp_path}/filter.{key}; cat")
        git(checkout, "config", f"filter.own.{key}", f"touch {tmp_path}/filter.{key}; cat")
    git(checkout, "config", "filter.own.required", "true")
    write(checkout, {"kept.txt": "other\n", ".git/info/attributes": "*.txt filter=own\n"})
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        assert kinds(await diff(client, session, "unstaged")) == {"kept.txt": "modified"}
        assert kinds(await diff(client, session, "branch")) == {"kept.txt": "modified"}
    run = [path.name for pattern in ("core.*", "diff.*", "filter.*") for path in tmp_path.glob(pattern)]
    assert run == []


async def test_a_link_is_told_as_a_link_and_a_submodule_however_git_is_set_to_show_it(
    tmp_path: Path, checkout: Path
) -> None:
    part = tmp_path / "part"
    git(tmp_path, "clone", "-q", str(checkout), str(part))
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "part")
    commit(checkout)
    git(checkout, "config", "diff.submodule", "log")
    write(checkout / "part", {"kept.txt": "other\n"})
    (tmp_path / "private.txt").write_text("nobody's business\n")
    (checkout / "link.txt").symlink_to("../private.txt")
    async with serving(tmp_path, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout)
        found = await diff(client, session, "unstaged")
    assert kinds(found) == {"link.txt": "added", "part": "modified"}
    assert found["changes"][0]["diff"].endswith("@@ -1,0 +1,1 @@\n+../private.txt")


async def test_a_session_tells_what_its_own_tools_have_changed(tmp_path: Path, checkout: Path) -> None:
    def does(call_id: str, tool: str, **given: str) -> Any:
        return calls((call_id, tool, wire.encode(given).decode()))

    script = [
        does("1", "edit", path="kept.txt", old_str="same", new_str="other"),
        does("2", "create", path="new.txt", file_text="x\n"),
        does("3", "create", path="brief.txt", file_text="x\n"),
        text("done"),
        text("hello"),
    ]
    write(checkout, {"ü.txt": "mine\n"})
    async with serving(tmp_path, script, environment=ENVIRONMENT) as server:
        client = server.connect()
        session = await started(client, checkout, allowTools=["write"], enableFileChangeTracking=True)
        await prompted(client, session, "change")
        (checkout / "brief.txt").unlink()
        found = await diff(client, session, "session")
        assert kinds(found) == {"kept.txt": "modified", "new.txt": "added"}
        assert (found["mode"], found["isFallback"]) == ("session", False)
        assert found["changes"][0]["diff"].endswith("@@ -1,2 +1,2 @@\n-same\n+other\n ")

        plain = await started(client, checkout)
        await prompted(client, plain, "hi")
        found = await diff(client, plain, "session")
        assert (found["mode"], found["isFallback"], found["unavailableReason"]) == (
            "unstaged",
            True,
            "file-change-tracking-disabled",
        )
        assert kinds(found) == {"kept.txt": "modified", "new.txt": "added", "ü.txt": "modified"}
