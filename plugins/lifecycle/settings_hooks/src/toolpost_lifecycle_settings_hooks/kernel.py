"""What core offers beside the events, where this session has it."""

from __future__ import annotations

from toolpost import HookLog, Inbox, MissingService, SessionScope


def hook_log(session: SessionScope) -> HookLog | None:
    """Return the log of hooks; None where nobody looks."""
    try:
        log = session.services.get(HookLog) if session.services is not None else None
    except MissingService:
        return None
    return log if log is not None and log.wanted else None


def inbox(session: SessionScope) -> Inbox | None:
    """Return what takes texts for the model."""
    try:
        return session.services.get(Inbox) if session.services is not None else None
    except MissingService:
        return None
