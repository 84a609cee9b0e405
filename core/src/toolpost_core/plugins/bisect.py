"""Finds the plugins that make a command fail: by running it with fewer and fewer of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from toolpost_core.settings.effective import FROM_ENV

TAIL: Final = 4000
"""Characters of what a run printed that are kept, from its end."""


class Outcome(NamedTuple):
    """One run: which plugins were on (by distribution), whether it failed, and how."""

    on: tuple[str, ...]
    failed: bool
    how: str
    seconds: float
    printed: str = ""


class Verdict(NamedTuple):
    """What it came to: `found` are the plugins that it takes to make the command fail, none of which can be missing."""

    outcome: Literal["found", "fails with none", "succeeds with all", "nothing to turn off"]
    found: tuple[str, ...]
    runs: tuple[Outcome, ...]


@dataclass
class Bisection:
    """Runs a command with some of the plugins on; what was tried once is not run again.

    `limit` is in seconds: a run that takes longer is ended and counts as failed. `base` is what $TOOLPOST_SETTINGS says
    beside the plugins that are off. `tell` hears of each run.
    """

    command: Sequence[str]
    plugins: tuple[str, ...]
    limit: float | None = None
    base: Mapping[str, Any] = field(default_factory=dict)
    tell: Callable[[Outcome], None] = lambda _: None
    runs: dict[tuple[str, ...], Outcome] = field(default_factory=dict)

    def find(self) -> Verdict:
        """Return a smallest set of plugins with which the command fails, or why there is none."""
        if not self.plugins:
            return self._verdict("nothing to turn off")
        if not self.fails(self.plugins):
            return self._verdict("succeeds with all")
        if self.fails(()):
            return self._verdict("fails with none")
        return self._verdict("found", smallest(self.plugins, self.fails))

    def fails(self, on: Iterable[str]) -> bool:
        """Whether the command fails with these on and the others off."""
        key = tuple(sorted(on))
        if key not in self.runs:
            self.runs[key] = run = self._run(key)
            self.tell(run)
        return self.runs[key].failed

    def _verdict(
        self,
        outcome: Literal["found", "fails with none", "succeeds with all", "nothing to turn off"],
        found: Sequence[str] = (),
    ) -> Verdict:
        return Verdict(outcome, tuple(found), tuple(self.runs.values()))

    def _run(self, on: tuple[str, ...]) -> Outcome:
        off = {name: False for name in self.plugins if name not in on}
        settings = {**self.base, "plugins": {**self.base.get("plugins", {}), **off}}
        with tempfile.TemporaryDirectory(prefix="toolpost-bisect-") as folder:
            file = Path(folder) / "settings.json"
            file.write_text(json.dumps(settings), encoding="utf-8")
            began = time.monotonic()
            code, printed = _ended(self.command, {**os.environ, FROM_ENV: str(file)}, self.limit)
        seconds = time.monotonic() - began
        how = f"took longer than {self.limit:g} s" if code is None else f"exit code {code}"
        return Outcome(on, code != 0, how, seconds, printed[-TAIL:])


def smallest(plugins: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Return a subset that fails and of which no member can be left out (Zeller's ddmin).

    One culprit takes a number of runs that grows with the logarithm of the plugins' number; several take more.
    """
    left, parts = list(plugins), 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        chunk = next((chunk for chunk in chunks if fails(chunk)), None)
        if chunk is not None:
            left, parts = chunk, 2
            continue
        rest = _without_one(left, chunks, fails) if len(chunks) > 2 else None
        if rest is not None:
            left, parts = rest, max(parts - 1, 2)
        elif parts >= len(left):
            break
        else:
            parts = min(len(left), parts * 2)
    return tuple(left)


def _without_one(
    left: list[str], chunks: Sequence[Sequence[str]], fails: Callable[[Sequence[str]], bool]
) -> list[str] | None:
    for chunk in chunks:
        rest = [name for name in left if name not in chunk]
        if fails(rest):
            return rest
    return None


def _ended(command: Sequence[str], env: dict[str, str], limit: float | None) -> tuple[int | None, str]:
    """Run a command to its end; None for the code where the limit ended it, with all that it started."""
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _end(process)
            printed, _ = process.communicate()
            return None, printed
        except BaseException:
            _end(process)
            raise
        return process.returncode, printed


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
