"""From paths as settings and rules write them to paths of this machine."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from .survey import Survey

if TYPE_CHECKING:
    from toolpost import PermissionScope, Rule

_WILD = frozenset("*?[")
_MOST = 1_000


@dataclass(frozen=True)
class Places:
    """Reads paths where a decision stands; `surveys` are of the working directories, for names without a folder."""

    scope: PermissionScope
    surveys: tuple[Survey, ...]

    def of_settings(self, texts: Iterable[str]) -> Iterator[Path]:
        """Yield the paths that a list under `sandbox.filesystem` means; a relative one starts at the project."""
        for text in texts:
            yield from self._found(self._anchored(text, self.scope.project))

    def of_rule(self, rule: Rule) -> Iterator[Path]:
        """Yield the paths that a Read or Edit rule means, as far as they can be told beforehand.

        A name without a folder is one at any depth where the rule denies, and one here where it allows.
        """
        text = (rule.specifier or "").strip()
        name = text.removeprefix("**/").removesuffix("/**").removesuffix("/")
        if name and "/" not in name and not name.startswith("~") and name not in (".", ".."):
            yield from self._found(self.scope.cwd / name) if rule.behavior == "allow" else self._named(name)
        elif text.startswith("/") and not text.startswith("//"):
            yield from self._found((rule.root or self.scope.project) / text.lstrip("/"))
        elif text:
            yield from self._found(self._anchored(text, self.scope.cwd))

    def _anchored(self, text: str, start: Path) -> Path:
        if text == "~" or text.startswith("~/"):
            return self.scope.home / text[2:]
        return Path("/" + text.lstrip("/")) if text.startswith("/") else start / text

    def _named(self, pattern: str) -> Iterator[Path]:
        """What has the name at any depth that was surveyed."""
        for survey in self.surveys:
            yield from (Path(path) for name, path in survey.names if fnmatchcase(name, pattern))

    def _found(self, pattern: Path) -> Iterator[Path]:
        """The path itself; of a pattern what is there now."""
        text = os.path.normpath(pattern)
        while text.endswith(("/**", "/*")):
            text = text.rpartition("/")[0] or "/"
        if not _WILD & set(text):
            yield Path(text)
            return
        for count, found in enumerate(glob.iglob(text, recursive=True, include_hidden=True)):  # noqa: PTH207 - dot files too
            if count >= _MOST:
                return
            yield Path(found)
