"""Command lines taken apart, and held against what bash itself makes of them."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnwright.tools.command_line import LONGEST, MOST_HEREDOCS, CommandLine, Segment, parse
from turnwright.tools.shell_words import Word

BASH = shutil.which("bash")


def words_of(text: str) -> list[tuple[Word, ...]]:
    line = parse(text)
    assert line.complete
    return [segment.words for segment in line.segments]


def test_a_line_gives_its_commands_writes_paths_and_addresses() -> None:
    line = parse("cat notes.txt | tee -a 'my log' && curl -s https://example.com/a.json >out/a.json 2>&1")
    assert line == CommandLine(
        segments=(
            Segment(name="cat", words=("cat", "notes.txt"), text="cat notes.txt"),
            Segment(name="tee", words=("tee", "-a", "my log"), text="tee -a 'my log'"),
            Segment(
                name="curl",
                words=("curl", "-s", "https://example.com/a.json"),
                text="curl -s https://example.com/a.json",
            ),
        ),
        write_targets=("out/a.json",),
        paths=("notes.txt", "out/a.json"),
        urls=("https://example.com/a.json",),
        complete=True,
    )


@pytest.mark.parametrize(
    "text",
    [
        "a x && b y",
        "a x || b y",
        "a x; b y",
        "a x & b y",
        "a x | b y",
        "a x |& b y",
        "a x\nb y",
        "(a x); { b y; }",
        "! a x || ! b y",
        "if a x; then b y; fi",
        "while a x; do b y; done",
        "until a x; do b y; done",
        "for i in 1 2; do a x; b y; done",
        "case 1 in 1) a x;; *) b y;; esac",
        "f() { a x; }; function g { b y; }",
        "a x <<< 'in'; b y",
        "a x <<'END'\n$(c)\nEND\nb y",
        "a x <<END && b y\ntext\nEND\n",
        "a x # c d\nb y",
        "a \\\n  x && \\\n  b y",
        "\\a 'x'; \"b\" $'y'",
        "z=1 a x; b y",
    ],
)
def test_every_simple_command_is_found_wherever_it_stands(text: str) -> None:
    assert words_of(text) == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize(
    "text",
    [
        "a $(b y)",
        "a `b y`",
        'a "$(b y)"',
        "a <(b y)",
        "a >(b y)",
        "a ${z:-$(b y)}",
        'a "${z:-$(b y)}"',
        "a c$(b y)",
    ],
)
def test_a_command_inside_a_word_is_found_and_the_word_is_unknown(text: str) -> None:
    assert words_of(text) == [("a", None), ("b", "y")]


@pytest.mark.parametrize("text", ["z=$(b y)", "z=(`b y`)", "for i in $(b y); do continue; done", "(<f); b y"])
def test_a_command_outside_of_any_other_is_found(text: str) -> None:
    assert ("b", "y") in words_of(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a 'b c'", "b c"),
        ('a "b\\"c\\d"', 'b"c\\d'),
        ("a b\\ c", "b c"),
        ("a b'c'\"d\"", "bcd"),
        ("a ''", ""),
        ("a '  '", "  "),
        ("a {}", "{}"),
        ("a HEAD@{1}", "HEAD@{1}"),
        ("a HEAD~1", "HEAD~1"),
        ("a $z", None),
        ('a "$z"', None),
        ("a *.py", None),
        ("a ~/b", None),
        ("a --b=~/c", None),
        ("a {b,c}", None),
        ("a {1..3}", None),
        ("a b[1]", None),
        ("a $'b\\x63'", None),
        ("a $((1 + 1))", None),
    ],
)
def test_a_word_is_literal_only_if_the_shell_replaces_nothing_in_it(text: str, word: Word) -> None:
    assert words_of(text) == [("a", word)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("a >x", ("x",)),
        ("a >>x", ("x",)),
        ("a >|x", ("x",)),
        ("a &>x", ("x",)),
        ("a &>>x", ("x",)),
        ("a >&x", ("x",)),
        ("a 2>'x y'", ("x y",)),
        ("{ a; } >x", ("x",)),
        (">x", ("x",)),
        ("a >$x", (None,)),
        ("a >x; bash -c 'b >y'", ("x", "y")),
        ("a </dev/tcp/example.com/80", ("/dev/tcp/example.com/80",)),
        ("a <x", ()),
        ("a >/dev/null 2>&1 >&2 2>&- </dev/null", ()),
        ("a '>x' \\>x", ()),
    ],
)
def test_a_redirection_that_writes_names_its_file(text: str, targets: tuple[Word, ...]) -> None:
    line = parse(text)
    assert (line.write_targets, line.has_write_redirection) == (targets, bool(targets))


@pytest.mark.parametrize("text", ["a <>x", "a >x ("])
def test_a_line_that_is_not_understood_may_write(text: str) -> None:
    assert (parse(text).complete, parse(text).has_write_redirection) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "if",
        "a (",
        "a 'b",
        "a >x b",
        "a <<E b\nE\n",
        "a <<E\n`b`\nE\n",
        "a <<E\nE \nb\nE\n",
        "a <<E; b <<F\nE\nF\n",
        "a b\\\nc",
        "a\n\\\nb",
        "a b \\ \n",
        "a \r\nb",
        "a\u00a0b",
        "a\x00b",
        'a $"b"',
        "a ${z#$(b)}",
        "a ${z#)-c;~b&{c,d}\n }2>/dev/null",
        "a `b \\`c\\``",
        "!]",
        'a >b $"c"',
        "a >b\\;\t``c\\)d",
        'a "${z:-`b y`}"',
        "['a']",
        "z=(a b)#c]&d }",
        "time { a; }",
        "bash -c 'if'",
        "a;" * (LONGEST // 2 + 1),
        "a <<E\nE\n" * (MOST_HEREDOCS + 1),
        "eval " * 50 + "rm",
    ],
)
def test_a_line_that_bash_may_read_otherwise_is_not_complete(text: str) -> None:
    line = parse(text)
    assert not line.complete or any(segment.opaque for segment in line.segments)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("sleep 0.5", ("0.5",)),
        ("echo hello && echo world", ()),
        ("cat ~/.ssh/config $HOME/x 'a/b c' '/a b'", ("~/.ssh/config", "$HOME/x", "/a b")),
        ("cp --target=/etc -r ../x .", ("/etc", "../x", ".")),
        ("./run.sh; python3.11 x", ("./run.sh",)),
        ("z=/a/b; test -f /c <in/d 2>/dev/null", ("/a/b", "/c", "in/d")),
        ("bash -c 'cat /x' /x", ("/x",)),
        ("curl http://example.com/x", ()),
    ],
)
def test_words_that_look_like_paths_are_listed_once(text: str, paths: tuple[str, ...]) -> None:
    assert parse(text).paths == paths


def test_addresses_are_found_anywhere_in_the_text() -> None:
    line = parse("curl 'https://a.example/x?y=1' $(echo HTTP://b.example:80/) # see https://c.example.")
    assert line.urls == ("https://a.example/x?y=1", "HTTP://b.example:80/", "https://c.example")


def test_characters_beyond_ascii_are_parts_of_words() -> None:
    assert parse("cat 'Übung 1.txt' {\U0001f600} \U0001f600 > é") == CommandLine(
        segments=(
            Segment(
                name="cat",
                words=("cat", "Übung 1.txt", "{\U0001f600}", "\U0001f600"),
                text="cat 'Übung 1.txt' {\U0001f600} \U0001f600",
            ),
        ),
        write_targets=("é",),
        paths=(),
        urls=(),
        complete=True,
    )


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    line = parse(text)
    assert line.has_write_redirection or line.complete or ">" not in text


PIECES = [
    *(
        "aa",
        "bb",
        "cc x",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "(",
        ")",
        "{ ",
        "}",
        "$(",
        "`",
        "<(",
        "'",
        '"',
    ),
    *(
        "\\",
        "\\\n",
        "#",
        "\t",
        "!",
        "$x",
        "${x:-",
        "${x#",
        "$((1+",
        "))",
        "[[ ",
        "]]",
        "[",
        "]",
        "if ",
        "then ",
    ),
    *(
        "fi",
        "do ",
        "done",
        "for i in ",
        "case x in ",
        "x)",
        ";;",
        "esac",
        "<<E",
        "<<'E'",
        "\nE\n",
        "<<<",
        ">o",
    ),
    *(
        "2>&1",
        "<i",
        "*",
        "x=1 ",
        "y=(a b)",
        "time ",
        "eval ",
        "env ",
        "bash -c ",
        "exec ",
        "$'",
        '$"',
        "{a,b}",
        "\\ ",
    ),
]
RECORD = """command_not_found_handle() { printf '%s\\0' "$@" END >>"$LOG"; return 1; }\n"""


@pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), min_size=2, max_size=14).map("".join))
def test_bash_runs_nothing_that_was_not_found(text: str) -> None:
    """B74: no command hides behind another, whatever the line is made of."""
    line = parse(text)
    if not line.complete or any(segment.opaque for segment in line.segments):
        return
    with tempfile.TemporaryDirectory() as folder:
        for ran in commands_run_by_bash(text, Path(folder)):
            assert any(may_be(segment.words, ran) for segment in line.segments), ran


def commands_run_by_bash(text: str, folder: Path) -> list[tuple[str, ...]]:
    """Run a line with no programs on PATH, and tell which were asked for."""
    assert BASH is not None
    log = folder / "log"
    subprocess.run(
        [BASH, "--norc", "-c", RECORD + text],
        cwd=folder,
        env={"PATH": "/nonexistent", "LOG": str(log), "x": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )
    recorded = log.read_bytes().decode(errors="replace") if log.exists() else ""
    return [tuple(command.split("\0")[:-1]) for command in recorded.split("END\0")[:-1]]


def may_be(words: tuple[Word, ...], ran: tuple[str, ...]) -> bool:
    """Whether the words, of which an unknown one may become any number, can become the command."""
    if not words:
        return not ran
    if words[0] is None:
        return any(may_be(words[1:], ran[at:]) for at in range(len(ran) + 1))
    return ran[:1] == words[:1] and may_be(words[1:], ran[1:])
