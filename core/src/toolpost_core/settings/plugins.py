"""What settings say about plugins: on or off, and with which config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from toolpost_core.settings.document import Document
from toolpost_core.settings.problem import Problem


class Switch(NamedTuple):
    """One document's word on whether a plugin is on; `trusted` says whether the document is."""

    on: bool
    level: str
    file: Path | None
    trusted: bool

    def __str__(self) -> str:
        return str(self.file) if self.file else f"the {self.level} level"


class PluginSetting(NamedTuple):
    """All that settings say about one plugin.

    `switches` stand highest level first. `config` is merged per key, `config_files` says which file each key came from.
    `grants` is what it was granted, such as `decide`, by the highest level that says; None where none does.
    """

    key: str
    switches: tuple[Switch, ...] = ()
    config: Mapping[str, Any] = MappingProxyType({})
    config_files: Mapping[str, Path | None] = MappingProxyType({})
    grants: frozenset[str] | None = None
    file: Path | None = None
    grants_from: str = ""

    def as_values(self) -> dict[str, Any]:
        """Return what the levels came to, as a settings document would say it."""
        said = {"enabled": self.switches[0].on} if self.switches else {}
        config = {"config": dict(self.config)} if self.config else {}
        return {**said, **config, **({"grant": sorted(self.grants)} if self.grants is not None else {})}


PluginSettings: TypeAlias = Mapping[str, PluginSetting]
"""Settings of plugins by their names as `same_name` makes them equal."""

ORDER: Final = "order"
"""The key among the plugins that holds a list of names: in which order listeners and resolvers are asked."""

_FIELDS: Final = {"enabled": bool, "config": dict, "grant": list}


def same_name(name: str) -> str:
    """Return the form in which two spellings of a plugin's name are equal."""
    return name.lower().replace("_", "-").replace(".", "-")


def plugin_settings(documents: Sequence[Document], trusted: bool) -> tuple[PluginSettings, list[Problem]]:
    """Merge the `plugins` of all documents (highest first).

    A project's documents can turn a plugin off; on, or give it a config, in a trusted workspace only; grant, never.
    """
    found: dict[str, PluginSetting] = {}
    problems: list[Problem] = []
    for document in documents:
        for key, value in _entries(document, problems):
            ours = document.level in ("project", "local")
            if ours and "grant" in value:
                problems.append(_told(document, key, "grants something, which a project can't", "user settings"))
            if ours and not trusted and (value.get("enabled") or value.get("config")):
                told = _told(document, key, "turns on or configures it", "a trusted workspace")
                problems.append(replace(told, withheld=(f"plugins.{key}",)))
                value = {"enabled": False} if value.get("enabled") is False else {}
            name = same_name(key)
            found[name] = _added(found.get(name) or PluginSetting(key), document, value, trusted or not ours, ours)
    return MappingProxyType(found), problems


def plugin_order(documents: Sequence[Document], trusted: bool) -> tuple[str, ...]:
    """Return the names of `plugins.order` in the highest document that has it; a project's counts in a trusted workspace."""
    for document in documents:
        order = document.values.get("plugins", {}).get(ORDER)
        if _is_order(order) and (trusted or document.level not in ("project", "local")):
            return tuple(order)
    return ()


def _is_order(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _entries(document: Document, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, value in document.values.get("plugins", {}).items():
        if key == ORDER and _is_order(value):
            continue
        value = {"enabled": value} if isinstance(value, bool) else value
        if not isinstance(value, dict):
            problems.append(_wrong(document, key))
            continue
        wrong = [name for name in value if not isinstance(value[name], _FIELDS.get(name, ()))]
        problems += [_wrong(document, key, name) for name in wrong]
        yield key, {name: value[name] for name in value if name not in wrong}


def _added(
    setting: PluginSetting, document: Document, value: Mapping[str, Any], trusted: bool, ours: bool
) -> PluginSetting:
    switches = setting.switches
    if "enabled" in value:
        switches = (*switches, Switch(value["enabled"], document.level, document.file, trusted))
    config = {**value.get("config", {}), **setting.config}
    files = {**dict.fromkeys(value.get("config", {}), document.file), **setting.config_files}
    if setting.grants is None and "grant" in value and not ours:
        where = str(document.file or f"the {document.level} level")
        setting = setting._replace(grants=frozenset(map(str, value["grant"])), grants_from=where)
    return setting._replace(
        switches=switches,
        config=MappingProxyType(config),
        config_files=MappingProxyType(files),
        file=setting.file or document.file,
    )


def _wrong(document: Document, *path: str) -> Problem:
    allowed = "true, false, or an object with enabled (true or false), config (an object), grant (a list)"
    text = f"{document.at('plugins', *path)}: allowed are {allowed}. It was passed over."
    return Problem(text, path[0], file=document.file, level="error")


def _told(document: Document, key: str, what: str, where: str) -> Problem:
    text = f"{document.at('plugins', key)}: it {what}; that counts in {where} only and was passed over."
    return Problem(text, key, file=document.file)
