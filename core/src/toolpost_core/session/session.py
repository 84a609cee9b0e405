"""A session: one conversation with its state, driven prompt by prompt."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from toolpost import Stash, on
from toolpost_core.session.adjusting import odd_limits
from toolpost_core.session.around import odd_blocks
from toolpost_core.session.deferring import waiting_in
from toolpost_core.session.prompted import Prompted
from toolpost_core.session.prompts import PromptLog
from toolpost_core.session.reasoning import odd_variables
from toolpost_core.session.reload import KeptError, Stamps
from toolpost_core.session.resuming import tell_unsent
from toolpost_core.session.totals import Totals, spent
from toolpost_core.transcripts.thoughts import Thinker
from toolpost_core.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from toolpost import (
        BudgetLimits,
        ConfiguredHook,
        ContentBlock,
        ContextUsage,
        CostLine,
        CostTotals,
        Effort,
        FileRewind,
        MemoryFiles,
        ModelInfo,
        PermissionMode,
        Rewound,
        Rule,
        RuleUpdate,
        SentPrompt,
        SessionEvent,
        ToolUse,
        TurnChanges,
    )
    from toolpost_core.session.rewind import Rewinder
    from toolpost_core.tools.calls import CallResult


class Session(Prompted):
    """One conversation. `open_session` makes it and closes it; front ends see it as a `SessionDoor`."""

    # What front ends do with it, beside what `Inner` tells of it.

    def new_id(self) -> str:
        """A new id for something that a front end shows."""
        return self.outside.new_id("frontend")

    @property
    def transcript_path(self) -> Path | None:
        """Where the transcript lies; None where none is kept."""
        return self._transcript.path

    async def set_model(self, name: str, *, source: Literal["command", "picker", "sdk"] = "command") -> ModelInfo:
        """Use another model from the next request on. Raises SessionError where a listener refuses."""
        from toolpost_core.session.switching import switch

        self.did("set_model", name=name, source=source)
        return await switch(self, name, source)

    @property
    def effort(self) -> Effort | None:
        """How much is spent on an answer, as far as anybody said."""
        return self.reasoning.asked(self.parts).effort

    def set_effort(self, effort: Effort | None) -> None:
        """Spend more or less on each answer from the next request on."""
        self.did("set_effort", effort=effort)
        self.reasoning.effort = effort

    def set_thinking(self, thinking: int | Literal["adaptive", "disabled"] | None) -> None:
        """Let the model think as much from the next request on."""
        self.did("set_thinking", thinking=thinking)
        self.reasoning.thinking = thinking

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""
        self.did("set_permission_mode", mode=mode)
        self.surroundings.set_mode(mode)

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Add, replace or remove rules, for the session or in a settings file."""
        self.did("update_rules", updates=updates)
        self.change_rules(updates)

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""
        return self.surroundings.rules

    def hooks(self) -> Sequence[ConfiguredHook]:
        """The hooks that are set up."""
        from toolpost_core.session.added_hooks import configured

        return configured(self.parts.settings, self.added_hooks)

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line for each that asked and each model."""
        return tuple(spent(self).lines.values())

    def totals(self) -> CostTotals:
        """What the session took so far beside tokens."""
        return self.account.so_far()

    def budget_left(self) -> BudgetLimits:
        """What is left of what the session and all that it starts may use."""
        return self.parts.budget.left

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id. Raises SessionError while a prompt runs."""
        self._require_idle()
        self.did("clear")
        self.queue.clear()
        await self._end("clear")
        self._id = self.outside.new_id()
        self.conversation, self.prompt_log = self._new_conversation(), PromptLog(None)
        self.prompt.forget()
        self.begun = "clear"
        self.account, self.thinker = Totals(), Thinker()
        self.account.without(self.parts.budget.ledger)
        self.title = self.prompt_id = None
        await self.stash.aclose()
        self.stash = Stash()
        self._transcript = Transcript(self._own_path(), self._id, self.parts.version, self.warn, outside=self.outside)
        self._engine = None
        self._stand_in()

    async def compact(
        self, instructions: str = "", *, part: tuple[Literal["up_to", "from"], str] | None = None
    ) -> AsyncGenerator[SessionEvent, None]:
        """Make the conversation shorter. Raises SessionError while a prompt runs, and where nothing was done."""
        from toolpost_core.session.shortening import shorten

        self._require_idle()
        self.did("compact", instructions=instructions, part=part)
        async with aclosing(self._busy_with(lambda abort: shorten(self, abort, instructions, part))) as events:
            async for event in events:
                yield event

    async def context_usage(self) -> ContextUsage:
        """How full the window is."""
        from toolpost_core.session.filling import usage

        return await usage(self)

    def memory(self) -> MemoryFiles:
        """What is kept of the project from one session to the next. Raises MissingService."""
        from toolpost import MemoryFiles

        return self.services.get(MemoryFiles)

    def sent_prompts(self) -> Sequence[SentPrompt]:
        """Every prompt of the session, oldest first."""
        return self.prompt_log.all()

    async def turn_changes(self) -> Mapping[str, TurnChanges]:
        """What the turns changed in files, by the prompt's id."""
        return await self._rewinder().turn_changes()

    async def plan_rewind(self, message_id: str) -> Sequence[FileRewind]:
        """Say what `rewind_files` would do."""
        return await self._rewinder().plan(message_id)

    async def rewind_files(self, message_id: str, *, force: bool = False) -> Rewound:
        """Bring the files back to what they were before a prompt. Raises SessionError while a prompt runs."""
        self._require_idle()
        self.did("rewind_files", message_id=message_id, force=force)
        return await self._rewinder().files(message_id, force=force)

    async def rewind_conversation(self, message_id: str) -> str:
        """Go back to before a prompt and return its text. Raises SessionError while a prompt runs."""
        self._require_idle()
        self.did("rewind_conversation", message_id=message_id)
        return self._rewinder().conversation(message_id)

    async def reload(self) -> Sequence[str]:
        """Take over changed settings and plugins from the next request on; returns what went on or off, and what is wrong.

        Raises SettingsError where something can't be read or a ConfigChange listener refuses; all stays as it was then.
        """
        from toolpost_core.session.confining import choose_sandbox
        from toolpost_core.session.reload import beside_rules, blocked, made_anew, read_anew, turned, unusable
        from toolpost_core.session.reviewing import review

        now = Stamps.now(self.parts.places, self.parts.env)
        changed, self._stamps = self._stamps.changed(now), now
        settings, registry, wrong = read_anew(self.parts)
        refusal = " ".join(unusable(self.parts.settings, settings)) or await blocked(changed, now, self.events)
        if refusal:
            raise KeptError(f"The settings stay as they were: {refusal}")
        told = [*turned(self.parts, registry), *wrong, *await review(self, settings)]
        sandbox = choose_sandbox(settings, registry, self.warn)
        before = self.parts
        self.parts = replace(before, settings=settings, registry=registry, sandbox=sandbox)
        self.surroundings.adopt(self.parts)
        self.services.adopt(registry)
        self.events.adopt(registry.manager, made_anew(before, self.parts))
        self._engine = None
        self._listen_anew()
        if told or beside_rules(before.settings) != beside_rules(settings):
            self.did("reload", told=told)
        return told

    # What api and the command line use beside that.

    async def refresh(self) -> None:
        """Reload where a settings file changed since it was read; asked before each prompt."""
        if self._stamps.changed(Stamps.now(self.parts.places, self.parts.env)):
            try:
                for text in await self.reload():
                    self.warn(f"Settings changed: {text}")
            except KeptError as error:
                self.warn(str(error))

    async def start(self) -> None:
        """Register listeners that depend on the settings, and begin to gather the prompt."""
        self._started = True
        self.parts.budget.keep_time(self.outside.monotonic)
        self.conversation.rest()
        self._listen_anew()
        env = self.parts.env
        for text in (*odd_variables(env), *odd_limits(env), *odd_blocks(env)):
            self.warn(text)
        if (history := self.parts.history) is not None:
            for warning in history.warnings:
                self.warn(warning)
            self.conversation.deferred = waiting_in(history)
            self.conversation.due = self.conversation.deferred is not None
            if self.parts.forked_from is None:
                self._transcript.lock(history.end)
                tell_unsent(self, history)
            else:
                self._transcript.fork(history, self.parts.places.project)
        if self.parts.options.prompt is not None:
            self.prompt.task()

    async def run_calls(self, calls: Sequence[ToolUse]) -> list[CallResult]:
        """Run calls as one answer of a model would, without a model."""
        from toolpost_core.tools.batch import run_batch

        engine, node = self.engine(), self._abort.child(contains=True)
        content: list[ContentBlock] = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in calls
        ]
        self._transcript.message("assistant", {"role": "assistant", "content": content}, self.cwd)
        results = await run_batch(
            calls, lambda call: engine.pipeline.run(call, node.child()), engine.pipeline.is_safe, self.apply
        )
        await self.settle()
        for result in results:
            self._transcript.message("user", {"role": "user", "content": [result.block]}, self.cwd)
        return results

    async def aclose(self, reason: str = "other") -> None:
        """End whatever runs, tell listeners, close everything."""
        self._abort.abort("engine_stop")
        self.prompt.cancel()
        async with AsyncExitStack() as stack:
            stack.callback(self._close_world)
            stack.callback(self._transcript.close)
            stack.push_async_callback(self.stash.aclose)
            stack.push_async_callback(self.services.aclose)
            stack.push_async_callback(self.notifier.aclose)
            if self._watched is not None:
                stack.push_async_callback(self._watched.aclose)
            await self._until_idle()
            await self._end(reason)

    def _close_world(self) -> None:
        """Tell the world that the session is over."""
        self.outside.close()

    async def _until_idle(self) -> None:
        """Wait for the turn that was called off: its last events are still told."""
        if self._run is not None:
            await asyncio.wait({self._run})

    def _rewinder(self) -> Rewinder:
        from toolpost_core.session.rewind import Rewinder

        return Rewinder(self)

    async def _end(self, reason: str) -> None:
        if self.events.hears("session_end"):
            from toolpost.events.session import SessionEnd

            await self.events.emit(on.session_end, SessionEnd(reason=cast("Any", reason)))
        account = self.events.account()
        if any(account.values()):
            from toolpost_core.events.times import RECORD

            self._transcript.epilogue(RECORD, **account)
        self._transcript.close()
