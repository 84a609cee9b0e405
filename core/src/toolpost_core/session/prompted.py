"""A session as it is given prompts: one at a time, the others in a queue, and woken by what comes up in between."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import toolpost
from toolpost_core.session.inner import Inner
from toolpost_core.session.run import Run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence

    from toolpost import Priority, Queued, SessionEvent
    from toolpost_core.tools.abort import AbortNode


class Prompted(Inner):
    """What begins turns, and what waits for one."""

    async def submit(
        self, prompt: str | Sequence[Mapping[str, Any]], *, message_id: str | None = None
    ) -> AsyncGenerator[SessionEvent, None]:
        """Run one prompt; the last event is the RunResult. Closing the iterator ends the turn."""
        self._require_idle()
        self._require_new(message_id)
        self.did("submit", prompt=prompt, message_id=message_id)
        async with aclosing(self._turn(prompt, message_id)) as events:
            async for event in events:
                yield event

    def enqueue(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        priority: Priority = "next",
        message_id: str | None = None,
    ) -> Queued:
        """Let a prompt wait for its turn; `now` ends the one that runs. Raises SessionError for an id that is not new."""
        self._require_new(message_id)
        self.did("enqueue", prompt=prompt, priority=priority, message_id=message_id)
        queued = toolpost.Queued(id=message_id or self.outside.new_id("prompt"), content=prompt, priority=priority)
        self.queue.add(queued)
        if priority == "now":
            self.end_turn("interrupt")
        return queued

    def queued(self) -> Sequence[Queued]:
        """What waits, in the order in which it will be read."""
        return self.queue.waiting()

    def withdraw(self, id: str) -> Queued | None:
        """Take back what waits; None where it was read already."""
        self.did("withdraw", id=id)
        return self.queue.withdraw(id)

    def tell(self, event: SessionEvent) -> bool:
        """Show an event of a front end's own among those of the turn that runs; False where none does."""
        self.did("tell", event=event)
        runs = self._sink is not None
        self.show(event)
        return runs

    @property
    def is_due(self) -> bool:
        """Whether something waits that begins a turn."""
        return self.queue.due or self.conversation.due

    async def due(self) -> None:
        """Return once something does."""
        if not self.conversation.due:
            await self.queue.until_due()

    async def go_on(self) -> AsyncGenerator[SessionEvent, None]:
        """Run the turn that is due; no event where none is. Raises SessionError while one runs."""
        self._require_idle()
        if not self.is_due:
            return
        self.did("go_on")
        prompt = self.queue.take_prompt()
        if prompt is not None:
            yield toolpost.PromptTaken(prompt)
        turn = self._turn(prompt.content, prompt.id) if prompt is not None else self._turn(None, None)
        async with aclosing(turn) as events:
            async for event in events:
                yield event

    def _turn(
        self, prompt: str | Sequence[Mapping[str, Any]] | None, message_id: str | None
    ) -> AsyncGenerator[SessionEvent, None]:
        """Run a prompt, or without one what else waits."""
        return self._busy_with(lambda abort: Run(self, abort, message_id).prompt(prompt))

    async def _busy_with(
        self, work: Callable[[AbortNode], Coroutine[Any, Any, None]]
    ) -> AsyncGenerator[SessionEvent, None]:
        """Do something that takes the session, until its end or the end of who listens; what it emits is yielded."""
        events: asyncio.Queue[SessionEvent | None] = asyncio.Queue()
        self._sink = events.put_nowait
        self.notifier.busy()
        self.queue.busy = True
        abort = self._run_abort = self._abort.child(contains=True)
        run = self._run = asyncio.create_task(work(abort))
        run.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await run
            while not events.empty():  # what was told while the last ones were taken
                if (event := events.get_nowait()) is not None:
                    yield event
        finally:
            if not run.done():
                self.did("leave")
                abort.abort("engine_stop")
                with suppress(asyncio.CancelledError):
                    await run
            if self._run is run:
                self._sink = self._run_abort = self._run = None
                self.queue.busy = False
                if self.parts.ask is not None:
                    self.notifier.idle()

    def _require_idle(self) -> None:
        if self._run is not None and not self._run.done():
            raise toolpost.SessionError(
                f"A prompt is running in the session {self._id}; wait for its end or interrupt it."
            )

    def _require_new(self, message_id: str | None) -> None:
        if message_id is None:
            return
        known = (sent.id for sent in self.prompt_log.all())
        if message_id in known or any(queued.id == message_id for queued in self.queue.waiting()):
            raise toolpost.SessionError(f"The session has a message {message_id} already; give a new uuid, or none.")
