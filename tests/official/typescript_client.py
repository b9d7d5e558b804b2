"""The official TypeScript client, fetched once for each environment; without the runtime it would bring."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "@github/copilot-sdk"
VERSION = "1.0.14"
SECONDS = 120.0
OFFLINE = re.compile(
    r"npm error code (E\d{3}|EAI_AGAIN|ECONN\w+|ENETUNREACH|ENOTFOUND|ETIMEDOUT|ERR_SOCKET\w*)"
)


class Unavailable(Exception):
    """There is no node here, or no registry to fetch the client from."""


def node() -> str:
    """The command that runs node. Raises Unavailable when there is none that the client can do with."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        raise Unavailable("node and npm are not on PATH")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True, timeout=SECONDS)
    major, minor = (int(part) for part in said.stdout.strip().removeprefix("v").split(".")[:2])
    if not (major == 20 and minor >= 19) and (major, minor) < (22, 12):
        raise Unavailable(f"node {said.stdout.strip()} is too old for {PACKAGE} {VERSION}")
    return found


def modules() -> Path:
    """The `node_modules` with the client. Raises Unavailable, or RuntimeError when npm fails otherwise."""
    place = Path(sys.prefix, "official-clients", f"copilot-sdk-{VERSION}", "node_modules")
    if not place.is_dir():
        place.parent.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent.parent) as draft:
            install(Path(draft))
            if not place.is_dir():  # nobody else was faster
                place.parent.mkdir(exist_ok=True)
                Path(draft, "node_modules").replace(place)
    return place


def install(folder: Path) -> None:
    """Fetch the client into a folder: its optional packages, which hold a runtime, stay out."""
    (folder / "package.json").write_text('{"private": true}')
    flags = ["--ignore-scripts", "--omit=optional", "--no-package-lock", "--no-audit", "--no-fund"]
    patience = ["--fetch-retries=1", "--fetch-timeout=20000"]
    done = subprocess.run(
        ["npm", "install", *flags, *patience, f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if done.returncode and (code := OFFLINE.search(done.stderr)):
        raise Unavailable(f"{PACKAGE} {VERSION} can't be fetched: {code[1]}")
    if done.returncode:
        raise RuntimeError(f"npm can't install {PACKAGE} {VERSION}: {done.stderr}")
    brought = sorted(entry.name for entry in (folder / "node_modules" / "@github").iterdir())
    if brought != ["copilot-sdk"]:
        raise RuntimeError(f"npm brought more than the client: {brought}")
