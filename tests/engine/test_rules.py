"""What a user's rules say of files, addresses and tools."""

import os
from pathlib import Path

import pytest

from tests.engine.deciding import Decision, custom, decide, mcp, read, url, write
from turnwright.engine.permissions.rules import Rule
from turnwright.errors import ConfigError
from turnwright.protocol.permissions import Memory, PermissionRequest


@pytest.mark.parametrize(
    ("pattern", "path", "decision"),
    [
        ("src/**", "src/a.py", "allow"),
        ("src/**", "src/a/b.py", "allow"),
        ("src/**", "/nowhere/src/a.py", "allow"),
        ("src/**", "./src/../src/a.py", "allow"),
        ("src/**", "src", None),
        ("src/**", "src/../a.py", None),
        ("src/**", "lib/src/a.py", None),
        ("src/**", "/src/a.py", None),
        ("src/**", "srcs/a.py", None),
        ("src/**", "SRC/a.py", None),
        ("src/**", "src/a\0", None),
        ("src/", "src/a/b.py", "allow"),
        ("./", "a/b.py", "allow"),
        ("*.py", "a.py", "allow"),
        ("*.py", "a/b.py", None),
        ("**/*.py", "a/b.py", "allow"),
        ("**/*.py", "a.py", "allow"),
        ("a?.py", "ab.py", "allow"),
        ("a.py", "a_py", None),
        (".env", ".env", "allow"),
        (".env", "a/.env", None),
        ("/tmp/[x]/*", "/tmp/[x]/a", "allow"),
    ],
)
def test_a_file_is_allowed_by_a_pattern_that_starts_in_the_working_directory(
    pattern: str, path: str, decision: Decision
) -> None:
    assert decide(write(path), allow=f"write({pattern})") == decision
    assert decide(read(path), allow=f"read({pattern})") == decision
    assert decide(read(path), allow=f"write({pattern})") is None


@pytest.mark.parametrize("path", [".env", "a/.env", "/etc/.env", "a/../.env", ".env/x", "link/.env"])
def test_a_file_is_denied_by_a_pattern_that_fits_anywhere(path: str) -> None:
    assert decide(write(path), allow="write", deny="write(.env)") == "deny"


def test_a_link_that_leads_out_is_seen_through(tmp_path: Path) -> None:
    """B76: rules are held against what a path leads to."""
    (tmp_path / "outside").mkdir()
    workspace = tmp_path / "workspace"
    (workspace / "real").mkdir(parents=True)
    (workspace / "out").symlink_to(tmp_path / "outside")
    (workspace / "inside").symlink_to("real")
    (workspace / "loop").symlink_to("loop")
    assert decide(write("out/x"), allow="write(**)", cwd=workspace) is None
    assert decide(write("out/x"), allow="write(out/**)", cwd=workspace) is None
    assert decide(write("inside/x"), allow="write(real/*)", cwd=workspace) == "allow"
    assert decide(read("loop/x"), allow="read(real/*)", cwd=workspace) is None
    assert decide(read("inside/x"), allow="read", deny="read(real)", cwd=workspace) == "deny"
    assert decide(read("out/x"), allow="read", deny="read(out/x)", cwd=workspace) == "deny"


