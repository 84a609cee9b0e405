"""What a plugin says that it needs: `toolpost.toml` in its package, or a block of comments in its module.

Both are read without importing anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

FILE: Final = "toolpost.toml"
BLOCK: Final = re.compile(r"^# /// toolpost$\s(?P<lines>(^#(| .*)$\s)+)^# ///$", re.MULTILINE)
"""The same as in the file, as a module without a package has it: embedded in comments, in the form of PEP 723."""
FLAGS: Final = ("network", "process", "secrets", "prompt")
ROLES: Final = ("observe", "rewrite", "decide")
ALLOWED: Final = (
    'filesystem ("read" or "write"), network, process, secrets, prompt (true or false), services (a list of names), '
    'and the table events (an event\'s name, or "*", with observe, rewrite, decide or a list of them)'
)


class Capabilities(NamedTuple):
    """What one package declares.

    `events` pairs an event's name, or `*`, with roles: `observe` only listens, `rewrite` may change what the event is
    about, `decide` may block or permit it. `file` is where it stands; `mistake` is set where the file can't be used.
    """

    filesystem: str = ""
    network: bool = False
    process: bool = False
    secrets: bool = False
    prompt: bool = False
    events: tuple[tuple[str, tuple[str, ...]], ...] = ()
    services: tuple[str, ...] = ()
    file: str = ""
    mistake: str = ""

    def roles(self, event: str) -> tuple[str, ...]:
        """Return the roles that are declared for an event, by its name such as `pre_tool_use`."""
        declared = dict(self.events)
        return declared.get(event, declared.get("*", ("observe",)))

    def has_service(self, protocol: str) -> bool:
        """Whether a service is declared, by the name of its Protocol: `HookRunners` is `hook_runners` in the file."""
        return _plain(protocol) in map(_plain, self.services)

    def as_values(self) -> dict[str, Any]:
        """Return what is declared as the file would say it, without what is not asked for."""
        values: dict[str, Any] = {"filesystem": self.filesystem} if self.filesystem else {}
        values |= {flag: True for flag in FLAGS if getattr(self, flag)}
        if self.events:
            values["events"] = {event: "|".join(roles) for event, roles in self.events}
        return {**values, "services": list(self.services)} if self.services else values

    def lines(self) -> list[str]:
        """Return a sentence for each thing that is asked for, for a person who is to trust it."""
        said = {"read": "reads files", "write": "reads and writes files"}
        told = [said[self.filesystem]] if self.filesystem else []
        flags = {
            "network": "uses the network",
            "process": "starts processes",
            "secrets": "reads keys and tokens",
            "prompt": "adds to what the model reads",
        }
        told += [text for flag, text in flags.items() if getattr(self, flag)]
        told += [f"may {' and '.join(roles)} {'every event' if e == '*' else e}" for e, roles in self.events]
        return [*told, f"uses the services {', '.join(self.services)}"] if self.services else told


def parse(text: str, file: str) -> Capabilities:
    """Read a file's text; one that can't be used comes back with its `mistake` and declares nothing."""
    import tomllib

    try:
        return _read(tomllib.loads(text).get("capabilities", {}), file)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        return Capabilities(file=file, mistake=str(error))


def embedded(source: str, file: str) -> Capabilities | None:
    """Read the block `# /// toolpost` of a module's source; None where there is none."""
    found = BLOCK.search(source)
    if found is None:
        return None
    return parse("".join(line[2:] or "\n" for line in found["lines"].splitlines(keepends=True)), file)


def from_row(row: Sequence[Any]) -> Capabilities:
    """Return what a cache kept as JSON. Raises TypeError, ValueError."""
    made = Capabilities(*row)
    return made._replace(
        events=tuple((str(event), tuple(map(str, roles))) for event, roles in made.events),
        services=tuple(map(str, made.services)),
    )


def _read(values: Any, file: str) -> Capabilities:
    if not isinstance(values, dict):
        raise ValueError("[capabilities] must be a table")
    unknown = sorted(values.keys() - {"filesystem", "events", "services", *FLAGS})
    if unknown:
        raise ValueError(f"[capabilities] has the unknown key {unknown[0]!r}; allowed are {ALLOWED}")
    filesystem, services = values.get("filesystem", ""), values.get("services", [])
    if filesystem not in ("", "read", "write"):
        raise ValueError(f'filesystem is {filesystem!r}; allowed are "read" and "write", or leave it out')
    for flag in FLAGS:
        if not isinstance(values.get(flag, False), bool):
            raise ValueError(f"{flag} is {values[flag]!r}; allowed are true and false")
    if not isinstance(services, list) or not all(isinstance(name, str) for name in services):
        raise ValueError(f'services is {services!r}; it must be a list of names, such as ["files", "processes"]')
    flags = {flag: values.get(flag, False) for flag in FLAGS}
    events = _events(values.get("events", {}))
    return Capabilities(filesystem, **flags, events=events, services=tuple(services), file=file)


def _events(values: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    from toolpost import on

    if not isinstance(values, Mapping):
        raise ValueError("[capabilities.events] must be a table")
    found = []
    for event, said in values.items():
        if event != "*" and event not in on.__all__:
            raise ValueError(f"[capabilities.events] names {event!r}; there are {', '.join(on.__all__)}, and *")
        roles = said.replace("|", " ").split() if isinstance(said, str) else said
        if not isinstance(roles, list) or not roles or not all(role in ROLES for role in roles):
            raise ValueError(f"[capabilities.events] gives {event} {said!r}; allowed are {', '.join(ROLES)}")
        found.append((event, tuple(role for role in ROLES if role in roles)))
    return tuple(found)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
