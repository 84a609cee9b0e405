"""Going on with another session: `toolpost --resume` without an id, and `/resume`."""

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
    from collections.abc import Sequence

    from toolpost import Host, KeptSession, LaunchOptions, SessionDoor

    from .stage import Stage

_LABEL: Final = 56


async def chosen(host: Host, stage: Stage) -> LaunchOptions | None:
    """Return the options with the session that the person picks; None where there is none, or they pick none."""
    picked = await _picked(host.sessions(), stage, "There is no session of this folder yet.")
    return None if picked is None else replace(host.options, resume=picked)


async def other(host: Host, stage: Stage, argument: str, door: SessionDoor) -> LaunchOptions | None:
    """Return the options of the session to change to: of the argument, or one that is picked; None to stay."""
    if host.options.record is not None:
        told = "This session is being recorded, and a recording has one session. Leave it, and begin without --record."
        stage.show("command", draw.notice(Notice(told, "error")))
        return None
    others = [] if argument else [kept for kept in host.sessions() if kept.id != door.id]
    picked = argument or await _picked(others, stage, "There is no other session of this folder.")
    return None if picked is None else _resuming(host.options, picked)


def again(options: LaunchOptions, door: SessionDoor) -> LaunchOptions:
    """Return the options that open a session again that was left; anew, where nothing was kept of it."""
    kept = door.transcript_path is not None and door.transcript_path.exists()
    return _resuming(options, door.id if kept else None)


def _resuming(options: LaunchOptions, id: str | None) -> LaunchOptions:
    return replace(options, resume=id, prompt=None, continue_last=False, fork_session=False, session_id=None)


async def _picked(sessions: Sequence[KeptSession], stage: Stage, none: str) -> str | None:
    if not sessions:
        told = f"{none} `toolpost sessions list --all` shows those of others."
        stage.show("notice", draw.notice(Notice(told)))
        return None
    stage.show("question", "Go on with which session?")
    index = await stage.pick([_entry(session) for session in sessions])
    if index is None:
        return None
    stage.show("question", answered(_label(sessions[index])))
    return sessions[index].id


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
