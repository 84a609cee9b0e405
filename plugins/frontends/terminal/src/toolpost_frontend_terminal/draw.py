"""How things look: session events and views as rich renderables. Nothing here knows a terminal or a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from toolpost import Checklist, Diff

from .clean import clean, clean_input, one_line, one_line_input
from .diff import count, diff_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from toolpost import ConfiguredHook, CostLine, Notice, Remedy, Rule, RunResult, ToolFinished, View

    Drawing: TypeAlias = RenderableType

MOST_DIFF_LINES = 60
MOST_LINES = 6
MOST_RESULT_LINES = 3
MOST_PROMPT_LINES = 30
MOST_PROMPT_LINE = 2000
"""Characters of one line of a prompt that are shown again: a paste may be one long line."""
_COSTS_COLUMNS = 66
_MARKS = {"completed": ("☑", "green"), "in_progress": ("▶", "bold"), "pending": ("☐", "dim")}
_REMEDIES = {
    "compact": "/compact makes it shorter",
    "rewind": "/rewind goes back to before a prompt",
    "clear": "/clear begins a new one",
}
_LEVELS = {"info": ("·", "dim"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def call(name: str, summary: str, *, style: str = "green", note: str = "") -> Drawing:
    """`● Bash(ls -la)` on one row, its summary cut to the width."""
    from rich.table import Table
    from rich.text import Text

    # A call that was refused before its input was read has nothing to tell but its name.
    told = f"({one_line_input(summary)})" if summary not in ("", name) else ""
    title = Text.assemble(("● ", style), (one_line_input(name), "bold"), told)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_column(no_wrap=True, style="dim")
    grid.add_row(title, note)
    return grid


def under(body: Drawing) -> Drawing:
    """What belongs to the line above it: indented behind an elbow."""
    from rich.table import Table

    grid = Table.grid(padding=0)
    grid.add_column(width=5, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("  ⎿  ", body)
    return grid


def finished(event: ToolFinished, *, first_line: int | None, drawn: bool = False) -> list[Drawing]:
    """A call and what came of it; `drawn` says that its view was seen before, in the question."""
    note = seconds(event.duration) if event.duration > 1 else ""
    lines: list[Drawing] = [call(event.tool_name, event.summary, style="red" if event.is_error else "green", note=note)]
    if event.is_error:
        lines.append(under(_ends(event.text, style="red", most=MOST_LINES)))
    elif isinstance(event.view, Diff):
        lines += [under(changes(event.view))] if drawn else [under(changes(event.view)), diff(event.view, first_line)]
    elif event.view is not None:
        lines.append(under(view(event.view, None)))
    else:
        said = _ends(event.text, style="dim", most=MOST_RESULT_LINES)
        said.no_wrap, said.overflow = True, "ellipsis"
        lines.append(under(said))
    return lines


def view(what: View, first_line: int | None, *, most: int = MOST_DIFF_LINES) -> Drawing:
    """Any view of a result or of what is asked; of a diff, so many lines."""
    if isinstance(what, Diff):
        return diff(what, first_line, most=most)
    if isinstance(what, Checklist):
        return checklist(what)
    return _excerpt(what.text, style="dim", most=MOST_LINES, more=what.more)


def _excerpt(text: str, *, style: str, most: int, more: int = 0) -> Text:
    from rich.text import Text

    lines = clean(text).strip("\n").split("\n")
    shown = Text("\n".join(line.rstrip() for line in lines[:most]) or "(no output)", style)
    hidden = len(lines) - most + more if len(lines) > most else more
    if hidden > 0:
        shown.append(f"\n… +{hidden} line{'s' * (hidden != 1)}", "dim")
    return shown


def _ends(text: str, *, style: str, most: int) -> Text:
    """The first line and the last ones, which tell most of an error and of a run of tests."""
    from rich.text import Text

    lines = [line.rstrip() for line in clean(text).strip("\n").split("\n")]
    if len(lines) <= most + 1:
        return Text("\n".join(lines) or "(no output)", style)
    telling = [line for line in lines[1:] if any(map(str.isalnum, line))][1 - most :]
    shown = Text(lines[0], style).append(f"\n… +{len(lines) - 1 - len(telling)} lines\n", "dim")
    return shown.append("\n".join(telling), style)


def changes(change: Diff) -> Text:
    """`+2 −1`."""
    from rich.text import Text

    added, removed = count(diff_lines(change))
    if change.before is None:
        return Text(f"new, {added} line{'s' * (added != 1)}", "dim")
    return plus_minus(added, removed)


def plus_minus(added: int, removed: int) -> Text:
    """`+2 −1`."""
    from rich.text import Text

    return Text.assemble((f"+{added}", "green"), (f" −{removed}", "red"))


def diff(change: Diff, first_line: int | None, *, most: int = MOST_DIFF_LINES) -> Drawing:
    """Coloured lines with their numbers; without numbers where the first line's is not known."""
    from rich.table import Table
    from rich.text import Text

    lines = diff_lines(change)
    start = 1 if first_line is None else first_line
    width = len(str(start + max((line.number for line in lines), default=1))) + 1
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=6 + (width if first_line is not None else 0), justify="right", style="dim", no_wrap=True)
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    styles = {"-": "red", "+": "green", " ": "dim", "…": "dim italic"}
    for line in lines[:most]:
        number = str(line.number + start - 1) if first_line is not None and line.number else ""
        grid.add_row(number, Text(line.kind, styles[line.kind]), Text(clean_input(line.text), styles[line.kind]))
    if len(lines) > most:
        grid.add_row("", "…", Text(f"+{len(lines) - most} lines", "dim"))
    return grid


