"""`toolpost permissions`: what rules there are, what they come to, and writing them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import click

from toolpost import LaunchOptions, Rule
from toolpost_core.cli.output import print_json, print_line, print_table
from toolpost_core.cli.usage import UsageMistake
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options, with_permissions
from toolpost_core.settings import own_files
from toolpost_core.settings.write import edit_permissions

if TYPE_CHECKING:
    from toolpost.permissions import Behavior
    from toolpost_core.cli.explain.decide import Explainer

WHERE: Final = click.Choice(["user", "project", "local"])
BEHAVIOR: Final = click.Choice(["allow", "ask", "deny"])
_EXAMPLE = 'toolpost permissions explain Bash --input \'{"command": "git status"}\''


@click.group()
def permissions() -> None:
    """Permission rules: what they come to, list, add and remove."""


@permissions.command()
@click.argument("tool", required=False)
@click.option("--input", "given", metavar="JSON", help="The call's input.")
@click.option("--interactive/--no-interactive", default=True, help="Whether a person could be asked.")
@click.option("--hook", metavar="JSON", help="What a hook answers, or a list of that.")
@click.option("--batch", type=click.File("r", encoding="utf-8", errors="replace"), help="JSON lines of cases instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
@with_permissions
def explain(
    tool: str | None,
    given: str | None,
    interactive: bool,
    hook: str | None,
    batch: TextIO | None,
    options: LaunchOptions,
    as_json: bool,
) -> None:
    """Decide on a call and run nothing: the decision, why, by which rule of which file."""
    from toolpost_core.cli.explain.case import read_case
    from toolpost_core.cli.explain.decide import Explainer

    workspace = open_workspace(options)
    explainer = Explainer(workspace)
    if batch is not None:
        asyncio.run(_batch(explainer, batch, workspace.places.project))
        return
    if tool is None:
        raise UsageMistake(f"Name a tool: {_EXAMPLE}")
    if "(" in tool:
        raise UsageMistake(f"{tool!r} is a rule, not the name of a tool. Name the tool, and give its input: {_EXAMPLE}")
    line = {
        "tool": tool,
        "input": _json("--input", given or "{}"),
        "mode": options.permission_mode,
        "interactive": interactive,
        "trusted": workspace.settings.trusted,
        "hook": _json("--hook", hook) if hook else None,
    }
    answer = asyncio.run(explainer.explain(read_case(line, workspace.places.project)))
    if as_json:
        print_json(answer)
    else:
        _tell(answer)


@permissions.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, as_json: bool) -> None:
    """Every rule in force, with its source and file."""
    rules = open_workspace(options).settings.rules
    if as_json:
        print_json([_as_json(rule) for rule in rules])
        return
    rows = [(rule.behavior, rule, rule.source, _place(rule)) for rule in rules]
    print_table(("DOES", "RULE", "SOURCE", "FILE"), rows, "No permission rules.")


@permissions.command()
@click.argument("behavior", type=BEHAVIOR)
@click.argument("rules", nargs=-1, required=True)
@click.option("--to", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def add(behavior: str, rules: tuple[str, ...], level: str, options: LaunchOptions) -> None:
    """Write rules into a settings file."""
    _edit(open_workspace(options), behavior, rules, level, adding=True)


@permissions.command()
@click.argument("behavior", type=BEHAVIOR)
@click.argument("rules", nargs=-1, required=True)
@click.option("--from", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def remove(behavior: str, rules: tuple[str, ...], level: str, options: LaunchOptions) -> None:
    """Take rules out of a settings file."""
    _edit(open_workspace(options), behavior, rules, level, adding=False)


async def _batch(explainer: Explainer, lines: TextIO, cwd: Path) -> None:
    from toolpost_core.cli.explain.case import read_case

    for text in lines:
        if not text.strip():
            continue
        case: Any = None
        try:
            case = json.loads(text)
            answer = await explainer.explain(read_case(case, cwd))
        except Exception as error:
            answer = {"decision": "deny", "reason": f"this line can't be decided on: {error}", "error": str(error)}
        print_line({"id": case.get("id") if isinstance(case, dict) else None, **answer})


def _edit(workspace: Workspace, behavior: str, rules: tuple[str, ...], level: str, *, adding: bool) -> None:
    kind = cast("Behavior", behavior)
    if adding:
        for text in rules:
            Rule.parse(text, kind)
    file = own_files(workspace.places.project, workspace.places.config_dir)[level]
    changed = edit_permissions(file, kind, add=rules if adding else (), remove=() if adding else rules)
    done = "added to" if adding else "removed from"
    print(f"{', '.join(rules)} {done} permissions.{behavior} in {file}." if changed else f"{file} needed no change.")


def _tell(answer: dict[str, Any]) -> None:
    print(f"{answer['decision']}: {answer['reason']}")
    if answer.get("rule"):
        place = [answer["source"], answer.get("file"), f"line {answer['line']}" if answer.get("line") else None]
        print(f"  rule {answer['rule']} ({', '.join(filter(None, place))})")
    for part in answer["subcommands"]:
        print(f"  {part['decision']:<6}{part['command']}  {part['rule'] or part.get('reason') or ''}")


def _place(rule: Rule) -> str:
    return f"{rule.file or ''}{f':{rule.line}' if rule.line else ''}"


def _as_json(rule: Rule) -> dict[str, Any]:
    return {"behavior": rule.behavior, "rule": str(rule), "source": rule.source, "file": rule.file, "line": rule.line}


def _json(flag: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageMistake(f"{flag} is not JSON: {error}") from error
