"""The prompt of one session: gathered once a conversation, and what is looked at again before each request."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from toolpost import Section
from toolpost_core.prompt.blocks import CORE, Prompt, compose, reminder
from toolpost_core.prompt.levels import opening
from toolpost_core.prompt.sections import Found, gather, renewed
from toolpost_core.session.sources import context_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import SystemBlock
    from toolpost_core.loop.state import State
    from toolpost_core.loop.turn import Tell
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.prompt.sections import Source
    from toolpost_core.session.inner import Inner


class SessionPrompt:
    """Asks the sources of the prompt. Without `forget` or `anew` its bytes stay the same, but for volatile sections."""

    def __init__(self, session: Inner) -> None:
        self._session = session
        self._task: asyncio.Task[Prompt] | None = None
        self._found: Sequence[Found] = ()
        self._renewed: Prompt | None = None
        self._sources: tuple[Registry, Sequence[Source]] | None = None

    def task(self) -> asyncio.Task[Prompt]:
        """Return the task that gathers the prompt; begun once a conversation, and again where it failed."""
        if self._task is None or _failed(self._task):
            self._task = asyncio.ensure_future(self._gather())
        return self._task

    async def gathered(self) -> Prompt:
        """Ask the sources and put the prompt together; a session's requests take it from `task`."""
        session, options = self._session, self._session.parts.options
        self._found = await gather(self.sources(), session.scope(), session.warn)
        if options.bare:
            self._found = (_place(session),)
        return self._composed()

    async def anew(self) -> Prompt:
        """Gather it again: the conversation begins anew, and what it says may have changed."""
        self.forget()
        return await self.task()

    def forget(self) -> None:
        """Let the next prompt gather it again."""
        self._task = self._renewed = None

    def cancel(self) -> None:
        """End the task where it runs."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    def system(self, *, caching: bool) -> Sequence[SystemBlock]:
        """Return the system prompt of the next request; it must have been gathered."""
        prompt = self._renewed or self.task().result()
        return prompt.marked if caching else prompt.unmarked

    async def before_request(self, state: State, tell: Tell) -> State:
        """Make volatile sections anew, and put what sources have to tell by now at the end of the state."""
        if any(one.section.volatile for one in self._found):
            await self._renew()
        sent = self._session.conversation.sent
        if not sent:  # the prompt says it all
            return state
        from toolpost_core.prompt.reminders import exchanged, reminded

        texts = await reminded(
            self.sources(), self._session.scope(), exchanged(sent, state.messages), self._session.warn_once
        )
        return tell(state, [reminder(text) for text in texts])

    def sources(self) -> Sequence[Source]:
        """Return the sources of the prompt; none in a bare session."""
        session, registry = self._session, self._session.parts.registry
        if session.parts.options.bare:
            return ()
        if self._sources is None or self._sources[0] is not registry:
            self._sources = registry, context_sources(registry, session.warn, session.outside)
        return self._sources[1]

    async def _gather(self) -> Prompt:
        if not self._session.model_in_use.known:
            _ = self._session.model  # sections name it
        return await self.gathered()

    async def _renew(self) -> None:
        session = self._session
        found = await renewed(self._found, self.sources(), session.scope(), session.warn_once)
        if found != self._found:
            self._found = found
            self._renewed = self._composed()

    def _composed(self) -> Prompt:
        parts = self._session.parts
        return compose(self._found, opening(parts.options, parts.settings.get("systemPrompt")))


def _place(session: Inner) -> Found:
    """Return the little that a bare session tells the model of where it is."""
    text = f"Working folder: {session.cwd}\nDate: {time.strftime('%Y-%m-%d', time.localtime(session.outside.now()))}"
    return Found(CORE, Section(name="place", text=text))


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
