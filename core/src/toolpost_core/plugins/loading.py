"""From an entry point's value to a plugin object that pluggy can register."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from toolpost import Plugin, PluginError, SettingsError
from toolpost_core.plugins.scan import Entry
from toolpost_core.settings.plugins import PluginSetting


def load_object(value: str) -> object:
    """Import what `module:attribute` names; whatever the import raises goes up."""
    module, _, path = value.split("[")[0].strip().partition(":")
    found: object = import_module(module.strip())
    for name in filter(None, path.strip().split(".")):
        found = getattr(found, name)
    return found


def make_plugin(found: object, entry: Entry, setting: PluginSetting | None) -> object:
    """Return the plugin that an entry's object stands for, made with its config.

    Raises PluginError for an object that is no plugin, SettingsError for a config that does not fit.
    """
    if isinstance(found, type) and issubclass(found, Plugin):
        return _configured(found, {}, setting) if setting and setting.config else _by_default(found, entry)
    if isinstance(found, Plugin):
        if not (setting and setting.config):
            return found
        given = {field.name: getattr(found, field.name) for field in _fields(type(found))}
        return _configured(type(found), given, setting)
    if isinstance(found, type) or callable(found):
        raise PluginError(
            f"{entry.value!r} names {found!r:.120}, which is no plugin. Name a subclass or an instance of toolpost.Plugin, "
            "what @tool made, or a module with hooks"
        )
    if setting and setting.config:
        what = "a module" if isinstance(found, ModuleType) else "an object"
        raise SettingsError(f"it is {what} and takes no settings, but `config` in {_place(setting)} gives it some")
    return found


def _by_default(plugin: type[Plugin], entry: Entry) -> Plugin:
    missing = [field.name for field in _fields(plugin) if _is_required(field)]
    if missing:
        example = json.dumps({"plugins": {entry.name: {"enabled": True, "config": dict.fromkeys(missing, "...")}}})
        raise SettingsError(
            f"it needs the setting {' and '.join(missing)}. Put {example} into your settings, with values"
        )
    return plugin()


def _configured(plugin: type[Plugin], given: Mapping[str, Any], setting: PluginSetting) -> Plugin:
    if not dataclasses.is_dataclass(plugin):
        raise SettingsError(f"it takes no settings, but `config` in {_place(setting)} gives it some")
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(plugin).validate_python({**given, **setting.config})
    except ValidationError as error:
        raise SettingsError(_mistakes(plugin, setting, error.errors(include_url=False))) from error


def _mistakes(plugin: type[Plugin], setting: PluginSetting, errors: Iterable[Any]) -> str:
    told = []
    for error in errors:
        key = ".".join(map(str, error["loc"]))
        what = "there is no such setting" if error["type"] == "unexpected_keyword_argument" else error["msg"]
        value = "" if error["type"] == "missing" else f" (it is {error['input']!r:.80})"
        told.append(f"its setting {key!r} in {_place(setting, key.split('.')[0])}: {what}{value}")
    allowed = ", ".join(f"{field.name} ({_hint(field.type)})" for field in _fields(plugin))
    return f"{'; '.join(told)}. Allowed are: {allowed or 'none'}"


def _place(setting: PluginSetting, key: str = "") -> str:
    return str(setting.config_files.get(key) or setting.file or "the settings")


def _hint(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _fields(plugin: type[Plugin]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(plugin) if dataclasses.is_dataclass(plugin) else ()


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
