"""Writes what each session did into a log of its own."""

import json
from datetime import UTC, datetime
from pathlib import Path

from toolpost import (
    EventBase,
    PermissionDenied,
    Plugin,
    PostToolUse,
    PostToolUseFailure,
    SessionEnd,
    SessionStart,
    UserPromptSubmit,
    on,
)


class Audit(Plugin):
    folder: str = ".audit"

    @on.session_start
    def started(self, event: SessionStart) -> None:
        self.write(event, source=event.source, model=event.model)

    @on.user_prompt_submit
    def asked(self, event: UserPromptSubmit) -> None:
        self.write(event, prompt=event.prompt)

    @on.post_tool_use
    def called(self, event: PostToolUse) -> None:
        self.write(event, tool=event.tool_name, input=dict(event.tool_input), seconds=round(event.duration, 3))

    @on.post_tool_use_failure
    def failed(self, event: PostToolUseFailure) -> None:
        self.write(event, tool=event.tool_name, input=dict(event.tool_input), error=event.error)

    @on.permission_denied
    def denied(self, event: PermissionDenied) -> None:
        self.write(event, tool=event.tool_name, input=dict(event.tool_input), reason=event.reason)

    @on.session_end
    def ended(self, event: SessionEnd) -> None:
        self.write(event, reason=event.reason)

    def write(self, event: EventBase, **what: object) -> None:
        """Append one line to the session's log."""
        folder = event.origin.project / Path(self.folder).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": type(event).__name__, **what}, ensure_ascii=False, default=str)
        with (folder / f"{event.origin.session_id or 'session'}.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")
