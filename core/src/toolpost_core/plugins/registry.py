"""The plugins of one process: loaded when first needed, registered with pluggy, each isolated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from pluggy import PluginValidationError

import toolpost
from toolpost import PluginError, SettingsError
from toolpost_core.plugins.capabilities import Capabilities
from toolpost_core.plugins.enabling import Enabling, Grants, State
from toolpost_core.plugins.groups import KINDS
from toolpost_core.plugins.hooks import HookTable
from toolpost_core.plugins.limit import Limit, LoadTimeoutError, load_limit
from toolpost_core.plugins.listening import ListenerRules
from toolpost_core.plugins.loading import load_object, make_plugin
from toolpost_core.plugins.printing import aside
from toolpost_core.plugins.scan import Entry, Inventory
from toolpost_core.settings.plugins import PluginSetting, PluginSettings, same_name
from toolpost_core.settings.problem import Problem as Problem

T = TypeVar("T")


class Provided(NamedTuple, Generic[T]):
    """What a plugin brought: the value, the plugin's entry name and its distribution."""

    value: T
    plugin: str
    distribution: str


class Registry:
    """Loads plugins by group or by name and keeps what they brought; a plugin that fails is reported and passed over.

    One for each session or process; `report` hears of every problem once. `order` is the setting `plugins.order`;
    `unlocked` says of distributions that do not agree with the project's lock why not.
    """

    def __init__(
        self,
        inventory: Inventory,
        settings: PluginSettings,
        report: Callable[[Problem], None] = lambda _: None,
        *,
        order: Sequence[str] = (),
        unlocked: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.inventory = inventory
        self.unlocked = unlocked
        self.manager = HookTable(toolpost._hooks.PROJECT)
        self._enabling = Enabling(inventory, settings, unlocked)
        on = (entry for entry in inventory.entries if self._enabling.state_of(entry).status == "on")
        self.manager.rules = ListenerRules(((entry, inventory.capabilities(entry)) for entry in on), order)
        self._report = report
        self._limit = load_limit()
        self._problems: list[Problem] = []
        self._objects: dict[tuple[str, str, str], object] = {}
        self._failures: dict[Entry, str] = {}
        self._errors: dict[Entry, BaseException] = {}
        self._brought: dict[Entry, tuple[Provided[Any], ...]] = {}
        for problem in self._enabling.problems():
            self._tell(problem)

    @property
    def problems(self) -> Sequence[Problem]:
        """Every problem so far, in the order in which they came up."""
        return tuple(self._problems)

    def names(self, group: str) -> list[str]:
        """Return the names of the group's plugins that are on, sorted; imports none of them."""
        return [entry.name for entry in self._enabled(group)]

    def state_of(self, entry: Entry) -> State:
        """Say whether an entry is on, and why; one that failed so far says with what."""
        failure = self._failures.get(entry)
        return self._enabling.state_of(entry) if failure is None else State("failed", failure)

    def give_up(self, entry: Entry, why: str) -> None:
        """Take a plugin as failed without loading it."""
        self._brought[entry] = ()
        self._fail(entry, why)

    def load(self, entry: Entry) -> State:
        """Load one plugin that is on, and return the state that it then is in."""
        if self.state_of(entry).status == "on":
            self._take(entry)
        return self.state_of(entry)

    def setting_of(self, entry: Entry) -> PluginSetting | None:
        """Return what settings say about an entry."""
        return self._enabling.setting_of(entry)

    def grants_of(self, entry: Entry) -> Grants:
        """Return what an entry was granted, and by whom."""
        return self._enabling.grants_of(entry)

    def registered_as(self, entry: Entry) -> str:
        """Return the name that pluggy and the dispatcher have for an entry's plugin; empty where it is not loaded."""
        plugin = self._objects.get(_object_key(entry))
        return (self.manager.get_name(plugin) or "") if plugin is not None else ""

    def hooks_of(self, entry: Entry) -> list[str]:
        """Return the hooks that a loaded plugin implements, by name."""
        plugin = self._objects.get(_object_key(entry))
        return sorted(caller.name for caller in (self.manager.get_hookcallers(plugin) or ())) if plugin else []

    def error_of(self, entry: Entry) -> BaseException | None:
        """Return what a plugin raised that failed so far, with its traceback."""
        return self._errors.get(entry)

    def collect(self, group: str) -> list[Provided[Any]]:
        """Load every plugin of a group that is on; return what they brought, ordered by plugin name."""
        return [provided for entry in self._enabled(group) for provided in self._take(entry)]

    def in_order(self, group: str) -> list[Provided[Any]]:
        """Load a group as `collect` does; what `plugins.order` names comes first."""
        return sorted(self.collect(group), key=lambda provided: self.manager.rules.place(f"{group}/{provided.plugin}"))

    def calling_order(self, hook: str) -> list[tuple[str, str]]:
        """Return who is called at a hook by the plugins that are loaded, in order, each with what its place follows from."""
        caller = getattr(self.manager.hook, hook, None)
        return self.manager.rules.explained(caller.get_hookimpls() if caller is not None else ())

    def capabilities(self, entry: Entry) -> Capabilities | None:
        """Return what an entry's package declares; None where it declares nothing."""
        return self.inventory.capabilities(entry)

    def one(self, group: str, name: str) -> Provided[Any]:
        """Load one plugin by its entry's or distribution's name.

        Raises PluginError where it is not installed, is off, or failed; the message says what to do.
        """
        entry = self._enabling.find(group, name)
        state = self.state_of(entry)
        brought = self._take(entry) if state.status == "on" else ()
        if brought:
            return brought[0]
        raise PluginError(self._enabling.refusal(entry, self.state_of(entry)))

    def _enabled(self, group: str) -> list[Entry]:
        return sorted(entry for entry in self._enabling.enabled(group) if entry not in self._failures)

    def _take(self, entry: Entry) -> tuple[Provided[Any], ...]:
        """Load, register and ask one plugin, once; the only place that runs a plugin's code at registration."""
        if entry not in self._brought:
            self._brought[entry] = ()
            try:
                with Limit(self._limit), aside(entry.name, entry.distribution):
                    values = self._ask(entry, self._register(entry))
            except (PluginError, SettingsError, PluginValidationError) as error:
                self._errors[entry] = error
                self._fail(entry, str(error))
            except (Exception, SystemExit, LoadTimeoutError) as error:
                self._errors[entry] = error
                self._fail(entry, _told(error))
            except KeyboardInterrupt as error:
                error.add_note(f"it was interrupted while the plugin {entry.name!r} ({entry.distribution}) was loaded")
                raise
            else:
                self._brought[entry] = tuple(Provided(value, entry.name, entry.distribution) for value in values)
        return self._brought[entry]

    def _register(self, entry: Entry) -> object:
        # One object that two groups name is one plugin: registered twice it would hear each event twice.
        key = _object_key(entry)
        if key not in self._objects:
            setting = self._enabling.setting_of(entry)
            self._objects[key] = make_plugin(load_object(entry.value), entry, setting)
        plugin = self._objects[key]
        if self.manager.get_name(plugin) is None:
            self.manager.register(plugin, f"{entry.group}/{entry.name}")
            self._tell_of_removals(entry, plugin)
        return plugin

    def _tell_of_removals(self, entry: Entry, plugin: object) -> None:
        for one, what in self.manager.outdated:
            if one is plugin:
                from toolpost_core.plugins.removals import warn

                text = warn(entry.name, f"{entry.distribution} {entry.version}", what)
                self._tell(Problem(text, entry.name, entry.distribution))

    def _unregister(self, entry: Entry) -> None:
        """Have a plugin that failed hear nothing any more, unless it serves under another group."""
        plugin = self._objects.get(_object_key(entry))
        serves = any(brought and _object_key(other) == _object_key(entry) for other, brought in self._brought.items())
        if plugin is not None and not serves and self.manager.is_registered(plugin):
            self.manager.unregister(plugin)

    def _ask(self, entry: Entry, plugin: object) -> Sequence[Any]:
        kind = KINDS[entry.group]
        if not kind:
            return (plugin,)
        function = self.manager.implementation(entry.group, plugin)
        if function is None:
            raise PluginError(
                f"it brings nothing of the kind {entry.group}: {entry.value!r} implements no hook {entry.group!r}. "
                f"Name an instance or subclass of toolpost.{kind}, or write @toolpost.hookimpl def {entry.group}()"
            )
        values = function()
        wanted = getattr(toolpost, kind)
        if not isinstance(values, (list, tuple)) or not all(isinstance(value, wanted) for value in values):
            raise PluginError(
                f"its hook {entry.group!r} returned {values!r:.200}; it must be a list of toolpost.{kind}"
            )
        return values

    def _fail(self, entry: Entry, why: str) -> None:
        self._failures[entry] = why
        self._unregister(entry)
        text = f"The plugin {entry.name!r} ({entry.distribution} {entry.version}) is off for this session: {why}"
        setting = self._enabling.setting_of(entry)
        self._tell(Problem(text, entry.name, entry.distribution, setting.file if setting else None, "error"))

    def _tell(self, problem: Problem) -> None:
        self._problems.append(problem)
        self._report(problem)


def _object_key(entry: Entry) -> tuple[str, str, str]:
    return entry.distribution, entry.value, same_name(entry.name)


def _told(error: BaseException) -> str:
    """Name an error and the last place that it came through outside the interpreter's own and ours."""
    from toolpost_core.plugins.traces import is_theirs

    place, step = "", error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if is_theirs(file):
            place = f" ({file}:{step.tb_lineno})"
        step = step.tb_next
    kind = "" if isinstance(error, LoadTimeoutError) else f"{type(error).__name__}: "
    return f"{kind}{error}{place}"
