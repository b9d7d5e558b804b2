"""What a session says of the place where it works: in its log, and in workspace.yaml beside it."""

import errno
import logging
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.wired import serving
from turnwright.engine.lifecycle.checkout import Remote, context_of, parse_remote
from turnwright.engine.lifecycle.workspace import NAME, WorkspaceFile, as_yaml
from turnwright.protocol import wire
from turnwright.protocol.events.session import Context, SessionStart
from turnwright.providers.scripted import text
from turnwright.store.state import State

pytestmark = pytest.mark.anyio

SAMPLE = """\
id: 00000000-0000-4000-8000-000000000002
cwd: /srv/widgets
git_root: /srv/widgets
repository: acme/widgets
host_type: github
branch: main
client_name: probe
name: "Make a file: \\"a\\"\\n# and more — 🔑"
user_named: false
summary_count: 0
fork_count: 0
created_at: 2026-11-29T19:02:26.211Z
updated_at: 2026-11-29T19:02:26.232Z
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git there, as nobody and with no settings of anyone's; what it says."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = {
        f"GIT_{role}_{what}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **own, **who},
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one commit on the branch `feat/new`."""
    root = (tmp_path / "widgets").resolve()
    root.mkdir()
    git(root, "init", "-q", "-b", "feat/new")
    git(root, "remote", "add", "other", "https://example.org/else/where.git")
    git(root, "remote", "add", "origin", "git@github.com:acme/widgets.git")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def commit(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def test_a_folder_without_git_is_a_folder(tmp_path: Path) -> None:
    assert context_of(tmp_path) == Context(str(tmp_path))


def test_in_a_checkout_its_root_repository_branch_and_commit_are_known(checkout: Path) -> None:
    below = checkout / "src" / "deep"
    below.mkdir(parents=True)
    assert context_of(below) == Context(
        str(below),
        git_root=str(checkout),
        repository="acme/widgets",
        host_type="github",
        repository_host="github.com",
        branch="feat/new",
        head_commit=commit(checkout),
    )


def test_packed_refs_are_read_too(checkout: Path) -> None:
    git(checkout, "pack-refs", "--all")
    found = context_of(checkout)
    assert (found.branch, found.head_commit) == ("feat/new", commit(checkout))


def test_a_detached_head_has_a_commit_and_no_branch(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "--detach")
    found = context_of(checkout)
    assert (found.branch, found.head_commit) == (None, commit(checkout))


def test_before_the_first_commit_there_is_a_branch_only(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    assert context_of(tmp_path) == Context(str(tmp_path), git_root=str(tmp_path), branch="trunk")


def test_a_worktree_has_a_branch_of_its_own_and_the_remote_of_all(checkout: Path) -> None:
    tree = checkout.parent / "tree"
    git(checkout, "worktree", "add", "-q", "-b", "side", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    found = context_of(tree)
    assert found == Context(
        str(tree),
        git_root=str(tree),
        repository="acme/widgets",
        host_type="github",
        repository_host="github.com",
        branch="side",
        head_commit=commit(tree),
    )
    assert found.head_commit != commit(checkout)


def test_a_submodule_is_a_checkout_of_its_own(checkout: Path) -> None:
    inner = checkout.parent / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    git(inner, "commit", "-q", "--allow-empty", "-m", "inner")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    found = context_of(checkout / "sub")
    assert found.git_root == str(checkout / "sub")
    assert (found.branch, found.head_commit, found.repository) == ("main", commit(inner), None)


@pytest.mark.parametrize("damage", ["", "gitdir: \0", "gitdir: /nowhere", "\xff\xfe"])
def test_a_git_file_that_leads_nowhere_is_no_fault_of_the_session(tmp_path: Path, damage: str) -> None:
    (tmp_path / ".git").write_text(damage, encoding="latin-1")
    assert context_of(tmp_path).cwd == str(tmp_path)
    assert context_of(tmp_path).branch is None


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("git@github.com:acme/widgets.git", Remote("github.com", "acme/widgets")),
        ("ssh://git@github.com:22/acme/widgets.git", Remote("github.com", "acme/widgets")),
        ("https://user:s3cret@GitHub.com/acme/widgets/", Remote("github.com", "acme/widgets")),
        ("https://gitlab.example/group/sub/name.git", Remote("gitlab.example", "group/sub/name")),
        ("https://dev.azure.com/org/project/_git/repo", Remote("dev.azure.com", "org/project/repo")),
        ("git@ssh.dev.azure.com:v3/org/project/repo", Remote("ssh.dev.azure.com", "org/project/repo")),
        ("/srv/git/widgets.git", None),
        ("../widgets", None),
        ("file:///srv/git/widgets.git", None),
        ("C:/git/widgets", None),
        ("", None),
    ],
)
def test_a_remotes_url_names_host_and_repository_and_no_secret(url: str, remote: Remote | None) -> None:
    assert parse_remote(url) == remote


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("github.com", "github"),
        ("acme.ghe.com", "github"),
        ("ssh.dev.azure.com", "ado"),
        ("notgithub.com", None),
    ],
)
def test_a_host_is_of_a_kind_that_the_wire_knows_or_of_none(host: str, kind: str | None) -> None:
    assert Remote(host, "a/b").host_type == kind


