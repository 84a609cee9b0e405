"""`HookRunners`: the runners of configured hooks, each with its own view of the session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolpost import HookRunner
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import HookAnswer, HookJob, SessionScope
    from toolpost_core.plugins.registry import Registry


class Runners:
    """The runners of configured hooks, by type.

    `registry` returns the plugins that are on at that moment, `session` the session as core has it.
    """

    def __init__(self, registry: Callable[[], Registry], session: Callable[[], SessionScope]) -> None:
        self._registry = registry
        self._session = session

    def get(self, type: str) -> HookRunner | None:
        """Return the runner of a type; None where no enabled plugin has one."""
        registry = self._registry()
        for provided in registry.collect("hook_runners"):
            if provided.value.type == type:
                limits = Limits(registry.manager.rules)
                return LimitedRunner(provided.value, self._session, limits, f"hook_runners/{provided.plugin}")
        return None


class LimitedRunner(HookRunner):
    """A runner that gets what its own plugin may see, and not what the plugin that calls it may."""

    def __init__(self, runner: HookRunner, session: Callable[[], SessionScope], limits: Limits, plugin: str) -> None:
        self._runner, self._session, self._limits, self._plugin = runner, session, limits, plugin

    @property
    def type(self) -> str:  # type: ignore[override]
        """The runner's type."""
        return self._runner.type

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Run one hook where and as the caller says."""
        whole = self._session()
        own = self._limits.scope(replace(scope, services=whole.services, env=whole.env), self._plugin)
        return await self._runner.run(job, own)
