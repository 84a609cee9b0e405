"""A permission question as a person sees it, and what each answer means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolpost import Diff, Reply

from . import draw
from .clean import clean_input, one_line_input

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Question, RuleUpdate, View

    from .draw import Drawing

STOP = Reply(allow=False, stop=True)
MOST_LINES = 400
"""What lies further down is not seen before it is allowed, so this is more than a screen holds."""
_AT_A_GLANCE = 12
_PLACES = {
    "localSettings": ".toolpost/settings.local.json",
    "projectSettings": ".toolpost/settings.json",
    "userSettings": "your settings.json",
    "session": "this session",
}


@dataclass(frozen=True)
class Choice:
    """One answer; without `reply` the person is asked to say why not."""

    label: str
    reply: Reply | None


def choices(question: Question) -> tuple[Choice, ...]:
    """Return the answers that are offered; `always` only where there is something to grant."""
    offered = [Choice("Yes", Reply(allow=True))]
    updates = question.decision.suggestions
    if updates:
        offered.append(Choice(f"Yes, always: {describe(updates)}", Reply(allow=True, updates=updates)))
    return (*offered, Choice("No, and say what to do instead", None))


def describe(updates: Sequence[RuleUpdate]) -> str:
    """Say in a few words what granting these updates would write, and where."""
    return ", ".join(f"{_effect(update)} → {_place(update)}" for update in updates)


def drawings(question: Question, view: View | None, first_line: int | None) -> list[Drawing]:
    """Draw what would be done and why it is asked."""
    from rich.text import Text

    title, details = one_line_input(question.title), one_line_input(question.details)
    head = Text(overflow="fold").append("? ", "bold yellow").append(title, "bold")
    if details and details != title:
        head.append(f"  {details}")
    told = {key: value for key, value in question.request.tool_input.items() if value != question.details}
    body = draw.view(view, first_line, most=MOST_LINES) if view is not None else _input(told)
    # The first line has left the screen where the body is long; what is asked has to stand beside the answers.
    again = details or title if _lines(view, told) > _AT_A_GLANCE else ""
    said = ": ".join(filter(None, (again, one_line_input(question.decision.reason))))
    return [head, body, *([Text(f"  {said}", "dim", overflow="fold")] if said else [])]


def view_of(question: Question) -> View | None:
    """Return the question's view; an input that replaces text in a file is shown as the change that it is."""
    if question.view is not None:
        return question.view
    given = question.request.tool_input
    path, old, new = given.get("file_path"), given.get("old_string"), given.get("new_string")
    if isinstance(path, str) and isinstance(old, str) and isinstance(new, str):
        return Diff(path, old or None, new)
    return None


def answered(label: str) -> Drawing:
    """The answer that was given, left under the question."""
    from rich.text import Text

    return Text(f"  → {one_line_input(label)}", "cyan", overflow="fold")


def _lines(view: View | None, told: Mapping[str, Any]) -> int:
    if isinstance(view, Diff):
        return len((view.before or "").splitlines()) + len(view.after.splitlines())
    return sum(_as_text(value).count("\n") + 1 for value in told.values()) if view is None else 0


def _input(given: Mapping[str, Any]) -> Drawing:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for key, value in given.items():
        lines = clean_input(_as_text(value)).split("\n")
        shown = Text("\n".join(lines[:MOST_LINES]))
        if len(lines) > MOST_LINES:
            shown.append(f"\n… +{len(lines) - MOST_LINES} lines", "dim")
        grid.add_row(f"  {one_line_input(key)}", shown)
    return grid


def _as_text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _effect(update: RuleUpdate) -> str:
    if update["type"] == "setMode":
        mode = update.get("mode", "default")
        return f"all edits ({mode} mode)" if mode == "acceptEdits" else f"{mode} mode"
    if update["type"] in ("addDirectories", "removeDirectories"):
        return ", ".join(one_line_input(folder) for folder in update.get("directories", []))
    rules = (_rule(rule) for rule in update.get("rules", []))
    behavior = update.get("behavior", "allow")
    return f"{'' if behavior == 'allow' else behavior + ' '}{', '.join(rules)}"


def _rule(rule: Mapping[str, str]) -> str:
    content = rule.get("ruleContent")
    return one_line_input(rule.get("toolName", "") + (f"({content})" if content else ""))


def _place(update: RuleUpdate) -> str:
    return _PLACES.get(update["destination"], update["destination"])
