"""Plays what docs/guides/rewind.md shows: `python tests/docs/rewind_screens.py` writes its screens into the page.

The terminal, the session, the tools and the files are real; only the model is a mock that says what is written here.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests/support"))

from mock_messages_api import MockMessagesApi, Step, text, tool_use, turn  # noqa: E402
from tmux_pane import Pane, pane  # noqa: E402

PAGE = ROOT / "docs/guides/rewind.md"
_SCREEN = re.compile(r"(```text screen=([\w-]+)\n).*?(^```$)", re.MULTILINE | re.DOTALL)
_CHANGING = (
    (re.compile(r"toolpost \d+\.\d+\.\S+"), "toolpost 0.1.0"),
    (re.compile(r"\b\d\d:\d\d\b"), "14:05"),
    (re.compile(r"\$\d\.\d{4}"), "$0.0123"),
    (re.compile(r"/rewind [0-9a-f]{8}\b"), "/rewind 8d2e6b1c"),
)
"""What differs from run to run, and what the page has instead."""


def screens(folder: Path) -> dict[str, str]:
    """Play the sitting in a folder and return its screens by name."""
    shop = folder / "shop"
    shop.mkdir()
    prices = shop / "prices.py"
    prices.write_text("def total(prices):\n    return sum(prices)\n")
    shown: dict[str, str] = {}
    with _sitting(folder, shop, _script(shop)) as terminal:
        terminal.shows(r"(?m)^›$")
        terminal.send("Add a tax of 8 percent to the total")
        terminal.shows(r"(?sm)The total has the tax\..*^›$")
        terminal.send("Print a report, and round the total")
        terminal.shows(r"(?sm)prints the report\..*^›$")
        terminal.send("/rewind")
        shown["prompts"] = terminal.shows("Esc leaves everything")
        terminal.press("Enter")
        shown["what"] = terminal.shows("4. Nothing")
        terminal.press("Enter")
        shown["back"] = terminal.shows("› Print a report, and round the total")
        (shop / "prices.py").write_text(prices.read_text().replace("1.08", "1.19"))
        terminal.press("C-u")
        terminal.press("Escape", "Escape")
        terminal.shows("1. Add a tax of 8 percent")
        terminal.press("Enter")
        terminal.shows("4. Nothing")
        terminal.type("2")
        shown["by-hand"] = terminal.shows("2. Yes, undo it as well")
        terminal.press("Escape")
        terminal.shows(r"(?sm)stays as it is.*^›$")
    return {name: _steady(_last_command(screen)) for name, screen in shown.items()}


def with_screens(page: str, shown: dict[str, str]) -> str:
    """Return the page with the screens in their blocks."""
    return _SCREEN.sub(lambda block: f"{block[1]}{shown[block[2]]}\n{block[3]}", page)


def _script(shop: Path) -> list[Step]:
    prices, report = str(shop / "prices.py"), str(shop / "report.py")
    taxed = _edit(prices, "    return sum(prices)", "    return sum(prices) * 1.08")
    rounded = _edit(prices, "    return sum(prices) * 1.08", "    return round(sum(prices) * 1.08, 2)")
    lines = 'from prices import total\n\nprint("Total:", total([1, 2]))\n'
    return [
        turn(tool_use("Read", {"file_path": prices})),
        turn(tool_use("Edit", taxed)),
        turn(text("The total has the tax.")),
        turn(tool_use("Edit", rounded)),
        turn(tool_use("Write", {"file_path": report, "content": lines})),
        turn(text("`report.py` prints the report.")),
    ]


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"file_path": path, "old_string": old, "new_string": new}


@contextmanager
def _sitting(folder: Path, project: Path, script: list[Step]) -> Iterator[Pane]:
    with MockMessagesApi(script).run_in_thread() as api:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        command = [str(Path(sys.executable).with_name("toolpost")), "--permission-mode", "acceptEdits"]
        with pane(command, cwd=project, env=env, rows=50) as terminal:
            yield terminal


def _last_command(screen: str) -> str:
    """Return the screen from the last command on, without the rows below the input line."""
    start = screen.rfind("› /rewind")
    return screen[start:] if start >= 0 else screen


def _steady(screen: str) -> str:
    for changing, instead in _CHANGING:
        screen = changing.sub(instead, screen)
    return "\n".join(line.rstrip() for line in screen.splitlines())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(with_screens(PAGE.read_text(encoding="utf-8"), screens(Path(made).resolve())), encoding="utf-8")
