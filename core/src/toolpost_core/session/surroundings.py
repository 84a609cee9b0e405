"""What a session's calls stand in: the current folder, the permission mode, rules and directories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import toolpost
from toolpost import on
from toolpost._frozen import frozen

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


@dataclass
class Standing:
    """What a person sets and grants, one for a session and all its sub-agents; `directories` is None until asked for."""

    mode: PermissionMode
    rules: tuple[Rule, ...]
    directories: tuple[Path, ...] | None = None


@frozen(kw_only=True)
class Whose:
    """Whose calls these are: the session's own, or those of a sub-agent that is `depth` sessions below the first."""

    agent_id: str | None = None
    agent_type: str | None = None
    depth: int = 0


OWN: Final = Whose()


class Surroundings:
    """The context of calls as it is at this moment; made when the first call comes.

    It begins in `folder`, which a sub-agent may work in though no directory of the session holds it.
    """

    def __init__(self, parts: Parts, standing: Standing, whose: Whose = OWN, folder: Path | None = None) -> None:
        self._parts = parts
        self._standing = standing
        self._whose = whose
        self._folder = folder or parts.places.project
        self._made: ToolContext | None = None
        self._moved_from: Path | None = None
        self._added: tuple[Path, ...] = ()
        self._make: Callable[[], ToolContext] | None = None
        self._denials: DenialCounts | None = None

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

            whose = self._whose
            return toolpost.ToolContext(
                cwd=self._folder,
                scope=self._scope(results_dir),
                control=Control(
                    abort=abort,
                    session_id=session_id,
                    agent_id=whose.agent_id,
                    agent_type=whose.agent_type,
                    depth=whose.depth,
                ),
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
        if self._whose is OWN:
            self._standing.directories = None

    def adopt(self, parts: Parts) -> None:
        """Take over changed settings; what was granted for the session stays, a mode that is now forbidden does not."""
        self._parts = parts
        own = (rule for rule in self.rules if rule.source == "session")
        counted = (rule for rule in own if rule.behavior != "allow" or not parts.settings.only_policy_allows)
        self._standing.rules = (*parts.settings.rules, *counted)
        if self._made is not None:
            options = replace(self._made.options, settings=parts.settings.values)
            scope = replace(self._made.scope, sandbox=parts.confinement)
            self._made = replace(self._made, options=options, scope=scope)
        try:
            self.set_mode(self.mode)
        except toolpost.SettingsError:
            self.set_mode("default")

    @property
    def whose(self) -> Whose:
        """Whose calls these are."""
        return self._whose

    @property
    def standing(self) -> Standing:
        """What a person set and granted."""
        return self._standing

    @property
    def mode(self) -> PermissionMode:
        """The permission mode in force."""
        return self._standing.mode

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force."""
        return self._standing.rules

    @property
    def cwd(self) -> Path:
        """The current folder."""
        return self._made.cwd if self._made is not None else self._folder

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
        made, standing = self._made, (self._standing.mode, self._directories())
        if (made.scope.mode, made.scope.directories) != standing:  # another agent's person has changed them
            scope = replace(made.scope, mode=standing[0], directories=standing[1])
            made = self._made = replace(made, scope=scope)
        return made

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
        self._standing.mode = self._parts.settings.permission_mode(mode)

    def may_grant(self, update: RuleUpdate) -> bool:
        """Whether an update would count: where policy says so, nobody else's rules allow."""
        from toolpost_core.session.updates import allows_more

        return not (self._parts.settings.only_policy_allows and allows_more(update))

    def update(self, updates: Sequence[RuleUpdate], warn: Callable[[str], None]) -> None:
        """Change rules, mode or directories, for the session or in a settings file."""
        from toolpost_core.session.updates import applied
        from toolpost_core.settings.effective import MANAGED_RULES_ONLY

        before = self._granted()
        counted = [update for update in updates if self.may_grant(update)]
        if len(counted) < len(updates):
            warn(f"No rule was added: {MANAGED_RULES_ONLY} is set, so only the rules of managed settings allow.")
        change = applied(counted, self.rules, before, self._parts.places, warn)
        self._standing.rules = change.rules
        if change.directories is not None:
            self._added += tuple(folder for folder in change.directories if folder not in before)
            self._standing.directories = change.directories
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

    def _granted(self) -> tuple[Path, ...]:
        """Return the directories that the person lets the session work in."""
        if self._standing.directories is None:
            places, options, settings = self._parts.places, self._parts.options, self._parts.settings
            extra = [Path(path) for path in settings.get("permissions", {}).get("additionalDirectories", ())]
            named = (places.project, *options.add_dirs, *extra)
            self._standing.directories = tuple(dict.fromkeys((places.project / folder).resolve() for folder in named))
        return self._standing.directories

    def _directories(self) -> tuple[Path, ...]:
        granted = self._granted()
        return granted if any(self._folder.is_relative_to(one) for one in granted) else (*granted, self._folder)

    def _scope(self, results_dir: Path | None) -> toolpost.PermissionScope:
        places = self._parts.places
        return toolpost.PermissionScope(
            cwd=self._folder,
            home=places.home,
            project=places.project,
            directories=self._directories(),
            config_dir=places.config_dir,
            results_dir=results_dir.resolve() if results_dir is not None else None,
            mode=self.mode,
            interactive=self._parts.ask is not None,
            trusted=self._parts.trusted,
            sandbox=self._parts.confinement,
        )
