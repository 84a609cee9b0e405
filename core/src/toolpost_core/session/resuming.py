"""Which session to go on with, and what of its state comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, cast

from toolpost import SessionError
from toolpost_core.transcripts.kinds import MODE, MODEL, QUEUE, TITLE
from toolpost_core.transcripts.migration import told_newer

if TYPE_CHECKING:
    from toolpost import LaunchOptions, PermissionMode
    from toolpost_core.session.inner import Inner
    from toolpost_core.session.parts import Parts, Places
    from toolpost_core.transcripts.history import History
    from toolpost_core.transcripts.store import Store

COMES_BACK: Final = ("default", "acceptEdits", "dontAsk")
"""Permission modes that a session goes on in; the others are chosen anew each time."""


def resumed(options: LaunchOptions, store: Store, places: Places) -> History | None:
    """Read the session that a run goes on with; None for a new one. Raises SessionError."""
    if options.resume is None and not options.continue_last:
        return None
    from toolpost_core.transcripts.history import read

    if options.resume == "":
        raise SessionError(f"Which session to resume?\n{known(store, places)}")
    path = store.find(options.resume, places.project) if options.resume else store.latest(places.project)
    history = replace(read(path), session_id=path.stem)
    if not history.newer:
        return history
    told = told_newer(path.stem)
    if not options.fork_session and options.persist:
        raise SessionError(
            f"{told}: it can be read, but not continued. Update Toolpost, or go on in a copy: "
            f"--resume {path.stem} --fork-session"
        )
    return replace(history, warnings=(*history.warnings, f"{told}: what it does not know is not in this conversation."))


def known(store: Store, places: Places, most: int = 10) -> str:
    """Return lines that name the newest sessions of a folder, and how to resume one."""
    sessions = store.of(places.project)[:most]
    if not sessions:
        return f"There is none in {places.project}; `toolpost sessions list --all` shows those of other folders."
    lines = [f"  {session.id}  {session.title[:60]}" for session in sessions]
    return "\n".join(["The newest of this folder, each to be given as --resume ID:", *lines])


def tell_unsent(session: Inner, history: History) -> None:
    """Tell the person, once, of prompts that waited for the model when the session ended."""
    for queued in history.queued:
        if queued.get("kind") == "prompt":
            session.warn(f"This prompt waited when the session ended, and was not sent: {str(queued.get('content'))!r}")
        session.transcript.side(QUEUE, operation="remove", queuedId=queued.get("queuedId"))


def how_begun(parts: Parts) -> Literal["startup", "resume", "fork"]:
    """Return how a session begins."""
    if parts.history is None:
        return "startup"
    return "resume" if parts.forked_from is None else "fork"


def restored_mode(parts: Parts) -> PermissionMode | None:
    """Return the permission mode to begin with, where the flags or an earlier run of the session say one."""
    mode = parts.history.states.get(MODE, {}).get("permissionMode") if parts.history is not None else None
    return parts.options.permission_mode or cast("PermissionMode | None", mode if mode in COMES_BACK else None)


def restored_model(parts: Parts) -> str | None:
    """Return the model to begin with, where flags, an earlier run of the session or settings say one."""
    kept = parts.history.states.get(MODEL, {}) if parts.history is not None else {}
    model = kept.get("model") if kept.get("provider") == _provider(parts) else None
    return parts.options.model or (model if isinstance(model, str) else None) or parts.settings.get("model")


def restored_title(parts: Parts) -> str | None:
    """Return what a session that goes on was called last; a copy says that it is one."""
    title = parts.history.title if parts.history is not None else None
    return f"{title} (fork)" if title and parts.forked_from is not None else title


def keep_states(session: Inner) -> None:
    """Keep how the session is called and what was chosen for it, where that differs from what settings say."""
    transcript, parts = session.transcript, session.parts
    if session.title:
        transcript.state(TITLE, customTitle=session.title)
    mode = session.permission_mode
    if mode != parts.settings.permission_mode(None) or transcript.has_state(MODE):
        transcript.state(MODE, permissionMode=mode)
    model = session.model_in_use.wanted
    if model is not None and (model != parts.settings.get("model") or transcript.has_state(MODEL)):
        transcript.state(MODEL, model=model, provider=_provider(parts))


def _provider(parts: Parts) -> str | None:
    provider: str | None = parts.options.provider or parts.settings.get("provider")
    return provider
