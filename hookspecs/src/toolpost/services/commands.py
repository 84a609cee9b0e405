"""`Commands`: running a shell with a command, to its end or in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.context import AbortSignal
    from toolpost.services.work import TaskInfo
    from toolpost.tools import Progress


@frozen(kw_only=True)
class Command:
    """A command as a shell is to run it.

    `text` is what was asked for, `argv` the shell that does it, `env` its whole environment. After `timeout` seconds it is
    ended with all that it started. `move_after` seconds after its start it goes on in the background by itself, None:
    never; `moved_timeout` then takes the place of `timeout`. `confined` runs it in the session's sandbox, where `writable`
    names what the shell itself has to write.
    """

    text: str
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    timeout: float
    description: str = ""
    tool_use_id: str = ""
    move_after: float | None = None
    moved_timeout: float | None = None
    confined: bool = False
    writable: Sequence[Path] = ()


@frozen(kw_only=True)
class CommandEnd:
    """How a command ended.

    `output` is a text for the model: both streams in order, without what only means something to a terminal, and of much
    output the two ends; `output_file` then holds the whole, of `size` bytes. `flooded` says that the command was ended
    because it wrote more than a disk should hold, `violations` what the sandbox held back.
    """

    code: int
    output: str
    size: int
    output_file: Path | None = None
    timed_out: bool = False
    flooded: bool = False
    violations: Sequence[str] = ()


class Commands(Protocol):
    """Runs commands, and ends whatever they started."""

    def folder(self) -> Path:
        """Return a folder for the shells' own small files; it goes with the session."""

    async def run(self, command: Command, *, abort: AbortSignal, progress: Progress) -> CommandEnd | TaskInfo:
        """Run a command to its end; returns a TaskInfo where it goes on in the background.

        Each second `progress` gets the last lines. Raises Aborted, with the output so far, after everything was ended,
        OSError where the program or the folder is not there, ToolFailed where the sandbox can't hold it.
        """

    async def start(self, command: Command) -> TaskInfo:
        """Start a command in the background. Raises OSError and ToolFailed as `run` does."""
