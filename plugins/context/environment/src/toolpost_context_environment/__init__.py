"""Date, platform, shell, model and working folder in the prompt."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path, PurePath

from toolpost import ContextSource, Section, SessionScope


class Environment(ContextSource):
    """Tells the model where it works: computed once a session, without starting a process."""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return one section, a line for each fact."""
        facts = {
            "Working folder": str(scope.cwd),
            "Git repository": "yes" if _in_repository(scope.cwd) else "no",
            "Platform": sys.platform,
            "OS version": _os_version(),
            "Shell": _shell(scope),
            "Date": time.strftime("%Y-%m-%d"),
            "Model": scope.model,
        }
        lines = [f"- {name}: {value}" for name, value in facts.items() if value]
        return (Section(name="environment", text="\n".join(("# Environment", *lines)), order=50),)


def _in_repository(folder: Path) -> bool:
    return any((parent / ".git").exists() for parent in (folder, *folder.parents))


def _os_version() -> str:
    if hasattr(os, "uname"):  # platform.platform() would start a process on some systems, and its import costs more
        system = os.uname()
        return f"{system.sysname} {system.release}"
    import platform

    return f"{platform.system()} {platform.version()}"


def _shell(scope: SessionScope) -> str:
    return PurePath(scope.env.get("SHELL") or scope.env.get("COMSPEC") or "").name
