"""Finding plugins by the names that people use."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from toolpost import PluginError
from toolpost_core.plugins.scan import Entry
from toolpost_core.settings.plugins import same_name


def entries_named(entries: Sequence[Entry], name: str) -> list[Entry]:
    """Return the entries that a name, or a distribution's name, means. Raises PluginError, naming near ones."""
    found = [entry for entry in entries if same_name(name) in (same_name(entry.name), same_name(entry.distribution))]
    if not found:
        raise unknown_plugin(entries, name)
    return found


def unknown_plugin(entries: Sequence[Entry], name: str) -> PluginError:
    """Return the error for a name that means none, naming near ones."""
    known = sorted({entry.name for entry in entries} | {entry.distribution for entry in entries})
    near = difflib.get_close_matches(name, known, 3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`toolpost plugins list` shows what is installed."
    return PluginError(f"No plugin {name!r} is installed. {hint}")