def test_a_working_directory_behind_a_link_is_seen_through_too(tmp_path: Path) -> None:
    """B76: the root is resolved as well."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert decide(write("x"), allow="write(*)", cwd=tmp_path / "link") == "allow"
    assert (
        decide(write(os.fspath(tmp_path / "real" / "x")), allow="write(*)", cwd=tmp_path / "link") == "allow"
    )


@pytest.mark.parametrize(
    ("pattern", "address", "decision"),
    [
        ("a.example", "https://a.example", "allow"),
        ("a.example", "http://A.example:80/x?y", "allow"),
        ("a.example", "https://a.example:8443/", None),
        ("a.example", "https://b.a.example/", None),
        ("a.example", "https://a.example.evil.example/", None),
        ("a.example", "https://a.example@evil.example/", None),
        ("a.example", "https://evil.example\\@a.example/", None),
        ("a.example", "https://evil.example/a.example", None),
        ("a.example", "ftp://a.example/", None),
        ("a.example", "file:///etc/passwd", None),
        ("a.example", "a.example", None),
        ("a.example", "http://[bad", None),
        ("*.a.example", "https://b.a.example/", "allow"),
        ("*.a.example", "https://a.example/", None),
        ("localhost:8080", "http://localhost:8080/x", "allow"),
        ("localhost:8080", "http://localhost/x", None),
        ("https://a.example", "http://a.example/", None),
        ("https://a.example/docs", "https://a.example/docs/x", "allow"),
        ("https://a.example/docs", "https://a.example/docs", "allow"),
        ("https://a.example/docs", "https://a.example/docsx", None),
        ("https://a.example/docs", "https://a.example/docs/../x", None),
        ("https://a.example/docs", "https://a.example/docs/%2e%2e/x", None),
        ("münchen.example", "https://xn--mnchen-3ya.example/", "allow"),
    ],
)
def test_an_address_is_allowed_by_its_host_port_and_path(
    pattern: str, address: str, decision: Decision
) -> None:
    assert decide(url(address), allow=f"url({pattern})") == decision


@pytest.mark.parametrize(
    ("pattern", "address", "decision"),
    [
        ("a.example", "http://a.example:8080/x", "deny"),
        ("a.example", "https://b.a.example./", "deny"),
        ("a.example", "https://x@a.example/", "deny"),
        ("a.example", "https://a.example\\@b.example/", "deny"),
        ("a.example", "https://xa.example/", "allow"),
        ("https://a.example/x", "http://a.example/y/../%78/z", "deny"),
        ("https://a.example/x", "https://a.example/y", "allow"),
        ("a.example", "http://[bad", "deny"),
    ],
)
def test_an_address_is_denied_with_its_subdomains_and_in_any_spelling(
    pattern: str, address: str, decision: Decision
) -> None:
    assert decide(url(address), allow="url", deny=f"url({pattern})") == decision


@pytest.mark.parametrize(
    ("rule", "request_", "decision"),
    [
        ("git-hub", mcp("git-hub", "search"), "allow"),
        ("git-hub(search)", mcp("git-hub", "search"), "allow"),
        ("git-hub(search)", mcp("git-hub", "create"), None),
        ("git-hub", mcp("git", "search"), None),
        ("mcp", mcp("any", "search"), "allow"),
        ("search", mcp("git-hub", "search"), None),
        ("lookup", custom("lookup"), "allow"),
        ("custom-tool(lookup)", custom("lookup"), "allow"),
        ("custom-tool(lookup)", custom("Lookup"), None),
        ("custom-tool", custom("any"), "allow"),
        ("lookup(x)", custom("lookup"), None),
        ("memory", Memory(action="store", fact=""), "allow"),
        ("read", read("/etc/passwd"), "allow"),
        ("write", write("/etc/passwd"), "allow"),
        ("read", write("x"), None),
        ("url", url("gopher://x"), "allow"),
        ("shell", custom("shell"), "allow"),
    ],
)
def test_a_rule_names_a_kind_a_server_or_a_tool(
    rule: str, request_: PermissionRequest, decision: Decision
) -> None:
    assert decide(request_, allow=rule) == decision
    assert decide(request_, deny=rule) == ("deny" if decision else None)
    assert decide(request_, allow=rule, deny=rule) == ("deny" if decision else None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it must be KIND or KIND(ARGUMENT)"),
        ("a b", "it must be KIND or KIND(ARGUMENT)"),
        ("shell(ls", "it must be KIND or KIND(ARGUMENT)"),
        ("shell()", "there is nothing between the parentheses; leave them out to mean all"),
        ("shell(git *)", "'git *' must be plain words; only `:*` at the end stands for others"),
        ("shell($x)", "'$x' must be plain words; only `:*` at the end stands for others"),
        ("shell(a && b)", "'a && b' is not one command"),
        ("shell(a > b)", "'a > b' is not one command"),
        ("shell(a; a)", "'a; a' must be plain words; only `:*` at the end stands for others"),
        ("shell(:*)", "'' is not one command"),
        ("Shell(git)", "the kind is written shell, in lower case"),
        ("WRITE", "the kind is written write, in lower case"),
        ("write(../x)", "'../x' must not hold `..`"),
        ("url(ftp://x)", "'ftp://x' is not a host or an address with http or https"),
        ("url(http://[x)", "'http://[x' is not a host or an address"),
        ("url(a b)", "'a b' is not a host or an address with http or https"),
        ("memory(x)", "memory takes no argument"),
        ("mcp(x)", "the tool of an MCP server is written SERVER(tool)"),
    ],
)
def test_a_rule_that_means_nothing_says_why(text: str, fault: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Rule.parse(text)
    assert str(raised.value) == f"Permission rule {text!r}: {fault}"
