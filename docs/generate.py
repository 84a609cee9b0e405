"""Writes the reference pages that follow from the code: `python docs/generate.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
from toolpost import Event, on
from toolpost.testing.lifecycle import types_of
from toolpost_core.cli.commands import COMMANDS
from toolpost_core.cli.commands.plugins import PLACES as PLUGIN_COMMANDS
from toolpost_core.cli.flags import FLAGS, Flag
from toolpost_core.cli.lazy import PACKAGE
from toolpost_core.plugins.scaffold import KINDS as NEW
from toolpost_core.plugins.scaffold import summary
from toolpost_core.settings.keys import ESCALATING, KINDS, PERSON_ONLY, POLICY_ONLY, UNTRUSTED
from written.api import api_page
from written.hooks import configured_table
from written.kinds import plugin_pages

DOCS = Path(__file__).parent
BEGIN, END = "<!-- begin: written by docs/generate.py -->", "<!-- end -->"
HOOKS_INTRODUCTION = """\
# Lifecycle events

<!-- Written by docs/generate.py from the events' declarations; change those. -->

A listener is a function marked with `@on.<event>`; it takes the event and returns `None` or the event's outcome. It may
be `async`. Listeners of a `decide` event block when they fail, those of an `observe` event are reported and passed over.
`@on.<event>.listener(timeout=..., on_failure="continue")` sets another limit for one listener, or has its failure block
nothing. Every outcome also has `additional_context` (for the model), `system_message` (for the person), `stop` and
`stop_reason` (ends the turn).

"""
MEANINGS = {
    "allowManagedPermissionRulesOnly": "Allow rules count in managed settings only; what others ask or deny stays.",
    "allowManagedHooksOnly": "Only the `hooks` of managed settings run.",
    "autoMemoryDirectory": "Where memories of projects lie, in place of a folder for each; a whole path, or one from `~/`.",
    "autoMemoryEnabled": "`false`: nothing is remembered from one session to the next, and no memory is read.",
    "autoCompactEnabled": "`false`: a conversation is summed up only by `/compact`.",
    "autoCompactWindow": "The window that the threshold is reckoned from, where it is smaller than the model's.",
    "claudeMd": "Instructions of whoever manages the machine; they come before all others.",
    "claudeMdExcludes": "Instructions files and rules that are left out, as globs on absolute paths; not those of policy.",
    "compaction": "When and by what a conversation is shortened: the keys that follow.",
    "compaction.auto": "Tokens that are left in the window when it is summed up (13000).",
    "compaction.blocking": "Tokens that are left when nothing is sent any more (3000).",
    "compaction.order": "Strategies that act first, in this order; the others follow by their own.",
    "compaction.timeout": "Seconds that a strategy may take (600); one that takes longer is passed over.",
    "compaction.warn": "Tokens before `auto` from which on you are told, where `auto` is off (20000).",
    "disableAllHooks": "No hook of `hooks` runs; those of managed settings stay unless these say it.",
    "fileCheckpointingEnabled": "`false`: what files were before a change is not kept, and nothing can be rewound.",
    "frontends": "Another front end for a way of running: `interactive`, `print` or `demo`, each a plugin's name.",
    "hooks": "Hooks by event: each runs a command, or what else a plugin of the kind `hook_runners` can run.",
    "includeGitInstructions": "`false`: branch, status and commits are not told to the model.",
    "language": "The language that the model answers in, in a word or two.",
    "maxBudgetUsd": "A session ends when so many dollars are spent; `--max-budget-usd` goes before it.",
    "maxTurns": "A prompt ends after so many requests; `--max-turns` goes before it.",
    "model": "The model to begin with; `--model` goes before it.",
    "permissions": "Permission rules, mode and folders: the keys that follow.",
    "permissions.additionalDirectories": "More folders that tools work in as in the project.",
    "permissions.allow": "Calls that need no question.",
    "permissions.ask": "Calls that a person is asked about, whatever allows them.",
    "permissions.defaultMode": "The permission mode to begin with; `--permission-mode` goes before it.",
    "permissions.deny": "Calls that are refused; a rule that names a tool alone takes it from the model.",
    "permissions.disableAutoMode": "`disable`: the mode `auto` can't be chosen.",
    "permissions.disableBypassPermissionsMode": "`disable`: the mode `bypassPermissions` can't be chosen.",
    "plugins": "Which plugins are on, and their settings; see [Plugins](#plugins).",
    "provider": "Where the model is: a provider plugin's name; `--provider` goes before it.",
    "sandbox": "What the sandbox of commands is to do: the keys that follow.",
    "sandbox.allowUnsandboxedCommands": "`false`: a command's wish to run outside is passed over.",
    "sandbox.autoAllowBashIfSandboxed": "`false`: commands inside need a rule or a yes, as outside.",
    "sandbox.credentials": "`envVars` and `files`, lists of objects with `name` or `path`: kept from commands, in any mode.",
    "sandbox.enableWeakerNestedSandbox": "Within a container, commands may see its processes where the sandbox needs that.",
    "sandbox.enabled": "Commands run in the operating system's sandbox.",
    "sandbox.excludedCommands": "A line of which every part is one of these runs outside; written as in a Bash rule.",
    "sandbox.failIfUnavailable": "No session starts where no sandbox can be used.",
    "sandbox.filesystem": "Where commands read and write, beside the working directories.",
    "sandbox.filesystem.allowRead": "Paths within hidden ones that may be read all the same.",
    "sandbox.filesystem.allowWrite": "Paths that may be written to.",
    "sandbox.filesystem.denyRead": "Paths that look empty.",
    "sandbox.filesystem.denyWrite": "Paths within writable ones that may not be written to.",
    "sandbox.filesystem.disabled": "Files are as outside; commands are then not allowed by being inside.",
    "sandbox.ignoreViolations": "Violations that are not told: parts of paths or hosts, by a command's beginning or `*`.",
    "sandbox.network": "Where commands connect to.",
    "sandbox.network.allowAllUnixSockets": "Sockets of this machine may be opened, such as docker's.",
    "sandbox.network.allowedDomains": "Hosts, `*.` with what lies below one, or addresses and networks.",
    "sandbox.network.deniedDomains": "Hosts that are refused, whatever allows them.",
    "sandbox.network.httpProxyPort": "The port of a proxy of your own on this machine, which carries what is let out.",
    "sandbox.network.socksProxyPort": "The same for a proxy that speaks SOCKS 5.",
    "sandbox.network.strictAllowlist": "Nobody is asked about other hosts.",
    "systemPrompt": "Begins the system prompt in the place of our own text; `--system-prompt` goes before it.",
}
"""What each settings key means that the core or a plugin of the standard set reads."""


class Contract(NamedTuple):
    """What an event's spec says, part by part."""

    summary: str
    when: str
    how_often: str
    answer: str
    merge: str
    failure: str


