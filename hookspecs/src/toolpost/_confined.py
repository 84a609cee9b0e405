"""Which commands of a shell run in the sandbox, and what that is worth to permissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolpost._frozen import frozen
from toolpost.permissions import Allow, Ask, Decision, PermissionMatcher, PermissionScope


@frozen()
class Confined:
    """One command where a sandbox may be on; `leaves` says that it asks to run outside."""

    scope: PermissionScope
    matcher: Callable[[], PermissionMatcher | None]
    leaves: bool

    @property
    def inside(self) -> bool:
        """Whether it runs in the sandbox: not where it may leave, nor where each of its parts is an excluded command."""
        return self._is_on and not self._may_leave and not self._excluded(all, "allow")

    @property
    def decision(self) -> Decision | None:
        """An ask for what leaves; an allow for what can only do in the sandbox what the settings let it do."""
        if not self._is_on:
            return None
        if self._may_leave:
            return Ask("it is to run outside of the sandbox")
        automatic = self._settings.get("autoAllowBashIfSandboxed") is not False and self.scope.mode != "plan"
        whole = _of(self._settings, "filesystem").get("disabled") is not True
        # Of a line with an excluded command nobody can say beforehand where it is going to run in the end.
        if automatic and whole and not self._excluded(any, "ask"):
            return Allow("it runs in the sandbox")
        return None

    @property
    def _settings(self) -> Mapping[str, Any]:
        return self.scope.sandbox or {}

    @property
    def _is_on(self) -> bool:
        return self._settings.get("enabled") is True

    @property
    def _may_leave(self) -> bool:
        return self.leaves and self._settings.get("allowUnsandboxedCommands") is not False

    def _excluded(self, how: Callable[[Sequence[bool]], bool], behavior: Any) -> bool:
        specifiers = [
            _specifier(text) for text in self._settings.get("excludedCommands") or () if isinstance(text, str)
        ]
        matcher = self.matcher() if specifiers else None
        if matcher is None or not matcher.parts or (behavior == "allow" and matcher.doubt):
            return False
        return how([any(matcher.matches(part, text, behavior) for text in specifiers) for part in matcher.parts])


def _specifier(text: str) -> str:
    """An excluded command is written as a rule's specifier, or as the whole rule."""
    name, bracket, rest = text.strip().partition("(")
    return rest[:-1] if bracket and rest.endswith(")") and name.isalpha() else text.strip()


def _of(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}
