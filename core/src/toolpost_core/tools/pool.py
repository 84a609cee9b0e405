"""The session's tools: which, in which order, and as the model sees them."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from toolpost import ToolSpec
from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from toolpost import InputShape, Rule, Tool


NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What services take as the name of a tool."""


@frozen()
class Entry:
    """A tool with where it comes from; `standard` says that its distribution belongs to the standard set."""

    tool: Tool[Any]
    plugin: str
    distribution: str
    standard: bool = False


@frozen()
class Absent:
    """A tool that is not offered, and why."""

    entry: Entry
    why: str


@frozen()
class Pool:
    """The tools that a session offers, in an order that does not move: plugins' by name, then MCP tools by name."""

    entries: tuple[Entry, ...] = ()
    absent: tuple[Absent, ...] = ()
    specs: tuple[ToolSpec, ...] = ()
    _by_name: Mapping[str, Entry] = field(default_factory=dict)
    _shapes: dict[str, InputShape[Any]] = field(default_factory=dict)

    def find(self, name: str) -> Entry | None:
        """Return the tool of that name or alias."""
        return self._by_name.get(name)

    def shape(self, tool: Tool[Any]) -> InputShape[Any]:
        """Return the tool's input shape; made once."""
        shape = self._shapes.get(tool.name)
        if shape is None:
            shape = self._shapes[tool.name] = tool.shape()
        return shape

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(entry.tool.name for entry in self.entries)


def assemble(
    entries: Iterable[Entry],
    *,
    rules: Sequence[Rule] = (),
    only: Sequence[str] | None = None,
    options: Mapping[str, Any],
    report: Callable[[str], None],
) -> Pool:
    """Build the pool. `only` narrows it to these names; a deny rule on a whole tool takes the tool out.

    Of two tools with one name a plugin's beats an MCP one, then one that `overrides` the other's plugin, then one of the
    standard set, then the first by distribution; both are named to `report`.
    """
    entries = tuple(entries)
    _report_unknown(entries, rules, only or (), report)
    winners: dict[str, Entry] = {}
    absent: list[Absent] = []
    for entry in sorted(entries, key=lambda e: (e.tool.is_mcp, e.tool.name, not e.standard, e.distribution)):
        why = _why_absent(entry, rules, only, report)
        if why:
            absent.append(Absent(entry, why))
            continue
        rival = winners.get(entry.tool.name)
        if rival is None:
            winners[entry.tool.name] = entry
            continue
        winner, loser = _contest(rival, entry)
        winners[entry.tool.name] = winner
        absent.append(Absent(loser, f"replaced by the tool of the same name of {winner.distribution}"))
        if not _overrides(winner, loser):
            report(
                f"Two plugins offer a tool {entry.tool.name!r}: that of {winner.plugin!r} ({winner.distribution}) is used"
                f"{_why_first(winner, loser)}, that of {loser.plugin!r} ({loser.distribution}) is not. Turn one of them off "
                f"in settings.json; a tool that is meant to replace the other says overrides={winner.plugin!r}."
            )
    ordered = tuple(sorted(winners.values(), key=lambda e: (e.tool.is_mcp, e.tool.name)))
    return _built(ordered, tuple(absent), options, report)


def _report_unknown(
    entries: Sequence[Entry], rules: Sequence[Rule], only: Sequence[str], report: Callable[[str], None]
) -> None:
    """Name what the command line narrows to or refuses and is no tool: a slip there would leave the wrong tools."""
    known = {name for entry in entries for name in (entry.tool.name, *entry.tool.aliases)}
    refused = [rule.tool for rule in rules if rule.source == "cliArg" and rule.behavior != "allow"]
    unknown = [name for name in (*only, *refused) if name not in known and not re.search(r"[*_]", name)]
    for name in dict.fromkeys(unknown):
        report(
            f"The command line names the tool {name!r}, which is not there. The tools are: {', '.join(sorted(known))}."
        )


