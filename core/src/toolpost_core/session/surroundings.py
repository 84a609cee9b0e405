"""What a session's calls stand in: the current folder, the permission mode, rules and directories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import toolpost
from toolpost import on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import (
        AbortSignal,
        Message,
        PermissionMode,
        PermissionScope,
        Rule,
        RuleUpdate,
        Services,
        SessionScope,
        Stash,
        ToolContext,
        ToolUse,
    )
    from toolpost.events.session import WatchOutcome
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.permissions.denials import DenialCounts
    from toolpost_core.session.parts import Parts
    from toolpost_core.tools.calls import CallResult
    from toolpost_core.tools.permit import Circumstances


class Surroundings:
    """The context of calls as it is at this moment; made when the first call comes."""

    def __init__(self, parts: Parts, mode: PermissionMode, rules: tuple[Rule, ...]) -> None:
        self._parts = parts
        self._made: ToolContext | None = None
        self._moved_from: Path | None = None
        self._added: tuple[Path, ...] = ()
        self._make: Callable[[], ToolContext] | None = None
        self._denials: DenialCounts | None = None
        self.mode = mode
        self.rules = rules

    def stand_in(
        self,
        session_id: str,
        *,
        stash: Stash,
        services: Services,
        abort: AbortSignal,
        results_dir: Path | None,
        model: str,
        notify: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        """Begin anew with what a conversation has of its own; mode and rules stay."""

        def make() -> ToolContext:
            from toolpost.context import Control, Interface, SharedState

            return toolpost.ToolContext(
                cwd=self._parts.places.project,
                scope=self._scope(results_dir),
                control=Control(abort=abort, session_id=session_id),
                services=services,
                env=self._parts.env,
                options=toolpost.ToolOptions(
                    model=model, interactive=self._parts.ask is not None, settings=self._parts.settings.values
                ),
                state=SharedState(stash=stash, results_dir=results_dir),
                interface=Interface(notify=notify, warn=warn),
            )

        self._make, self._made, self._moved_from = make, None, None
        self._denials = None

    def adopt(self, parts: Parts) -> None:
        """Take over changed settings; what was granted for the session stays, a mode that is now forbidden does not."""
        self._parts = parts
        self.rules = (*parts.settings.rules, *(rule for rule in self.rules if rule.source == "session"))
        if self._made is not None:
            options = replace(self._made.options, settings=parts.settings.values)
            scope = replace(self._made.scope, sandbox=parts.confinement)
            self._made = replace(self._made, options=options, scope=scope)
        try:
            self.set_mode(self.mode)
        except toolpost.SettingsError:
            self.set_mode("default")

    @property
    def cwd(self) -> Path:
        """The current folder."""
        return self._made.cwd if self._made is not None else self._parts.places.project

    @property
    def scope(self) -> PermissionScope:
        """What permissions depend on, beside the rules."""
        return self.ctx.scope

    @property
    def ctx(self) -> ToolContext:
        """The context that calls get."""
        if self._made is None:
            assert self._make is not None
            self._made = self._make()
        return self._made

    def context_for(self, call: ToolUse, abort: AbortSignal, messages: Sequence[Message]) -> ToolContext:
        """Return the context of one call."""
        ctx = self.ctx
        control = replace(ctx.control, abort=abort, tool_use_id=call.id, messages=messages)
        return replace(ctx, control=control)

    def circumstances(self, messages: Sequence[Message], session: SessionScope) -> Circumstances:
        """Return what decisions depend on at this moment."""
        from toolpost_core.permissions.denials import DenialCounts
        from toolpost_core.tools.permit import Circumstances

        if self._denials is None:
            self._denials = DenialCounts()
        return Circumstances(self.ctx.scope, self.rules, messages=messages, session=session, denials=self._denials)

    def forget(self, paths: Sequence[Path]) -> None:
        """Let the model read files again before it changes them."""
        if self._made is not None:
            for path in paths:
                self._made.reads.forget(path)

    def forget_seen(self) -> None:
        """Forget what the model has seen: the conversation went back to before that."""
        from toolpost.context import Seen

        if self._made is not None:
            state = replace(self._made.state, reads=toolpost.ReadState())
            self._made = replace(self._made, state=state, seen=Seen())

    def set_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""
        self.mode = self._parts.settings.permission_mode(mode)
        if self._made is not None:
            self._made = replace(self._made, scope=replace(self._made.scope, mode=self.mode))

    def update(self, updates: Sequence[RuleUpdate], warn: Callable[[str], None]) -> None:
        """Change rules, mode or directories, for the session or in a settings file."""
        from toolpost_core.session.updates import applied

        ctx = self.ctx
        change = applied(updates, self.rules, ctx.scope.directories, self._parts.places, warn)
        self.rules = change.rules
        if change.directories is not None:
            self._added += tuple(folder for folder in change.directories if folder not in ctx.scope.directories)
            self._made = replace(ctx, scope=replace(ctx.scope, directories=change.directories))
        if change.mode is not None:
            self.set_mode(change.mode)

    def apply(self, result: CallResult, warn: Callable[[str], None]) -> None:
        """Take over what a result changes in the context; what permissions depend on is the person's, but for the folder."""
        if result.context_modifier is None:
            return
        before = self.ctx
        try:
            ctx = result.context_modifier(before)
            scope = replace(before.scope, cwd=ctx.cwd)
            self._made = replace(ctx, scope=scope, control=before.control, services=before.services)
        except Exception as error:
            warn(f"What {result.call.name} changes in the context was not taken over: {error!r}")
            return
        if ctx.cwd != before.cwd:
            self._moved_from = self._moved_from or before.cwd

    async def settle(self, events: Dispatcher) -> WatchOutcome | None:
        """Tell listeners of working directories that were added, and of a changed folder; returns what they say to that."""
        added, self._added = self._added, ()
        if added and events.hears("directory_added"):
            from toolpost.events.session import DirectoryAdded

            for directory in added:
                await events.emit(on.directory_added, DirectoryAdded(directory=directory))
        old, self._moved_from = self._moved_from, None
        if old is None or old == self.cwd or not events.hears("cwd_changed"):
            return None
        from toolpost.events.session import CwdChanged

        return (await events.emit(on.cwd_changed, CwdChanged(old_cwd=old, new_cwd=self.cwd))).outcome

    def _scope(self, results_dir: Path | None) -> toolpost.PermissionScope:
        places, options, settings = self._parts.places, self._parts.options, self._parts.settings
        extra = [Path(path) for path in settings.get("permissions", {}).get("additionalDirectories", ())]
        named = (places.project, *options.add_dirs, *extra)
        return toolpost.PermissionScope(
            cwd=places.project,
            home=places.home,
            project=places.project,
            directories=tuple(dict.fromkeys((places.project / folder).resolve() for folder in named)),
            config_dir=places.config_dir,
            results_dir=results_dir.resolve() if results_dir is not None else None,
            mode=self.mode,
            interactive=self._parts.ask is not None,
            trusted=self._parts.trusted,
            sandbox=self._parts.confinement,
        )
