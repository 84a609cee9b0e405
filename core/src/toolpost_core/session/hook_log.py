"""`HookLog`: what became of configured hooks, in lines for a person."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolpost import HookFiring, HookRun, Outcome

LONGEST: Final = 500
"""Characters of a hook's output that a line shows."""


class SessionHookLog:
    """Passes firings on to `listener` while there is one."""

    def __init__(self, listener: Callable[[HookFiring], None] | None = None) -> None:
        self.listener = listener

    @property
    def wanted(self) -> bool:
        """Whether anybody looks."""
        return self.listener is not None

    def add(self, firing: HookFiring) -> None:
        """Take one event with its hooks."""
        if self.listener is not None:
            self.listener(firing)


def lines_of(firing: HookFiring) -> Iterator[str]:
    """Yield what a person reads of a firing: a line for the event, and some for each hook."""
    subject = f" for {firing.subject!r}" if firing.subject else ""
    ran = sum(not run.skipped for run in firing.runs)
    yield f"{firing.event}{subject}: {ran} of {len(firing.runs)} hooks ran, {1000 * firing.duration:.1f} ms"
    for run in firing.runs:
        yield f"  {run.hook} ({run.source}): {_became(run)}"
        answer = run.answer
        if answer is not None:
            for name, text in (
                ("output", str(dict(answer.output)) if answer.output else answer.text),
                ("errors", answer.errors),
            ):
                if text:
                    yield f"    {name}: {text if len(text) <= LONGEST else f'{text[:LONGEST]}…'}"
        if decided := decision_of(run.outcome):
            yield "    decision: " + ", ".join(f"{name}={value!r}" for name, value in decided.items())


def decision_of(outcome: Outcome | None) -> dict[str, Any]:
    """Return what an outcome says that is not what saying nothing is."""
    if outcome is None:
        return {}
    return {f.name: value for f in fields(outcome) if (value := getattr(outcome, f.name)) != f.default and value != ()}


def _became(run: HookRun) -> str:
    if run.skipped:
        return f"not run: {run.skipped}"
    if run.answer is None:
        return "runs in the background"
    code = "" if run.answer.exit_code is None else f", exit code {run.answer.exit_code}"
    why = f": {run.answer.reason}" if run.answer.reason and run.answer.reason != run.answer.errors else ""
    return f"{run.answer.status}{code}, {1000 * run.answer.duration:.1f} ms{why}"
