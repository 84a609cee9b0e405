"""The programs that are compared, and the folders that each lives in."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOOLPOST, HTTPX2, ANTHROPIC = "toolpost", "httpx2", "anthropic"
DEFAULT_FLAGS = ("-p", "hi", "--permission-mode", "bypassPermissions")
_BARE_LOOP = Path(__file__).with_name("bare_loop.py")


@dataclass(frozen=True)
class Client:
    """A program that asks a model."""

    name: str
    argv: Sequence[str]


@dataclass(frozen=True)
class Place:
    """A home, a folder of settings and a git project, all of one client's own."""

    root: Path

    @property
    def project(self) -> Path:
        """The folder that the client runs in."""
        return self.root / "project"

    @property
    def env(self) -> Mapping[str, str]:
        """All of its environment, but for where the model is."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.root / "home"),
            "TOOLPOST_CONFIG_DIR": str(self.root / "config"),
            "ANTHROPIC_API_KEY": "sk-ant-none-for-a-benchmark",
        }


def clients(flags: Sequence[str], command: str | None) -> list[Client]:
    """Return those to compare, in the order they take turns in."""
    found = [
        Client(TOOLPOST, [toolpost(), *(flags or DEFAULT_FLAGS)]),
        Client(HTTPX2, [sys.executable, str(_BARE_LOOP), HTTPX2]),
        Client(ANTHROPIC, [sys.executable, str(_BARE_LOOP), ANTHROPIC]),
    ]
    if command:
        argv = shlex.split(command)
        name = Path(argv[0]).name
        found.append(Client(f"{name} (--command)", argv))
    return found


def toolpost() -> str:
    """Return the program `toolpost` of this interpreter's environment."""
    return str(Path(sys.executable).with_name("toolpost"))


def make_place(root: Path) -> Place:
    """Make the folders of a client."""
    place = Place(root)
    for folder in (root / "home", root / "config", place.project):
        folder.mkdir(parents=True)
    (place.project / "README.md").write_text("A project to run in.\n", encoding="utf-8")
    author = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost"]
    for arguments in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "-m", "Begin"]):
        subprocess.run(["git", *arguments], cwd=place.project, env=dict(place.env), check=True)
    return place
