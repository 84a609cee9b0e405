"""`asyncRewake`: a hook in the background that has the model go on."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Final

from toolpost import HookAnswer, Notice, Origin, SessionScope, StashKey
from toolpost_lifecycle_settings_hooks.config import Hook
from toolpost_lifecycle_settings_hooks.kernel import inbox
from toolpost_lifecycle_settings_hooks.said import Said
from toolpost_lifecycle_settings_hooks.spill import spilled

WOKE = StashKey[Counter[tuple[str | None, str]]]("settings_hooks.woke")
"""How often each hook woke the model since each prompt."""
MOST_WAKES: Final = 8
"""As many as a Stop hook may block in a row: one that always has something to say would go on for ever."""


class Waker:
    """Made as the hook starts: until it is closed, a session without a person does not end before the hook."""

    def __init__(self, session: SessionScope, hook: Hook, origin: Origin) -> None:
        self._session, self._hook, self._origin, self._inbox = session, hook, origin, inbox(session)
        self._stack = ExitStack()
        if self._inbox is not None:
            self._stack.enter_context(self._inbox.expect())

    def wake(self, answer: HookAnswer) -> None:
        """Let the model read why the hook blocked: its errors, or else its output."""
        woke, key = self._origin.stash.setdefault(WOKE, Counter()), (self._origin.prompt_id, self._hook.key)
        woke[key] += 1
        if woke[key] > MOST_WAKES:
            self._session.report(
                f"{self._hook.event} hook ({self._hook.label}): it woke the model {MOST_WAKES} times since the prompt, and "
                "is not listened to until the next one"
            )
            return
        said = answer.text if answer.text and not answer.errors else answer.reason
        text = spilled(Said(reason=said), self._session.results_dir).reason
        notice = Notice(f"A {self._hook.event} hook in the background has something to say ({self._hook.label})")
        if self._inbox is not None:
            told = f"The {self._hook.event} hook {self._hook.label!r}, which ran in the background, says:\n{text}"
            self._inbox.put(told, shown=notice, kind="hook")

    def close(self) -> None:
        """Nothing is to come any more."""
        self._stack.close()
