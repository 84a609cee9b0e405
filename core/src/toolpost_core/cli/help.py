"""The text of `toolpost --help`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from toolpost_core.cli.commands import COMMANDS
from toolpost_core.cli.flags import FLAGS, Flag

WIDTH: Final = 100
INTRO: Final = """\
Usage: toolpost [FLAGS] [PROMPT]
       toolpost -p [FLAGS] [PROMPT]
       toolpost COMMAND ...

An agent for the terminal. Without -p it is interactive. `toolpost demo` shows it offline, without a key."""
DEMO: Final = "Watch a recorded model work in a scratch project (--yes answers the questions)."
DEMO_HELP: Final = f"""\
Usage: toolpost demo [--yes] [--fast] [--keep DIR]

{DEMO}

  -y, --yes   answer the permission questions with yes, visibly
  --fast      leave out the pauses
  --keep DIR  work in DIR and leave it there; one that holds the project already is used as it is"""
ENDING: Final = """\
`toolpost COMMAND --help` tells more.
Exit codes: 0 done, 1 failed, 2 bad usage or settings, 130 interrupted, 143 ended."""


def help_text() -> str:
    """Return usage, flags and commands."""
    about = {"demo": DEMO, **{name: what for name, (_, what) in COMMANDS.items()}}
    commands = [f"  {name:<14}{what}" for name, what in sorted(about.items())]
    flags = [line for flag in FLAGS for line in _flag(flag)]
    return "\n".join([INTRO, "", "Flags:", *flags, "", "Commands:", *commands, "", ENDING])


def _flag(flag: Flag) -> Iterator[str]:
    value = f"[{flag.value}]" if flag.kind == "optional" else flag.value
    space = " " if value and not flag.value.startswith("=") else ""
    choices = f" One of {', '.join(flag.choices)}." if flag.choices else ""
    yield f"  {', '.join(flag.names)}{space}{value}"
    yield from textwrap.wrap(flag.help + choices, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
