"""A session: one conversation with its state, driven prompt by prompt."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

import toolpost
from toolpost import ModelRequest, SessionScope, Stash, on
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.prompt.sections import Prompt, Source, compose, gather
from toolpost_core.session.conversation import Conversation
from toolpost_core.session.listening import listen
from toolpost_core.session.parts import Model, Parts
from toolpost_core.session.reload import Stamps
from toolpost_core.session.run import Run
from toolpost_core.session.services import ServiceTable
from toolpost_core.session.surroundings import Surroundings
from toolpost_core.session.transcript import Transcript
from toolpost_core.tools.abort import AbortNode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from toolpost import (
        AbortReason,
        AbortSignal,
        ContentBlock,
        CostLine,
        Decision,
        Message,
        ModelInfo,
        PermissionMode,
        Rule,
        RuleUpdate,
        SessionEvent,
        ToolContext,
        ToolUse,
    )
    from toolpost.events._base import Origin
    from toolpost_core.session.engine import Engine
    from toolpost_core.tools.permit import Ruling
    from toolpost_core.tools.pipeline import CallResult


class Session:
    """One conversation. `open_session` makes it and closes it; front ends see it as a `SessionDoor`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._id = parts.session_id
        self._model = Model(parts.choose, parts.options.model or parts.settings.get("model"))
        self.stash = Stash()
        self.conversation = Conversation(parts.history.messages if parts.history is not None else ())
        mode = parts.settings.permission_mode(parts.options.permission_mode)
        self.surroundings = Surroundings(parts, mode, parts.settings.rules)
        self._sink: Callable[[SessionEvent], None] | None = None
        self._abort = AbortNode()
        self._run_abort: AbortNode | None = None
        self._run: asyncio.Task[None] | None = None
        self._engine: Engine | None = None
        self._prompt: asyncio.Task[Prompt] | None = None
        self.begun: Literal["startup", "resume", "fork", "clear"] = _how_begun(parts)
        self.events = Dispatcher(parts.registry.manager, self.warn, self._origin)
        self.services = ServiceTable(parts.registry, self.scope, self.events, self._check_nested)
        self._transcript = self._new_transcript()
        self._stamps = Stamps.now(parts.places, parts.env)
        self._stand_in()

    # What front ends see.

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    @property
    def cwd(self) -> Path:
        """The current folder."""
        return self.surroundings.cwd

    @property
    def model(self) -> ModelInfo:
        """The model in use; raises ProviderError where none can be used."""
        return self._model.info

    @property
    def permission_mode(self) -> PermissionMode:
        """The permission mode in force."""
        return self.surroundings.mode

    @property
    def transcript_path(self) -> Path | None:
        """Where the transcript lies; None where none is kept."""
        return self._transcript.path

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        return self.conversation.messages

    async def submit(self, prompt: str | Sequence[Mapping[str, Any]]) -> AsyncIterator[SessionEvent]:
        """Run one prompt; the last event is the RunResult. Closing the iterator ends the turn."""
        self._require_idle()
        queue: asyncio.Queue[SessionEvent | None] = asyncio.Queue()
        self._sink = queue.put_nowait
        abort = self._run_abort = self._abort.child(contains=True)
        run = self._run = asyncio.create_task(Run(self, abort).prompt(prompt))
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

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """End the running turn; the session goes on."""
        if self._run_abort is not None:
            self._run_abort.abort(reason)

    def set_model(self, name: str) -> ModelInfo:
        """Use another model from the next request on."""
        return self._model.switch(name)

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""
        self.surroundings.set_mode(mode)

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""
        return self.surroundings.rules

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Add, replace or remove rules, for the session or in a settings file."""
        before = Stamps.now(self.parts.places, self.parts.env)
        self.surroundings.update(updates, self.warn)
        if not self._stamps.changed(before):  # what we wrote ourselves is in force already
            self._stamps = Stamps.now(self.parts.places, self.parts.env)

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line a model."""
        return tuple(self.parts.ledger.lines.values())

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id. Raises SessionError while a prompt runs."""
        self._require_idle()
        await self._end("clear")
        self._id = str(uuid4())
        self.conversation = Conversation()
        self._prompt, self.begun = None, "clear"
        await self.stash.aclose()
        self.stash = Stash()
        self._transcript = Transcript(self._own_path(), self._id, self.parts.version, self.warn)
        self._engine = None
        self._stand_in()

    async def reload(self) -> Sequence[str]:
        """Take over changed settings and plugins from the next request on; returns what went on or off.

        What can't be read keeps what was in force, and so does a change that a ConfigChange listener blocks.
        """
        from toolpost_core.session.reload import blocked, difference, unusable

        now = Stamps.now(self.parts.places, self.parts.env)
        changed, self._stamps = self._stamps.changed(now), now
        settings, registry = self.parts.reread()
        broken = unusable(self.parts.settings, settings)
        if broken:
            self.warn("The settings stay as they were: " + " ".join(broken))
            return ()
        refusal = await blocked(changed, now, self.events)
        if refusal is not None:
            self.warn(f"The settings stay as they were: {refusal}")
            return ()
        told = difference(self.parts.registry, registry)
        self.parts = replace(self.parts, settings=settings, registry=registry)
        self.surroundings.adopt(self.parts)
        self.services.adopt(registry)
        self.events.adopt(registry.manager)
        self._engine = None
        listen(registry, self.scope(), self.warn)
        return told

    # What api and the command line use beside that.

    async def refresh(self) -> None:
        """Reload where a settings file changed since it was read; asked before each prompt."""
        if self._stamps.changed(Stamps.now(self.parts.places, self.parts.env)):
            for text in await self.reload():
                self.warn(f"Settings changed: {text}")

    async def start(self) -> None:
        """Register listeners that depend on the settings, and begin to gather the prompt."""
        listen(self.parts.registry, self.scope(), self.warn)
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
        await self.surroundings.settle_moves(self.events)
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

    # What the engine and the run use.

    def engine(self) -> Engine:
        """Return the machinery; made when first needed."""
        if self._engine is None:
            from toolpost_core.session.engine import Engine

            self._engine = Engine(self)
        return self._engine

    def emit(self, event: SessionEvent) -> None:
        """Pass an event on to whoever listens to this run."""
        if self._sink is not None:
            self._sink(event)

    def warn(self, text: str) -> None:
        """Show the person a warning, now or at the next prompt."""
        if self._sink is not None:
            self._sink(toolpost.Notice(text, "warning"))
        else:
            self.parts.notices.append(text)

    def prompt_options(self) -> Mapping[str, Any]:
        """Return what tools' descriptions may depend on; the same for the whole session."""
        return {"tools": self.parts.options.tools, "interactive": self.parts.ask is not None}

    @property
    def results_dir(self) -> Path | None:
        """Where long results of tools go."""
        path = self._transcript.path
        return path.parent / self._id / "tool-results" if path is not None else None

    def prompt_task(self) -> asyncio.Task[Prompt]:
        """Return the task that gathers the system prompt; begun once a conversation, and again where it failed."""
        if self._prompt is None or _failed(self._prompt):
            self._prompt = asyncio.ensure_future(self._gather())
        return self._prompt

    def request(self, messages: Sequence[Message], breakpoints: Sequence[int]) -> ModelRequest:
        """Make the next request of messages."""
        prompt = self.prompt_task().result()
        model = self._model.info
        return ModelRequest(
            model=model.id,
            messages=messages,
            system=prompt.system,
            tools=self.engine().pool.specs,
            max_tokens=None,
            cache_breakpoints=tuple(breakpoints) if model.prompt_caching else (),
            env=self.parts.env,
            stash=self.stash,
        )

    def context_for(self, call: ToolUse, abort: AbortSignal) -> ToolContext:
        """Return the context of one call."""
        return self.surroundings.context_for(call, abort, self.conversation.messages)

    def apply(self, result: CallResult) -> None:
        """Take over what a result changes in the context."""
        self.surroundings.apply(result, self.warn)

    def record_decision(self, call: ToolUse, ruling: Ruling, final: str) -> None:
        """Keep a decision in the transcript, for `why`."""
        from toolpost_core.permissions.record import as_json

        self._transcript.side(
            "permission-decision",
            toolUseId=call.id,
            toolName=call.name,
            requestedInput=call.input,
            effectiveInput=ruling.request.tool_input,
            final=final,
            **as_json(ruling.verdict),
        )

    @property
    def transcript(self) -> Transcript:
        """The transcript."""
        return self._transcript

    @property
    def model_in_use(self) -> Model:
        """The model, and what it comes from."""
        return self._model

    def scope(self) -> SessionScope:
        """Return the session as plugins are told of it."""
        places, parts = self.parts.places, self.parts
        return SessionScope(
            session_id=self._id,
            project=places.project,
            cwd=self.cwd,
            home=places.home,
            config_dir=places.config_dir,
            transcript_path=self._transcript.path,
            results_dir=self.results_dir,
            settings=parts.settings.values,
            env=parts.env,
            interactive=parts.ask is not None,
            trusted=parts.trusted,
            model=self._model.info.id if self._model.known else "",
            permission_mode=self.permission_mode,
            stash=self.stash,
            services=self.services,
            report=self.warn,
        )

    # Making the parts.

    def _own_path(self) -> Path | None:
        return self.parts.store.path(self.parts.places.project, self._id) if self.parts.options.persist else None

    def _new_transcript(self) -> Transcript:
        """Return the transcript to begin with: a resumed session goes on in the file that it was read from."""
        history, parts = self.parts.history, self.parts
        if history is None or parts.forked_from is not None:
            return Transcript(self._own_path(), self._id, parts.version, self.warn)
        path = history.path if parts.options.persist else None
        return Transcript(path, self._id, parts.version, self.warn, history.leaf)

    def _stand_in(self) -> None:
        self.surroundings.stand_in(
            self._id,
            stash=self.stash,
            services=self.services,
            abort=self._abort,
            results_dir=self.results_dir,
            model=self._model.wanted or "",
            notify=lambda text: self.emit(toolpost.Notice(text)),
            warn=self.warn,
        )

    def _origin(self) -> Origin:
        from toolpost.events._base import Origin

        return Origin(
            session_id=self._id,
            transcript_path=self._transcript.path,
            cwd=self.cwd,
            project=self.parts.places.project,
            permission_mode=self.permission_mode,
            stash=self.stash,
        )

    async def _gather(self) -> Prompt:
        options = self.parts.options
        if not self._model.known:
            _ = self._model.info
        sources = [] if options.bare else [Source(p.plugin, p.value) for p in self.parts.registry.collect("context")]
        sections = await gather(sources, self.scope(), self.warn)
        return compose(sections, replaced_by=options.system_prompt, appended=options.append_system_prompt)

    async def _check_nested(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        from toolpost_core.session.nested import decide

        return await decide(self, tool_name, tool_input)

    async def _end(self, reason: str) -> None:
        if self.events.hears("session_end"):
            from toolpost.events.session import SessionEnd

            await self.events.emit(on.session_end, SessionEnd(reason=cast("Any", reason)))
        if self.events.times is not None and (rows := self.events.times.take()):
            from toolpost_core.events.times import RECORD

            self._transcript.epilogue(RECORD, listeners=rows)
        self._transcript.close()


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _how_begun(parts: Parts) -> Literal["startup", "resume", "fork"]:
    if parts.history is None:
        return "startup"
    return "resume" if parts.forked_from is None else "fork"
