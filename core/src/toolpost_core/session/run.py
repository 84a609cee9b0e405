"""One prompt of a session, from its submission to its RunResult."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import toolpost
from toolpost import ProviderError, ToolpostError, Usage
from toolpost_core.loop.messages import joined
from toolpost_core.loop.state import State, StopReason
from toolpost_core.loop.turn import Ended, Keep, Tell, TurnLoop
from toolpost_core.session.around import Around
from toolpost_core.session.asking import Asking
from toolpost_core.session.engine import WARM_AFTER
from toolpost_core.session.parts import json_usage
from toolpost_core.session.transcript import REPLACEMENT, TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ContentBlock, CostLine, Message, ModelRequest, SessionEvent, ToolResultBlock, ToolUse
    from toolpost_core.loop.stream import Answer
    from toolpost_core.session.session import Session
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult

SUBTYPES: Mapping[StopReason, str] = {
    StopReason.COMPLETED: "success",
    StopReason.HOOK_STOPPED: "success",
    StopReason.STOP_HOOK_PREVENTED: "success",
    StopReason.MAX_TURNS: "error_max_turns",
    StopReason.MAX_BUDGET: "error_max_budget_usd",
}


class Run:
    """Runs one prompt; always ends with exactly one RunResult."""

    def __init__(self, session: Session, abort: AbortNode, message_id: str | None = None) -> None:
        self._message_id = session.prompt_id = message_id or str(uuid4())
        self._session = session
        self._around = Around(session)
        self._abort = abort
        self._denials: list[Mapping[str, Any]] = []
        self._started = time.monotonic()
        self._opened = False

    async def prompt(self, prompt: str | Sequence[Mapping[str, Any]]) -> None:
        """Run a prompt and emit everything that happens."""
        try:
            await self._run(prompt)
        except ToolpostError as error:
            self._failed(str(error), getattr(error, "kind", "unknown"))
        except Exception as error:
            self._session.warn(_traceback(error))
            self._failed(f"Toolpost failed: {type(error).__name__}: {error}", "unknown")

    async def _run(self, prompt: str | Sequence[Mapping[str, Any]]) -> None:
        session = self._session
        await session.refresh()
        gathering = session.prompt_task()
        await asyncio.sleep(0)
        # The tools are loaded while the sources of the prompt wait for what they started.
        session.engine().load()
        stopped = await self._around.begun() if session.conversation.begins() else None
        text = prompt_as_text(prompt)
        blocked, more = await self._around.submitted(text) if stopped is None else (stopped, [])
        gathered = await gathering
        if blocked is not None:
            self._result(Ended(self._session.conversation.state(), StopReason.HOOK_STOPPED, told=blocked), text=blocked)
            return
        user = [gathered.user] if gathered.user and not session.messages else []
        opening = session.conversation.open_with()
        session.conversation.opened(self._message_id, opening)
        texts = [text for text in (*user, *opening, *session.queue.take(), *more) if text.strip()]
        message = _message(prompt, before=texts)
        session.transcript.message("user", message, session.cwd, uuid=self._message_id, promptAt=len(texts))
        session.prompt_log.add(self._message_id, text)
        self._keep_title()
        before = session.conversation.state()
        state = replace(before, messages=joined(before.messages, message))
        warming = asyncio.get_running_loop().call_later(WARM_AFTER, session.engine().warm)
        try:
            ended = await self._loop().run(state)
        finally:
            warming.cancel()
        session.conversation.take_over(ended.state)
        await self._around.ended(ended)
        self._result(ended)

    def _loop(self) -> TurnLoop:
        session, engine = self._session, self._session.engine()
        asking = Asking(session, self._abort)

        async def run_call(call: ToolUse, node: AbortNode) -> CallResult:
            result = await engine.pipeline.run(call, node)
            if result.ruling is not None and result.is_error and not result.duration:
                denial = {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}
                self._denials.append(denial)
            return result

        async def prepare(state: State, tell: Tell) -> tuple[State, ModelRequest | None]:
            await session.settle()
            prepared = await engine.preparer(state, asking, tell)
            session.conversation.sent = prepared[0].messages
            return prepared

        return TurnLoop(
            provider=lambda: session.model_in_use.provider,
            model=lambda: session.model,
            prepare=prepare,
            run_call=run_call,
            is_safe=engine.is_safe,
            aborts_siblings=lambda name: (entry := engine.pool.find(name)) is not None and entry.tool.aborts_siblings,
            apply=session.apply,
            at_stop=self._around.at_stop,
            after_answer=self._around.answered,
            after_calls=self._around.called,
            emit=self._emit,
            keep=Keep(
                block=self._keep_block,
                result=self._keep_result,
                message=self._keep_message,
                replaced=self._keep_replaced,
            ),
            queue=session.queue,
            ledger=session.parts.ledger,
            results=engine.results,
            abort=self._abort,
            max_turns=session.parts.options.max_turns or session.parts.settings.get("maxTurns"),
            display=self._around.display(self._message_id),
        )

    # What is kept.

    def _keep_block(self, block: ContentBlock, answer: Answer) -> str:
        message = {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [block],
            "usage": json_usage(answer.usage),
        }
        return self._session.transcript.message("assistant", message, self._session.cwd)

    def _keep_result(self, result: CallResult) -> str:
        message = {"role": "user", "content": [result.block]}
        extra = {} if result.data is None or isinstance(result.data, str) else {"toolUseResult": _compact(result.data)}
        return self._session.transcript.message("user", message, self._session.cwd, **extra)

    def _keep_message(self, message: Message) -> str:
        return self._session.transcript.message("user", message, self._session.cwd, isMeta=True)

    def _keep_replaced(self, block: ToolResultBlock) -> None:
        self._session.transcript.side(REPLACEMENT, toolUseId=block["tool_use_id"], content=block["content"])

    def _keep_title(self) -> None:
        session = self._session
        if session.title not in (None, session.kept_title):
            session.transcript.side(TITLE, customTitle=session.title)
            session.kept_title = session.title

    # What is told.

    def _emit(self, event: SessionEvent) -> None:
        self._open()
        self._tell_notices()
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
        session, ledger = self._session, self._session.parts.ledger
        if session.model_in_use.known:
            self._open()
            self._tell_notices()
        subtype = SUBTYPES.get(ended.reason, "error_during_execution")
        failed = subtype != "success"
        if ended.told and text is None and not failed:
            session.emit(toolpost.Notice(ended.told, "warning"))
        error = str(ended.error) if ended.error is not None else ended.told if failed else ""
        total = Usage()
        for line in ledger.lines.values():
            total = total.plus(line.usage)
        session.emit(
            toolpost.RunResult(
                subtype=subtype,
                is_error=failed,
                text=text if text is not None else error or ended.text,
                session_id=session.id,
                terminal_reason=ended.reason.value,
                stop_reason=ended.stop_reason,
                turns=ended.state.turn,
                duration=time.monotonic() - self._started,
                api_duration=ended.api_duration,
                cost_usd=ledger.dollars,
                usage=total,
                model_usage={line.model: _model_usage(session, line) for line in ledger.lines.values()},
                permission_denials=tuple(self._denials),
                errors=(error,) if error else (),
            )
        )


def prompt_as_text(prompt: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of a prompt as one."""
    return prompt if isinstance(prompt, str) else "\n".join(str(block.get("text", "")) for block in prompt)


def _message(prompt: str | Sequence[Mapping[str, Any]], before: Sequence[str]) -> Message:
    blocks: list[ContentBlock] = [{"type": "text", "text": text} for text in before]
    if isinstance(prompt, str):
        blocks.append({"type": "text", "text": prompt})
    else:
        blocks += [dict(block) for block in prompt]
    return {"role": "user", "content": blocks}


def _model_usage(session: Session, line: CostLine) -> dict[str, Any]:
    usage = line.usage
    info = session.model if session.model_in_use.known and session.model.id == line.model else None
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadInputTokens": usage.cache_read_input_tokens,
        "cacheCreationInputTokens": usage.cache_creation_input_tokens,
        "costUSD": line.dollars or 0.0,
        "contextWindow": info.window if info is not None else 0,
        "maxOutputTokens": info.max_output if info is not None else 0,
    }


def _compact(data: Any) -> Any:
    """Leave long texts out of the record: the model's text of the result is in its message."""
    if isinstance(data, str):
        return data if len(data) <= 2_000 else data[:2_000] + "…"
    if isinstance(data, Mapping):
        return {key: _compact(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_compact(value) for value in data[:200]]
    return data


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))
