"""Wires the parts of a session together: pool, preparer, and what runs calls.

What the first request does not need is made when the first call comes, or while the model answers, whichever is first.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import toolpost
from toolpost_core.loop.prepare import Preparer
from toolpost_core.session.compaction import Compaction
from toolpost_core.session.declared import Limits
from toolpost_core.session.deferring import can_defer
from toolpost_core.tools.pool import Entry, Pool, assemble
from toolpost_core.tools.results import ResultStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolpost import AbortSignal, Rule, SessionScope, ToolContext, ToolUse
    from toolpost_core.loop.compacting import Named
    from toolpost_core.permissions.gate import Gate
    from toolpost_core.plugins.registry import Provided, Registry
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.admission import Admission
    from toolpost_core.tools.execution import Execution
    from toolpost_core.tools.permit import Interview, Permitter
    from toolpost_core.tools.pipeline import Pipeline
    from toolpost_core.tools.told import Told

WARM_AFTER: Final = 0.2
"""Seconds after which a first request is surely on its way, and its answer surely not there yet."""


class Engine:
    """The machinery of a session."""

    def __init__(self, session: Inner) -> None:
        self._session = session
        parts = session.parts
        self.pool = tool_pool(
            parts.registry, session.surroundings.rules, parts.options.tools, session.prompt_options(), session.warn
        )
        self.results = ResultStore(session.results_dir)
        compaction = Compaction(session)
        self.preparer = Preparer(
            strategies=lambda: strategies(parts.registry, session.scope()),
            build=session.request,
            thresholds=compaction.thresholds,
            policy=compaction.policy,
            idle=lambda: session.conversation.idle,
            stash=lambda: session.stash,
            said=compaction.said,
            events=session.events,
            abort=lambda: session.abort_in_force,
            record=compaction.record,
            restart=compaction.restarted,
            count=compaction.count,
            report=session.warn,
            report_once=session.warn_once,
        )

    @cached_property
    def permitter(self) -> Permitter:
        """Decides on calls."""
        from toolpost_core.tools.permit import Permitter

        return Permitter(gate(self._session.parts.registry), self.pool)

    @cached_property
    def interview(self) -> Interview:
        """Asks the person, where rules leave a call to one."""
        from toolpost_core.tools.permit import Interview

        session = self._session
        return Interview(
            session.events,
            session.outside.asker(session.parts.ask),
            session.change_rules,
            session.surroundings.may_grant,
            session.warn,
            session.notifier.permission_wanted,
        )

    @cached_property
    def pipeline(self) -> Pipeline:
        """Runs calls."""
        from toolpost_core.tools.pipeline import Pipeline
        from toolpost_core.tools.told import Told

        session = self._session
        told = Told(session.events, self.pool)
        return Pipeline(
            pool=self.pool,
            told=told,
            admission=self._admission(told),
            execution=self._execution(told),
            results=self.results,
            emit=session.emit,
            context_for=self._context_for,
        )

    def _admission(self, told: Told) -> Admission:
        from toolpost_core.tools.admission import Admission

        session = self._session
        return Admission(
            pool=self.pool,
            told=told,
            permitter=self.permitter,
            interview=self.interview,
            around=session.circumstances,
            record=session.record_decision,
            defers=can_defer(session),
        )

    def _execution(self, told: Told) -> Execution:
        from toolpost_core.tools.execution import Execution

        session = self._session
        return Execution(
            told=told,
            permitter=self.permitter,
            results=self.results,
            around=session.circumstances,
            emit=session.emit,
        )

    @cached_property
    def _limits(self) -> Limits:
        return Limits(self._session.parts.registry.manager.rules)

    def _context_for(self, call: ToolUse, abort: AbortSignal) -> ToolContext:
        """Return the context of one call, with what the tool's package declares."""
        ctx, entry = self._session.context_for(call, abort), self.pool.find(call.name)
        return ctx if entry is None else self._limits.context(ctx, f"tools/{entry.plugin}")

    def load(self) -> None:
        """Import what runs calls: one that comes at once must start within 30 ms of its block's end."""
        from toolpost_core.tools import admission, execution, pipeline

        del admission, execution, pipeline

    def warm(self) -> None:
        """Make what the first call will need, and import what front ends are told with."""
        _ = self.pipeline, toolpost.ToolFinished
        for entry in self.pool.entries:
            try:
                entry.tool.warm()
            except Exception as error:
                self._session.warn(
                    f"The tool {entry.tool.name!r} ({entry.distribution}) could not get ready: {error!r}"
                )

    def is_safe(self, call: ToolUse) -> bool:
        """Whether a call may run beside others."""
        return self.pipeline.is_safe(call)


def tool_pool(
    registry: Registry,
    rules: Sequence[Rule],
    only: Sequence[str] | None,
    options: Mapping[str, Any],
    report: Callable[[str], None],
) -> Pool:
    """Assemble the tools of all enabled plugins."""
    standard = {entry.distribution for entry in registry.inventory.entries if entry.standard}
    brought = registry.collect("tools")
    entries = [Entry(p.value, p.plugin, p.distribution, p.distribution in standard) for p in brought]
    return assemble(entries, rules=rules, only=only, options=options, report=report)


def gate(registry: Registry) -> Gate:
    """Return the gate with every enabled resolver."""
    from toolpost_core.permissions.gate import Gate, Resolver

    limits = Limits(registry.manager.rules)
    return Gate(
        [
            Resolver(
                p.plugin,
                p.distribution,
                p.value,
                may_decide(registry, p),
                partial(limits.scope, plugin=f"permission_resolvers/{p.plugin}"),
            )
            for p in registry.in_order("permission_resolvers")
        ]
    )


def may_decide(registry: Registry, provided: Provided[Any]) -> bool:
    """Whether a resolver was granted to loosen."""
    entry = registry.manager.rules.entry(f"permission_resolvers/{provided.plugin}")
    return entry is not None and "decide" in registry.grants_of(entry).what


def strategies(registry: Registry, scope: SessionScope) -> tuple[Named, ...]:
    """Return the compaction strategies."""
    from toolpost_core.loop.compacting import Named

    limits = Limits(registry.manager.rules)
    return tuple(
        Named(p.plugin, p.value, limits.scope(scope, f"compaction/{p.plugin}").services)
        for p in registry.collect("compaction")
    )
