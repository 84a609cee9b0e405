"""The front end of `toolpost demo`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from toolpost import Frontend

from . import project, report

if TYPE_CHECKING:
    from toolpost import Host, LaunchOptions

PROMPT: Final = "One of the tests fails. Find out why, mend it, and show me that all of them pass."
READING_SPEED: Final = 0.5
"""How fast the recorded model writes, as the provider counts it: some ten words a second."""
READING_PAUSE: Final = 1.5
"""Seconds that a question stays on the screen before --yes answers it."""


INTERRUPTED: Final = 129
"""From here on an exit code says that a signal or a key ended the run."""


class Demo(Frontend):
    """Plays a recorded model through the real loop and the real tools, in a project of its own."""

    async def run(self, host: Host) -> int:
        """Show the demonstration; 0 only if the project's tests pass at its end."""
        extra = host.options.extra
        if not extra.get("yes") and not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
            report.complain("the demo asks for permissions: run it in a terminal, or with --yes, which answers them.")
            return 2
        try:
            with _folder(extra.get("keep")) as folder:
                return await self._show(host, folder, extra)
        except project.DemoError as error:
            report.complain(str(error))
            return 2

    async def _show(self, host: Host, folder: Path, extra: Mapping[str, Any]) -> int:
        await project.lay_out(folder)
        report.introduce(folder, fast=bool(extra.get("fast")))
        with as_file(files(__package__) / "cassette.jsonl") as cassette:
            code = await host.launch("terminal", _options(host.options, folder, cassette, extra))
        if code >= INTERRUPTED:
            report.leave(folder, kept=bool(extra.get("keep")))
            return code
        tests = await project.tests(folder)
        report.show(tests, await project.diff(folder), folder, kept=bool(extra.get("keep")))
        return code if code else 0 if tests.ok else 1


def _options(options: LaunchOptions, folder: Path, cassette: Path, extra: Mapping[str, Any]) -> LaunchOptions:
    """The run: nobody's settings, a recorded model, one prompt."""
    fast = bool(extra.get("fast"))
    return replace(
        options,
        prompt=PROMPT,
        cwd=folder,
        provider="replay",
        model=None,
        setting_sources=(),
        permission_mode="default",
        trust=True,
        plugin_config={
            "replay": {"cassette": str(cassette), "speed": 0 if fast else READING_SPEED, "cwd": str(folder)}
        },
        extra={"once": True, "yes": bool(extra.get("yes")), "pause": 0 if fast else READING_PAUSE},
    )


@contextmanager
def _folder(keep: object) -> Iterator[Path]:
    """The folder to work in: the one to keep, or a new one that is removed."""
    if keep:
        yield Path(str(keep)).expanduser().absolute()
        return
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix="toolpost-demo-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
