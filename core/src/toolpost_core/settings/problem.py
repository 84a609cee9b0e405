"""What went wrong with a setting or a plugin, for a person to read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from toolpost._frozen import frozen


@frozen()
class Problem:
    """One thing that was passed over, and why; `text` says what, where, what is allowed and what to do.

    `withheld` names what counts once the person trusts the workspace.
    """

    text: str
    plugin: str = ""
    distribution: str = ""
    file: Path | None = None
    level: Literal["warning", "error"] = "warning"
    withheld: tuple[str, ...] = ()
