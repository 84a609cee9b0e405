"""Hook runners: how one type of user-configured hook is run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.events._base import Outcome
    from toolpost.session import SessionScope


@frozen(kw_only=True)
class PluginPlace:
    """Where a plugin is that brings hooks: its folder, one for its data, which may not be there yet, and its settings."""

    root: Path
    data: Path
    options: Mapping[str, Any] = field(default_factory=dict)


@frozen(kw_only=True)
class HookJob:
    """One configured hook that an event matched.

    `handler` is the hook's entry in the settings, `payload` the JSON that it gets (compat.md 2.1), `timeout` is in
    seconds. `source` is the entry's place. `plugin` is set where a plugin brought the hook.
    """

    event: str
    handler: Mapping[str, Any]
    payload: Mapping[str, Any]
    timeout: float
    source: str = ""
    plugin: PluginPlace | None = None

    def filled(self, prompt: str) -> str:
        """Return a prompt for a model with the event's JSON in the place of `$ARGUMENTS`, and behind it where there is none.

        `\\$` in it is a dollar.
        """
        import json
        import re

        event = json.dumps(self.payload, ensure_ascii=False)
        parts = re.split(r"(\\\$|\$ARGUMENTS\b)", prompt)
        text = "".join({"\\$": "$", "$ARGUMENTS": event}.get(part, part) for part in parts)
        return text if "$ARGUMENTS" in parts else f"{text}\n\n{event}"


@frozen(kw_only=True)
class HookAnswer:
    """What a hook said.

    `status`: `ok` (ran; `output` decides), `blocked` (exit 2 or its like; `reason` says why), `failed` (could not start
    or ended otherwise), `timed_out`. `output` is the JSON object that it wrote, if any, `text` its plain output. A hook that
    goes on in the background has a `later` answer: what it decides then counts for nothing, what it tells is kept.
    """

    status: Literal["ok", "blocked", "failed", "timed_out"]
    output: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    errors: str = ""
    reason: str = ""
    exit_code: int | None = None
    duration: float = 0.0
    later: Awaitable[HookAnswer] | None = None


@frozen(kw_only=True)
class HookRun:
    """What became of one configured hook at one event.

    `skipped` says why it was not run; empty where it was. `answer` is what its runner said, `outcome` what that came to.
    """

    hook: str
    source: str = ""
    skipped: str = ""
    answer: HookAnswer | None = None
    outcome: Outcome | None = None


@frozen(kw_only=True)
class HookFiring:
    """One event and all hooks that are configured for it. `subject` is what matchers ran on; `duration` in seconds."""

    event: str
    subject: str = ""
    runs: Sequence[HookRun] = ()
    duration: float = 0.0


class HookRunner(Plugin, ABC):
    """Runs configured hooks of one type."""

    type: ClassVar[str]
    """The `type` in the hook's entry, such as `command`."""

    @abstractmethod
    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Run one hook within its time. Never raises for what the hook does."""

    @hookimpl(specname="hook_runners")
    def _hook_runners(self) -> Sequence[HookRunner]:
        return (self,)
