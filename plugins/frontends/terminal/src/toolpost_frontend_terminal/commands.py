"""The slash commands."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from toolpost import Notice, ToolpostError

from . import draw

if TYPE_CHECKING:
    from toolpost import SessionDoor

    Show: TypeAlias = Callable[..., None]

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command: what it takes, what it does in a few words, and the doing, which says whether the loop goes on."""

    help: str
    run: Callable[[SessionDoor, str, Show], Awaitable[bool]]
    takes: str = ""


def parse(line: str) -> tuple[str, str] | None:
    """Return name and argument of a slash command; None for a prompt, such as one that begins with a path."""
    match = _COMMAND.fullmatch(line.strip())
    return None if match is None else (match[1].lower(), (match[2] or "").strip())


async def run(name: str, argument: str, door: SessionDoor, show: Show) -> bool:
    """Run a command; return whether the loop goes on."""
    command = COMMANDS.get(name)
    if command is None:
        show(draw.notice(Notice(f"There is no command /{name}.{_nearest(name)} /help lists them all.", "error")))
        return True
    try:
        return await command.run(door, argument, show)
    except ToolpostError as error:
        show(draw.notice(Notice(str(error), "error")))
        return True


def completions(text: str) -> list[str]:
    """Return the commands that the text may become."""
    if not text.startswith("/") or " " in text:
        return []
    return [f"/{name}" for name in COMMANDS if name.startswith(text[1:].lower())]


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return f" Did you mean /{near[0]}?" if near else ""


async def _help(door: SessionDoor, argument: str, show: Show) -> bool:
    del door, argument
    from rich.table import Table

    table = Table.grid(padding=(0, 3))
    for name, command in COMMANDS.items():
        table.add_row(f"/{name} {command.takes}".rstrip(), command.help)
    for keys, what in KEYS.items():
        table.add_row(keys, what)
    show(table)
    return True


async def _clear(door: SessionDoor, argument: str, show: Show) -> bool:
    del argument
    await door.clear()
    show(draw.notice(Notice("A new conversation begins; the old one can be resumed.")))
    return True


async def _cost(door: SessionDoor, argument: str, show: Show) -> bool:
    del argument
    show(draw.costs(door.costs()))
    return True


async def _model(door: SessionDoor, argument: str, show: Show) -> bool:
    if argument:
        info = door.set_model(argument)
        show(draw.notice(Notice(f"{info.id} answers from now on.")))
    else:
        show(draw.notice(Notice(f"{door.model.id} answers. /model NAME changes that.")))
    return True


async def _permissions(door: SessionDoor, argument: str, show: Show) -> bool:
    del argument
    show(draw.rules(door.rules(), door.permission_mode))
    return True


async def _plugins(door: SessionDoor, argument: str, show: Show) -> bool:
    if argument != "reload":
        show(draw.notice(Notice("/plugins reload reads the settings anew. `toolpost plugins list` shows the plugins.")))
        return True
    changed = await door.reload()
    show(draw.notice(Notice("\n".join(changed) or "The settings were read; the plugins are the same.")))
    return True


async def _exit(door: SessionDoor, argument: str, show: Show) -> bool:
    del door, argument, show
    return False


COMMANDS: Final[Mapping[str, Command]] = {
    "help": Command("this list", _help),
    "clear": Command("begin a new conversation", _clear),
    "cost": Command("what the session has cost", _cost),
    "model": Command("show or change the model", _model, "[NAME]"),
    "permissions": Command("the permission rules in force, with their files", _permissions),
    "plugins": Command("read the settings anew, and turn plugins on and off", _plugins, "reload"),
    "exit": Command("leave; so do /quit and Ctrl-D", _exit),
    "quit": Command("leave", _exit),
}
KEYS: Final[Mapping[str, str]] = {
    "Enter": "send; while a turn runs, the text waits for its end",
    "Alt-Enter, Ctrl-J": "a new line; so does a \\ before Enter",
    "Esc, Ctrl-C": "interrupt the turn; Ctrl-C twice at an empty prompt leaves",
    "Shift-Tab": "the next permission mode",
    "↑ ↓, Ctrl-R": "earlier prompts; Ctrl-R searches them",
    "Ctrl-Z": "leave it for a while; fg comes back",
}
