"""The conversation of a session between two prompts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolpost_core.loop.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolpost import Message, ToolUse


@dataclass
class Conversation:
    """What was said, where the cache ends, how many tokens it has; `began` once its first prompt was submitted.

    `opening` is what SessionStart listeners told: it waits for the first prompt that no listener blocks. `sent` is what
    the model has read: while a prompt runs, that is ahead of `messages`. `deferred` is a call that a hook put off, which is
    the last one in `messages`; it is `due` until it was taken up once. `clock` gives seconds.
    """

    messages: tuple[Message, ...] = ()
    breakpoints: tuple[int, ...] = ()
    used: int = 0
    began: bool = False
    opening: tuple[str, ...] = ()
    sent: tuple[Message, ...] = ()
    deferred: ToolUse | None = None
    due: bool = False
    _opened: tuple[str, tuple[str, ...]] = ("", ())
    clock: Callable[[], float] = time.monotonic
    _answered: float | None = None

    def state(self) -> State:
        """Return the state that a run begins with."""
        return State(self.messages, breakpoints=self.breakpoints, used=self.used)

    def take_over(self, state: State) -> None:
        """Take over what a run came to."""
        self.messages, self.breakpoints, self.used = state.messages, state.breakpoints, state.used
        self.sent = state.messages
        self.rest()

    def rest(self) -> None:
        """Count how long it is idle from now on."""
        self._answered = self.clock()

    def begins(self) -> bool:
        """Whether this is the first prompt; true once."""
        first, self.began = not self.began, True
        return first

    def open_with(self) -> tuple[str, ...]:
        """Take what goes before the prompt that is sent now."""
        opening, self.opening = self.opening, ()
        return opening

    def opened(self, prompt: str, opening: tuple[str, ...]) -> None:
        """Remember which prompt took it."""
        if opening:
            self._opened = prompt, opening

    def opening_from(self, prompts: Iterable[str]) -> tuple[str, ...]:
        """Return what goes before the next prompt if these are taken back."""
        prompt, opening = self._opened
        return opening if prompt in prompts else ()

    @property
    def idle(self) -> float:
        """Seconds since the model last answered, or the session was opened."""
        return self.clock() - self._answered if self._answered is not None else 0.0