def test_the_file_has_the_form_that_readers_know() -> None:
    fields = yaml.safe_load(SAMPLE)
    times = {name: f"{fields[name]:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z" for name in ("created_at", "updated_at")}
    assert as_yaml({**fields, **times}) == SAMPLE


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_back_as_it_was(written: str) -> None:
    assert yaml.safe_load(as_yaml({"name": written})) == {"name": wire.clean(written)}


@pytest.mark.parametrize(
    "word", ["yes", "No", "NULL", "~", "", "1e5", "12", "0x1F", "2026-01-01", "a: b", "a #b"]
)
def test_a_text_that_looks_like_something_else_stays_text(word: str) -> None:
    assert yaml.safe_load(as_yaml({"name": word})) == {"name": word}


def test_times_are_times() -> None:
    written = as_yaml({"at": "2026-11-29T19:02:26.211Z"})
    assert yaml.safe_load(written) == {"at": datetime(2026, 11, 29, 19, 2, 26, 211000, UTC)}


def started(folder: Path) -> State:
    """The state of a session that has just begun."""
    state = State()
    state.context = Context(str(folder))
    state.start = SessionStart(
        "it", 1, "turnwright", "0", "2026-11-29T19:02:26.211Z", None, state.context, False, False
    )
    state.modified = "2026-11-29T19:02:26.232Z"
    return state


def test_a_disk_that_is_full_costs_a_warning_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    state = started(tmp_path)
    file = WorkspaceFile(tmp_path, "it")
    file.follow(state)
    before = (tmp_path / NAME).read_text()

    def full(source: str, target: str) -> None:
        assert Path(source).exists()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    state.name = "new"
    with caplog.at_level(logging.WARNING):
        file.follow(state)
    assert [record.getMessage() for record in caplog.records] == [
        f"can't write {tmp_path / NAME}: No space left on device"
    ]
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {NAME: before}


def test_a_session_without_a_folder_gets_no_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    WorkspaceFile(tmp_path / "none", "it").follow(started(tmp_path))
    assert (list(tmp_path.iterdir()), caplog.records) == ([], [])


async def told_when(file: Path, name: str, value: object) -> dict[str, object]:
    """What the file tells once it has that value, which takes one second at most, and here ten."""
    with anyio.fail_after(10):
        while True:
            if file.exists():
                told: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8"))
                if told.get(name) == value:
                    return told
            await anyio.sleep(0.01)


async def test_the_file_follows_a_sessions_name_and_place(tmp_path: Path, checkout: Path) -> None:
    async with serving(tmp_path, [text("fine")]) as server:
        client = server.connect()
        file = server.log_of("it").with_name(NAME)
        await client.call(
            "session.create", sessionId="it", workingDirectory=str(checkout), clientName="probe"
        )
        await client.call("session.send", sessionId="it", prompt="Look: here")
        titled = await told_when(file, "name", "Look: here")
        assert titled == {
            "id": "it",
            "cwd": str(checkout),
            "git_root": str(checkout),
            "repository": "acme/widgets",
            "host_type": "github",
            "branch": "feat/new",
            "client_name": "probe",
            "name": "Look: here",
            "user_named": False,
            "summary_count": 0,
            "fork_count": 0,
            "created_at": titled["created_at"],
            "updated_at": titled["updated_at"],
        }
        await client.until("session.idle")
        await client.call("session.name.set", sessionId="it", name="Mine")
        await client.call("session.options.update", sessionId="it", workingDirectory=str(tmp_path))
        moved = await told_when(file, "name", "Mine")
        assert (moved["user_named"], moved["cwd"], "repository" in moved) == (True, str(tmp_path), False)
        await client.call("session.destroy", sessionId="it")
        ended = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert wire.encode(ended["updated_at"]) == wire.encode(
            datetime.fromisoformat(server.logged("it")[-1].timestamp)
        )


async def test_a_session_that_is_only_created_has_the_file_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.connect().call("session.create", sessionId="it", workingDirectory=str(tmp_path))
        told = await told_when(server.log_of("it").with_name(NAME), "cwd", str(tmp_path))
        assert (told["id"], "name" in told) == ("it", False)


async def test_a_resumed_session_says_where_it_works_now(tmp_path: Path, checkout: Path) -> None:
    async with serving(tmp_path) as server:
        client = server.connect()
        file = server.log_of("it").with_name(NAME)
        await client.call("session.create", sessionId="it", workingDirectory=str(checkout))
        await client.call("session.destroy", sessionId="it")
        assert yaml.safe_load(file.read_text(encoding="utf-8"))["branch"] == "feat/new"
        git(checkout, "checkout", "-q", "-b", "later")
        file.unlink()  # as after a crash that came too early for it
        await client.call("session.resume", sessionId="it")
        branches = [
            wire.loads(event.encoded)["data"]["context"]["branch"]
            for event in server.logged("it")
            if event.type in ("session.start", "session.resume")
        ]
        assert branches == ["feat/new", "later"]
        await told_when(file, "branch", "later")
