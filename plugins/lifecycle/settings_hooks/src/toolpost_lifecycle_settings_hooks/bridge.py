"""The bridge from events to configured hooks: finds those that an event is for, runs them together, merges."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolpost import EventBase, HookAnswer, HookJob, HookRunners, MissingService, Outcome, SessionScope, StashKey, on
from toolpost_lifecycle_settings_hooks.background import Background
from toolpost_lifecycle_settings_hooks.conditions import applies
from toolpost_lifecycle_settings_hooks.config import TITLES, TOOL_EVENTS, Hook, matching
from toolpost_lifecycle_settings_hooks.outcomes import context_only, outcome_of
from toolpost_lifecycle_settings_hooks.payloads import payload_of
from toolpost_lifecycle_settings_hooks.said import AnswerError, Said, read_answer
from toolpost_lifecycle_settings_hooks.spill import spilled

BACKGROUND = StashKey[Background]("settings_hooks.background")

_GRACE = 5.0
"""Seconds beyond its slowest hook's time after which core may take the whole listener for stuck."""
_TAKES_CONTEXT = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SessionStart")
_NEVER_BLOCKS_ON_FAILURE = ("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle")
_ALWAYS_BLOCKS_ON_FAILURE = ("WorktreeCreate",)


def listeners_for(hooks: Mapping[str, Sequence[Hook]], session: SessionScope) -> Sequence[Callable[..., Any]]:
    """Return a marked listener for each event that has hooks."""
    configured = dict(hooks)
    if any(hook.background for event in hooks.values() for hook in event):
        # What such a hook tells goes to the model with the next prompt at the latest.
        configured.setdefault("UserPromptSubmit", ())
    bridge = Bridge(configured, session)
    return [bridge.listener(event) for event in configured]


class Bridge:
    """The configured hooks of one session."""

    def __init__(self, hooks: Mapping[str, Sequence[Hook]], session: SessionScope) -> None:
        self._hooks, self._session = hooks, session
        self._ran_once: set[str] = set()

    def listener(self, title: str) -> Callable[..., Any]:
        """Return a listener of one event, marked with the time that its hooks may take together."""

        async def listen(event: EventBase) -> Outcome | None:
            return await self.answer(title, event)

        listen.__name__ = listen.__qualname__ = f"settings_hooks_{TITLES[title]}"
        longest = max((hook.timeout for hook in self._hooks[title]), default=0.0)
        marked: Callable[..., Any] = getattr(on, TITLES[title]).listener(timeout=longest + _GRACE)(listen)
        return marked

    async def answer(self, title: str, value: EventBase) -> Outcome | None:
        """Run the hooks that an event is for, all on the same input, and merge what they say."""
        due = [hook for hook in matching(self._hooks[title], value) if self._is_due(hook, value)]
        payload = payload_of(title, value) if due else {}
        background = value.origin.stash.setdefault(BACKGROUND, Background())
        for hook in due:
            if hook.background:
                background.start(self._run_behind(hook, payload, value))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run(hook, payload, value)) for hook in due if not hook.background]
        outcomes = [outcome for task in tasks if (outcome := task.result()) is not None]
        if title in _TAKES_CONTEXT and (late := _late(title, background.take())) is not None:
            outcomes.append(late)
        return getattr(on, TITLES[title]).merge(outcomes) if outcomes else None

    def _is_due(self, hook: Hook, value: Any) -> bool:
        if "if" in hook.handler and hook.event in TOOL_EVENTS:
            places = {"cwd": value.origin.cwd, "project": self._session.project, "home": self._session.home}
            if not applies(hook.handler["if"], value.tool_name, value.tool_input, **places):
                return False
        if hook.handler.get("once") is True:
            if hook.key in self._ran_once:
                return False
            self._ran_once.add(hook.key)
        return True

    async def _run(self, hook: Hook, payload: Mapping[str, Any], value: EventBase) -> Outcome | None:
        answer = await self._ask(hook, payload, value)
        try:
            return outcome_of(hook.event, self._read(hook, answer), value)
        except AnswerError as error:
            return self._failed(hook, answer, str(error), value)

    async def _ask(self, hook: Hook, payload: Mapping[str, Any], value: EventBase) -> HookAnswer:
        kind = str(hook.handler["type"])
        try:
            runner = self._session.services.get(HookRunners).get(kind) if self._session.services else None
        except MissingService:
            runner = None
        if runner is None:
            reason = (
                f"no enabled plugin runs hooks of type {kind!r}; enable one, or change {hook.where} in the settings"
            )
            return HookAnswer(status="failed", reason=reason)
        job = HookJob(event=hook.event, handler=hook.handler, payload=payload, timeout=hook.timeout, source=hook.where)
        try:
            return await runner.run(job, _at(self._session, value))
        except Exception as error:  # the one place where a runner, which may be anybody's, is called
            return HookAnswer(status="failed", reason=f"its runner raised {type(error).__name__}: {error}")

    def _read(self, hook: Hook, answer: HookAnswer) -> Said:
        """Return what the hook said, in bounded texts. Raises AnswerError where it failed or said nothing that fits."""
        if answer.status in ("failed", "timed_out"):
            raise AnswerError(answer.reason or answer.errors or "it gave no reason")
        if hook.handler.get("onFailure") == "block" and answer.text.startswith("{"):
            raise AnswerError("its output begins like JSON and is none")
        return spilled(read_answer(hook.event, answer), self._session.results_dir)

    def _failed(self, hook: Hook, answer: HookAnswer, why: str, value: EventBase) -> Outcome | None:
        """Tell the person, and go on as if the hook was not there; block where it asks for that."""
        text = _failure(hook, answer, why)
        self._session.report(text)
        wanted = hook.handler.get("onFailure") == "block" and hook.event not in _NEVER_BLOCKS_ON_FAILURE
        if wanted or hook.event in _ALWAYS_BLOCKS_ON_FAILURE:
            return outcome_of(hook.event, Said(block=True, reason=text), value)
        return None

    async def _run_behind(self, hook: Hook, payload: Mapping[str, Any], value: EventBase) -> Said | None:
        """Run a hook that nobody waits for: what it decides counts for nothing, what it tells is kept."""
        answer = await self._ask(hook, payload, value)
        try:
            said = self._read(hook, answer)
        except AnswerError as error:
            self._session.report(_failure(hook, answer, str(error)))
            return None
        told = (said.reason if said.block else "", said.context)
        return Said(context="\n".join(text for text in told if text), system_message=said.system_message)


def _at(session: SessionScope, value: EventBase) -> SessionScope:
    """Return the session as it is when the event comes: after /clear it has another id, transcript and stash."""
    origin = value.origin
    return replace(
        session,
        session_id=origin.session_id,
        cwd=origin.cwd,
        transcript_path=origin.transcript_path,
        stash=origin.stash,
    )


def _late(title: str, told: Sequence[Said]) -> Outcome | None:
    context = "\n".join(said.context for said in told if said.context)
    message = "\n".join(said.system_message for said in told if said.system_message)
    return context_only(title, context, message) if context or message else None


def _failure(hook: Hook, answer: HookAnswer, why: str) -> str:
    how = "timed out" if answer.status == "timed_out" else "failed"
    return f"{hook.event} hook {how} ({hook.label}): {why}"
