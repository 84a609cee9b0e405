"""`toolpost --resume` without an id: the person picks the session."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from toolpost import Notice

from . import draw
from .asking import answered
from .clean import one_line
from .menu import Entry

if TYPE_CHECKING:
    from toolpost import Host, KeptSession, LaunchOptions

    from .stage import Stage

_LABEL: Final = 56


async def chosen(host: Host, stage: Stage) -> LaunchOptions | None:
    """Return the options with the session that the person picks; None where there is none, or they pick none."""
    sessions = host.sessions()
    if not sessions:
        told = "There is no session of this folder yet. `toolpost sessions list --all` shows those of others."
        stage.show("notice", draw.notice(Notice(told)))
        return None
    stage.show("question", "Go on with which session?")
    index = await stage.pick([_entry(session) for session in sessions])
    if index is None:
        return None
    stage.show("question", answered(_label(sessions[index])))
    return replace(host.options, resume=sessions[index].id)


def _entry(session: KeptSession) -> Entry:
    changed = datetime.fromtimestamp(session.modified).astimezone()
    today = changed.date() == datetime.now().astimezone().date()
    when = changed.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")
    return Entry(_label(session), " · ".join(filter(None, (when, one_line(session.branch), _size(session.size)))))


def _label(session: KeptSession) -> str:
    text = one_line(session.title) or "(no text)"
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
