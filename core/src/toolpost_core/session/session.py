"""A session: one conversation with its state, driven prompt by prompt."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

import toolpost
from toolpost import Stash, on
from toolpost_core.session.conversation import Conversation
from toolpost_core.session.inner import Inner
from toolpost_core.session.prompts import PromptLog
from toolpost_core.session.reload import KeptError, Stamps
from toolpost_core.session.run import Run
from toolpost_core.session.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from toolpost import (
        ConfiguredHook,
        ContentBlock,
        CostLine,
        FileRewind,
        ModelInfo,
        PermissionMode,
        Rewound,
        Rule,
        SentPrompt,
        SessionEvent,
        ToolUse,
        TurnChanges,
    )
    from toolpost_core.session.rewind import Rewinder
    from toolpost_core.tools.calls import CallResult


class Session(Inner):
    """One conversation. `open_session` makes it and closes it; front ends see it as a `SessionDoor`."""

    # What front ends do with it, beside what `Inner` tells of it.

    @property
    def transcript_path(self) -> Path | None:
        """Where the transcript lies; None where none is kept."""
        return self._transcript.path

    async def submit(
        self, prompt: str | Sequence[Mapping[str, Any]], *, message_id: str | None = None
    ) -> AsyncIterator[SessionEvent]:
        """Run one prompt; the last event is the RunResult. Closing the iterator ends the turn."""
        self._require_idle()
        if message_id is not None and any(sent.id == message_id for sent in self.sent_prompts()):
            raise toolpost.SessionError(f"The session has a message {message_id} already; give a new uuid, or none.")
        queue: asyncio.Queue[SessionEvent | None] = asyncio.Queue()
        self._sink = queue.put_nowait
        self.notifier.busy()
        abort = self._run_abort = self._abort.child(contains=True)
        run = self._run = asyncio.create_task(Run(self, abort, message_id).prompt(prompt))
        run.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await run
        finally:
            if not run.done():
                abort.abort("engine_stop")
                with suppress(asyncio.CancelledError):
                    await run
            if self._run is run:
                self._sink = self._run_abort = self._run = None
                if self.parts.ask is not None:
                    self.notifier.idle()

    async def set_model(self, name: str, *, source: Literal["command", "picker", "sdk"] = "command") -> ModelInfo:
        """Use another model from the next request on. Raises SessionError where a listener refuses."""
        from toolpost_core.session.switching import switch

        return await switch(self, name, source)

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""
        self.surroundings.set_mode(mode)

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""
        return self.surroundings.rules

    def hooks(self) -> Sequence[ConfiguredHook]:
        """The hooks that are set up."""
        from toolpost_core.session.added_hooks import configured

        return configured(self.parts.settings, self.added_hooks)

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line a model."""
        return tuple(self.parts.ledger.lines.values())

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id. Raises SessionError while a prompt runs."""
        self._require_idle()
        await self._end("clear")
        self._id = str(uuid4())
        self.conversation, self.prompt_log = Conversation(), PromptLog(None)
        self.queue.take()
        self._prompt, self.begun = None, "clear"
        self.title = self.kept_title = self.prompt_id = None
        await self.stash.aclose()
        self.stash = Stash()
        self._transcript = Transcript(self._own_path(), self._id, self.parts.version, self.warn)
        self._engine = None
        self._stand_in()

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
        return await self._rewinder().files(message_id, force=force)

    async def rewind_conversation(self, message_id: str) -> str:
        """Go back to before a prompt and return its text. Raises SessionError while a prompt runs."""
        self._require_idle()
        return self._rewinder().conversation(message_id)

    async def reload(self) -> Sequence[str]:
        """Take over changed settings and plugins from the next request on; returns what went on or off, and what is wrong.

        Raises SettingsError where something can't be read or a ConfigChange listener refuses; all stays as it was then.
        """
        from toolpost_core.session.confining import choose_sandbox
        from toolpost_core.session.reload import blocked, made_anew, read_anew, turned, unusable

        now = Stamps.now(self.parts.places, self.parts.env)
        changed, self._stamps = self._stamps.changed(now), now
        settings, registry, wrong = read_anew(self.parts)
        refusal = " ".join(unusable(self.parts.settings, settings)) or await blocked(changed, now, self.events)
        if refusal:
            raise KeptError(f"The settings stay as they were: {refusal}")
        told = [*turned(self.parts, registry), *wrong]
        sandbox = choose_sandbox(settings, registry, self.warn)
        before = self.parts
        self.parts = replace(before, settings=settings, registry=registry, sandbox=sandbox)
        self.surroundings.adopt(self.parts)
        self.services.adopt(registry)
        self.events.adopt(registry.manager, made_anew(before, self.parts))
        self._engine = None
        self._listen_anew()
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
        self._listen_anew()
        if self.parts.history is not None:
            for warning in self.parts.history.warnings:
                self.warn(warning)
            self._transcript.lock()
            if self.parts.forked_from is not None:
                self._transcript.copy(self.parts.history.records, self.parts.history.leaf)
        if self.parts.options.prompt is not None:
            self.prompt_task()

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

    async def aclose(self) -> None:
        """End whatever runs, tell listeners, close everything."""
        self._abort.abort("engine_stop")
        if self._prompt is not None and not self._prompt.done():
            self._prompt.cancel()
        async with AsyncExitStack() as stack:
            stack.callback(self._transcript.close)
            stack.push_async_callback(self.stash.aclose)
            stack.push_async_callback(self.services.aclose)
            stack.push_async_callback(self.notifier.aclose)
            if self._watched is not None:
                stack.push_async_callback(self._watched.aclose)
            await self._until_idle()
            await self._end("other")

    def _require_idle(self) -> None:
        if self._run is not None and not self._run.done():
            raise toolpost.SessionError(
                f"A prompt is running in the session {self._id}; wait for its end or interrupt it."
            )

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
