"""`SessionHooks`: hooks that a program, an agent or a skill adds to those of the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import toolpost
from toolpost_core.settings.hooks import hooks_in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolpost import ConfiguredHook
    from toolpost_core.settings import Settings

AGENT: Final = "agentId"
"""The key of a group of hooks that says which sub-agent alone it is for."""
OFF: Final = ("disableAllHooks", "allowManagedHooksOnly")
"""Settings that switch hooks off which are not managed."""
SAYS_WHAT: Final = ("command", "url", "prompt", "tool")
"""What in a hook's entry says what it does, by kinds of hooks."""


class AddedHooks:
    """The hooks that were added to a session; `changed` is called after each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._added: list[Mapping[str, Sequence[Mapping[str, Any]]]] = []
        self.of_plugins: Sequence[Mapping[str, Sequence[Mapping[str, Any]]]] = ()
        """What plugins bring in files."""
        self.held: frozenset[str] = frozenset()
        """The hooks of the settings that no person has agreed to (`reviewing.review`)."""

    def add(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> Callable[[], None]:
        """Let hooks run from now on, and return what ends that. Raises SessionError for what has another shape."""
        check_shape(hooks)
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
        """What plugins bring, and what was added and not taken away, in its order."""
        return (*self.of_plugins, *self._added)

    def agreed(self, hooks: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the `hooks` key of settings without what is held."""
        if not self.held:
            return hooks
        from toolpost_core.session.reviewing import without

        return without(hooks, self.held)

    def beside(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings with these hooks behind their own, of which those that are held are left out."""
        if self.held:
            settings = {**settings, "hooks": self.agreed(settings.get("hooks") or {})}
        if not self.all or any(settings.get(key) for key in OFF):
            return settings
        together = {event: list(groups) for event, groups in (settings.get("hooks") or {}).items()}
        for hooks in self.all:
            for event, groups in hooks.items():
                together.setdefault(event, []).extend(groups)
        return {**settings, "hooks": together}


class HooksOfAgent(AddedHooks):
    """The hooks of a session as a sub-agent sees them: those that it adds run for it alone."""

    def __init__(self, session: AddedHooks, agent_id: str) -> None:
        self._session = session
        self._agent_id = agent_id

    def add(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> Callable[[], None]:
        """Let hooks run from now on for this agent; its end is that of a sub-agent. Raises SessionError."""
        check_shape(hooks)
        own: dict[str, list[Mapping[str, Any]]] = {}
        for event, groups in hooks.items():
            marked = own.setdefault("SubagentStop" if event == "Stop" else event, [])
            marked += ({**group, AGENT: self._agent_id} for group in groups)
        return self._session.add(own)

    @property
    def all(self) -> Sequence[Mapping[str, Sequence[Mapping[str, Any]]]]:
        """What was added to the whole session."""
        return self._session.all

    def agreed(self, hooks: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the `hooks` key of settings without what is held."""
        return self._session.agreed(hooks)

    def beside(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings with the whole session's hooks behind their own."""
        return self._session.beside(settings)


def check_shape(hooks: object) -> None:
    """Raise SessionError where hooks are not like the settings' `hooks`: a gate in them would hold nothing back."""
    if not isinstance(hooks, Mapping):
        raise toolpost.SessionError(f"Hooks must be an object of event names, and they are {hooks!r:.100}.")
    for event, groups in hooks.items():
        if isinstance(groups, str) or not isinstance(groups, Sequence):
            raise toolpost.SessionError(f"The hooks of {event} must be a list of groups, and they are {groups!r:.100}.")
        for group in groups:
            if not isinstance(group, Mapping) or not isinstance(group.get("hooks"), list | tuple):
                raise toolpost.SessionError(
                    f'A group of {event} hooks must be an object with "hooks" (a list) and perhaps "matcher" (a text), '
                    f"and it is {group!r:.100}."
                )


def configured(settings: Settings, added: AddedHooks) -> list[ConfiguredHook]:
    """Return the hooks that run: those of each settings file, and those that were added."""
    found: list[ConfiguredHook] = []
    for document in hooks_in_force(settings.documents):
        source = str(document.file) if document.file else document.level
        found += _hooks(added.agreed(document.values.get("hooks") or {}), source)
    off = any(settings.get(key) for key in OFF)
    for hooks in () if off else added.all:
        found += _hooks(hooks, "this session")
    return found


def _hooks(hooks: Mapping[str, Any], source: str) -> Iterator[ConfiguredHook]:
    for event, groups in hooks.items():
        for group in groups:
            place = group.get("plugin")
            file = str(place.root) if isinstance(place, toolpost.PluginPlace) else source
            for handler in group.get("hooks") or ():
                kind = str(handler.get("type"))
                what = next((handler[key] for key in (*SAYS_WHAT, kind) if key in handler), "")
                said = str(getattr(what, "__qualname__", what))
                matcher = str(group.get("matcher") or "")
                yield toolpost.ConfiguredHook(event=event, matcher=matcher, what=f"{kind}: {said}", source=file)
