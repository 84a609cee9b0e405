"""The flags of a run: one table, and the parser that reads it.

Click would cost more than all the rest of the way to the first request, so it is left to the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from toolpost_core.cli.usage import UsageMistake
from toolpost_core.settings.keys import EFFORT_NAMES, MODE_NAMES


class Flag(NamedTuple):
    """One flag. `value` names its value in the help; a switch has none, a list may be given several times.

    An optional value that begins with `=` may stand behind a space where it is among the choices.
    """

    names: tuple[str, ...]
    key: str
    help: str
    kind: Literal["switch", "text", "list", "optional", "count", "amount"] = "switch"
    value: str = ""
    choices: tuple[str, ...] = ()


FORMATS: Final = ("text", "json", "stream-json")
DEBUG: Final = ("plugins", "hooks")

FLAGS: Final = (
    Flag(("-p", "--print"), "print", "Print the answer and exit; what is piped in is added to the prompt."),
    Flag(("--output-format",), "output_format", "How to print.", "text", "FORMAT", FORMATS),
    Flag(("--input-format",), "input_format", "How to read standard input.", "text", "FORMAT", ("text", "stream-json")),
    Flag(("--include-partial-messages",), "include_partial_messages", "Also print pieces as they come (stream-json)."),
    Flag(("--record",), "record", "Keep the whole session in a file that `toolpost replay` plays.", "text", "FILE"),
    Flag(("--verbose",), "verbose", "Say more."),
    Flag(("--model",), "model", "The model to ask.", "text", "MODEL"),
    Flag(("--fallback-model",), "fallback_model", "The model to ask when that one is overloaded.", "text", "MODEL"),
    Flag(("--effort",), "effort", "How much to spend on an answer.", "text", "LEVEL", EFFORT_NAMES),
    Flag(("--provider",), "provider", "The provider plugin to ask through.", "text", "NAME"),
    Flag(("--permission-mode",), "permission_mode", "How calls are permitted.", "text", "MODE", MODE_NAMES),
    Flag(("--allowed-tools", "--allowedTools"), "allowed_tools", "Rules that allow calls.", "list", "RULES"),
    Flag(("--disallowed-tools", "--disallowedTools"), "disallowed_tools", "Rules that deny calls.", "list", "RULES"),
    Flag(("--tools",), "tools", 'The only tools there are: names, "default" or "".', "text", "NAMES"),
    Flag(("--max-turns",), "max_turns", "End after so many turns.", "count", "N"),
    Flag(("--max-budget-usd",), "max_budget_usd", "End when so many dollars are spent.", "amount", "USD"),
    Flag(("--system-prompt",), "system_prompt", "Replace the system prompt.", "text", "TEXT"),
    Flag(("--system-prompt-file",), "system_prompt_file", "The same, from a file.", "text", "FILE"),
    Flag(("--append-system-prompt",), "append_system_prompt", "Add to the system prompt.", "text", "TEXT"),
    Flag(("--append-system-prompt-file",), "append_system_prompt_file", "The same, from a file.", "text", "FILE"),
    Flag(("--settings",), "settings", "More settings.", "text", "FILE|JSON"),
    Flag(("--setting-sources",), "setting_sources", "Which of user, project, local to read.", "text", "NAMES"),
    Flag(("--add-dir",), "add_dir", "A further folder to work in.", "list", "DIR"),
    Flag(("--mcp-config",), "mcp_config", "MCP servers.", "list", "FILE|JSON"),
    Flag(("--strict-mcp-config",), "strict_mcp_config", "Only the servers of --mcp-config."),
    Flag(("--agents",), "agents", "Agent definitions.", "text", "JSON"),
    Flag(("--agent",), "agent", "The agent to be.", "text", "NAME"),
    Flag(("--json-schema",), "json_schema", "The answer is JSON of this schema.", "text", "JSON"),
    Flag(("-c", "--continue"), "continue_last", "Go on with the last session of this folder."),
    Flag(("-r", "--resume"), "resume", "Go on with a session.", "optional", "ID|TITLE|FILE"),
    Flag(("--fork-session",), "fork_session", "Go on in a copy of the session."),
    Flag(("--session-id",), "session_id", "The id of the new session.", "text", "UUID"),
    Flag(("--no-session-persistence",), "no_session_persistence", "Keep no transcript."),
    Flag(("--rewind-files",), "rewind_files", "Set files back to what they were before a message.", "text", "ID"),
    Flag(("--force",), "force", "With --rewind-files: also over changes that were made by hand."),
    Flag(("--dry-run",), "dry_run", "With --rewind-files: only say what would be done."),
    Flag(("--init",), "init", "Run the Setup hooks for a new project before the session begins."),
    Flag(("--init-only",), "init_only", "The same, and the SessionStart hooks; then exit without a prompt."),
    Flag(("--maintenance",), "maintenance", "Run the Setup hooks for maintenance before the session begins."),
    Flag(("--plugin-dir",), "plugin_dir", "A folder with a plugin, for this run.", "list", "DIR"),
    Flag(("--bare",), "bare", "No instructions, hooks or extras of the workspace."),
    Flag(("--trust",), "trust", "Trust this workspace for this run."),
    Flag(("--cwd",), "cwd", "The folder to work in.", "text", "DIR"),
    Flag(("-d", "--debug"), "debug", "Say what happens inside: of plugins or hooks.", "optional", "=FILTER", DEBUG),
    Flag(("--dangerously-skip-permissions",), "skip_permissions", "The mode bypassPermissions."),
    Flag(("-h", "--help"), "help", "Show this."),
)

_BY_NAME: Final = {name: flag for flag in FLAGS for name in flag.names}


class Given(NamedTuple):
    """What a command line says: values by key, and the words that belong to no flag."""

    values: dict[str, Any]
    words: list[str]


def parse(arguments: Sequence[str]) -> Given:
    """Read the flags of a run. Raises UsageMistake."""
    given = Given({}, [])
    followers: list[tuple[Flag, str]] = []
    rest = list(arguments)
    behind: Flag | None = None
    while rest:
        word = rest.pop(0)
        if word == "--":
            given.words.extend(rest)
            break
        if _is_flag(word):
            behind = _take(word, rest, given.values)
            continue
        given.words.append(word)
        if behind is not None and behind.kind == "list":
            followers.append((behind, word))
    _hand_back(given, followers)
    return given


def _is_flag(word: str) -> bool:
    """Whether a word is meant as a flag: a prompt such as "- first point" has a space where no flag has one."""
    name = word.partition("=")[0]
    return len(word) > 1 and word.startswith("-") and not any(char.isspace() for char in name)


def _take(word: str, rest: list[str], values: dict[str, Any]) -> Flag:
    name, bound, value = word.partition("=")
    flag = _BY_NAME.get(name) or _first_of_bundle(name, rest)
    if flag is None:
        raise UsageMistake(f"There is no flag {name}.{_nearest(name)} `toolpost --help` shows all.")
    if flag.kind == "switch":
        if bound:
            raise UsageMistake(f"{name} takes no value; it was given {value!r}.")
        values[flag.key] = True
    elif flag.kind == "optional":
        follows = rest and not _is_flag(rest[0]) and (rest[0] in flag.choices or not flag.value.startswith("="))
        values[flag.key] = value if bound else rest.pop(0) if follows else ""
    else:
        if not bound:
            if not rest or rest[0].partition("=")[0] in _BY_NAME:
                raise UsageMistake(f"{name} needs a value: {name} {flag.value}")
            value = rest.pop(0)
        _store(flag, name, value, values)
    return flag


def _first_of_bundle(name: str, rest: list[str]) -> Flag | None:
    """Take apart switches that were written as one, such as -pc; the others go back to the front of the rest."""
    letters = [f"-{letter}" for letter in name[1:]]
    if name.startswith("--") or not all(letter in _BY_NAME and _BY_NAME[letter].kind == "switch" for letter in letters):
        return None
    rest[:0] = letters[1:]
    return _BY_NAME[letters[0]]


def _store(flag: Flag, name: str, value: str, values: dict[str, Any]) -> None:
    if flag.choices and value not in flag.choices:
        raise UsageMistake(f"{name} can't be {value!r}. It is one of {', '.join(flag.choices)}.")
    if flag.kind == "list":
        values.setdefault(flag.key, []).append(value)
        return
    try:
        number = int(value) if flag.kind == "count" else float(value) if flag.kind == "amount" else None
    except ValueError:
        number = -1
    if number is not None and not 0 < number < float("inf"):
        what = "a whole number from 1" if flag.kind == "count" else "a number above 0"
        raise UsageMistake(f"{name} can't be {value!r}. It is {what}.")
    values[flag.key] = value if number is None else number


def _hand_back(given: Given, followers: list[tuple[Flag, str]]) -> None:
    """Several words can't all be the prompt: those that stand behind a list flag are further values of it."""
    for flag, word in followers:
        if len(given.words) <= 1:
            return
        given.words.remove(word)
        given.values[flag.key].append(word)


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, _BY_NAME, 1)
    return f" Did you mean {near[0]}?" if near else " A prompt that begins with a dash goes behind `--`."