def pages() -> dict[Path, str]:
    """Return each page that is written, or has a table that is written, with its text."""
    settings, cli = DOCS / "reference/settings.md", DOCS / "reference/cli.md"
    return {
        DOCS / "reference/hooks.md": hooks_page(),
        settings: with_table(settings.read_text(encoding="utf-8"), settings_table()),
        cli: with_table(cli.read_text(encoding="utf-8"), cli_table()),
        DOCS / "reference/api.md": api_page(),
        **plugin_pages(DOCS / "plugins"),
    }


def hooks_page() -> str:
    """Return reference/hooks.md."""
    events: list[Event[Any, Any]] = [getattr(on, name) for name in on.__all__]
    rows = ["| event | kind | when | what the answer does | failure |", "|---|---|---|---|---|", *map(_row, events)]
    configured = configured_table(events)
    return HOOKS_INTRODUCTION + "\n".join(rows) + "\n\n" + configured + "\n".join(map(_section, events))


def contract_of(event: Event[Any, Any]) -> Contract:
    """Read the spec's docstring."""
    summary, _, rest = (inspect.getdoc(event.spec) or "").partition("\n\n")
    text = " ".join(rest.split()).replace("Answer and merge:", "Answer:")
    parts = re.split(r"(When|How often|Answer|Merge|Failure): ", text)
    said = {name: part.strip() for name, part in zip(parts[1::2], parts[2::2], strict=True)}
    summary = summary.removesuffix(".").removesuffix(" (preview)") + "."
    return Contract(summary, *(said.get(key, "") for key in ("When", "How often", "Answer", "Merge", "Failure")))


