"""Instruction files: where they are looked for, and in which order they hold."""

from pathlib import Path

from turnwright.engine.prompts.instructions import InstructionSource, find, repository_root


def write(file: Path, content: str) -> str:
    """Write a file with the folders above it; its name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return str(file)


def test_the_users_come_first_then_the_repositorys_from_its_root_down_then_the_apps(tmp_path: Path) -> None:
    home, root, extra = tmp_path / "home", tmp_path / "repo", tmp_path / "extra"
    cwd = root / "src" / "deep"
    cwd.mkdir(parents=True)
    (root / ".git").mkdir()
    write(tmp_path / "AGENTS.md", "above the repository")
    write(cwd / "CLAUDE.md", " \n")
    named = [
        write(home / "copilot-instructions.md", "of the user"),
        write(root / "AGENTS.md", "of the root\n"),
        write(root / ".github" / "copilot-instructions.md", "of the root, too"),
        write(root / ".github" / "instructions" / "a" / "b.instructions.md", "of a kind of file"),
        write(cwd / "AGENTS.md", "of the folder"),
        write(extra / "CLAUDE.md", "of the app"),
    ]
    assert find(cwd, home, [str(extra)]) == [
        InstructionSource(
            named[0], "copilot-instructions.md", "copilot-instructions.md", "user", "home", "of the user"
        ),
        InstructionSource(named[1], "AGENTS.md", "AGENTS.md", "repository", "repo", "of the root"),
        InstructionSource(
            named[2],
            "copilot-instructions.md",
            ".github/copilot-instructions.md",
            "repository",
            "repo",
            "of the root, too",
        ),
        InstructionSource(
            named[3],
            "b.instructions.md",
            ".github/instructions/a/b.instructions.md",
            "repository",
            "vscode",
            "of a kind of file",
        ),
        InstructionSource(
            named[4], "AGENTS.md", "src/deep/AGENTS.md", "working-directory", "repo", "of the folder"
        ),
        InstructionSource(named[5], "CLAUDE.md", "CLAUDE.md", "repository", "repo", "of the app"),
    ]


def test_a_file_that_is_found_in_two_ways_holds_once(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("both")
    (tmp_path / "CLAUDE.md").symlink_to(tmp_path / "AGENTS.md")
    assert [source.label for source in find(tmp_path, tmp_path / "none", [str(tmp_path)])] == ["AGENTS.md"]


def test_the_root_is_the_nearest_folder_that_holds_a_git(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    (inner / "src").mkdir(parents=True)
    (inner / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "outer" / ".git").mkdir()
    assert repository_root(inner / "src") == repository_root(inner) == inner
    assert repository_root(tmp_path / "outer") == tmp_path / "outer"
    assert repository_root(Path("/")) is None
