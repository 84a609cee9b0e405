"""A project with a sandbox round its commands, for tests of what gets out of it."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from toolpost import LaunchOptions, Question, Reply, ToolUse
from toolpost_core.api import open_session
from toolpost_core.session.session import Session
from toolpost_sandbox_bubblewrap import Bubblewrap

MISSING = Bubblewrap().unusable() if sys.platform == "linux" else "bubblewrap is for Linux"
needs_sandbox = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

SECRET = "the-secret-that-nobody-prints"
INSIDE = "grep -qx bwrap /proc/1/comm || exit 99"


class Cell:
    """A project with a sandbox round its commands, and around it what they must not touch."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.outside = root / "outside"
        self.secrets = root / "home" / "secrets"
        for folder in (self.project, self.outside, self.secrets):
            folder.mkdir(parents=True)
        (self.outside / "kept.txt").write_text("kept")
        (self.secrets / "key").write_text(SECRET)
        self.network: dict[str, Any] = {"strictAllowlist": True}
        self.more: dict[str, Any] = {}
        self.env: dict[str, str] = {}

    async def run(self, command: str) -> str:
        """Run a command as the model would, with every question answered by yes; return what the model reads."""
        async with self.session() as session:
            return await call(session, command)

    def session(self) -> AbstractAsyncContextManager[Session]:
        files = {"denyRead": [str(self.secrets)], "allowWrite": ["./build"]}
        sandbox = {
            "enabled": True,
            "failIfUnavailable": True,
            "filesystem": files,
            "network": self.network,
            **self.more,
        }
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), **self.env}
        options = LaunchOptions(cwd=self.project, settings=json.dumps({"sandbox": sandbox}), persist=False)
        return open_session(options, yes, env=env, need_model=False)

    async def python(self, code: str) -> str:
        """Run a script inside."""
        (self.project / "attempt.py").write_text(textwrap.dedent(code), encoding="utf-8")
        try:
            return await self.run(f"{sys.executable} -I attempt.py 2>&1")
        finally:
            (self.project / "attempt.py").unlink()

    def state(self) -> dict[str, bytes | None]:
        """Everything outside the project, with its content."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.outside, self.secrets)
            for path in sorted(folder.rglob("*"))
        }


async def yes(question: Question) -> Reply:
    return Reply(allow=True)


async def call(session: Session, command: str) -> str:
    (result,) = await session.run_calls([ToolUse("toolu_1", "Bash", {"command": f"{INSIDE}; {command}"})])
    text = str(result.block["content"])
    assert not text.startswith("Exit code 99"), "it ran outside"
    return text
