"""Date, platform, shell, model and working folder in the prompt."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from toolpost import ContextSource, Exchanged, Section, SessionScope, StashKey

LONGEST_LANGUAGE: Final = 40
"""Characters of a language's name; what is longer is none."""
_TOLD_DATE: Final = StashKey[str]("environment.date")


class Environment(ContextSource):
    """Tells the model where it works: computed once a conversation, without starting a process.

    A date that has changed since is told once, at the end of the conversation. The setting `language` is told as the
    user's wish.
    """

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return a section with a line for each fact, and one with the language of answers where one is set."""
        scope.stash[_TOLD_DATE] = date = _today()
        facts = {
            "Working folder": str(scope.cwd),
            "Git repository": "yes" if _in_repository(scope.cwd) else "no",
            "Platform": sys.platform,
            "OS version": _os_version(),
            "Shell": _shell(scope),
            "Date": date,
            "Model": scope.model,
        }
        lines = [f"- {name}: {value}" for name, value in facts.items() if value]
        environment = Section(name="environment", text="\n".join(("# Environment", *lines)), order=50)
        return (environment, *_language(scope))

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        """Return the date once where it has changed."""
        del exchanged
        today = _today()
        if today == scope.stash.get(_TOLD_DATE, today):
            return ()
        scope.stash[_TOLD_DATE] = today
        return (f"The date has changed: today is {today}. No need to mention it.",)


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def _language(scope: SessionScope) -> Sequence[Section]:
    language = " ".join(str(scope.settings.get("language") or "").split())
    if not language or len(language) > LONGEST_LANGUAGE:
        return ()
    # The project's settings may have set it: it is not put among the system's words.
    said = f"Answer in {language}; code, names and quotations stay as they are."
    return (Section(name="environment.language", text=said, order=10, user=True),)


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
