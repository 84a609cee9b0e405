"""One prompt of a session, from its submission to its RunResult."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import toolpost
from toolpost import Aborted, ProviderError, ToolpostError
from toolpost_core.loop.exchange import Exchange
from toolpost_core.loop.messages import joined
from toolpost_core.loop.state import Ended, State, StopReason, Transition
from toolpost_core.loop.target import target_in
from toolpost_core.loop.turn import Tell, TurnLoop
from toolpost_core.session.around import most_blocks
from toolpost_core.session.asking import Asking
from toolpost_core.session.calling import called
from toolpost_core.session.deferring import as_json, put_off, taken_up
from toolpost_core.session.engine import WARM_AFTER
from toolpost_core.session.falling_back import FallingBack
from toolpost_core.session.incoming import Incoming, prompt_message
from toolpost_core.session.keeping import keep_of
from toolpost_core.session.resuming import keep_states
from toolpost_core.session.taking_back import Sent, without_refused_prompt
from toolpost_core.session.totals import keep, spent
from toolpost_core.session.unpriced import warn_of_no_price
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import CostLine, Message, ModelRequest, SessionEvent, ToolUse
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult

T = TypeVar("T")
SUBTYPES: Mapping[StopReason, str] = {
    StopReason.COMPLETED: "success",
    StopReason.HOOK_STOPPED: "success",
    StopReason.STOP_HOOK_PREVENTED: "success",
    StopReason.TOOL_DEFERRED: "success",
    StopReason.MAX_TURNS: "error_max_turns",
    StopReason.MAX_BUDGET: "error_max_budget_usd",
}


class Run:
    """Runs one prompt, or what else waits for the model; always ends with exactly one RunResult."""

    def __init__(self, session: Inner, abort: AbortNode, message_id: str | None = None) -> None:
        self._session = session
        self._message_id = message_id or session.outside.new_id("prompt")
        self._around = session.around()
        self._keep = keep_of(session)
        self._abort = abort
        session.denials = []
        self._started = session.outside.monotonic()
        self._opened = False
        self._sent: Sent | None = None

    async def prompt(self, prompt: str | Sequence[Mapping[str, Any]] | None) -> None:
        """Run a prompt and emit everything that happens; without one, the texts that wait begin the turn."""
        try:
            await self._run(prompt)
        except Aborted:  # before anything was sent
            self._result(Ended(self._session.conversation.state(), StopReason.ABORTED_STREAMING))
        except ToolpostError as error:
            self._failed(str(error), getattr(error, "kind", "unknown"))
        except Exception as error:
            self._session.warn(_traceback(error))
            self._failed(f"Toolpost failed: {type(error).__name__}: {error}", "unknown")

    async def _run(self, prompt: str | Sequence[Mapping[str, Any]] | None) -> None:
        session = self._session
        await session.refresh()
        gathering = session.prompt.task()
        await asyncio.sleep(0)
        # The tools are loaded while the sources of the prompt wait for what they started.
        session.engine().load()
        begun = session.conversation.begins()
        stopped = await watched(self._around.begun(), self._abort) if begun else None
        if prompt is not None:  # what tells of the session's begin comes before it
            session.prompt_id = self._message_id
        blocked, more = (stopped, []) if stopped is not None or prompt is None else await self._submitted(prompt)
        gathered = await watched(_whatever_comes_of(gathering), self._abort)
        if blocked is not None:
            self._result(Ended(self._session.conversation.state(), StopReason.HOOK_STOPPED, told=blocked), text=blocked)
            return
        if prompt is None:
            self._open()  # what is told now says why the turn begins
        loop = self._loop()
        before = await taken_up(session, loop)
        if isinstance(before, Ended):
            if prompt is not None:
                session.warn(f"The prompt was not sent: {prompt_as_text(prompt)}")
            await self._ended(before)
            return
        user = [gathered.user] if gathered.user and not session.messages else []
        opening, leaf = session.conversation.open_with(), session.transcript.parent
        session.conversation.opened(self._message_id, opening)
        if prompt is None:
            self._open()  # what is told now says why the turn begins
        waiting = session.queue.take_texts()
        texts = [text for text in (*user, *opening, *waiting, *more) if text.strip()]
        messages = before.messages
        if texts or prompt is not None:
            message = prompt_message(prompt, before=texts)
            if prompt is not None:
                self._sent = Sent(messages=before.messages, leaf=leaf, prompt=self._message_id, texts=waiting)
            self._keep_prompt(prompt, message, at=len(texts))
            messages = joined(messages, message)
        keep_states(session)
        warn_of_no_price(session)
        before = session.conversation.state()
        target = target_in(prompt_as_text(prompt)) if prompt is not None else None
        state = replace(before, messages=messages, target=target)
        warming = asyncio.get_running_loop().call_later(WARM_AFTER, session.engine().warm)
        try:
            ended = await loop.run(state)
        finally:
            warming.cancel()
            session.model_in_use.stand_in(None)
            session.account.answered()
            keep(session)
        await self._ended(ended)

    async def _ended(self, ended: Ended) -> None:
        """Take over what the run came to, and tell it."""
        error, ended = ended.error, without_refused_prompt(self._session, self._sent, ended)
        self._session.conversation.take_over(ended.state)
        if ended.deferred is not None:
            ended = replace(ended, told=put_off(self._session, ended.deferred))
        await self._around.ended(replace(ended, error=error))  # hooks are told what the service said
        self._result(ended)

    def _loop(self) -> TurnLoop:
        session, engine = self._session, self._session.engine()
        asking, fallback = Asking(session, self._abort), FallingBack(session)

        async def run_call(call: ToolUse, node: AbortNode) -> CallResult:
            result = await called(session, call, node)
            session.account.called(result)
            if result.denied:
                denial = {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}
                session.denials.append(denial)
            return result

        async def prepare(state: State, tell: Tell) -> tuple[State, ModelRequest | None]:
            await session.settle()
            state = await session.prompt.before_request(state, tell)
            state = session.thinker.goes_on(state, session.model.id, session.transcript)
            state, request = await engine.preparer(state, asking, tell)
            session.conversation.sent = state.messages
            session.account.asked()
            if request is not None and fallback.possible:
                request = replace(request, has_fallback=True)
            return state, request

        async def shorten(tell: Tell, state: State, how: Transition) -> State | None:
            summaries = how is Transition.REACTIVE_COMPACT_RETRY
            return await engine.preparer.shorten(state, asking, tell, "prompt_too_long", summaries=summaries)

        exchange = Exchange(
            provider=lambda: session.model_in_use.provider,
            model=lambda: session.model,
            run_call=run_call,
            is_safe=engine.is_safe,
            aborts_siblings=lambda name: (entry := engine.pool.find(name)) is not None and entry.tool.aborts_siblings,
            apply=session.apply,
            after_answer=self._around.answered,
            clock=session.outside.monotonic,
            emit=self._emit,
            keep=self._keep,
            budget=session.parts.budget,
            results=engine.results,
            abort=self._abort,
            display=self._around.display(self._message_id),
        )
        return TurnLoop(
            exchange=exchange,
            prepare=prepare,
            at_stop=self._around.at_stop,
            after_calls=self._around.called,
            incoming=Incoming(session, self._around, self._emit),
            shorten=shorten,
            fall_back=fallback,
            chance=partial(session.outside.chance, "wait"),
            queue=session.queue,
            budget=session.parts.budget,
            abort=self._abort,
            max_turns=session.parts.options.max_turns or session.parts.settings.get("maxTurns"),
            most_blocks=most_blocks(session.parts.env),
        )

    async def _submitted(self, prompt: str | Sequence[Mapping[str, Any]]) -> tuple[str | None, list[str]]:
        return await watched(self._around.submitted(prompt_as_text(prompt)), self._abort)

    # What is kept.

    def _keep_prompt(self, prompt: str | Sequence[Mapping[str, Any]] | None, message: Message, at: int) -> None:
        """Keep the message that begins the turn; what nobody said is no prompt to go back to."""
        session = self._session
        if prompt is None:
            self._emit(toolpost.UserMessage(message=message, uuid=self._keep.message(message), synthetic=True))
            return
        session.transcript.message("user", message, session.cwd, uuid=self._message_id, promptAt=at)
        session.prompt_log.add(self._message_id, prompt_as_text(prompt))

    # What is told.

    def _emit(self, event: SessionEvent) -> None:
        self._open()
        self._tell_notices()
        if isinstance(event, toolpost.Streaming) and isinstance(event.event, toolpost.Retrying):
            self._session.account.retrying(event.event.delay)
        self._session.emit(event)

    def _open(self) -> None:
        """Say how the session begins, before the first event of the run: that is after the request went out."""
        if self._opened:
            return
        self._opened = True
        session, parts = self._session, self._session.parts
        plugins = sorted({(e.plugin, e.distribution) for e in session.engine().pool.entries})
        session.emit(
            toolpost.SessionStarted(
                session_id=session.id,
                cwd=session.cwd,
                model=session.model.id,
                tools=session.engine().pool.names,
                permission_mode=session.permission_mode,
                credential_source=session.model_in_use.provider.credential_source(parts.env),
                plugins=[{"name": name, "path": distribution} for name, distribution in plugins],
                plugin_errors=[
                    {"plugin": p.plugin, "type": "plugin", "message": p.text}
                    for p in parts.registry.problems
                    if p.plugin
                ],
                version=parts.version,
            )
        )

    def _tell_notices(self) -> None:
        """Show what came up before a run or outside it, such as a plugin that failed when it was first needed."""
        notices = self._session.parts.notices
        while notices:
            self._session.emit(toolpost.Notice(notices.pop(0), "warning"))

    def _failed(self, text: str, kind: str) -> None:
        error = ProviderError(text, kind=kind)
        self._result(Ended(self._session.conversation.state(), StopReason.MODEL_ERROR, error=error))

    def _result(self, ended: Ended, *, text: str | None = None) -> None:
        session, ledger = self._session, spent(self._session)
        if session.model_in_use.known:
            self._open()
            self._tell_notices()
        subtype = SUBTYPES.get(ended.reason, "error_during_execution")
        failed = subtype != "success"
        if ended.told and text is None and not failed:
            session.emit(toolpost.Notice(ended.told, "warning"))
        error = str(ended.error) if ended.error is not None else ended.told if failed else ""
        session.emit(
            toolpost.RunResult(
                subtype=subtype,
                is_error=failed,
                text=text if text is not None else error or ended.text,
                session_id=session.id,
                terminal_reason=ended.reason.value,
                stop_reason=ended.stop_reason,
                turns=ended.state.turn,
                duration=session.outside.monotonic() - self._started,
                api_duration=ended.api_duration,
                cost_usd=ledger.dollars,
                usage=ended.usage,
                model_usage={model: _model_usage(session, line) for model, line in ledger.by_model().items()},
                permission_denials=tuple(session.denials),
                errors=(error,) if error else (),
                remedies=ended.remedies,
                deferred_tool_use=as_json(ended.deferred) if ended.deferred is not None else None,
            )
        )


async def _whatever_comes_of(task: asyncio.Task[T]) -> T:
    """Wait for a task that goes on if this is called off: the next prompt needs it too."""
    return await asyncio.shield(task)


def prompt_as_text(prompt: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of a prompt as one."""
    return prompt if isinstance(prompt, str) else "\n".join(str(block.get("text", "")) for block in prompt)


def _model_usage(session: Inner, line: CostLine) -> dict[str, Any]:
    usage = line.usage
    info = session.model if session.model_in_use.known and session.model.id == line.model else None
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadInputTokens": usage.cache_read_input_tokens,
        "cacheCreationInputTokens": usage.cache_creation_input_tokens,
        "webSearchRequests": usage.web_search_requests,
        "costUSD": line.dollars or 0.0,
        "contextWindow": info.window if info is not None else 0,
        "maxOutputTokens": info.max_output if info is not None else 0,
    }


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))
