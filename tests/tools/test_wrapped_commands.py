"""Commands that run commands, and those that hide what they do."""

import pytest

from turnwright.tools.command_line import parse
from turnwright.tools.shell_words import Word


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("env -i z=1 rm x", [("rm", "x")]),
        ("sudo -n -u root rm x", [("rm", "x")]),
        ("nohup nice -n 5 rm x", [("nice", "-n", "5", "rm", "x"), ("rm", "x")]),
        ("time -p rm x", [("rm", "x")]),
        ("ionice -c 3 taskset -c 0 rm x", [("taskset", "-c", "0", "rm", "x"), ("rm", "x")]),
        ("busybox rm x", [("rm", "x")]),
        ("timeout -k 5 --signal=TERM 10 rm x", [("rm", "x")]),
        ("command rm x", [("rm", "x")]),
        ("command -v rm", []),
        ("exec -a z rm x", [("rm", "x")]),
        ("xargs -0 -n1 rm -f", [("rm", "-f", None)]),
        ("xargs -I{} rm {}/x", [("rm", None, None)]),
        ("bash -c 'rm x'", [("rm", "x")]),
        ("/bin/sh -euo pipefail -c 'rm x; ls' z", [("rm", "x"), ("ls",)]),
        ("eval rm 'x; ls'", [("rm", "x"), ("ls",)]),
        ("find . -exec rm {} \\; -o -execdir ls -l {} +", [("rm", None), ("ls", "-l", None)]),
    ],
)
def test_a_command_that_runs_another_gives_both(text: str, inner: list[tuple[Word, ...]]) -> None:
    line = parse(text)
    assert line.complete
    assert [segment.words for segment in line.segments[1:]] == inner
    assert not any(segment.opaque for segment in line.segments)


@pytest.mark.parametrize(
    "text",
    [
        "$z x",
        "env $z x",
        "env -S 'rm x'",
        "sudo --shell rm x",
        "timeout $z rm x",
        "bash script.sh",
        "bash",
        'bash -c "$z"',
        "zsh -c 'rm x'",
        "flock f -c 'rm x'",
        "watch 'rm x; ls'",
        "eval $z",
        "find . $z",
        "source x",
        "alias ls=rm",
        "trap 'rm x' EXIT",
        "read PATH",
        "printf -v PATH x",
        "PATH=x ls",
        "LD_PRELOAD=x ls",
        "GIT_PAGER=x git log",
        "https_proxy=x ls",
        "PATH=x; ls",
        "é=x ls",
        "PATH+=x; ls",
        "export BASH_ENV=x",
        "declare -n z=PATH",
        "unset PATH",
        "for PATH in x; do ls; done",
        "echo ${PATH:=x}",
        "echo ${z@P}",
        "echo ${!z}",
        "echo $((z))",
        "((z = 1))",
        "z[0]=1",
        "[[ z -eq 0 ]]",
        "env PATH=x ls",
        " ".join(["nice"] * 50 + ["rm"]),
    ],
)
def test_what_the_words_do_not_show_is_opaque(text: str) -> None:
    assert any(segment.opaque for segment in parse(text).segments)
