"""The bridge from events to configured hooks: finds those that an event is for, runs them together, merges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolpost import (
    EventBase,
    HookAnswer,
    HookFiring,
    HookJob,
    HookRun,
    HookRunners,
    MissingService,
    Outcome,
    SessionScope,
    StashKey,
    on,
)
from toolpost_lifecycle_settings_hooks.background import Background
from toolpost_lifecycle_settings_hooks.conditions import applies
from toolpost_lifecycle_settings_hooks.config import TITLES, TOOL_EVENTS, Hook, looked_at
from toolpost_lifecycle_settings_hooks.kernel import hook_log, inbox
from toolpost_lifecycle_settings_hooks.oddities import odd_answer
from toolpost_lifecycle_settings_hooks.outcomes import context_only, outcome_of, watching
from toolpost_lifecycle_settings_hooks.payloads import payload_of
from toolpost_lifecycle_settings_hooks.said import TEXT_IS_CONTEXT, AnswerError, Said, decides, read_answer
from toolpost_lifecycle_settings_hooks.spill import spilled
from toolpost_lifecycle_settings_hooks.waking import Waker

BACKGROUND = StashKey[Background]("settings_hooks.background")
RAN_ONCE = StashKey[set[str]]("settings_hooks.ran_once")
"""The keys of the `once` hooks that ran: a reload makes the bridge anew, and the session goes on."""

_GRACE = 5.0
"""Seconds beyond its slowest hook's time after which core may take the whole listener for stuck."""
_TAKES_CONTEXT = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SessionStart")
_ALWAYS_BLOCKS_ON_FAILURE = ("WorktreeCreate",)
_BLOCKS_ON_TIME_OUT = ("PreToolUse", "UserPromptSubmit")
"""Events that a callback of an embedding program blocks by answering too late."""
_NO_JSON = "its output begins like JSON and is none"
_LONGEST_FAILURE = 1_000
"""Characters of why a hook failed: it may be what a program that floods wrote."""
_SETS_WATCHES = ("SessionStart", "CwdChanged")
_REWRITES = ("updated_input", "updated_output")


class Ran(NamedTuple):
    """What a hook said, and what that comes to."""

    answer: HookAnswer
    outcome: Outcome | None


def listeners_for(hooks: Mapping[str, Sequence[Hook]], session: SessionScope) -> Sequence[Callable[..., Any]]:
    """Return a marked listener for each event that has hooks."""
    configured = dict(hooks)
    if any(hook.background for event in hooks.values() for hook in event):
        # What such a hook tells goes to the model with the next prompt at the latest.
        configured.setdefault("UserPromptSubmit", ())
    if any(hook.matcher.names for hook in hooks.get("FileChanged", ())):
        for event in _SETS_WATCHES:
            configured.setdefault(event, ())
    bridge = Bridge(configured, session)
    return [bridge.listener(event) for event in configured]