def checklist(items: Checklist) -> Text:
    """One item a line with its box."""
    from rich.text import Text

    text = Text(overflow="fold")
    for index, (label, state) in enumerate(items.items):
        mark, style = _MARKS[state]
        text.append("\n" * bool(index) + f"{mark} ", style)
        text.append(one_line(label), "dim strike" if state == "completed" else style)
    return text


def prompt(text: str) -> Drawing:
    """What the person sent; of a long paste the beginning and the end, where the question stands."""
    from rich.table import Table

    grid = Table.grid(padding=0)
    grid.add_column(width=2, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("›", lines_of(_shortened(text.rstrip())), style="bold cyan")
    return grid


def _shortened(text: str) -> str:
    lines = [_cut(line) for line in text.split("\n")]
    hidden = len(lines) - MOST_PROMPT_LINES
    if hidden > 1:
        half = MOST_PROMPT_LINES // 2
        lines[half:-half] = [f"… +{hidden:,} lines"]
    return "\n".join(lines)


def _cut(line: str) -> str:
    hidden = len(line) - MOST_PROMPT_LINE
    return line if hidden <= 0 else f"{line[:MOST_PROMPT_LINE]}… +{hidden:,} characters"


def notice(event: Notice) -> Text:
    """A line with its mark."""
    from rich.text import Text

    mark, style = _LEVELS[event.level]
    return Text(f"{mark} {clean(event.text).strip()}", style, overflow="fold")


def outcome(result: RunResult) -> Text | None:
    """How a run ended, where that is not plain to see."""
    from rich.text import Text

    if result.terminal_reason.startswith("aborted"):
        return Text("⏹ Interrupted", "yellow")
    if not result.is_error:
        return None
    said = "; ".join(map(str, result.errors)) or result.text or result.terminal_reason
    return Text(" ".join([f"✗ {clean(said).strip()}", *_help(result.remedies)]), "red", overflow="fold")


def _help(remedies: Sequence[Remedy]) -> list[str]:
    """Name the commands that help against an error."""
    named = [_REMEDIES[remedy] for remedy in remedies if remedy in _REMEDIES]
    return [f"({', '.join(named)})"] if named else []


def costs(lines: Sequence[CostLine]) -> Drawing:
    """The cost table."""
    from rich.text import Text

    if not lines:
        return Text("Nothing was asked of a model yet.", "dim")
    rows: list[Sequence[str]] = [("model", "requests", "input", "cache read", "cache write", "output", "cost")]
    for line in lines:
        use = line.usage
        tokens = (
            use.input_tokens, use.cache_read_input_tokens, use.cache_creation_input_tokens, use.output_tokens,
        )  # fmt: skip
        counts = [f"{count:,}" for count in (line.requests, *tokens)]
        name = line.model if line.spender == "main" else f"{line.model} ({line.spender})"
        rows.append((one_line(name), *counts, dollars(line.dollars)))
    if len(lines) > 1:
        rows.append(("all", f"{sum(line.requests for line in lines):,}", "", "", "", "", total(lines)))
    return _Costs(rows)


class _Costs:
    """A row for each model; a column for each where the terminal is too narrow for that."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table

        if options.max_width < _COSTS_COLUMNS:
            names, *models = self._rows
            table = Table.grid("", *("" for _ in models), padding=(0, 2, 0, 0))
            table.columns[0].style = "dim"
            for cells in zip(names, *models, strict=True):
                table.add_row(*cells)
        else:
            table = Table("model", box=None, padding=(0, 2, 0, 0), header_style="dim")
            table.columns[0].overflow = "fold"
            for name in self._rows[0][1:]:
                table.add_column(name.replace(" ", "\n"), justify="right")
            for row in self._rows[1:]:
                table.add_row(*row, style="bold" if row[0] == "all" else "")
        yield table


def rules(all_rules: Sequence[Rule], mode: str) -> Drawing:
    """The rules in force, each with where it stands."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = Text(f"Permission mode: {mode}")
    if not all_rules:
        return Group(head, Text("No permission rules are set.", "dim"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "rule", "from"):
        table.add_column(name, overflow="fold")
    styles = {"allow": "green", "ask": "yellow", "deny": "red"}
    for rule in all_rules:
        place = rule.source if rule.file is None else rule.file + (f":{rule.line}" if rule.line else "")
        table.add_row(Text(rule.behavior, styles[rule.behavior]), one_line(str(rule)), Text(one_line(place), "dim"))
    return Group(head, table)


def hooks(all_hooks: Sequence[ConfiguredHook]) -> Drawing:
    """The hooks that are set up, each with where it stands."""
    from rich.table import Table
    from rich.text import Text

    if not all_hooks:
        return Text("No hooks are set up.", "dim")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("event", "matcher", "hook", "from"):
        table.add_column(name, overflow="fold")
    for hook in all_hooks:
        row = (one_line(text) for text in (hook.event, hook.matcher, hook.what))
        table.add_row(*map(Text, row), Text(one_line(hook.source), "dim"))
    return table


def markdown(text: str) -> Drawing:
    """An answer's text."""
    from .markdown import prose

    return prose(clean(text))


def total(lines: Sequence[CostLine]) -> str:
    """What the session cost, as far as prices are known."""
    known = [line.dollars for line in lines if line.dollars is not None]
    return dollars(sum(known)) + ("" if len(known) == len(lines) else " + ?")


def dollars(amount: float | None) -> str:
    """`$0.0123`; cents are enough from a dollar on."""
    return "?" if amount is None else f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def seconds(duration: float) -> str:
    """`4.2 s`, `2 m 5 s`."""
    if duration < 10:
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} m {rest} s" if minutes else f"{rest} s"


class Whole:
    """A line that the terminal wraps by itself, so that a path in it can be copied in one piece."""

    def __init__(self, text: str) -> None:
        self._text = one_line(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        yield Segment(self._text, console.get_style("dim"))
        yield Segment.line()


def lines_of(text: str, style: Any = "") -> Text:
    """Plain text in a style."""
    from rich.text import Text

    return Text(clean(text), style, overflow="fold")
