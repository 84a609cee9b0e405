"""Permission updates: to rules, mode and directories, for the session or in a settings file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from toolpost import Rule, SettingsError
from toolpost._frozen import frozen
from toolpost_core.settings.effective import own_files
from toolpost_core.settings.write import edit_permissions

if TYPE_CHECKING:
    from toolpost import PermissionMode, RuleSource, RuleUpdate
    from toolpost.permissions import Behavior
    from toolpost_core.session.parts import Places

NEEDS: Final = {
    "addRules": ("behavior", "rules"),
    "replaceRules": ("behavior", "rules"),
    "removeRules": ("behavior", "rules"),
    "setMode": ("mode",),
    "addDirectories": ("directories",),
    "removeDirectories": ("directories",),
}
"""The kinds of updates, and what each has beside its destination."""
FILES = {"userSettings": "user", "projectSettings": "project", "localSettings": "local"}
IN_MEMORY = ("session", "cliArg")


@frozen()
class Change:
    """What updates come to: the rules as they are now, and a new mode or directories if any were given."""

    rules: tuple[Rule, ...]
    mode: PermissionMode | None = None
    directories: tuple[Path, ...] | None = None


def applied(
    updates: Sequence[RuleUpdate],
    rules: Sequence[Rule],
    directories: Sequence[Path],
    places: Places,
    report: Callable[[str], None],
) -> Change:
    """Apply updates. One whose file can't be written counts for this session, and is reported.

    Raises SettingsError for a place that is none, and for an update of another shape; then none of them counts.
    """
    change = Change(tuple(rules))
    for update in updates:
        check(update)
    for update in updates:
        kind = update["type"]
        if kind == "setMode":
            change = replace(change, mode=update["mode"])
            if update["destination"] in FILES:
                report("The permission mode counts for this session only: it is written into no file.")
        elif kind in ("addDirectories", "removeDirectories"):
            _write(update, "additionalDirectories", update["directories"], places, report)
            named = [(places.project / Path(text).expanduser()).resolve() for text in update["directories"]]
            now = [d for d in change.directories or directories if d not in named]
            change = replace(change, directories=tuple([*now, *named] if kind == "addDirectories" else now))
        else:
            change = replace(change, rules=_rules(update, change.rules, places, report))
    return change


def allows_more(update: RuleUpdate) -> bool:
    """Whether an update adds rules that allow."""
    return update["type"] in ("addRules", "replaceRules") and update["behavior"] == "allow"


def check(update: Mapping[str, Any]) -> None:
    """Raise SettingsError where an update, which may be any hook's or program's, lacks what its kind needs."""
    kind = update.get("type")
    if not isinstance(kind, str) or kind not in NEEDS:
        raise SettingsError(f"{kind!r:.100} is no change of permissions. There are: {', '.join(NEEDS)}.")
    for name in ("destination", *NEEDS[kind]):
        value = update.get(name)
        if not _FITS[name](value):
            raise SettingsError(f"A change of permissions of type {kind} has the {name} {value!r:.100}, which is none.")


def _is_rule(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("toolName"), str):
        return False
    return isinstance(value.get("ruleContent"), str | None)


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "destination": lambda value: isinstance(value, str),
    "behavior": lambda value: value in ("allow", "ask", "deny"),
    "mode": lambda value: isinstance(value, str),
    "rules": lambda value: isinstance(value, list | tuple) and all(map(_is_rule, value)),
    "directories": lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
}


def _rules(
    update: RuleUpdate, rules: tuple[Rule, ...], places: Places, report: Callable[[str], None]
) -> tuple[Rule, ...]:
    kind, behavior, destination = update["type"], update["behavior"], update["destination"]
    source = cast("RuleSource", destination)
    texts = [_text(rule) for rule in update["rules"]]
    _write(update, behavior, texts, places, report)
    root = places.config_dir if destination == "userSettings" else places.project
    file = str(_file(destination, places)) if destination in FILES else None
    new = tuple(Rule.parse(text, behavior, source, root=root, file=file) for text in texts)
    if kind == "addRules":
        return (*rules, *new)
    same_list = [rule for rule in rules if (rule.behavior, rule.source) == (behavior, source)]
    if kind == "replaceRules":
        return (*(rule for rule in rules if rule not in same_list), *new)
    return tuple(rule for rule in rules if rule not in same_list or str(rule) not in texts)


def _write(
    update: RuleUpdate,
    key: Behavior | Literal["additionalDirectories"],
    texts: Sequence[str],
    places: Places,
    report: Callable[[str], None],
) -> None:
    destination = update["destination"]
    if destination in IN_MEMORY:
        return
    if destination not in FILES:
        raise SettingsError(
            f"{destination!r} is no place for a permission. There are: {', '.join((*FILES, *IN_MEMORY))}."
        )
    file = _file(destination, places)
    removing = update["type"].startswith("remove")
    try:
        edit_permissions(
            file,
            key,
            add=() if removing else texts,
            remove=texts if removing else (),
            replace=update["type"] == "replaceRules",
        )
    except SettingsError as error:
        report(f"The permission counts for this session only: {error}")


def _file(destination: str, places: Places) -> Path:
    return own_files(places.project, places.config_dir)[FILES[destination]]


def _text(rule: dict[str, str]) -> str:
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content})" if content else rule["toolName"]
