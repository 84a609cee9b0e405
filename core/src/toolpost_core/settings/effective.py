"""The effective settings: all documents of all levels as one, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from toolpost import SettingsError
from toolpost._frozen import frozen
from toolpost_core.settings.check import checked, repeated_keys, unheeded, unknown_keys
from toolpost_core.settings.document import Document, Unusable, parse_document, read_document
from toolpost_core.settings.hooks import hooks_in_force, sound_hooks
from toolpost_core.settings.merge import lookup, merged
from toolpost_core.settings.places import managed_files
from toolpost_core.settings.plugins import ORDER, PluginSettings, plugin_order, plugin_settings
from toolpost_core.settings.problem import Problem
from toolpost_core.settings.rules import rules_of
from toolpost_core.settings.trust import permitted

if TYPE_CHECKING:
    from toolpost import Rule, SettingsDocument
    from toolpost.permissions import PermissionMode

LEVELS: Final = ("managed", "cli", "flag", "local", "project", "user")
SOURCES: Final = ("user", "project", "local")
MANAGED_RULES_ONLY: Final = "allowManagedPermissionRulesOnly"
FROM_ENV: Final = "TOOLPOST_SETTINGS"
"""Settings for a program and whatever it starts, where no flag can be given."""


@frozen(kw_only=True)
class Settings:
    """Settings in force. `documents` stand highest first; `trusted` says whether the workspace is.

    `unusable` says which files could not be used at all, and why: what they forbid does not hold.
    """

    values: Mapping[str, Any]
    documents: tuple[Document, ...]
    rules: tuple[Rule, ...]
    plugins: PluginSettings
    problems: tuple[Problem, ...]
    trusted: bool
    unusable: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that take part, highest level first."""
        return tuple(document.file for document in self.documents if document.file)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value at a key, which may be dotted (`permissions.defaultMode`)."""
        try:
            return lookup(self.values, key)
        except KeyError:
            return default

    def provenance(self, key: str) -> list[tuple[str, Path | None]]:
        """Return level and file of every document that sets a key, highest first; of a scalar the first counts."""
        found: list[tuple[str, Path | None]] = []
        for document in self.documents:
            try:
                lookup(document.values, key)
            except KeyError:
                continue
            found.append((document.level, document.file))
        return found

    @property
    def only_policy_allows(self) -> bool:
        """Whether rules that allow count in managed settings only."""
        return self.get(MANAGED_RULES_ONLY) is True

    def permission_mode(self, wanted: str | None = None) -> PermissionMode:
        """Return the mode to begin with: the wanted one, or else the settings' own.

        Raises SettingsError for a wanted mode that there is not or that policy forbids.
        """
        mode = wanted or self.get("permissions.defaultMode") or "default"
        if mode in ("default", "manual"):
            return "default"
        from toolpost import MODES

        if mode not in MODES:
            raise SettingsError(f"There is no permission mode {mode!r}. There are: {', '.join(MODES)}.")
        lock = {"bypassPermissions": "disableBypassPermissionsMode", "auto": "disableAutoMode"}.get(mode, "")
        if lock and self.get(f"permissions.{lock}") == "disable":
            if wanted:
                level, file = self.provenance(f"permissions.{lock}")[0]
                raise SettingsError(f"The mode {mode} is forbidden by permissions.{lock} in {file or level}.")
            return "default"
        return cast("PermissionMode", mode)


def load(
    project: Path,
    home: Path,
    config_dir: Path,
    *,
    flag: str | None = None,
    cli: Mapping[str, Any] | None = None,
    sources: Sequence[str] = SOURCES,
    trusted: bool = False,
    extra_documents: Sequence[SettingsDocument] = (),
    env: Mapping[str, str] | None = None,
) -> Settings:
    """Read every source and merge it: managed > cli > flag > local > project > user.

    `flag` is a file's name or JSON text; so is $TOOLPOST_SETTINGS, which stands right below it. A user, project or local
    file that can't be used is skipped whole, the rest is used; no session begins like that. Raises SettingsError for those
    two and for managed settings that can't be used: what was asked for, and policy, is not passed over.
    """
    del home
    problems: list[Problem] = []
    unusable: list[str] = []
    around = os.environ if env is None else env
    found = [
        *_policy(around),
        *([Document("cli", cli)] if cli else ()),
        *([_flag(flag)] if flag else ()),
        *([_flag(around[FROM_ENV], f"${FROM_ENV}")] if around.get(FROM_ENV) else ()),
        *_own(project, config_dir, _known(sources), problems, unusable),
    ]
    documents = _sound(_in_order(found, _wanted(extra_documents, sources)), trusted, problems)
    policy_only = any(document.values.get(MANAGED_RULES_ONLY) for document in documents)
    rules, rule_problems = rules_of(documents, project=project, config_dir=config_dir, policy_only=policy_only)
    plugins, plugin_problems = plugin_settings(documents, trusted)
    values = merged(_with_locks(hooks_in_force(documents)))
    order = plugin_order(documents, trusted)
    if "plugins" in values:
        said = {setting.key: setting.as_values() for setting in plugins.values()}
        values["plugins"] = {**said, **({ORDER: list(order)} if order else {})}
    return Settings(
        values=MappingProxyType(values),
        documents=tuple(documents),
        rules=rules,
        plugins=plugins,
        problems=(*problems, *rule_problems, *plugin_problems),
        trusted=trusted,
        unusable=tuple(unusable),
    )


def own_files(project: Path, config_dir: Path) -> dict[str, Path]:
    """Return Toolpost's own settings file of each level that has one."""
    return {
        "local": project / ".toolpost" / "settings.local.json",
        "project": project / ".toolpost" / "settings.json",
        "user": config_dir / "settings.json",
    }


