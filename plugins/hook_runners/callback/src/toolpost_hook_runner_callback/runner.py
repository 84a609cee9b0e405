"""The runners: call the function that stands in the hook's entry, and read what it returns (compat.md 2.3)."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from toolpost import HookAnswer, HookJob, HookRunner, SessionScope, hookimpl


class FunctionRunner(HookRunner):
    """Hooks of type `function`, which an agent or a skill brings for its life."""

    type: ClassVar[str] = "function"

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Call the function within the hook's time; one that goes on after that is left behind."""
        del scope
        began = time.monotonic()
        function = job.handler.get(self.type)
        if not callable(function):
            reason = f"{job.source or 'the hook'} needs a {self.type!r} that can be called, not {function!r:.100}"
            return HookAnswer(status="failed", reason=reason)
        return replace(await _called(function, job), duration=time.monotonic() - began)


class CallbackRunner(FunctionRunner):
    """Hooks of type `callback`, which an embedding program registers."""

    type: ClassVar[str] = "callback"

    @hookimpl(specname="hook_runners")
    def _hook_runners(self) -> Sequence[HookRunner]:
        return (self, FunctionRunner())


async def _called(function: Callable[..., Any], job: HookJob) -> HookAnswer:
    from copy import deepcopy

    # Whatever it does to the event is no business of the hooks beside it.
    call = asyncio.ensure_future(_result_of(function, deepcopy(dict(job.payload))))
    try:
        await asyncio.wait({call}, timeout=job.timeout)
    finally:
        call.cancel()  # does nothing to one that ended
    if not call.done():
        return HookAnswer(status="timed_out", reason=f"it did not return within {job.timeout:g} s and was left behind")
    try:
        said = call.result()
    except Exception as error:
        return HookAnswer(status="failed", reason=f"it raised {type(error).__name__}: {error}")
    if said is None:
        return HookAnswer(status="ok")
    if not isinstance(said, Mapping):
        return HookAnswer(status="failed", reason=f"it returned {said!r:.100}, and not a mapping or None")
    return HookAnswer(status="ok", output=said)


async def _result_of(function: Callable[..., Any], payload: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(payload)
    from .threads import in_thread

    said = await in_thread(function, payload)
    return await said if inspect.isawaitable(said) else said