def _built(
    entries: tuple[Entry, ...], absent: tuple[Absent, ...], options: Mapping[str, Any], report: Callable[[str], None]
) -> Pool:
    kept: list[Entry] = []
    specs: list[ToolSpec] = []
    shapes: dict[str, InputShape[Any]] = {}
    for entry in entries:
        tool = entry.tool
        try:
            shapes[tool.name] = tool.shape()
            spec = ToolSpec(tool.name, tool.prompt(options), shapes[tool.name].schema)
        except Exception as error:
            why = f"its description failed: {error!r}"
            absent += (Absent(entry, why),)
            report(_left_out(entry, why))
            continue
        kept.append(entry)
        if not tool.should_defer or tool.always_load:
            specs.append(spec)
    return Pool(tuple(kept), absent, tuple(specs), _by_name(kept, report), shapes)


def _unfit(tool: Tool[Any]) -> str:
    """Say why a service would refuse every request that offers the tool; empty where none would."""
    if not NAME.fullmatch(tool.name):
        return "no model can call a tool of that name: use 1 to 64 letters, digits, _ and -"
    if tool.input_model is not None or tool.input_schema is None:
        return ""  # made from annotations, which always come to an object
    from toolpost_core.tools.schemas import fault

    found = fault(tool.input_schema)
    return f"its input_schema is no schema of an object: {found}" if found else ""


def _by_name(entries: Sequence[Entry], report: Callable[[str], None]) -> dict[str, Entry]:
    """Map names and aliases; a name beats an alias, and of two equal aliases the first tool's counts."""
    found = {entry.tool.name: entry for entry in entries}
    for entry in entries:
        for alias in entry.tool.aliases:
            other = found.setdefault(alias, entry)
            if other is not entry:
                report(
                    f"The tool {entry.tool.name!r} of {entry.plugin!r} ({entry.distribution}) is also called {alias!r}, but "
                    f"calls of that name go to the tool {other.tool.name!r} of {other.plugin!r} ({other.distribution})."
                )
    return found


def _why_absent(entry: Entry, rules: Sequence[Rule], only: Sequence[str] | None, report: Callable[[str], None]) -> str:
    """Say why a tool is not offered, empty for one that is; what its author has to mend is told to `report` too."""
    try:
        unwanted = _unwanted(entry.tool, rules, only)
        mistake = "" if unwanted else _unfit(entry.tool)
    except Exception as error:
        unwanted, mistake = "", f"it could not be asked whether it can work here: {error!r}"
    if mistake:
        report(_left_out(entry, mistake))
    return unwanted or mistake


def _left_out(entry: Entry, why: str) -> str:
    return f"The tool {entry.tool.name!r} of {entry.plugin!r} ({entry.distribution}) is left out: {why}"


def _unwanted(tool: Tool[Any], rules: Sequence[Rule], only: Sequence[str] | None) -> str:
    names = (tool.name, *tool.aliases)
    if only is not None and not any(name in only for name in names):
        return "not among the tools that this run was narrowed to"
    if not tool.is_enabled():
        return "the tool says that it can't work here"
    for rule in rules:
        whole = rule.behavior == "deny" and rule.specifier is None
        if whole and any(fnmatch.fnmatchcase(name, rule.tool) for name in names):
            return f"denied by the rule {rule} ({rule.file or rule.source})"
    return ""


def _contest(first: Entry, second: Entry) -> tuple[Entry, Entry]:
    return (second, first) if _overrides(second, first) else (first, second)


def _why_first(winner: Entry, loser: Entry) -> str:
    if winner.tool.is_mcp != loser.tool.is_mcp:
        return ", since a plugin's own comes before one of an MCP server"
    if winner.standard != loser.standard:
        return ", since it belongs to the standard set"
    return ", since its distribution's name comes first"


def _overrides(entry: Entry, other: Entry) -> bool:
    return entry.tool.overrides != "" and entry.tool.overrides in (other.plugin, other.distribution)
