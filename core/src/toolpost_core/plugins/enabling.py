"""Which plugins are on: what ships is, what was added is not until a trusted settings file says so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from toolpost import HOOKSPEC_VERSION, PluginError
from toolpost_core.plugins.groups import GUARDS, KINDS
from toolpost_core.plugins.scan import Entry, Inventory
from toolpost_core.plugins.versions import allows
from toolpost_core.settings.plugins import PluginSetting, PluginSettings, Switch, same_name
from toolpost_core.settings.problem import Problem

STANDARD_GRANTS: Final = frozenset({"decide"})
"""What is granted to the standard set, as it is turned on, where settings say nothing else."""

Status = Literal["on", "off by default", "off by settings", "refused", "failed"]


class State(NamedTuple):
    """Whether an entry is on, and why."""

    status: Status
    why: str = ""


class Grants(NamedTuple):
    """What an entry was granted, and by what: a settings file, or the standard set; empty where nothing says."""

    what: frozenset[str]
    source: str


class Enabling:
    """Decides from settings and versions alone; loads nothing."""

    def __init__(
        self, inventory: Inventory, settings: PluginSettings, unlocked: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._inventory = inventory
        self._unlocked = unlocked
        self._entries = inventory.entries
        self._settings = settings
        self._standard_names = {same_name(entry.name) for entry in self._entries if entry.standard}
        self._states: dict[Entry, State] = {entry: self._judge(entry) for entry in self._entries}
        self._shadow()

    def state_of(self, entry: Entry) -> State:
        """Return an entry's state before anything was loaded."""
        return self._states.get(entry) or State("refused", "it is not installed")

    def enabled(self, group: str) -> list[Entry]:
        """Return the entries of a group that are on."""
        return [entry for entry in self._entries if entry.group == group and self._states[entry].status == "on"]

    def setting_of(self, entry: Entry) -> PluginSetting | None:
        """Return what settings say about an entry: under its name, or else under its distribution's."""
        return next(iter(self._settings_of(entry)), None)

    def grants_of(self, entry: Entry) -> Grants:
        """Return what an entry was granted: what settings say of it, or else what the standard set has."""
        for setting in self._settings_of(entry):
            if setting.grants is not None:
                return Grants(setting.grants, setting.grants_from)
        return Grants(STANDARD_GRANTS, "the standard set") if entry.standard else Grants(frozenset(), "")

    def find(self, group: str, name: str) -> Entry:
        """Return the entry that a name means: one that is on before one that is off. Raises PluginError."""
        named = [e for e in self._entries if e.group == group and same_name(name) in _names(e)]
        if not named:
            installed = sorted({entry.name for entry in self._entries if entry.group == group})
            there = f"Installed are: {', '.join(installed)}." if installed else "None is installed."
            raise PluginError(
                f"No plugin of the kind {group} is called {name!r}. {there} "
                f"`toolpost plugins list` shows all; the standard set comes with the package `toolpost`."
            )
        return min(named, key=lambda entry: (self._states[entry].status != "on", _rank(entry)))

    def refusal(self, entry: Entry, state: State) -> str:
        """Say why an entry can't be used, and what to do."""
        name = f"The plugin {entry.name!r} ({entry.distribution} {entry.version}, kind {entry.group})"
        if state.status in ("off by default", "off by settings"):
            key = entry.name if self._owns_name(entry) else entry.distribution
            wanted = json.dumps({"plugins": {key: True}})
            return (
                f"{name} is off: {state.why}. Run `toolpost plugins enable {key}`, or put {wanted} into your settings."
            )
        return f"{name} can't be used: {state.why}"

    def problems(self) -> Iterator[Problem]:
        """Report what stands out before anything is loaded: refusals, and settings for plugins that are not there."""
        for entry, state in self._states.items():
            if state.status == "refused":
                text = f"The plugin {entry.name!r} ({entry.distribution} {entry.version}) was refused: {state.why}"
                yield Problem(text, entry.name, entry.distribution, None, "error")
        known = {name for entry in self._entries for name in _names(entry)}
        for key, setting in self._settings.items():
            if key not in known:
                where = f"Settings in {setting.file}" if setting.file else "Settings"
                text = f"{where} name the plugin {setting.key!r}, which is not installed. Install it, or remove the key"
                yield Problem(f"{text}.", setting.key, "", setting.file)

    def _judge(self, entry: Entry) -> State:
        if entry.group not in KINDS:
            return State("refused", f"there is no kind of plugin {entry.group!r}; there are {', '.join(sorted(KINDS))}")
        if not allows(entry.requires, HOOKSPEC_VERSION):
            made = f"it was made for toolpost-hookspecs {entry.requires}, and {HOOKSPEC_VERSION} is installed"
            return State("refused", f"{made}. Update the plugin or Toolpost")
        declared = self._inventory.capabilities(entry)
        if declared is not None and declared.mistake:
            return State("refused", f"what it needs can't be read from {declared.file}: {declared.mistake}")
        state = self._wanted(entry)
        if state.status == "on" and entry.distribution in self._unlocked:
            return State("refused", self._unlocked[entry.distribution])
        return state

    def _wanted(self, entry: Entry) -> State:
        """Return what settings and the standard set come to."""
        said = [found for setting in self._settings_of(entry) if (found := _decisive(setting, entry.group)) is not None]
        if said:
            off = next((switch for switch in said if not switch.on), None)
            return State("off by settings", f"{off} turns it off") if off else State("on", f"{said[0]} turns it on")
        if entry.standard:
            return State("on", "it belongs to the standard set")
        return State("off by default", "a plugin that did not come with Toolpost is off until your settings turn it on")

    def _settings_of(self, entry: Entry) -> list[PluginSetting]:
        keys = _names(entry) if self._owns_name(entry) else (same_name(entry.distribution),)
        return [self._settings[key] for key in dict.fromkeys(keys) if key in self._settings]

    def _owns_name(self, entry: Entry) -> bool:
        """Whether a settings key of the entry's name may mean it: a standard plugin's name means that one only."""
        return entry.standard or same_name(entry.name) not in self._standard_names

    def _shadow(self) -> None:
        """Of entries of one group and name only one stays on: a standard one, or else the first distribution."""
        first: dict[tuple[str, str], Entry] = {}
        for entry in sorted(self._entries, key=_rank):
            if self._states[entry].status == "on":
                winner = first.setdefault((entry.group, same_name(entry.name)), entry)
                if winner is not entry:
                    why = f"{winner.distribution} has a plugin of the same kind and name, and that one is used"
                    self._states[entry] = State("refused", f"{why}. Turn one of them off by its distribution's name")


def _decisive(setting: PluginSetting, group: str) -> Switch | None:
    """Return the highest level's word on a plugin that counts for its kind."""
    for switch in setting.switches:
        weakens = not switch.on and not switch.trusted and group in GUARDS
        too_early = switch.on and switch.level in ("project", "local") and group == "settings_sources"
        if not weakens and not too_early:
            return switch
    return None


def _names(entry: Entry) -> Sequence[str]:
    return (same_name(entry.name), same_name(entry.distribution))


def _rank(entry: Entry) -> tuple[bool, str]:
    return (not entry.standard, entry.distribution)
