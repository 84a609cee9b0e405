"""The prompts of a session, in the order in which they were sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import toolpost
from toolpost_core.transcripts.lines import now

if TYPE_CHECKING:
    from toolpost import SentPrompt
    from toolpost_core.transcripts.history import History


class PromptLog:
    """Those of a session that goes on are read from its records when somebody asks."""

    def __init__(self, history: History | None) -> None:
        self._history = history
        self._prompts: list[SentPrompt] = []
        self._new: list[tuple[str, str, str]] = []

    def add(self, message_id: str, text: str) -> None:
        """Add the one that is sent now."""
        self._new.append((message_id, text, now()))

    def all(self) -> tuple[SentPrompt, ...]:
        """Return all of them."""
        return tuple(self._settled())

    def since(self, message_id: str) -> tuple[SentPrompt, ...]:
        """Return a prompt of the session and those after it."""
        prompts = self._settled()
        return tuple(prompts[[prompt.id for prompt in prompts].index(message_id) :])

    def rewind(self, message_id: str) -> None:
        """Mark a prompt and all that came after it as gone back from."""
        prompts, since = self._settled(), self.since(message_id)
        prompts[len(prompts) - len(since) :] = [replace(prompt, rewound=True) for prompt in since]

    def _settled(self) -> list[SentPrompt]:
        if self._history is not None:
            from toolpost_core.transcripts.past import prompts_in

            history, self._history = self._history, None
            self._prompts = prompts_in(history.records())
        # Those of this run are among the records already, where these were read only now.
        known = {prompt.id for prompt in self._prompts}
        self._prompts += [
            toolpost.SentPrompt(id=name, text=text, time=time) for name, text, time in self._new if name not in known
        ]
        self._new.clear()
        return self._prompts
