"""`Confinement`: starting commands inside the session's sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolpost.sandboxes import Violation, Wrapped


class Confinement(Protocol):
    """Holds commands in, as the settings under `sandbox` and the permission rules say.

    Whether a command goes inside is its caller's to decide: `PermissionScope.sandbox` says whether there is a sandbox.
    """

    @property
    def in_force(self) -> bool:
        """Whether a sandbox is on and can be used."""

    async def enter(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        command: str = "",
        writable: Sequence[Path] = (),
        network_only: bool = False,
    ) -> Wrapped:
        """Return the command to start instead; await its `finish` once the process ended or was not started.

        `writable` are files and folders that are there and are to be writable beside what the settings say. `command` is
        what was asked for, for the settings that name commands. With `network_only` files and processes are as outside.
        Raises ToolFailed where no sandbox is in force, or it can't keep the policy.
        """

    def told(self, output: str, *, command: str = "") -> Sequence[Violation]:
        """Return what the output of a command from inside says of having been held back; no sandbox hears of all of it."""
