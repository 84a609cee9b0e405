"""One budget for all that a session starts: a tree, in which what a branch uses is used by the trunk as well.

A request is held against every budget from the one that asks up to the root, before it is sent: what is left must pay for
its prompt and a small answer. One that is under way is never cut, so that a limit is passed by one long answer at most.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import toolpost
from toolpost import BudgetLimits
from toolpost._frozen import frozen
from toolpost_core.loop.ledger import MAIN, Ledger, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolpost import CostLine, LaunchOptions, ModelInfo, Usage

SMALL_ANSWER: Final = 256
"""Tokens of an answer that is worth the request."""


def limits_of(options: LaunchOptions, dollars: float | None = None) -> BudgetLimits:
    """Return what a session may use: what was asked for, and else the settings' `dollars`."""
    asked = options.max_budget_usd
    return BudgetLimits(
        dollars=dollars if asked is None else asked, tokens=options.max_budget_tokens, seconds=options.max_seconds
    )


@frozen(kw_only=True)
class Next:
    """A request before it is sent: what it will use at least. `turn` says that it is one of a conversation."""

    model: ModelInfo
    usage: Usage
    turn: bool = True

    @property
    def tokens(self) -> int:
        """Its prompt and a small answer."""
        return self.usage.prompt_tokens + self.usage.output_tokens

    @property
    def dollars(self) -> float:
        """What they cost; nothing where the price is not known."""
        return self.model.price.of(self.usage) if self.model.price is not None else 0.0


class Budget:
    """A node of the tree, with the account of all that was used by it and below it.

    `clock` gives seconds, `tell` is told of each request that is accounted for here.
    """

    def __init__(
        self,
        limits: BudgetLimits | None = None,
        *,
        spender: str = MAIN,
        parent: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[CostLine], None] = lambda _: None,
    ) -> None:
        self.limits = limits or BudgetLimits()
        self.spender = spender
        self.ledger = Ledger()
        self._parent = parent
        self._clock = clock
        self._tell = tell
        self._began = clock()
        self._turns = 0
        self._under_way: list[Next] = []

    def child(self, spender: str, limits: BudgetLimits | None = None, *, share: float = 1.0) -> Budget:
        """Return a budget for something that is started; its costs are listed under `spender`, here as well.

        It may use `share` of what is left here, and no more than `limits` say.
        """
        own = limits or BudgetLimits()
        if share < 1:
            left = self.left
            dollars = _smaller(own.dollars, _part(left.dollars, share))
            own = replace(own, dollars=dollars, tokens=_whole(_smaller(own.tokens, _part(left.tokens, share))))
        return Budget(own, spender=spender, parent=self, clock=self._clock)

    def keep_time(self, clock: Callable[[], float]) -> None:
        """Go by another clock from now on, where there is a limit of time."""
        if self.limits.seconds is not None:
            self._clock, self._began = clock, clock()

    @property
    def limited(self) -> bool:
        """Whether there is any limit from here up."""
        return any(budget.limits != BudgetLimits() for budget in self._upwards())

    @property
    def left(self) -> BudgetLimits:
        """What is left here, of each thing that is limited from here up."""
        own = self._own_left()
        if self._parent is None:
            return own
        above = self._parent.left
        return BudgetLimits(
            dollars=_smaller(own.dollars, above.dollars),
            tokens=_whole(_smaller(own.tokens, above.tokens)),
            turns=_whole(_smaller(own.turns, above.turns)),
            seconds=_smaller(own.seconds, above.seconds),
        )

    def expected(self, model: ModelInfo, known: int, new: int, *, turn: bool = True) -> Next:
        """Return a request as it counts before it is sent: the model has read `known` of its tokens before."""
        if model.prompt_caching:
            usage = toolpost.Usage(0, SMALL_ANSWER, cache_creation_input_tokens=new, cache_read_input_tokens=known)
        else:
            usage = toolpost.Usage(known + new, SMALL_ANSWER)
        return Next(model=model, usage=usage, turn=turn)

    def refusal(self, request: Next | None = None) -> str | None:
        """Say why the request is not to be sent; without one, why none is. None where there is enough."""
        return next((why for budget in self._upwards() if (why := budget._own_refusal(request)) is not None), None)

    @contextmanager
    def under_way(self, request: Next) -> Iterator[None]:
        """Hold back what a request needs while it is under way, so that others beside it do not count on it."""
        for budget in self._upwards():
            budget._turns += request.turn
            budget._under_way.append(request)
        try:
            yield
        finally:
            for budget in self._upwards():
                budget._under_way.remove(request)

    def add(self, model: ModelInfo, usage: Usage, *, spender: str | None = None) -> None:
        """Account for a request, here and above."""
        self.take_over(line_of(model, usage, spender or self.spender))

    def take_over(self, line: CostLine) -> None:
        """Account for what was used, here and above."""
        for budget in self._upwards():
            budget.ledger.take_over(line)
            budget._tell(line)

    def _upwards(self) -> Iterator[Budget]:
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget._parent

    @property
    def _held_dollars(self) -> float:
        return sum(request.dollars for request in self._under_way)

    @property
    def _held_tokens(self) -> int:
        return sum(request.tokens for request in self._under_way)

    def _own_left(self) -> BudgetLimits:
        limits = self.limits
        return BudgetLimits(
            dollars=None if limits.dollars is None else limits.dollars - self.ledger.dollars - self._held_dollars,
            tokens=None if limits.tokens is None else limits.tokens - self.ledger.tokens - self._held_tokens,
            turns=None if limits.turns is None else limits.turns - self._turns,
            seconds=None if limits.seconds is None else limits.seconds - (self._clock() - self._began),
        )

    def _own_refusal(self, request: Next | None) -> str | None:
        limits, left = self.limits, self._own_left()
        whose = "" if self.spender == MAIN else f" of {self.spender}"
        used_up = f"The budget{whose} is used up"
        if left.turns is not None and left.turns <= 0:
            return f"{used_up}: its {limits.turns} turns were made."
        if left.seconds is not None and left.seconds <= 0:
            return f"{used_up}: its {limits.seconds:g} seconds are over."
        if left.tokens is not None and (left.tokens <= 0 or (request is not None and request.tokens > left.tokens)):
            held = f", {self._held_tokens:,} are held back for what is under way" if self._held_tokens else ""
            needed = "" if request is None else f", and the next request needs {request.tokens:,} at least"
            return f"{used_up}: {self.ledger.tokens:,} of {limits.tokens:,} tokens are used{held}{needed}."
        if left.dollars is not None and (left.dollars <= 0 or (request is not None and request.dollars > left.dollars)):
            held = f", {self._held_dollars:.4f} are held back for what is under way" if self._held_dollars else ""
            needed = "" if request is None else f", and the next request costs {request.dollars:.4f} at least"
            return f"{used_up}: {self.ledger.dollars:.4f} of {limits.dollars:.4f} dollars are spent{held}{needed}."
        return None


def _part(amount: float | None, share: float) -> float | None:
    return None if amount is None else max(0.0, amount * share)


def _smaller(one: float | None, other: float | None) -> float | None:
    given = [amount for amount in (one, other) if amount is not None]
    return min(given) if given else None


def _whole(amount: float | None) -> int | None:
    return None if amount is None else int(amount)
