"""Compaction strategies in their order: which one acts, what becomes of its result, which is no longer asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, SupportsFloat

import toolpost
from toolpost import StashKey
from toolpost._frozen import frozen
from toolpost_core.loop.compacted import checked
from toolpost_core.loop.thresholds import TIMEOUT
from toolpost_core.tools.abort import AbortNode
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from toolpost import AbortSignal, CompactionResult, CompactionStrategy, Context, Services
    from toolpost_core.events.dispatch import Dispatcher

FAILURES: Final = 3
"""Failures in a row after which a strategy is asked only where a person wants it."""
_FAILED: Final = StashKey[dict[str, int]]("core.compaction.failed")


@frozen()
class Named:
    """A strategy with its plugin's name, and the services that its package may ask for."""

    plugin: str
    strategy: CompactionStrategy
    services: Services | None = None

    def view(self, context: Context) -> Context:
        """Return the context as this strategy is told of it."""
        return replace(context, services=self.services)


@frozen()
class Step:
    """What one strategy did."""

    named: Named
    before: Context
    result: CompactionResult


@frozen(kw_only=True)
class Compactor:
    """Lets strategies work, each for `timeout` seconds at most.

    `order` are names from the settings; `report` gets what failed, `abort` ends listeners.
    """

    strategies: Sequence[Named]
    order: Sequence[str]
    events: Dispatcher
    report: Callable[[str], None]
    abort: Callable[[], AbortSignal] = AbortNode
    timeout: float = TIMEOUT

    async def step(self, context: Context, done: set[str], *, summaries: bool) -> Step | None:
        """Let the next strategy act that has something to do; None where none has. `done` are those that had their turn.

        `summaries` is whether one may act that summarizes. Raises Aborted.
        """
        for named in self._next(context, done, summaries):
            done.add(named.plugin)
            result = await self._result(named, context)
            if result is not None:
                return Step(named, context, result)
        return None

    def _next(self, context: Context, done: set[str], summaries: bool) -> Iterator[Named]:
        """Yield strategies that apply, by their place; among equals the one with the highest score first."""
        failed = context.stash.get(_FAILED, {})
        for _, group in groupby(sorted(self.strategies, key=self._place), self._place):
            scored = [
                (score, named)
                for named in group
                if named.plugin not in done
                and context.trigger in named.strategy.triggers
                and (summaries or not named.strategy.summarizes)
                and (context.trigger in ("manual", "partial") or failed.get(named.plugin, 0) < FAILURES)
                and (score := self._score(named, context)) > 0
            ]
            yield from (named for _, named in sorted(scored, key=lambda pair: (-pair[0], pair[1].plugin)))

    def _place(self, named: Named) -> tuple[int, int]:
        """Return where a strategy stands: as the settings have it, and after those that they name by its own `order`."""
        listed = self.order.index(named.plugin) if named.plugin in self.order else len(self.order)
        return listed, named.strategy.order

    def _score(self, named: Named, context: Context) -> float:
        try:
            return score_of(named.strategy, named.view(context))
        except Exception as error:
            self._failed(named, context, error)
            return 0.0

    async def _result(self, named: Named, context: Context) -> CompactionResult | None:
        try:
            result = await self._compacted(named.strategy, named.view(context))
        except toolpost.Aborted:
            raise
        except Exception as error:
            self._failed(named, context, error)
            return None
        if result is not None:
            context.stash.get(_FAILED, {}).pop(named.plugin, None)
        return result

    async def _compacted(self, strategy: CompactionStrategy, context: Context) -> CompactionResult | None:
        """Let a strategy do its work; round one that summarizes, listeners are told."""
        if not strategy.summarizes:
            return checked(await self._made(strategy, context), context)
        from toolpost_core.loop.summaries import after, before

        allowed = await watched(before(self.events, context, self.report), self.abort())
        result = checked(await self._made(strategy, allowed), context) if allowed is not None else None
        if result is not None:
            await watched(after(self.events, context, result), self.abort())
        return result

    async def _made(self, strategy: CompactionStrategy, context: Context) -> CompactionResult | None:
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return await strategy.compact(context)
        except TimeoutError:
            if not limit.expired():
                raise
            raise toolpost.ToolpostError(f"It did not end within {self.timeout:g} s (`compaction.timeout`).") from None

    def _failed(self, named: Named, context: Context, error: Exception) -> None:
        failed = context.stash.setdefault(_FAILED, {})
        times = failed[named.plugin] = failed.get(named.plugin, 0) + 1
        over = times == FAILURES and context.trigger not in ("manual", "partial")
        self.report(
            f"The compaction strategy {named.plugin!r} failed and was passed over: {reason_of(error)}"
            + (f" That was {FAILURES} times in a row: it is not tried again unless you ask for a compaction." * over)
        )


def score_of(strategy: CompactionStrategy, context: Context) -> float:
    """Return how well a strategy says that it fits. Raises ToolpostError where it says anything but a number."""
    score: object = strategy.applies(context)
    if not isinstance(score, SupportsFloat):
        raise toolpost.ToolpostError(f"applies() returned {score!r}, which is no number")
    return float(score)


def reason_of(error: Exception) -> str:
    """Say why a strategy failed; an error that nobody wrote for a person by its type as well."""
    return str(error) if isinstance(error, toolpost.ToolpostError) else repr(error)


def unknown_in(order: Sequence[str], strategies: Sequence[Named]) -> str:
    """Say which names in the settings' order are of no strategy that is on; empty where none is."""
    known = [named.plugin for named in strategies]
    odd = [name for name in order if name not in known]
    if not odd:
        return ""
    return (
        f"The setting compaction.order names {', '.join(map(repr, odd))}: no compaction strategy that is on is called so. "
        f"There are {', '.join(sorted(known)) or 'none'}."
    )
