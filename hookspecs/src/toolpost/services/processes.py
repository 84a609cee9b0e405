"""`Processes`: starting programs, and ending whatever they started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.context import AbortSignal


class Process(Protocol):
    """A running process, the leader of a group of its own."""

    @property
    def pid(self) -> int:
        """The process id."""

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next output, at most `limit` bytes; empty at the end of it."""

    async def read_errors(self, limit: int = 65536) -> bytes:
        """The same for standard error, unless that was merged into the output."""

    async def write(self, data: bytes) -> None:
        """Write to standard input and wait until it went out."""

    async def close_input(self) -> None:
        """Close standard input."""

    async def wait(self) -> int:
        """Wait for the end and return the exit code."""

    async def stop(self, *, grace: float = 0.0, group: int | None = None) -> None:
        """End it and all that it started: SIGINT, SIGTERM at half of `grace` seconds, SIGKILL after all. Never raises.

        SIGINT and SIGTERM are sent to `group` instead of the process's own, as what is started may only hold a command in.
        """


@frozen()
class Finished:
    """How a process ended. `dropped` is the number of output bytes over the limit that were not kept."""

    returncode: int
    output: bytes
    errors: bytes
    timed_out: bool = False
    dropped: int = 0


class Processes(Protocol):
    """Starts processes, and ends whatever they started, even if we are killed."""

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        merge_errors: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> Process:
        """Start a program; without `stdin` its standard input is empty. `env` replaces the environment.

        Raises OSError where the program or the folder is not there.
        """

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        input: bytes | None = None,
        timeout: float | None = None,
        max_output: int = 10_000_000,
        merge_errors: bool = False,
        abort: AbortSignal | None = None,
        on_output: Callable[[bytes], bool] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Finished:
        """Run a program to its end. `timeout` in seconds; at the time-out, an abort or cancellation the tree is ended.

        `on_output` is handed the output as it comes, in pieces of any size, which is then not kept; it says whether it
        wants more, and where it does not the tree is ended.

        Raises Aborted, OSError.
        """