def _policy(env: Mapping[str, str]) -> Iterator[Document]:
    try:
        for file in managed_files(env):
            document = read_document("managed", file)
            if document:
                yield document
    except Unusable as error:
        raise SettingsError(f"Managed settings can't be used, and nothing starts without them: {error}.") from error


def _flag(flag: str, what: str = "--settings") -> Document:
    try:
        if flag.lstrip().startswith("{"):
            return parse_document("flag", flag)
        document = read_document("flag", Path(flag).expanduser().absolute())
    except Unusable as error:
        raise SettingsError(f"{what}: {error}.") from error
    if document is None:
        raise SettingsError(f"{what}: there is no file {flag!r}. Give a file's name, or JSON that begins with {{.")
    return document


def _known(sources: Sequence[str]) -> Sequence[str]:
    unknown = [source for source in sources if source not in SOURCES]
    if unknown:
        raise SettingsError(f"There is no setting source {unknown[0]!r}. There are: {', '.join(SOURCES)}.")
    return sources


def _own(
    project: Path, config_dir: Path, sources: Sequence[str], problems: list[Problem], unusable: list[str]
) -> Iterator[Document]:
    files = own_files(project, config_dir)
    for level, file in files.items():
        if level not in sources or (level == "project" and file == files["user"]):
            continue
        try:
            document = read_document(level, file)
        except Unusable as error:
            problems.append(Problem(f"{error}. The whole file was passed over.", file=file, level="error"))
            unusable.append(str(error))
        else:
            if document:
                yield document


def _wanted(extra: Iterable[SettingsDocument], sources: Sequence[str]) -> Iterator[tuple[Document, bool]]:
    for document in extra:
        if document.level not in SOURCES or document.level in sources:
            yield Document(document.level, document.values, document.file, _text_of(document)), document.below


def _text_of(document: SettingsDocument) -> str:
    """The text that a source's document was made of, for line numbers; empty where it was made otherwise."""
    try:
        found = read_document(document.level, document.file) if document.file else None
    except Unusable:
        return ""
    return found.text if found and found.values == document.values else ""


def _in_order(own: Sequence[Document], extra: Iterable[tuple[Document, bool]]) -> list[Document]:
    """Highest first; within a level those above Toolpost's own file, it, and those below."""
    ranked = [(LEVELS.index(document.level), 1, document) for document in own]
    ranked += [(LEVELS.index(document.level), 2 if below else 0, document) for document, below in extra]
    return [document for _, _, document in sorted(ranked, key=lambda item: item[:2])]


def _sound(documents: Iterable[Document], trusted: bool, problems: list[Problem]) -> list[Document]:
    sound = []
    for document in documents:
        problems += [*repeated_keys(document), *unknown_keys(document)]
        document, wrong = checked(document)
        document, left_out = permitted(document, trusted)
        document, odd = sound_hooks(document)
        problems += [*wrong, *left_out, *odd, *unheeded(document)]
        if "sandbox" in document.values:
            from toolpost_core.settings.sandbox import odd_sandbox

            problems += odd_sandbox(document)
        sound.append(document)
    return sound


def _with_locks(documents: Sequence[Document]) -> Sequence[Document]:
    if not any("sandbox" in document.values for document in documents):
        return documents
    from toolpost_core.settings.sandbox import sandbox_in_force

    return sandbox_in_force(documents)
