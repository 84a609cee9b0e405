"""Hooks that plugins bring in a file, in the shape of the settings' `hooks` key (compat.md section 7)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import toolpost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from toolpost_core.plugins.registry import Registry
    from toolpost_core.plugins.scan import Entry


def read_all(
    files: Iterable[tuple[Entry, Path]], registry: Registry, config_dir: Path, warn: Callable[[str], None]
) -> Sequence[Mapping[str, Sequence[Mapping[str, Any]]]]:
    """Return the hooks of each file; a group says which plugin it is of. What can't be read is told to `warn`."""
    read: list[Mapping[str, Sequence[Mapping[str, Any]]]] = []
    for entry, file in files:
        try:
            hooks = _groups(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            warn(f"The hooks of the plugin {entry.name!r} ({entry.distribution}) do not run: {file}: {error}")
            continue
        setting = registry.setting_of(entry)
        place = toolpost.PluginPlace(
            root=file.parent.parent,
            data=config_dir / "plugins" / "data" / re.sub(r"[^A-Za-z0-9_-]", "-", entry.distribution),
            options=setting.config if setting is not None else {},
        )
        read.append({event: [{**group, "plugin": place} for group in groups] for event, groups in hooks.items()})
    return read


def _groups(content: Any) -> Mapping[str, list[Mapping[str, Any]]]:
    hooks = content.get("hooks") if isinstance(content, Mapping) else None
    if not isinstance(hooks, Mapping):
        raise ValueError('it must be an object with "hooks", an object of event names')
    for event, groups in hooks.items():
        if not isinstance(groups, list) or not all(_is_group(group) for group in groups):
            raise ValueError(f'"{event}" must be a list of objects with "hooks", which is a list')
    return hooks


def _is_group(group: Any) -> bool:
    return isinstance(group, Mapping) and isinstance(group.get("hooks"), list)
