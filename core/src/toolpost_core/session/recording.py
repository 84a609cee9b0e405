"""A session that is recorded: what its recording says of it, and how it is opened again to be played."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from toolpost import LaunchOptions, Recorder
from toolpost_core.settings.effective import FROM_ENV
from toolpost_core.transcripts.lines import line_of
from toolpost_core.transcripts.reading import GUARD, records_in
from toolpost_core.transcripts.redaction import SAYS_SECRET, Redactor
from toolpost_core.transcripts.spilling import whole
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from toolpost_core.plugins.registry import Registry
    from toolpost_core.session.inner import Inner
    from toolpost_core.session.parts import Parts, Places
    from toolpost_core.transcripts.history import History

OF_THE_RUN: Final = frozenset(
    {"add_dirs", "cwd", "extra", "prompt", "record", "session_id", "setting_sources", "settings", "trust"}
)
"""Options that a recording holds otherwise, or not at all: they are of the machine, or of one run."""
NOT_KEPT: Final = ("env", "hooks")
"""Settings that nothing depends on while a recording is played: what hooks answered is in it."""
OURS: Final = ("TOOLPOST_", "CLAUDE_CODE_")
"""How the variables begin that settings can be given by."""


def record(session: Inner, path: Path) -> None:
    """Keep everything that the session gets from outside. Raises SessionError, MissingService."""
    parts = session.parts
    redact = Redactor.of(parts.env)
    parts.outside.world = session.services.get(Recorder).record(path, redact(header(parts)), redact)


def header(parts: Parts) -> dict[str, Any]:
    """Return what a recording says of its session."""
    return {
        "version": parts.version,
        "installed": installed(parts.registry),
        "session": parts.session_id,
        "places": places_of(parts.places),
        "options": {name: value for name, value in _given(parts.options) if name not in OF_THE_RUN},
        "settings": {name: value for name, value in parts.settings.values.items() if name not in NOT_KEPT},
        "env": {
            name: value for name, value in sorted(parts.env.items()) if _is_kept(name) and not SAYS_SECRET.search(name)
        },
        "trusted": parts.trusted,
        "interactive": parts.ask is not None,
        **({"begun": begun(parts.history)} if parts.history is not None else {}),
    }


def begun(history: History) -> dict[str, Any]:
    """Return what a session that goes on began with: the id of the one that it goes on from, and its records.

    Of a file that is never read as a whole they are those that were.
    """
    assert history.path is not None, "a history is read from a file"
    start = 0 if history.end <= GUARD else history.begin
    records = [whole(record, history.path) for record in records_in(history.path, start=start)]
    return {"session": history.path.stem, "records": records}


def restore(header: Mapping[str, Any], places: Places) -> None:
    """Put what a recorded session began with where a session that goes on looks for it."""
    if "begun" not in header:
        return
    path = Store(places.config_dir).path(places.project, header["begun"]["session"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line_of(record) for record in header["begun"]["records"]))


def places_of(places: Places) -> dict[str, str]:
    """Return a session's folders by name; the project's sessions lie in one that is called after it."""
    sessions = Store(places.config_dir).path(places.project, "session").parent
    return {
        "project": str(places.project),
        "home": str(places.home),
        "config": str(places.config_dir),
        "sessions": str(sessions),
    }


def played_env(header: Mapping[str, Any], env: Mapping[str, str], state: Path) -> dict[str, str]:
    """Return the environment that a recorded session is played in: its variables of ours, and not those that are set now."""
    others = {name: value for name, value in env.items() if not _is_kept(name)}
    return {**others, **header["env"], "TOOLPOST_CONFIG_DIR": str(state)}


def installed(registry: Registry) -> str:
    """Return a digest of the plugins that are installed, with their versions."""
    entries = {f"{entry.distribution} {entry.version}" for entry in registry.inventory.entries}
    return hashlib.sha256("\n".join(sorted(entries)).encode()).hexdigest()


def played_options(header: Mapping[str, Any], project: Path, **changed: Any) -> LaunchOptions:
    """Return how a recorded session is opened to be played in a folder."""
    import json

    given = {name: tuple(value) if isinstance(value, list) else value for name, value in header["options"].items()}
    known = {field.name for field in fields(LaunchOptions)}
    goes_on = header["begun"]["session"] if "begun" in header else None
    keeps_id = goes_on is not None and not given.get("fork_session")
    return LaunchOptions(
        **{
            **{name: value for name, value in given.items() if name in known},
            "cwd": project,
            "session_id": None if keeps_id else header["session"],
            "resume": goes_on,
            "continue_last": False,
            "settings": json.dumps(header["settings"]),
            "setting_sources": (),
            "trust": header["trusted"],
            **changed,
        }
    )


def _is_kept(name: str) -> bool:
    """Whether a variable says how the program works, beside its folders and the settings that are kept anyway."""
    return name.startswith(OURS) and not name.endswith("_DIR") and name != FROM_ENV


def _given(options: LaunchOptions) -> list[tuple[str, Any]]:
    """Return the options that say something."""
    values = ((field.name, getattr(options, field.name)) for field in fields(options))
    return [(name, value) for name, value in values if value not in (None, (), {}, False)]
