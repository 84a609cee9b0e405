"""Requests of a plugin's own to the model, within the session's budget."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from toolpost import ProviderError
from toolpost_core.loop.estimate import new_tokens
from toolpost_core.loop.ledger import MAIN
from toolpost_core.loop.stream import Answer
from toolpost_core.session.totals import keep
from toolpost_core.session.usage import json_usage
from toolpost_core.tools.watched import watched
from toolpost_core.transcripts.kinds import USAGE

if TYPE_CHECKING:
    from toolpost import AbortSignal, ModelRequest, Provider
    from toolpost_core.loop.budget import Budget
    from toolpost_core.session.inner import Inner


class Asking:
    """Sends plugins' requests during one run; what they cost is the session's, and an abort of the run ends them."""

    def __init__(self, session: Inner, abort: AbortSignal) -> None:
        self._session = session
        self._abort = abort

    async def __call__(self, request: ModelRequest) -> str:
        """Return the answer's text; a request that names no model goes to the session's.

        Raises Aborted, and ProviderError, also where the budget is used up.
        """
        session, answer = self._session, Answer()
        provider, budget = session.model_in_use.provider, session.parts.budget
        model = session.model_in_use.named(request.model) if request.model else session.model
        complete = replace(request, model=model.id, env=session.parts.env, stash=session.stash)
        expected = budget.expected(model, 0, new_tokens(complete, 0) if budget.limited else 0, turn=False)
        refusal = budget.refusal(expected)
        if refusal is not None:
            raise ProviderError(refusal, kind="billing_error")
        began = time.perf_counter()
        try:
            with budget.under_way(expected):
                await watched(_read(provider, complete, answer), self._abort)
        finally:
            session.account.asked_aside(time.perf_counter() - began)
            budget.add(model, answer.usage, spender=_spender(budget, request))
            if answer.id:
                used = json_usage(answer.usage)
                session.transcript.side(USAGE, messageId=answer.id, model=model.id, usage=used)
            keep(session)
        return answer.text


class SideModels:
    """`Models`: requests of plugins to the model, at any time in a session."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    @property
    def small(self) -> str:
        """The provider's model for side questions, or the session's."""
        session = self._session
        return session.model_in_use.provider.small_model(session.parts.env) or session.model.id

    async def ask(self, request: ModelRequest) -> str:
        """Return the answer's text."""
        return await Asking(self._session, self._session.abort_in_force)(request)


def _spender(budget: Budget, request: ModelRequest) -> str:
    """Name who pays: what a plugin asks in a sub-agent is the sub-agent's, elsewhere it goes by what it is asked for."""
    if budget.spender != MAIN:
        return budget.spender
    return request.purpose if request.purpose != MAIN else "plugin"


async def _read(provider: Provider, request: ModelRequest, answer: Answer) -> None:
    async with aclosing(cast("Any", provider.stream(request))) as stream:
        async for event in stream:
            for _ in answer.feed(event):
                pass
    if answer.stop_reason is None:
        raise ProviderError("the model's answer ended without a stop reason", kind="connection", retriable=True)
