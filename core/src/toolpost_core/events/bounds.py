"""Cuts texts of listeners' answers that are too long for a conversation."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, Final

MOST_CHARS: Final = 100_000
"""As much as a tool's result may have: a listener that floods must not fill the window, call after call."""
_TEXTS: Final = ("additional_context", "initial_user_message", "reason", "stop_reason", "system_message")


def bounded(outcome: Any) -> Any:
    """Return an answer whose texts are no longer than that; a text that was cut says so at its end."""
    long = {
        name: text for name in _TEXTS if isinstance(text := getattr(outcome, name, ""), str) and len(text) > MOST_CHARS
    }
    if not long or not is_dataclass(outcome) or isinstance(outcome, type):
        return outcome
    return replace(outcome, **{name: _cut(text) for name, text in long.items()})


def _cut(text: str) -> str:
    return f"{text[:MOST_CHARS]}\n[cut: a listener may say {MOST_CHARS:,} characters, and this was {len(text):,}]"
