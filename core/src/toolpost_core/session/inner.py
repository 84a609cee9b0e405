"""The state of a session, and what its parts use of it: events, warnings, the next request, the context of a call."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import toolpost
from toolpost import ModelRequest, SessionScope, Stash
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.loop.queue import MessageQueue
from toolpost_core.session.added_hooks import AddedHooks
from toolpost_core.session.adjusting import adjusted
from toolpost_core.session.around import Around
from toolpost_core.session.conversation import Conversation
from toolpost_core.session.hook_log import SessionHookLog, lines_of
from toolpost_core.session.incoming import keep_queued
from toolpost_core.session.listening import bring_hooks, listen
from toolpost_core.session.notifying import Notifier
from toolpost_core.session.own_services import OwnServices
from toolpost_core.session.parts import Model, Parts
from toolpost_core.session.prompting import SessionPrompt
from toolpost_core.session.prompts import PromptLog
from toolpost_core.session.reasoning import Reasoning
from toolpost_core.session.reload import Stamps
from toolpost_core.session.resuming import how_begun, restored_mode, restored_model, restored_title
from toolpost_core.session.services import ServiceTable
from toolpost_core.session.surroundings import Standing, Surroundings
from toolpost_core.session.totals import Totals, new_totals
from toolpost_core.tools.abort import AbortNode
from toolpost_core.transcripts.elsewhere import kept_somewhere
from toolpost_core.transcripts.thoughts import Thinker
from toolpost_core.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from toolpost import (
        AbortReason,
        AbortSignal,
        HookFiring,
        Message,
        ModelInfo,
        PermissionMode,
        RuleUpdate,
        SessionEvent,
        ToolContext,
        ToolUse,
    )
    from toolpost.events._base import Origin
    from toolpost_core.events.outside import Outside
    from toolpost_core.session.engine import Engine
    from toolpost_core.session.watching import WatchedFiles
    from toolpost_core.tools.calls import CallResult
    from toolpost_core.tools.permit import Circumstances, Ruling


class Inner:
    """A session as its own parts see it; what front ends do with one is in `Session`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._id = parts.session_id
        self._model = Model(parts.choose, restored_model(parts), self._adjusted)
        self.stash = Stash()
        self.conversation = self._new_conversation(parts.history.messages if parts.history is not None else ())
        self.reasoning, self.thinker = Reasoning(), Thinker(parts.history)
        self.account = self._new_account()
        self.surroundings = self._new_surroundings()
        self.prompt_log = PromptLog(parts.history)
        self.denials: list[Mapping[str, Any]] = []
        self._sink: Callable[[SessionEvent], None] | None = None
        self._abort = self._new_abort()
        self._run_abort: AbortNode | None = None
        self._run: asyncio.Task[None] | None = None
        self._engine: Engine | None = None
        self.prompt = SessionPrompt(self)
        self._started = False
        self._told_of: set[str] = set()
        self.begun: Literal["startup", "resume", "fork", "clear"] = how_begun(parts)
        self.title = restored_title(parts)
        self.prompt_id: str | None = None
        self.queue = MessageQueue(
            self.emit,
            partial(keep_queued, self),
            waits=parts.ask is None,
            new_id=self.outside.new_id,
            look=self.outside.looks,
        )
        self.events = self._new_events()
        self.notifier = Notifier(self.events, lambda text: self.outside.inbox(self.queue).put(text))
        self._watched: WatchedFiles | None = None
        self.added_hooks = self._new_added_hooks()
        self.hook_log = SessionHookLog(self._debug if parts.options.extra.get("debug") == "hooks" else None)
        self.services = self._new_services()
        self._transcript = self._new_transcript()
        self._stamps = Stamps.now(parts.places, parts.env)
        self._stand_in()

    @property
    def outside(self) -> Outside:
        """What the session gets from outside."""
        return self.parts.outside

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
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""
        return self.conversation.messages

    @property
    def results_dir(self) -> Path | None:
        """Where long results of tools go."""
        path = self._transcript.path
        return path.parent / self._id / "tool-results" if path is not None else None

    @property
    def transcript(self) -> Transcript:
        """The transcript."""
        return self._transcript

    @property
    def model_in_use(self) -> Model:
        """The model, and what it comes from."""
        return self._model

    @property
    def abort_in_force(self) -> AbortNode:
        """The abort of the prompt that runs, or of the session where none does."""
        return self._run_abort or self._abort

    def around(self) -> Around:
        """Return what tells listeners of the session's course."""
        return Around(self)

    def engine(self) -> Engine:
        """Return the machinery; made when first needed."""
        if self._engine is None:
            from toolpost_core.session.engine import Engine

            self._engine = Engine(self)
            self._tell_odd_matchers(self._engine.pool.names)
        return self._engine

    def request(self, messages: Sequence[Message], breakpoints: Sequence[int]) -> ModelRequest:
        """Make the next request of messages."""
        model, asked = self._model.info, self.reasoning.asked(self.parts)
        return ModelRequest(
            model=model.id,
            messages=messages,
            system=self.prompt.system(caching=model.prompt_caching),
            tools=self.engine().pool.specs,
            max_tokens=None,
            thinking=asked.thinking,
            effort=asked.effort,
            cache_breakpoints=tuple(breakpoints) if model.prompt_caching else (),
            env=self.parts.env,
            stash=self.stash,
        )

    def prompt_options(self) -> Mapping[str, Any]:
        """Return what tools' descriptions may depend on; the same for the whole session."""
        return {"tools": self.parts.options.tools, "interactive": self.parts.ask is not None}

    def context_for(self, call: ToolUse, abort: AbortSignal) -> ToolContext:
        """Return the context of one call."""
        ctx = self.surroundings.context_for(call, abort, self.conversation.sent)
        if not self._model.known:
            return ctx
        model = self._model.info
        options = replace(ctx.options, model=model.id, images=model.images, documents=model.documents)
        return replace(ctx, options=options)

    def circumstances(self) -> Circumstances:
        """Return what decisions depend on at this moment."""
        return self.surroundings.circumstances(self.conversation.sent, self.scope())

    def apply(self, result: CallResult) -> None:
        """Take over what a result changes in the context."""
        self.surroundings.apply(result, self.warn)

    async def refresh(self) -> None:
        """Take over what changed since the last prompt; a session with settings of its own has something to."""

    async def settle(self) -> None:
        """Tell listeners what has changed round the conversation since the last request."""
        outcome = await self.surroundings.settle(self.events)
        if outcome is not None and outcome.watch_paths:
            self.watch(outcome.watch_paths)
        if self._watched is not None:
            await self._watched.look()

    def watch(self, paths: Sequence[str]) -> None:
        """Let FileChanged listeners hear of these files."""
        if self._watched is None:
            from toolpost_core.session.watching import WatchedFiles

            self._watched = WatchedFiles(self.events, lambda: self.cwd)
        self._watched.add(paths)

    def go_on_from(self, conversation: Conversation) -> None:
        """Take over an earlier state of the conversation."""
        self.conversation = conversation
        self.conversation.rest()
        self.surroundings.forget_seen()
        self._engine = None

    def change_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Change rules where that follows from an answer of the person."""
        before = Stamps.now(self.parts.places, self.parts.env)
        self.surroundings.update(updates, self.warn)
        if not self._stamps.changed(before):  # what we wrote ourselves is in force already
            self._stamps = Stamps.now(self.parts.places, self.parts.env)

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

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """End the running turn; the session goes on."""
        self.did("interrupt", reason=reason)
        self.end_turn(reason)

    def end_turn(self, reason: AbortReason) -> None:
        """End the running turn where that follows from something else that is done."""
        if reason == "user_cancel":
            self.queue.calm()
        if self._run_abort is not None:
            self._run_abort.abort(reason)

    def did(self, what: str, **given: Any) -> None:
        """Tell the world, where there is one, what is done with the session from outside."""
        self.outside.did(what, **given)

    def emit(self, event: SessionEvent) -> None:
        """Pass an event on to whoever listens to this run."""
        if self._tells(event):
            self.show(event)

    def show(self, event: SessionEvent) -> None:
        """Show an event, wherever it comes from."""
        if self._sink is not None:
            self._sink(event)

    def warn(self, text: str) -> None:
        """Show the person a warning, now or at the next prompt."""
        if self._sink is not None:
            self.emit(toolpost.Notice(text, "warning"))
        else:
            self.parts.notices.append(text)

    def warn_once(self, text: str) -> None:
        """Show the person a warning that is told once a session."""
        if text not in self._told_of:
            self._told_of.add(text)
            self.warn(text)

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
            settings=self.added_hooks.beside(parts.settings.values),
            env=parts.env,
            interactive=parts.ask is not None,
            trusted=parts.trusted,
            model=self._model.info.id if self._model.known else "",
            permission_mode=self.permission_mode,
            stash=self.stash,
            services=self.services,
            report=self.warn,
            agent_id=self.surroundings.whose.agent_id,
        )

    # What a sub-agent has otherwise (`Child`).

    def _tells(self, event: SessionEvent) -> bool:
        return self.outside.tells(event)

    def _new_conversation(self, messages: tuple[Message, ...] = ()) -> Conversation:
        return Conversation(messages, clock=self.outside.monotonic)

    def _new_account(self) -> Totals:
        return new_totals(self.parts)

    def _new_abort(self) -> AbortNode:
        return AbortNode()

    def _new_surroundings(self) -> Surroundings:
        mode = self.parts.settings.permission_mode(restored_mode(self.parts))
        return Surroundings(self.parts, Standing(mode, self.parts.settings.rules))

    def _new_events(self) -> Dispatcher:
        return Dispatcher(self.parts.registry.manager, self.warn, self._origin, self.outside)

    def _new_added_hooks(self) -> AddedHooks:
        return AddedHooks(self._listen_anew)

    def _new_services(self) -> ServiceTable:
        return ServiceTable(self.parts.registry, self.scope, OwnServices(self).find)

    def _own_path(self) -> Path | None:
        if not self.parts.options.persist:
            return None
        return kept_somewhere(self.parts.store.path(self.parts.places.project, self._id), self.warn)

    def _new_transcript(self) -> Transcript:
        """Return the transcript to begin with: a resumed session goes on in the file that it was read from."""
        history, parts = self.parts.history, self.parts
        if history is None or parts.forked_from is not None:
            return Transcript(self._own_path(), self._id, parts.version, self.warn, outside=self.outside)
        path = history.path if parts.options.persist else None
        return Transcript(
            path, self._id, parts.version, self.warn, history.leaf, states=history.states, outside=self.outside
        )

    def _adjusted(self, info: ModelInfo) -> ModelInfo:
        return adjusted(info, self.parts.env, self.parts.settings.get("modelPricing"))

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
            prompt_id=self.prompt_id,
            effort=self.reasoning.level(self.parts),
            stash=self.stash,
        )

    def _listen_anew(self) -> None:
        if self._started:
            bring_hooks(self.parts, self.added_hooks, self.warn)
            listen(self.parts.registry, self.scope(), self.warn)

    def _debug(self, firing: HookFiring) -> None:
        for line in lines_of(firing):
            if self.parts.ask is not None:
                self.emit(toolpost.Notice(f"debug: {line}"))
            else:
                print(f"debug: {line}", file=sys.stderr)

    def _tell_odd_matchers(self, tools: Sequence[str]) -> None:
        """Warn once of hooks whose matchers misspell a tool."""
        hooks = self.scope().settings.get("hooks")
        if not hooks:
            return
        from toolpost_core.session.odd_matchers import odd_matchers

        for text in odd_matchers(hooks, tools):
            self.warn_once(text)
