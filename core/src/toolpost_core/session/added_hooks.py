"""`SessionHooks`: hooks that a program, an agent or a skill adds to those of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import toolpost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from toolpost import ConfiguredHook
    from toolpost_core.settings import Settings

OFF: Final = ("disableAllHooks", "allowManagedHooksOnly")
"""Settings that switch hooks off which are not managed."""
SAYS_WHAT: Final = ("command", "url", "prompt", "tool")
"""What in a hook's entry says what it does, by kinds of hooks."""


class AddedHooks:
    """The hooks that were added to a session; `changed` is called after each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._added: list[Mapping[str, Sequence[Mapping[str, Any]]]] = []

    def add(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> Callable[[], None]:
        """Let hooks run from now on, and return what ends that."""
        kept = {event: tuple(groups) for event, groups in hooks.items()}
        self._added.append(kept)
        self._changed()

        def end() -> None:
            before = len(self._added)
            self._added = [other for other in self._added if other is not kept]
            if len(self._added) < before:
                self._changed()

        return end

    @property
    def all(self) -> Sequence[Mapping[str, Sequence[Mapping[str, Any]]]]:
        """What was added and not taken away, in its order."""
        return tuple(self._added)

    def beside(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings with these hooks behind their own."""
        if not self._added or any(settings.get(key) for key in OFF):
            return settings
        together = {event: list(groups) for event, groups in (settings.get("hooks") or {}).items()}
        for hooks in self._added:
            for event, groups in hooks.items():
                together.setdefault(event, []).extend(groups)
        return {**settings, "hooks": together}


def configured(settings: Settings, added: AddedHooks) -> list[ConfiguredHook]:
    """Return the hooks that run: those of each settings file, and those that were added."""
    found: list[ConfiguredHook] = []
    for document in settings.documents:
        source = str(document.file) if document.file else document.level
        found += _hooks(document.values.get("hooks") or {}, source)
    off = any(settings.get(key) for key in OFF)
    for hooks in () if off else added.all:
        found += _hooks(hooks, "this session")
    return found


def _hooks(hooks: Mapping[str, Any], source: str) -> Iterator[ConfiguredHook]:
    for event, groups in hooks.items():
        for group in groups:
            for handler in group.get("hooks") or ():
                kind = str(handler.get("type"))
                what = next((handler[key] for key in (*SAYS_WHAT, kind) if key in handler), "")
                said = str(getattr(what, "__qualname__", what))
                matcher = str(group.get("matcher") or "")
                yield toolpost.ConfiguredHook(event=event, matcher=matcher, what=f"{kind}: {said}", source=source)
