"""`/rewind`: going back to before a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from toolpost import MissingService, Notice, SessionError

from . import draw
from .asking import answered
from .clean import one_line
from .menu import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import FileRewind, SentPrompt, SessionDoor, TurnChanges

    from .draw import Drawing
    from .stage import Stage

SHORT_ID: Final = 8
GOES: Final[Mapping[str, str]] = {"changed": "changed back", "created": "deleted", "deleted": "made anew"}
_LABEL: Final = 44


async def rewind(door: SessionDoor, argument: str, stage: Stage) -> None:
    """Let the person pick a prompt, then what goes back; with an id, files go back to that. Raises ToolpostError."""
    if argument:
        await _Return(door, stage, argument).files()
        return
    prompts = [prompt for prompt in door.sent_prompts() if not prompt.rewound][::-1]
    if not prompts:
        _say(stage, "There is no prompt to go back to yet.")
        return
    changes = await _changes(door)
    stage.show("command", "Go back to before which prompt?")
    index = await stage.pick([entry_of(prompt, changes.get(prompt.id)) for prompt in prompts])
    if index is None:
        _say(stage, "Everything stays as it is.")
        return
    stage.show("command", answered(_label(prompts[index])))
    await _Return(door, stage, prompts[index].id).choose()


class _Return:
    """Going back to one point."""

    def __init__(self, door: SessionDoor, stage: Stage, message_id: str) -> None:
        self._door = door
        self._stage = stage
        self._id = message_id

    async def choose(self) -> None:
        """Show what files would go back, and ask what shall."""
        try:
            files = await self._plan()
        except (MissingService, SessionError) as error:
            files = ()
            _say(self._stage, str(error))
        ways = {"Conversation": (False, True)}
        if any(not file.problem for file in files):
            ways = {"Files and conversation": (True, True), "Files": (True, False), **ways}
        index = await self._stage.pick([*map(Entry, ways), Entry("Nothing")])
        if index is None or index == len(ways):
            _say(self._stage, "Everything stays as it is.")
            return
        with_files, with_conversation = list(ways.values())[index]
        if with_files and not await self._rewind_files(files):
            return
        if with_conversation:
            text = await self._door.rewind_conversation(self._id)
            _say(self._stage, "The conversation went back. The prompt can be changed and sent again.")
            self._stage.fill(text)

    async def files(self) -> None:
        """Let the files go back, and nothing else."""
        files = await self._plan()
        if any(not file.problem for file in files):
            await self._rewind_files(files)

    async def _plan(self) -> Sequence[FileRewind]:
        files = await self._door.plan_rewind(self._id)
        shown = _table(files, self._door.cwd) if files else "  All files are what they were then."
        self._stage.show("command", shown)
        return files

    async def _rewind_files(self, files: Sequence[FileRewind]) -> bool:
        """Let the files go back; returns whether they did."""
        by_hand = [file for file in files if file.by_hand and not file.problem]
        if by_hand and not await self._agrees(by_hand):
            _say(self._stage, "Everything stays as it is.")
            return False
        rewound = await self._door.rewind_files(self._id, force=bool(by_hand))
        told = "1 file went back" if len(rewound.files) == 1 else f"{len(rewound.files)} files went back"
        undo = f" To undo that: /rewind {rewound.id[:SHORT_ID]}" if rewound.id else ""
        _say(self._stage, f"{told}.{undo}")
        return True

    async def _agrees(self, by_hand: Sequence[FileRewind]) -> bool:
        lines = "\n".join(f"{_name(file.path, self._door.cwd)}: {file.by_hand}" for file in by_hand)
        self._stage.show("command", draw.notice(Notice(f"Going back undoes this as well:\n{lines}", "warning")))
        return await self._stage.pick([Entry("No, leave everything as it is"), Entry("Yes, undo it as well")]) == 1


async def _changes(door: SessionDoor) -> Mapping[str, TurnChanges]:
    try:
        return await door.turn_changes()
    except (MissingService, SessionError):
        return {}


def entry_of(prompt: SentPrompt, changes: TurnChanges | None = None) -> Entry:
    """Return a prompt as the person picks it from a list."""
    return Entry(_label(prompt), " · ".join(filter(None, (_time(prompt.time), _told(changes)))))


def _label(prompt: SentPrompt) -> str:
    text = one_line(prompt.text) or "(no text)"
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _told(changes: TurnChanges | None) -> str:
    if changes is None:
        return "no files"
    files = "1 file" if changes.files == 1 else f"{changes.files} files"
    return f"{files} +{changes.added} −{changes.removed}"


def _time(text: str) -> str:
    """Return the time of day, with the date where that is another."""
    try:
        moment = datetime.fromisoformat(text).astimezone()
    except ValueError:
        return ""
    today = moment.date() == datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")


def _table(files: Sequence[FileRewind], cwd: Path) -> Drawing:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column()
    grid.add_column(overflow="fold", style="dim")
    for file in files:
        name = Text(f"  {_name(file.path, cwd)}")
        if file.problem:
            grid.add_row(name, "", f"stays: {file.problem}")
            continue
        counted = Text("no text", "dim") if file.added is None else draw.plus_minus(file.added, file.removed or 0)
        grid.add_row(name, counted, GOES[file.change] + (", but changed by hand since" if file.by_hand else ""))
    return grid


def _name(path: Path, cwd: Path) -> str:
    return one_line(str(path.relative_to(cwd) if path.is_relative_to(cwd) else path))


def _say(stage: Stage, text: str) -> None:
    stage.show("command", draw.notice(Notice(text)))
