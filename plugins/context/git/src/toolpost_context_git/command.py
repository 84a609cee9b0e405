"""Runs git so that nothing the repository brings along is run with it."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolpost import SessionScope
from toolpost_context_git.repository import Repository

_SAFE_OPTIONS = (
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false"),  # would run gpg.program
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.quotePath=false"),
)
_SAFE_ENV = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone fetches what it lacks, through programs that the repository may name.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
# Set while git itself runs us, in a hook for one: they would point to another repository.
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF")


@dataclass(frozen=True)
class Command:
    """git with its options; `timeout` in seconds is for each run."""

    program: str
    options: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    timeout: float

    def with_settings(self, settings: Mapping[str, str]) -> Command:
        """Return one with more settings that beat the repository's; their names may hold any character."""
        count = int(self.env.get("GIT_CONFIG_COUNT") or 0)
        added = {"GIT_CONFIG_COUNT": str(count + len(settings))}
        for index, (name, value) in enumerate(settings.items(), start=count):
            added |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
        return replace(self, env={**self.env, **added})

    async def run(self, *arguments: str) -> str | None:
        """Return what git wrote; None if it failed or took too long, in which case it was ended."""
        argv = (self.program, *self.options, *arguments)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, cwd=self.folder, env=self.env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(self.timeout):
                output, _ = await process.communicate()
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return output.decode(errors="replace") if process.returncode == 0 else None


def git_command(repository: Repository, scope: SessionScope, timeout: float) -> Command | None:
    """Return git for the repository, or None where it is not installed."""
    env = {name: value for name, value in (scope.env or os.environ).items() if name not in _ELSEWHERE}
    program = _find("git", env.get("PATH", ""))
    if program is None:
        return None
    return Command(program, _SAFE_OPTIONS, repository.root, {**env, **_SAFE_ENV}, timeout)


def _find(name: str, path: str) -> str | None:
    """Find a program by absolute folders only: a relative one could be the repository's."""
    endings = ("", ".exe") if os.name == "nt" else ("",)
    for folder in filter(os.path.isabs, path.split(os.pathsep)):
        for ending in endings:
            candidate = Path(folder, name + ending)
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    return None