def _row(event: Event[Any, Any]) -> str:
    said = contract_of(event)
    mark = " (preview)" if event.preview else ""
    when = f"{said.when} {_sentence(said.how_often)}"
    return (
        f"| [`{event.title}`](#{event.title.lower()}){mark} | {event.kind} | {when} | {said.answer} | {said.failure} |"
    )


def _section(event: Event[Any, Any]) -> str:
    said = contract_of(event)
    argument, outcome = types_of(event)
    lines = [f"## {event.title}", "", said.summary, "", f"- decorator: `@on.{event.name}`"]
    lines.append(f"- takes: `{argument.__name__}` with {_names(argument)}")
    lines.append(f"- may return: `{outcome.__name__}` with {_names(outcome)}")
    if said.merge:
        lines.append(f"- several answers: {said.merge}")
    lines.append(f"- time limit of a listener: {event.deadline:g} s")
    if event.rewrites is not None:
        lines.append("- listeners run one after another, each with what the one before made of the event")
    if event.preview:
        lines.append("- preview: may still change in a minor version of the hookspecs")
    return "\n".join(lines) + "\n"


def _names(kind: type[Any]) -> str:
    return ", ".join(f"`{name}`" for name in _fields(kind)) or "no fields of its own"


def _fields(kind: type[Any]) -> Iterator[str]:
    common = {"origin", "additional_context", "system_message", "stop", "stop_reason"}
    yield from (field.name for field in fields(kind) if field.name not in common)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def settings_table() -> str:
    """Return the tables of settings.md: each key with what it may hold and who may set it; what those in use mean."""
    used = [f"| `{key}` | {KINDS[key].says} | {_levels(key)} | {MEANINGS[key]} |" for key in sorted(MEANINGS)]
    rest = [f"| `{key}` | {KINDS[key].says} | {_levels(key)} |" for key in sorted(KINDS.keys() - MEANINGS.keys())]
    escalating = ", ".join(f"`{mode}`" for mode in sorted(ESCALATING))
    lines = ["| key | allowed | who may set it | meaning |", "|---|---|---|---|", *used, ""]
    lines += [f"A project's shared file can't choose the permission modes {escalating}.", ""]
    lines += [
        "These are known, and a value of the wrong kind is named, but nothing in the standard set acts on them yet:"
    ]
    return "\n".join([*lines, "", "| key | allowed | who may set it |", "|---|---|---|", *rest])


def _levels(key: str) -> str:
    if key in POLICY_ONLY:
        return "managed settings"
    if key in PERSON_ONLY:
        return "the person"
    return "anyone" if key in UNTRUSTED else "the person; a project once trusted"


def cli_table() -> str:
    """Return the tables of cli.md: the flags of a run, the commands, the kinds of new plugins."""
    flags = [f"| {_flag(flag)} | {flag.help}{_choices(flag)} |" for flag in FLAGS]
    told = {**dict(_commands()), **{f"plugins {name}": what for name, (_, what) in PLUGIN_COMMANDS.items()}}
    commands = [f"| `toolpost {name}` | {what} |" for name, what in sorted(told.items())]
    kinds = [f"| `{kind}` | `toolpost.{NEW[kind].group}` | {summary(kind)} |" for kind in NEW]
    return "\n".join(
        [
            *("| flag | what it does |", "|---|---|", *flags, ""),
            *("| command | what it shows or does |", "|---|---|", *commands, ""),
            *("| `plugins new --kind` | entry-point group | what it begins as |", "|---|---|---|", *kinds),
        ]
    )


def _commands() -> Iterator[tuple[str, str]]:
    """Each command with one line on it, those within groups too."""
    for name, (place, what) in COMMANDS.items():
        yield name, what
        module, _, attribute = place.partition(":")
        group: click.Command = getattr(import_module(f"{PACKAGE}.{module}"), attribute)
        for inner, command in group.commands.items() if isinstance(group, click.Group) else ():
            yield f"{name} {inner}", " ".join((command.help or "").partition("\n\n")[0].split())


def _flag(flag: Flag) -> str:
    names = ", ".join(f"`{name}`" for name in flag.names)
    return f"{names} `{flag.value}`".replace("|", "\\|") if flag.value else names


def _choices(flag: Flag) -> str:
    return f" One of {', '.join(f'`{choice}`' for choice in flag.choices)}." if flag.choices else ""


def with_table(page: str, table: str) -> str:
    """Return a page with what stands between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
