"""What a user's rules say of command lines."""

import pytest

from tests.engine.deciding import Decision, decide, shell


@pytest.mark.parametrize(
    "line",
    [
        "git status",
        "  git   'status' ",
        "git \\\n status",
        "git status 2>/dev/null >&2",
        "git status # and no more",
        "(git status; git status) | git status &",
        "if ! git status; then git status; fi",
        "TZ=UTC git status",
    ],
)
def test_a_command_is_allowed_in_any_arrangement_of_itself(line: str) -> None:
    assert decide(shell(line), allow="shell(git status)") == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "git status && touch /tmp/p",
        "git status || touch /tmp/p",
        "git status; touch /tmp/p",
        "git status | touch /tmp/p",
        "git status |& touch /tmp/p",
        "git status & touch /tmp/p",
        "git status\ntouch /tmp/p",
        "touch /tmp/p; git status",
        "git status $(touch /tmp/p)",
        "git status `touch /tmp/p`",
        'git status "$(touch /tmp/p)"',
        "git status <(touch /tmp/p)",
        "git status <<END\n$(touch /tmp/p)\nEND",
        "git status <<END\nEND\ntouch /tmp/p",
        "git status <<< $(touch /tmp/p)",
        "x=$(touch /tmp/p) git status",
        "f() { touch /tmp/p; }; git status",
        "if git status; then touch /tmp/p; fi",
        "git status ${x#$(touch /tmp/p)}",
        "git status > /tmp/p",
        "git status >> /tmp/p",
        "git status &> /tmp/p",
        "git status >| /tmp/p",
        "git status <> /tmp/p",
        "git status > /tmp/p touch",
        "GIT_EXTERNAL_DIFF=touch git status",
        "PATH=/tmp git status",
        "PATH=/tmp; git status",
        "export PATH=/tmp; git status",
        "LD_PRELOAD=/tmp/p.so git status",
        "git status\ttouch",
        "git status touch",
        "git status --ignored",
        "git",
        "git -c core.pager=touch status",
        "git -C /tmp status",
        "git sta\\\ntus",
        "git status\\\n--ignored",
        "git\\ status",
        "'git status'",
        "/tmp/git status",
        "./git status",
        "Git status",
        "git $x",
        "$x status",
        "git status $x",
        "env git status",
        "sudo git status",
        "bash -c 'git status; touch /tmp/p'",
        "eval git status",
        "git status | xargs touch",
        "git status; (",
        "git status\r\ntouch /tmp/p",
        "git status\u2028touch",
        "git status $((x))",
        "",
        "# git status",
    ],
)
def test_an_allowed_command_takes_nothing_else_with_it(line: str) -> None:
    """B74: the rule's words begin or fill a part of the line, and something else is in it too."""
    assert decide(shell(line), allow="shell(git status)") is None


@pytest.mark.parametrize(
    ("rules", "line", "decision"),
    [
        ("shell(git:*)", "git", "allow"),
        ("shell(git:*)", "git log $x | git apply", "allow"),
        ("shell(git:*)", "gitea admin", None),
        ("shell(git:*)", "git log | sh", None),
        ("shell(git log:*)", "git log --oneline", "allow"),
        ("shell(git log:*)", "git logs", None),
        ("shell(git log:*)", "git $x", None),
        ("shell(npm run test:unit)", "npm run test:unit", "allow"),
        ("shell(echo 'a b')", "echo 'a b'", "allow"),
        ("shell(echo 'a b')", "echo a b", None),
        ("shell(ls:*),shell(wc -l)", "ls -a | wc -l", "allow"),
        ("shell(env:*)", "env LANG=C ls", None),
        ("shell(env:*),shell(ls)", "env LANG=C ls", "allow"),
        ("shell(find:*)", "find . -name '*.py'", "allow"),
        ("shell(find:*)", "find . -exec rm {} +", None),
        ("shell(find:*),shell(rm:*)", "find . -exec rm {} +", "allow"),
        ("shell(bash:*),shell(ls)", "bash -c ls", "allow"),
        ("shell(bash:*)", "bash script.sh", None),
        ("shell([:*),shell(ls)", "[ -f x ] && ls", "allow"),
        ("shell", "anything > /tmp/p; eval $x; if", "allow"),
        ("write,read,url,memory,mcp,custom-tool", "ls", None),
    ],
)
def test_every_command_of_a_line_needs_a_rule(rules: str, line: str, decision: Decision) -> None:
    assert decide(shell(line), allow=rules) == decision


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("ls > out/a", "allow"),
        ("ls >/nowhere/out/a 2>out/b", "allow"),
        ("ls > a", None),
        ("ls > out/../a", None),
        ("ls > out/$x", None),
        ("ls > out/a 2> b", None),
        ("cd /tmp && ls > out/a", None),
        ("cd /tmp && ls > /nowhere/out/a", "allow"),
    ],
)
def test_a_redirection_needs_a_rule_for_its_file(line: str, decision: Decision) -> None:
    assert decide(shell(line), allow="shell(ls),shell(cd:*),write(out/**)") == decision


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("git push", "deny"),
        ("git push --force origin", "deny"),
        ("git -C x --no-pager push", "deny"),
        ("ls; git push", "deny"),
        ("ls $(git push)", "deny"),
        ("/usr/bin/rm -rf x", "deny"),
        ("\\rm x", "deny"),
        ("r''m x", "deny"),
        ("sudo -n rm x", "deny"),
        ("ls | xargs rm", "deny"),
        ("bash -c 'git push'", "deny"),
        ("find . -exec rm {} \\;", "deny"),
        ("rm x; (", "deny"),
        ("git $x", None),
        ("$x y", None),
        ("eval $x", None),
        ("bash script.sh", None),
        ("ls (", None),
        ("git log push", "allow"),
        ("git pushy", "allow"),
        ("echo rm", "allow"),
        ("ls $x > y", "allow"),
    ],
)
def test_a_denied_command_is_denied_wherever_it_stands_and_left_open_where_it_may_hide(
    line: str, decision: Decision
) -> None:
    assert decide(shell(line), allow="shell", deny="shell(rm),shell(git push)") == decision


@pytest.mark.parametrize(
    ("deny", "line", "decision"),
    [
        ("shell", "ls", "deny"),
        ("write", "ls > x", "deny"),
        ("write", "ls", "allow"),
        ("write(.env)", "ls > a/.env", "deny"),
        ("write(.env)", "ls > $x", None),
        ("write(.env)", "cat .env", "allow"),
        ("read(.env)", "cat ./a/.env", "deny"),
        ("read(.env)", "cat < .env", "deny"),
        ("url", "curl http://a.example", "deny"),
        ("url(a.example)", "curl http://a.example/x", "deny"),
        ("url(a.example)", "curl http://b.example/x", "allow"),
    ],
)
def test_a_command_line_can_not_do_what_is_denied_to_tools(deny: str, line: str, decision: Decision) -> None:
    assert decide(shell(line), allow="shell", deny=deny) == decision
