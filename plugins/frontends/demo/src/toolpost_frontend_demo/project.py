"""The scratch project: a small package, its tests, and one bug."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolpost import ToolpostError

FILES: Final[Mapping[str, str]] = {
    "README.md": """# tally

Splits a bill among friends. Amounts are whole cents, so that nothing is lost to rounding.
""",
    ".gitignore": "__pycache__/\n",
    "tally/__init__.py": '''"""Splits a bill among friends."""

from tally.money import format_cents, split

__all__ = ["format_cents", "split"]
''',
    "tally/money.py": '''"""Amounts in whole cents."""


def format_cents(cents: int) -> str:
    """Write an amount as people do: 1234 is 12.34."""
    return f"{cents // 100}.{cents % 100:02}"


def split(cents: int, people: int) -> list[int]:
    """Split an amount into shares that differ by a cent at most; who comes first pays the odd cents."""
    if people < 1:
        raise ValueError(f"a bill needs at least one person, not {people}")
    share = cents // people
    return [share] * people
''',
    "tests/__init__.py": "",
    "tests/test_money.py": """import unittest

from tally import format_cents, split


class TestMoney(unittest.TestCase):
    def test_amounts_have_two_decimals(self) -> None:
        self.assertEqual(format_cents(1205), "12.05")

    def test_an_even_bill_is_split_evenly(self) -> None:
        self.assertEqual(split(900, 3), [300, 300, 300])

    def test_no_cent_is_lost(self) -> None:
        self.assertEqual(sum(split(1000, 3)), 1000)

    def test_nobody_pays_nothing_for_nobody(self) -> None:
        with self.assertRaises(ValueError):
            split(1000, 0)
""",
}
MARK: Final = "tally/money.py"
"""The file by which a folder is known to hold the project already."""


@dataclass(frozen=True)
class Outcome:
    """What a program printed, and whether it ended well."""

    ok: bool
    text: str


class DemoError(ToolpostError):
    """Raised when the demonstration can't be set up; the message says what to do."""


async def lay_out(folder: Path) -> bool:
    """Write the project and commit it; a folder that holds it already stays as it is, changes and all.

    Returns whether it was written. Raises DemoError where the folder holds something else or can't be written to, or git
    does not work.
    """
    try:
        if not _write(folder):
            return False
    except OSError as error:
        raise DemoError(f"The project can't be written to {folder}: {error}. Name another folder.") from error
    identity = ("-c", "user.name=Toolpost demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "A package with a bug")):
        done = await run(folder, "git", *arguments)
        if not done.ok:
            raise DemoError(f"git {arguments[0]} failed in {folder}: {done.text.strip()}")
    return True


def _write(folder: Path) -> bool:
    if (folder / MARK).is_file() and (folder / ".git").is_dir():
        return False
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DemoError(f"{folder} holds something else than the demo's project. Name an empty folder, or a new one.")
    if shutil.which("git") is None:
        raise DemoError("The demo works in a git project, and git is not installed. Install git and try again.")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return True


async def tests(folder: Path) -> Outcome:
    """Run the project's tests."""
    return await run(folder, sys.executable, "-m", "unittest")


async def diff(folder: Path) -> str:
    """Return what changed since the commit."""
    return (await run(folder, "git", "--no-pager", "diff", "--no-color", "--no-ext-diff")).text


async def run(folder: Path, *command: str) -> Outcome:
    """Run a program in the folder, apart from the person's own git configuration."""
    # Set by git where the demo is started from a hook or an alias: they would point it at another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return Outcome(process.returncode == 0, out.decode("utf-8", "replace"))
