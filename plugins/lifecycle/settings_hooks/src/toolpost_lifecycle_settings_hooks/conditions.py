"""A hook's `if`: one permission rule that the call must be covered by. What can't be understood counts as covered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from toolpost import Rule, SettingsError

_SHELLS = ("Bash", "PowerShell")
_PATHS = {
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "path",
    "Grep": "path",
}
# A rule of the left tool is one of the right ones too.
_ALSO = {"Edit": ("Write", "NotebookEdit"), "Read": ("Glob", "Grep")}
_UNCLEAR = re.compile(r"[$`\\{}]|<<|<\(|>\(")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_BEFORE_COMMANDS = frozenset({"!", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while"})
_CARRIERS = re.compile(
    r"bash|builtin|chroot|command|dash|doas|env|eval|exec|find|flock|ionice|ksh|nice|nohup|parallel|setsid|sh|stdbuf|strace"
    r"|su|sudo|timeout|watch|xargs|zsh"
)
"""Programs that run what stands behind them."""
_LOOKED_AT = 20
"""Words of such a line at which the command that it runs may begin."""
_GLOB_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?)")
_GLOB_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def applies(
    condition: Any, tool_name: str, tool_input: Mapping[str, Any], *, cwd: Path, project: Path, home: Path
) -> bool:
    """Whether a call meets a condition; a condition that is no rule counts as met."""
    try:
        rule = Rule.parse(condition, "ask")
    except (SettingsError, AttributeError):
        return True
    if not _is_tool(rule.tool, tool_name):
        return False
    if rule.specifier is None:
        return True
    if tool_name in _SHELLS:
        return _command_applies(rule.specifier, tool_input.get("command"))
    if tool_name in _PATHS:
        given = tool_input.get(_PATHS[tool_name], str(cwd))
        return not isinstance(given, str) or _path_applies(rule.specifier, cwd / given, cwd, project, home)
    if rule.specifier.startswith("domain:"):
        return _domain_applies(rule.specifier.removeprefix("domain:"), tool_input.get("url"))
    return True


def _is_tool(wanted: str, tool_name: str) -> bool:
    if wanted == tool_name or tool_name in _ALSO.get(wanted, ()):
        return True
    server = wanted.startswith("mcp__") and wanted.count("__") == 1
    return fnmatchcase(tool_name, wanted) or (server and tool_name.startswith(f"{wanted}__"))


def _command_applies(specifier: str, command: Any) -> bool:
    """Whether any command of a shell line is meant; one with variables or the like could be any."""
    if not isinstance(command, str) or _UNCLEAR.search(command):
        return True
    import shlex

    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    try:
        words = list(lexer)
    except ValueError:
        return True
    return any(_is_meant(specifier, part) for part in _commands(words))


def _commands(words: list[str]) -> list[list[str]]:
    """Split at operators; assignments and words of the shell before a command are not part of it."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word and set(word) <= set(";&|()"):
            commands.append([])
        elif commands[-1] or not (word in _BEFORE_COMMANDS or _ASSIGNMENT.fullmatch(word)):
            commands[-1].append(word)
    return [command for command in commands if command]


def _is_meant(specifier: str, words: list[str]) -> bool:
    """Whether a command is meant, or one that it runs: where that begins among its words, only it knows."""
    if _fits(specifier, " ".join(words)):
        return True
    if not _CARRIERS.fullmatch(words[0].rpartition("/")[2]):
        return False
    behind = words[1:_LOOKED_AT]
    return any(_fits(specifier, " ".join(words[at:])) for at in range(1, len(behind) + 1)) or any(
        _command_applies(specifier, word) for word in behind if " " in word
    )


def _fits(specifier: str, command: str) -> bool:
    """`git:*` and `git *` take `git` alone and with arguments; `*` elsewhere stands for anything."""
    prefix = specifier.removesuffix(":*") if specifier.endswith(":*") else specifier.removesuffix(" *")
    if prefix == specifier:
        return _stands_for(prefix, command)
    return _stands_for(prefix, command) or _stands_for(f"{prefix} *", command)


def _stands_for(pattern: str, text: str) -> bool:
    """Whether a pattern is the whole text. In one go, as a regular expression may take hours for a long command."""
    first, *others = pattern.split("*")
    if not others:
        return text == first
    *between, last = others
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in between:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _path_applies(specifier: str, path: Path, cwd: Path, project: Path, home: Path) -> bool:
    if specifier.startswith("//"):
        pattern = specifier[1:]
    elif specifier.startswith("~/"):
        pattern = f"{home}{specifier[1:]}"
    elif specifier.startswith("/"):
        pattern = f"{project}{specifier}"
    elif "/" in specifier.rstrip("/"):
        pattern = f"{cwd}/{specifier.removeprefix('./')}"
    else:
        pattern = f"{cwd}/**/{specifier}"
    return _glob(pattern).fullmatch(_normal(path)) is not None


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            del parts[max(len(parts) - 1, 1) :]
        else:
            parts.append(part)
    return str(Path(*parts))


def _glob(pattern: str) -> re.Pattern[str]:
    """`**` stands for any folders, `*` and `?` for characters of one name; a folder means all that is in it."""
    pieces = _GLOB_PARTS.split(pattern.rstrip("/"))
    body = "".join(_GLOB_MEANING.get(piece) or re.escape(piece) for piece in pieces)
    return re.compile(f"{body}(?:/.*)?", re.DOTALL)


def _domain_applies(domain: str, url: Any) -> bool:
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname or ""
    except (ValueError, AttributeError, TypeError):
        return True
    return host == domain or host.endswith("." + domain.removeprefix("*."))
