"""Hooks that come into the settings while a session runs: none of them runs before a person has seen it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import toolpost

if TYPE_CHECKING:
    from toolpost_core.session.inner import Inner
    from toolpost_core.settings import Settings


async def review(session: Inner, new: Settings) -> list[str]:
    """Put new hooks to the person, and hold back what is not agreed to; returns what there is to say about it.

    Those of managed settings are policy, and run as they come.
    """
    known = {**_hooks_of(session.parts.settings), **_hooks_of(new, policy=True)}
    now = _hooks_of(new)
    fresh = {key: text for key, text in now.items() if key not in known}
    hooks = session.added_hooks
    hooks.held = hooks.held & (now.keys() - _hooks_of(new, policy=True).keys())
    if not fresh or await _agreed(session, list(fresh.values())):
        return []
    hooks.held |= fresh.keys()
    listed = "\n".join(f"  {text}" for text in fresh.values())
    return [
        f"new hooks do not run in this session, as no person has agreed to them; the next start takes them:\n{listed}"
    ]


def without(hooks: Mapping[str, Any], held: frozenset[str]) -> dict[str, Any]:
    """Return the `hooks` key of settings without those that are held back."""
    return {
        event: [
            {**group, "hooks": [each for each in group.get("hooks") or () if _key(event, group, each) not in held]}
            for group in groups
        ]
        for event, groups in hooks.items()
    }


async def _agreed(session: Inner, texts: list[str]) -> bool:
    ask = session.parts.ask
    if ask is None:
        return False
    request = toolpost.PermissionRequest(
        tool_name="Hooks", tool_input={"hooks": texts}, scope=session.surroundings.scope
    )
    reply = await ask(
        toolpost.Question(
            request=request,
            decision=toolpost.Ask(
                "the settings changed while this session runs, and hooks run without further questions"
            ),
            title="Let new hooks run in this session?",
            view=toolpost.Lines("\n".join(texts)),
        )
    )
    return reply.allow


def _hooks_of(settings: Settings, *, policy: bool = False) -> dict[str, str]:
    """Return the hooks that are policy, or those that are not, by what tells them apart, each as a person reads it."""
    return {
        _key(event, group, handler): f"{event}: {json.dumps(handler, ensure_ascii=False, default=str)}"
        for document in settings.documents
        if (document.level == "managed") is policy
        for event, group, handler in _entries(document.values.get("hooks") or {})
    }


def _entries(hooks: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    for event, groups in hooks.items():
        for group in groups:
            for handler in group.get("hooks") or ():
                yield event, group, handler


def _key(event: str, group: Mapping[str, Any], handler: Any) -> str:
    return json.dumps([event, group.get("matcher"), handler], sort_keys=True, default=str)