class Bridge:
    """The configured hooks of one session."""

    def __init__(self, hooks: Mapping[str, Sequence[Hook]], session: SessionScope) -> None:
        self._hooks, self._session = hooks, session
        self._told: set[str] = set()
        names = (hook.matcher.names or () for hook in hooks.get("FileChanged", ()))
        self._watched = tuple(dict.fromkeys(name for some in names for name in sorted(some)))

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
        began = time.perf_counter()
        looked = [(hook, why or self._why_not_now(hook, value)) for hook, why in looked_at(self._hooks[title], value)]
        due = [hook for hook, why in looked if not why]
        ran = await self._run_together(title, due, value) if due else {}
        outcomes = [each.outcome for each in ran.values() if each.outcome is not None]
        self._tell_of_rewrites(title, ran)
        self._tell(title, value, looked, ran, time.perf_counter() - began)
        if (
            title in _TAKES_CONTEXT
            and (late := _late(title, self._background(value).take(value.origin.agent_id))) is not None
        ):
            outcomes.append(late)
        if title in _SETS_WATCHES and self._watched:
            outcomes.append(watching(title, self._watched))
        return getattr(on, TITLES[title]).merge(outcomes) if outcomes else None

    async def _run_together(self, title: str, due: Sequence[Hook], value: EventBase) -> Mapping[str, Ran]:
        """Return what each hook came to that is waited for, by its place."""
        payload = payload_of(title, value)
        for hook in due:
            if hook.background:
                waker = Waker(self._session, hook, value.origin) if hook.handler.get("asyncRewake") is True else None
                work = self._run_behind(hook, self._ask(hook, payload, value), value, waker)
                self._background(value).start(work, value.origin.agent_id)
        async with asyncio.TaskGroup() as group:
            tasks = {h.where: group.create_task(self._run(h, payload, value)) for h in due if not h.background}
        return {where: task.result() for where, task in tasks.items()}

    def _background(self, value: EventBase) -> Background:
        return value.origin.stash.setdefault(BACKGROUND, Background())

    def _why_not_now(self, hook: Hook, value: Any) -> str:
        """Say why a hook that an event is for does not run; empty where it does."""
        if "if" in hook.handler and hook.event in TOOL_EVENTS:
            places = {"cwd": value.origin.cwd, "project": self._session.project, "home": self._session.home}
            if not applies(hook.handler["if"], value.tool_name, value.tool_input, **places):
                return f"its if {hook.handler['if']!r} does not cover the call"
        if hook.handler.get("once") is True:
            ran = value.origin.stash.setdefault(RAN_ONCE, set())
            if hook.key in ran:
                return "it runs once, and has run"
            ran.add(hook.key)
        return ""

    async def _run(self, hook: Hook, payload: Mapping[str, Any], value: EventBase) -> Ran:
        answer = await self._ask(hook, payload, value)
        if answer.later is not None:
            self._background(value).start(self._moved_behind(hook, answer.later, value), value.origin.agent_id)
            return Ran(answer, None)
        try:
            return Ran(answer, outcome_of(hook.event, self._read(hook, answer), value))
        except AnswerError as error:
            return Ran(answer, self._failed(hook, answer, str(error), value))

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
        job = HookJob(
            event=hook.event,
            handler=hook.handler,
            payload=payload,
            timeout=hook.timeout,
            source=hook.where,
            plugin=hook.plugin,
        )
        try:
            return await runner.run(job, _at(self._session, value))
        except Exception as error:  # the one place where a runner, which may be anybody's, is called
            return HookAnswer(status="failed", reason=f"its runner raised {type(error).__name__}: {error}")

    def _read(self, hook: Hook, answer: HookAnswer) -> Said:
        """Return what the hook said, in bounded texts. Raises AnswerError where it failed or said nothing that fits."""
        if answer.status in ("failed", "timed_out"):
            raise AnswerError(answer.reason or answer.errors or "it gave no reason")
        if answer.text.startswith("{") and answer.status == "ok":
            if hook.handler.get("onFailure") == "block":
                raise AnswerError(_NO_JSON)
            if hook.event not in TEXT_IS_CONTEXT:
                self._tell_once(f"{_of(hook)}: {_NO_JSON}, so it decides nothing")
        for odd in odd_answer(hook.event, answer.output):
            self._tell_once(f"{_of(hook)}: {odd}")
        if hook.blocks_on_failure and answer.exit_code not in (None, 0, 2) and not decides(answer.output):
            raise AnswerError(f"exit code {answer.exit_code}")
        said = read_answer(hook.event, answer)
        deferred = hook.event == "PreToolUse" and said.specific.get("permissionDecision") == "defer"
        if deferred and self._session.interactive:
            # It leaves the call to whoever takes up the run later; a person who is there decides by the rules.
            said = replace(said, specific={**said.specific, "permissionDecision": None})
        return spilled(said, self._session.results_dir)

    def _tell_once(self, text: str) -> None:
        """Tell the person what is so at each event."""
        if text not in self._told:
            self._told.add(text)
            self._session.report(text)

    def _failed(self, hook: Hook, answer: HookAnswer, why: str, value: EventBase) -> Outcome | None:
        """Tell the person, and go on as if the hook was not there; block where it asks for that."""
        text = _failure(hook, answer, why)
        wanted = hook.blocks_on_failure or hook.event in _ALWAYS_BLOCKS_ON_FAILURE
        if hook.handler["type"] == "callback" and answer.status == "timed_out":
            wanted = wanted or hook.event in _BLOCKS_ON_TIME_OUT
        gate = getattr(on, TITLES[hook.event]).kind == "decide"
        self._session.report(text if wanted or not gate else f"{text}; it held nothing back")
        return outcome_of(hook.event, Said(block=True, reason=text), value) if wanted else None

    async def _run_behind(
        self, hook: Hook, asked: Awaitable[HookAnswer], value: EventBase, waker: Waker | None
    ) -> Said | None:
        """Wait for a hook that nobody else waits for: what it decides counts for nothing, what it tells is kept."""
        began = time.perf_counter()
        try:
            answer = await asked
            self._tell(hook.event, value, [(hook, "")], {hook.where: Ran(answer, None)}, time.perf_counter() - began)
            if waker is not None and answer.status == "blocked":
                waker.wake(answer)
                return None
        finally:
            if waker is not None:
                waker.close()
        try:
            said = self._read(hook, answer)
        except AnswerError as error:
            self._session.report(_failure(hook, answer, str(error)))
            return None
        told = (said.reason if said.block else "", said.context)
        return Said(context="\n".join(text for text in told if text), system_message=said.system_message)

    async def _moved_behind(self, hook: Hook, later: Awaitable[HookAnswer], value: EventBase) -> None:
        """Wait for a hook that moved to the background by itself; no event was prepared to take what it tells."""
        said = await self._run_behind(hook, later, value, None)
        if said is not None and said.system_message:
            self._session.report(said.system_message)
        if said is not None and said.context and (box := inbox(self._session)) is not None:
            box.put(said.context)

    def _tell_of_rewrites(self, title: str, ran: Mapping[str, Ran]) -> None:
        """Say of several hooks that rewrite the same thing which one counts."""
        for name in _REWRITES:
            places = [where for where, each in ran.items() if getattr(each.outcome, name, None) is not None]
            if len(places) > 1:
                self._session.report(
                    f"{title} hooks: {len(places)} rewrite the same call ({', '.join(places)}); the last one counts"
                )

    def _tell(
        self,
        title: str,
        value: EventBase,
        looked: Sequence[tuple[Hook, str]],
        ran: Mapping[str, Ran],
        duration: float,
    ) -> None:
        """Tell whoever looks for a mistake what became of each hook."""
        log = hook_log(self._session)
        if log is None or not looked:
            return
        runs = []
        for hook, why in looked:
            answer, outcome = ran.get(hook.where, (None, None))
            name = f"{hook.handler['type']}: {hook.label}"
            runs.append(HookRun(hook=name, source=hook.where, skipped=why, answer=answer, outcome=outcome))
        log.add(HookFiring(event=title, subject=_subject(looked, value), runs=runs, duration=duration))


def _subject(looked: Sequence[tuple[Hook, str]], value: EventBase) -> str:
    from toolpost_lifecycle_settings_hooks.matchers import subject_of

    return subject_of(looked[0][0].event, value)


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
    why = why if len(why) <= _LONGEST_FAILURE else f"{why[:_LONGEST_FAILURE]}… ({len(why):,} characters in all)"
    return f"{hook.event} hook {how} ({hook.label}): {why}"


def _of(hook: Hook) -> str:
    return f"{hook.event} hook ({hook.label})"
