"""The front end of `toolpost` without `-p`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import Frontend, SettingsError, ToolpostError

from .clean import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from toolpost import Diff, Host

    from .plain import PlainStage
    from .screen import Screen

_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class Terminal(Frontend):
    """Talks with a person: an input line at the bottom, everything above it in the terminal's own scrollback."""

    async def run(self, host: Host) -> int:
        """Serve until the person leaves, or with `once` in the options' extra until the prompt is answered."""
        cwd = host.options.cwd or Path.cwd()
        print(f"toolpost {host.version}  {_short(cwd)}", flush=True)
        codes: list[int] = []
        task = asyncio.current_task()
        assert task is not None

        def end(code: int) -> None:
            codes.append(code)
            task.cancel()

        loop = asyncio.get_running_loop()
        for number, code in _SIGNALS.items():
            loop.add_signal_handler(number, end, code)
        try:
            return await _sit(host, cwd)
        except ToolpostError as error:
            print(f"toolpost: error: {error}", file=sys.stderr, flush=True)
            return 2 if isinstance(error, SettingsError) else 1
        except asyncio.CancelledError:
            if not codes:
                raise
            task.uncancel()
            return codes[0]
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


async def _sit(host: Host, cwd: Path) -> int:
    from .locate import locator
    from .repl import Repl

    repl: Repl | None = None

    def folder() -> Path:
        return repl.door.cwd if repl is not None and repl.door is not None else cwd

    locate = locator(folder)
    stage, can_ask = _stage(locate, os.environ)
    async with stage:
        repl = Repl(host, stage, locate, can_ask=can_ask)
        return await repl.run()


def _stage(locate: Callable[[Diff], int | None], env: Mapping[str, str]) -> tuple[Screen | PlainStage, bool]:
    """Return the stage that this terminal allows, and whether a person can be asked on it."""
    from .narrate import Narrator, WholeLines

    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)) or env.get("TERM", "dumb") in ("", "dumb"):
        from .plain import PlainStage

        return PlainStage(Narrator(WholeLines(), locate, markdown=False)), _is_terminal(sys.stdin)
    from .history import PromptHistory, config_dir
    from .live import Live
    from .paragraphs import Paragraphs
    from .screen import Screen

    narrator = Narrator(Paragraphs(), locate, markdown=True)
    return Screen(narrator, Live(time.monotonic), PromptHistory(config_dir(env))), True


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _short(path: Path) -> str:
    home = os.environ.get("HOME", "")
    shown = str(path)
    return one_line("~" + shown[len(home) :] if home and shown.startswith(home + os.sep) else shown)
