"""From settings, rules and folders to the policy that a sandbox keeps."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolpost import SandboxPolicy

from .domains import Domains
from .places import Places
from .protected import installation, never_made_at_home, protected_in
from .repositories import around, hooks_of_person, of_repository
from .survey import Surveyor
from .worktree import Linked, linked

if TYPE_CHECKING:
    from toolpost import Gateway, PermissionScope, Rule, Stash

_MOST_MISSING = 64
_EDITORS = frozenset({"Edit", "Write", "NotebookEdit"})


@dataclass(frozen=True)
class Grounds:
    """What a policy rests on: the settings under `sandbox`, the places of the session, its rules."""

    settings: Mapping[str, Any]
    scope: PermissionScope
    rules: Sequence[Rule]

    @property
    def roots(self) -> Sequence[Path]:
        """The working directories."""
        return self.scope.directories or (self.scope.project,)

    @property
    def written(self) -> Sequence[Path]:
        """Those that commands write to: not what holds all that a person has, such as `/`, which nobody means to let go."""
        home = self.scope.home
        return [root for root in self.roots if root == home or not (home.is_relative_to(root) or root == root.parent)]

    @property
    def around(self) -> Sequence[Path]:
        """The repositories that working directories lie in."""
        return [found for root in self.written if (found := around(root)) is not None]

    @property
    def worktrees(self) -> Sequence[Linked]:
        """Where those of them belong that are linked worktrees of git."""
        return [found for root in self.roots if (found := linked(root)) is not None]

    @property
    def files(self) -> Mapping[str, Any]:
        """The settings under `sandbox.filesystem`."""
        return _object(self.settings, "filesystem")

    @property
    def network(self) -> Mapping[str, Any]:
        """The settings under `sandbox.network`."""
        return _object(self.settings, "network")

    @property
    def credentials(self) -> Mapping[str, Any]:
        """The settings under `sandbox.credentials`."""
        return _object(self.settings, "credentials")

    @property
    def domains(self) -> Domains:
        """The hosts that are allowed and denied."""
        return Domains.of(self.network, self.rules)


def policy_of(
    grounds: Grounds,
    surveyor: Surveyor,
    *,
    temporary: Path,
    writable: Sequence[Path] = (),
    links: Sequence[Path] = (),
    gateway: Gateway | None = None,
    stash: Stash | None = None,
    network_only: bool = False,
) -> SandboxPolicy:
    """Return the policy. Without a gateway there is no network; with `network_only` nothing else is held back.

    `links` are folders where git looks for a repository from another one.
    """
    domains = grounds.domains if gateway is not None else Domains()
    bare = SandboxPolicy(
        writable=(Path("/"),),
        network=gateway is not None,
        gateway=gateway,
        allowed_domains=domains.allowed,
        denied_domains=domains.denied,
        unix_sockets=network_only or grounds.network.get("allowAllUnixSockets") is True,
        own_processes=not network_only,
        stash=stash,
    )
    if network_only or grounds.files.get("disabled") is True:
        return bare
    roots = grounds.written
    places = Places(grounds.scope, tuple(surveyor.survey(root) for root in grounds.roots))
    allowed = (*places.of_settings(_texts(grounds.files, "allowWrite")), *_ruled(grounds, places, _EDITORS, "allow"))
    locked = tuple(places.of_settings(_texts(grounds.files, "denyWrite")))
    of_git = [path for worktree in grounds.worktrees for path in worktree.writable]
    kept_of_git = [path for worktree in grounds.worktrees for path in worktree.read_only]
    kept_of_git += [path for git in _kept_parts(links) for path in of_repository(git)]
    return replace(
        bare,
        writable=_unique((*_by_themselves((*roots, *allowed), locked), *of_git, temporary, *writable)),
        read_only=_unique((*_read_only(grounds, places, (*roots, *allowed)), *kept_of_git)),
        hidden=_hidden(grounds, places),
    )


def repositories(grounds: Grounds, surveyor: Surveyor) -> Iterator[Path]:
    """Yield the folders of the repositories that commands may write to, or whose trees they may."""
    yield from dict.fromkeys((*(top / ".git" for top in (*grounds.roots, grounds.scope.cwd)), *grounds.around))
    yield from (worktree.repository for worktree in grounds.worktrees)
    for root in grounds.roots:
        yield from surveyor.survey(root).repositories


def _kept_parts(links: Sequence[Path]) -> Iterator[Path]:
    """Yield where parts of repositories are, and where some would be: each takes a mount and a descriptor."""
    missing = 0
    for git in (link / ".git" for link in links):
        there = os.path.lexists(git)
        missing += not there
        if there or missing <= _MOST_MISSING:
            yield git


def _by_themselves(paths: Sequence[Path], locked: Sequence[Path]) -> Iterator[Path]:
    """Those that lie in no other, unless what is locked lies between: commands may put a link in the place of the rest."""
    for path in paths:
        around = [other for other in paths if path != other and path.is_relative_to(other)]
        if not around or any(path.is_relative_to(place) for place in locked):
            yield path


def _hidden(grounds: Grounds, places: Places) -> tuple[Path, ...]:
    readable = set(places.of_settings(_texts(grounds.files, "allowRead")))
    denied = (
        *places.of_settings(_texts(grounds.files, "denyRead")),
        *_secret_files(grounds, places),
        *_ruled(grounds, places, ("Read",), "deny"),
    )
    return tuple(path for path in _unique(denied) if path not in readable)


def _read_only(grounds: Grounds, places: Places, writable: Sequence[Path]) -> Iterator[Path]:
    yield from _protected(grounds, places, writable)
    yield from places.of_settings(_texts(grounds.files, "denyWrite"))
    yield from _ruled(grounds, places, _EDITORS, "deny")
    for path in places.of_settings(_texts(grounds.files, "allowRead")):
        # What may be read again within a hidden folder may not be written for that, nor lose it where it may.
        if not any(path.is_relative_to(root) for root in writable):
            yield path


def without_secrets(env: Mapping[str, str], credentials: Mapping[str, Any]) -> dict[str, str]:
    """Return an environment without the variables that `sandbox.credentials` keeps from commands."""
    listed = credentials.get("envVars")
    named = {entry.get("name") for entry in listed if isinstance(entry, dict)} if isinstance(listed, list) else set()
    return {name: value for name, value in env.items() if name not in named}


def _protected(grounds: Grounds, places: Places, roots: Iterable[Path]) -> Iterator[Path]:
    """What is protected at the top of each writable folder, in the current one, and deeper in working directories."""
    tops = _unique((*(root for root in roots if root.is_dir()), grounds.scope.cwd))
    for top in tops:
        yield from protected_in(top)
    if any(grounds.scope.home.is_relative_to(top) for top in tops):
        yield from never_made_at_home(grounds.scope.home)
    for survey in places.surveys:
        yield from survey.protected
    for repository in (*grounds.around, *(found for survey in places.surveys for found in survey.repositories)):
        yield from of_repository(repository) if repository.parent not in tops else ()
        yield from hooks_of_person(grounds.scope.home, repository)
    yield from installation()
    if grounds.scope.config_dir is not None:
        yield grounds.scope.config_dir


def _ruled(grounds: Grounds, places: Places, tools: Iterable[str], behavior: str) -> Iterator[Path]:
    for rule in grounds.rules:
        if rule.behavior == behavior and rule.tool in tools and rule.specifier is not None:
            yield from places.of_rule(rule)


def _secret_files(grounds: Grounds, places: Places) -> Iterator[Path]:
    listed = grounds.credentials.get("files")
    paths = (entry.get("path") for entry in listed if isinstance(entry, dict)) if isinstance(listed, list) else ()
    yield from places.of_settings(path for path in paths if isinstance(path, str))


def _object(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _texts(values: Mapping[str, Any], key: str) -> list[str]:
    found = values.get(key)
    return [text for text in found if isinstance(text, str) and text.strip()] if isinstance(found, list) else []


def _unique(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(Path(os.path.normpath(path)) for path in paths))
