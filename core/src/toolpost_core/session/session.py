"""A session: one conversation with its state, driven prompt by prompt."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

import toolpost
from toolpost import ModelRequest, SessionScope, Stash, on
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.prompt.sections import Prompt, Source, compose, gather
from toolpost_core.session.parts import Model, Parts
from toolpost_core.session.run import Run
from toolpost_core.session.services import ServiceTable
from toolpost_core.session.transcript import Transcript
from toolpost_core.tools.abort import AbortNode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from toolpost import (
        AbortReason,
        AbortSignal,
        ContentBlock,
        CostLine,
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
    from toolpost_core.tools.permit import Circumstances, Ruling
    from toolpost_core.tools.pipeline import CallResult


class Session:
    """One conversation. `open_session` makes it and closes it; front ends see it as a `SessionDoor`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._id = parts.session_id
        self._model = Model(parts.choose, parts.options.model or parts.settings.get("model"))
        self.stash = Stash()
        self._mode: PermissionMode = parts.settings.permission_mode(parts.options.permission_mode)
        self._rules: tuple[Rule, ...] = parts.settings.rules
        self._messages: tuple[Message, ...] = parts.history.messages if parts.history is not None else ()
        self._breakpoints: tuple[int, ...] = ()
        self._used = 0
        self._last_answer = time.monotonic()
        self._sink: Callable[[SessionEvent], None] | None = None
        self._abort = AbortNode()
        self._run_abort: AbortNode | None = None
        self._run: asyncio.Task[None] | None = None
        self._engine: Engine | None = None
        self._prompt: asyncio.Task[Prompt] | None = None
        self._started = False
        self._moved_from: Path | None = None
        self.begun: Literal["startup", "resume", "fork", "clear"] = _how_begun(parts)
        self._made_ctx: ToolContext | None = None
        self.events = Dispatcher(parts.registry.manager, self.warn, self._origin)
        self.services = ServiceTable(parts.registry, self.scope, self.events, self._check_nested)
        self._transcript = self._new_transcript()

    # What front ends see.

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    @property
    def cwd(self) -> Path:
        """The current folder."""
        return self._made_ctx.cwd if self._made_ctx is not None else self.parts.places.project

    @property
    def model(self) -> ModelInfo:
        """The model in use; raises ProviderError where none can be used."""
        return self._model.info

    @property
    def permission_mode(self) -> PermissionMode:
        """The permission mode in force."""
        return self._mode

    @property
    def transcript_path(self) -> Path | None:
        """Where the transcript lies; None where none is kept."""
        return self._transcript.path

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        return self._messages

    async def submit(self, prompt: str | Sequence[Mapping[str, Any]]) -> AsyncIterator[SessionEvent]:
        """Run one prompt; the last event is the RunResult. Closing the iterator ends the turn."""
        if self._run is not None and not self._run.done():
            raise toolpost.SessionError(
                f"A prompt is running in the session {self._id}; wait for its end or interrupt it."
            )
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
        self._mode = self.parts.settings.permission_mode(mode)
        if self._made_ctx is not None:
            self._ctx = replace(self._ctx, scope=replace(self._ctx.scope, mode=self._mode))

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""
        return self.all_rules()

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Add, replace or remove rules, for the session or in a settings file."""
        from toolpost_core.session.updates import applied

        change = applied(updates, self._rules, self._ctx.scope.directories, self.parts.places, self.warn)
        self._rules = change.rules
        if change.mode is not None:
            self.set_permission_mode(change.mode)
        if change.directories is not None:
            self._ctx = replace(self._ctx, scope=replace(self._ctx.scope, directories=change.directories))

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line a model."""
        return tuple(self.parts.ledger.lines.values())

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id."""
        await self._end("clear")
        self._id = str(uuid4())
        self._messages, self._breakpoints, self._used = (), (), 0
        self._started, self._prompt, self.begun = False, None, "clear"
        await self.stash.aclose()
        self.stash = Stash()
        self._transcript = Transcript(self._own_path(), self._id, self.parts.version, self.warn)
        self._made_ctx = self._engine = None

    # What api and the command line use beside that.

    async def start(self) -> None:
        """Register listeners that depend on the settings, and begin to gather the prompt."""
        self._listen()
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
        await self.settle_moves()
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

    def all_rules(self) -> tuple[Rule, ...]:
        """Every permission rule in force: those of all settings and those of the session."""
        return self._rules

    def circumstances(self) -> Circumstances:
        """Return what decisions depend on at this moment."""
        from toolpost_core.tools.permit import Circumstances

        return Circumstances(self._ctx.scope, self.all_rules())

    def prompt_options(self) -> Mapping[str, Any]:
        """Return what tools' descriptions may depend on; the same for the whole session."""
        return {"tools": self.parts.options.tools, "interactive": self.parts.ask is not None}

    @property
    def results_dir(self) -> Path | None:
        """Where long results of tools go."""
        path = self._transcript.path
        return path.parent / self._id / "tool-results" if path is not None else None

    def prompt_task(self) -> asyncio.Task[Prompt]:
        """Return the task that gathers the system prompt; begun once a conversation."""
        if self._prompt is None:
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
            stash=self.stash,
        )

    def context_for(self, call: ToolUse, abort: AbortSignal) -> ToolContext:
        """Return the context of one call."""
        from toolpost.context import Control

        return replace(
            self._ctx,
            control=Control(abort=abort, session_id=self._id, tool_use_id=call.id, messages=self._messages),
        )

    def apply(self, result: CallResult) -> None:
        """Take over what a result changes in the context."""
        if result.context_modifier is None:
            return
        before = self._ctx.cwd
        try:
            self._ctx = result.context_modifier(self._ctx)
        except Exception as error:
            self.warn(f"What {result.call.name} changes in the context was not taken over: {error!r}")
        if self._ctx.cwd != before:
            self._moved_from = self._moved_from or before
            self._ctx = replace(self._ctx, scope=replace(self._ctx.scope, cwd=self._ctx.cwd))

    async def settle_moves(self) -> None:
        """Tell listeners of a changed folder."""
        old, self._moved_from = self._moved_from, None
        if old is None or old == self.cwd or not self.events.hears("cwd_changed"):
            return
        from toolpost.events.session import CwdChanged

        await self.events.emit(on.cwd_changed, CwdChanged(old_cwd=old, new_cwd=self.cwd))

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

    def idle(self) -> float:
        """Seconds since the model last answered."""
        return time.monotonic() - self._last_answer

    @property
    def transcript(self) -> Transcript:
        """The transcript."""
        return self._transcript

    def take_over(self, messages: tuple[Message, ...], breakpoints: tuple[int, ...], used: int) -> None:
        """Take over the conversation from a run."""
        self._messages, self._breakpoints, self._used = messages, breakpoints, used
        self._last_answer = time.monotonic()

    @property
    def memory(self) -> tuple[tuple[Message, ...], tuple[int, ...], int]:
        """The conversation, its cache breakpoints and its tokens, for the next run."""
        return self._messages, self._breakpoints, self._used

    @property
    def model_in_use(self) -> Model:
        """The model, and what it comes from."""
        return self._model

    def first_of_conversation(self) -> bool:
        """Whether this is the first prompt since the session began; true once."""
        first, self._started = not self._started, True
        return first

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
            permission_mode=self._mode,
            stash=self.stash,
            services=self.services,
            report=self.warn,
        )

    # Making the parts.

    def _own_path(self) -> Path | None:
        return self.parts.store.path(self.parts.places.project, self._id) if self.parts.options.persist else None

    def _new_transcript(self) -> Transcript:
        """Return the transcript to begin with: a resumed session goes on in the file that it was read from."""
        path, history, parent = self._own_path(), self.parts.history, None
        if history is not None and self.parts.forked_from is None:
            path, parent = history.path if path is not None else None, history.leaf
        return Transcript(path, self._id, self.parts.version, self.warn, parent)

    @property
    def _ctx(self) -> ToolContext:
        """The context that calls get; made when the first one comes."""
        if self._made_ctx is None:
            self._made_ctx = self._context()
        return self._made_ctx

    @_ctx.setter
    def _ctx(self, ctx: ToolContext) -> None:
        self._made_ctx = ctx

    def _context(self) -> ToolContext:
        from toolpost.context import Control, Interface, SharedState

        places, options, settings = self.parts.places, self.parts.options, self.parts.settings
        extra = [Path(path) for path in settings.get("permissions", {}).get("additionalDirectories", ())]
        named = (places.project, *options.add_dirs, *extra)
        scope = toolpost.PermissionScope(
            cwd=places.project,
            home=places.home,
            project=places.project,
            directories=tuple(dict.fromkeys((places.project / folder).resolve() for folder in named)),
            config_dir=places.config_dir,
            mode=self._mode,
            interactive=self.parts.ask is not None,
            trusted=self.parts.trusted,
            sandbox=settings.get("sandbox"),
        )
        return toolpost.ToolContext(
            cwd=places.project,
            scope=scope,
            control=Control(abort=self._abort, session_id=self._id),
            services=self.services,
            env=self.parts.env,
            options=toolpost.ToolOptions(
                model=self._model.wanted or "", interactive=self.parts.ask is not None, settings=settings.values
            ),
            state=SharedState(stash=self.stash, results_dir=self.results_dir),
            interface=Interface(notify=lambda text: self.emit(toolpost.Notice(text)), warn=self.warn),
        )

    def _origin(self) -> Origin:
        from toolpost.events._base import Origin

        return Origin(
            session_id=self._id,
            transcript_path=self._transcript.path,
            cwd=self.cwd,
            project=self.parts.places.project,
            permission_mode=self._mode,
            stash=self.stash,
        )

    def _listen(self) -> None:
        """Load lifecycle plugins, and register the listeners that depend on this session's settings."""
        registry = self.parts.registry
        registry.collect("lifecycle")
        scope = self.scope()
        for impl in registry.manager.hook.listeners.get_hookimpls():
            try:
                functions = cast("Sequence[Callable[..., object]]", impl.function(scope))
                if functions:
                    marked = {f"listener_{n}": staticmethod(function) for n, function in enumerate(functions)}
                    registry.manager.register(type("Listeners", (), marked)(), f"{impl.plugin_name} (settings)")
            except Exception as error:
                self.warn(f"The listeners of {impl.plugin_name!r} could not be set up: {error}")

    async def _gather(self) -> Prompt:
        options = self.parts.options
        if not self._model.known:
            _ = self._model.info
        sources = [] if options.bare else [Source(p.plugin, p.value) for p in self.parts.registry.collect("context")]
        sections = await gather(sources, self.scope(), self.warn)
        return compose(sections, replaced_by=options.system_prompt, appended=options.append_system_prompt)

    async def _check_nested(self, tool_name: str, tool_input: Mapping[str, Any]) -> object:
        from toolpost import Allow, Deny

        engine = self.engine()
        entry = engine.pool.find(tool_name)
        if entry is None:
            return Deny(f"no such tool: {tool_name!r}")
        try:
            candidate = engine.permitter.read(entry.tool, tool_input)
        except toolpost.InvalidInput as error:
            return Deny(f"the input of {tool_name} does not fit: {error}")
        ruling = await engine.permitter.rule(entry.tool, candidate, self.circumstances())
        if ruling.verdict.wanted != "ask":
            return (Allow if ruling.verdict.behavior == "allow" else Deny)(ruling.verdict.reason)
        settled = await engine.pipeline.interview.settle(ruling, entry.tool.description(ruling.candidate.parsed))
        return settled.decision

    async def _end(self, reason: str) -> None:
        if self.events.hears("session_end"):
            from toolpost.events.session import SessionEnd

            await self.events.emit(on.session_end, SessionEnd(reason=cast("Any", reason)))
        self._transcript.close()


def _how_begun(parts: Parts) -> Literal["startup", "resume", "fork"]:
    if parts.history is None:
        return "startup"
    return "resume" if parts.forked_from is None else "fork"
