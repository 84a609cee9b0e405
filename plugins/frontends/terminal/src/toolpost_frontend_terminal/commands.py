"""The slash commands."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from toolpost import EFFORTS, Notice, ToolpostError

from . import draw, spending

if TYPE_CHECKING:
    from toolpost import SessionDoor

    from .stage import Stage

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command: what it takes, what it does in a few words, and the doing, which says whether the loop goes on.

    `run` is None where the loop does it itself.
    """

    help: str
    run: Callable[[SessionDoor, str, Stage], Awaitable[bool]] | None
    takes: str = ""


def parse(line: str) -> tuple[str, str] | None:
    """Return name and argument of a slash command; None for a prompt, such as one that begins with a path."""
    match = _COMMAND.fullmatch(line.strip())
    return None if match is None else (match[1].lower(), (match[2] or "").strip())


async def run(name: str, argument: str, door: SessionDoor, stage: Stage) -> bool:
    """Run a command; return whether the loop goes on."""
    command = COMMANDS.get(name)
    if command is None or command.run is None:
        _say(stage, f"There is no command /{name}.{_nearest(name)} /help lists them all.", "error")
        return True
    try:
        return await command.run(door, argument, stage)
    except ToolpostError as error:
        _say(stage, str(error), "error")
        return True


def _say(stage: Stage, text: str, level: Literal["info", "error"] = "info") -> None:
    stage.show("command", draw.notice(Notice(text, level)))


def completions(text: str) -> list[str]:
    """Return the commands that the text may become."""
    if not text.startswith("/") or " " in text:
        return []
    return [f"/{name}" for name in COMMANDS if name.startswith(text[1:].lower())]


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return f" Did you mean /{near[0]}?" if near else ""


async def _help(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del door, argument
    from rich.table import Table

    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for name, command in COMMANDS.items():
        table.add_row(f"/{name} {command.takes}".rstrip(), command.help)
    for keys, what in KEYS.items():
        table.add_row(keys, what)
    stage.show("command", table)
    return True


async def _clear(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del argument
    await door.clear()
    _say(stage, "A new conversation begins; the old one can be resumed.")
    return True


async def _cost(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del argument
    stage.show("command", spending.drawing(door.costs(), door.totals()))
    return True


async def _model(door: SessionDoor, argument: str, stage: Stage) -> bool:
    if argument:
        info = await door.set_model(argument)
        _say(stage, f"{info.id} answers from now on.")
    else:
        _say(stage, f"{door.model.id} answers. /model NAME changes that.")
    return True


async def _effort(door: SessionDoor, argument: str, stage: Stage) -> bool:
    wanted = next((level for level in EFFORTS if level == argument.lower()), None)
    if argument and wanted is None and argument.lower() != "default":
        _say(stage, f"There is no level {argument!r}: {', '.join(EFFORTS)}, or default.", "error")
        return True
    if argument:
        door.set_effort(wanted)
    levels, model = door.model.efforts, door.model.id
    if not levels:
        _say(stage, f"{model} takes no level of effort; one that is set counts once another model answers.")
    elif door.effort is None:
        _say(stage, f"{model} answers at its own level, {door.model.effort}. It takes {', '.join(levels)}.")
    else:
        near = "" if door.effort in levels else f"; of those that {model} takes the nearest is asked for"
        _say(stage, f"The effort is {door.effort}{near}.")
    return True


async def _permissions(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del argument
    stage.show("command", draw.rules(door.rules(), door.permission_mode))
    return True


async def _hooks(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del argument
    stage.show("command", draw.hooks(door.hooks()))
    return True


async def _plugins(door: SessionDoor, argument: str, stage: Stage) -> bool:
    if argument != "reload":
        _say(stage, "/plugins reload reads the settings anew. `toolpost plugins list` shows the plugins.")
        return True
    changed = await door.reload()
    _say(stage, "\n".join(changed) or "The settings were read; the plugins are the same.")
    return True


async def _rewind(door: SessionDoor, argument: str, stage: Stage) -> bool:
    from .rewind import rewind

    await rewind(door, argument, stage)
    return True


async def _compact(door: SessionDoor, argument: str, stage: Stage) -> bool:
    from .compacting import compact

    await compact(door, argument, stage)
    return True


async def _context(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del argument
    from .window import Filling

    stage.show("command", Filling(await door.context_usage()))
    return True


async def _memory(door: SessionDoor, argument: str, stage: Stage) -> bool:
    from .memory import memory

    await memory(door, argument, stage)
    return True


async def _exit(door: SessionDoor, argument: str, stage: Stage) -> bool:
    del door, argument, stage
    return False


RESUME: Final = "resume"
COMMANDS: Final[Mapping[str, Command]] = {
    "help": Command("this list", _help),
    "clear": Command("begin a new conversation", _clear),
    "cost": Command("what the session has cost", _cost),
    "model": Command("show or change the model", _model, "[NAME]"),
    "effort": Command("show or change how much is spent on an answer", _effort, "[LEVEL]"),
    "permissions": Command("the permission rules in force, with their files", _permissions),
    "hooks": Command("the hooks that are set up, with their files", _hooks),
    "plugins": Command("read the settings anew, and turn plugins on and off", _plugins, "reload"),
    "compact": Command("shorten the conversation, by a summary", _compact, "[WHAT MATTERS | up_to | from]"),
    "context": Command("what fills the model's window", _context),
    "memory": Command("what is kept of the project from one session to the next", _memory, "[FILE]"),
    "rewind": Command("go back to before a prompt: the files, the conversation, or both", _rewind, "[ID]"),
    RESUME: Command("go on with another session of this folder", None, "[ID | TITLE]"),
    "exit": Command("leave; so do /quit and Ctrl-D", _exit),
    "quit": Command("leave", _exit),
}
KEYS: Final[Mapping[str, str]] = {
    "Enter": "send; while a turn runs, the model reads it between two of its calls, or at its end",
    "Alt-Enter, Ctrl-J": "a new line; so does a \\ before Enter",
    "Esc, Ctrl-C": "interrupt the turn; Ctrl-C twice at an empty prompt leaves",
    "Esc Esc": "at an empty prompt: /rewind",
    "Shift-Tab": "the next permission mode",
    "↑ ↓, Ctrl-R": "earlier prompts, first what waits to be read; Ctrl-R searches them",
    "Ctrl-Z": "leave it for a while; fg comes back",
}
