"""What git is told to start, in its arguments and in its settings."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from .arguments import Argument
from .syntax import words

PROGRAMS_SET: Final = re.compile(
    r"core\.(?:fsmonitor|hookspath|editor|pager|sshcommand|askpass|gitproxy|worktree|alternaterefscommand)$|alias\.|pager\."
    r"|credential\.|diff\..*(?:external|command|textconv)$|(?:diff|merge)tool\.|merge\..*driver$|filter\.|sequence\.editor$"
    r"|gpg\.|include(?:if)?\.|browser\.|man\.|sendemail\.|init\.templatedir$|remote\..*(?:uploadpack|receivepack|vcs)$",
    re.IGNORECASE,
)
"""The settings of git that name programs or other settings."""

_END_OF_NAME = re.compile(r"\*[\w.-]+", re.ASCII)
_KEEPS_FILES = words("""
    add commit push fetch tag notes gc prune fsck ls-remote update-index hash-object show-branch verify-commit verify-tag
    repack maintenance range-diff request-pull send-email rebase pull merge reset revert cherry-pick switch
""")
_VALUED = words("-C -c --git-dir --work-tree --namespace --config-env --exec-path --super-prefix --attr-source")
_RUNS = words("-x --exec --extcmd --upload-pack --receive-pack --config --sendmail-cmd --smtp-server --tool-cmd")
_GIVEN = re.compile(
    r"--(?:exec|extcmd|upload-pack|receive-pack|sendmail-cmd|smtp-server|tool-cmd)=(.+)|-[xO](.+)", re.DOTALL
)


def told(args: list[Argument]) -> tuple[tuple[str, ...], tuple[tuple[bool, tuple[Argument, ...]], ...]]:
    """What git is told to start (`submodule foreach`, `bisect run`, `rebase -x`, aliases, settings): texts and commands."""
    scripts: list[str] = []
    suffixes: list[tuple[bool, tuple[Argument, ...]]] = []
    sub = next((arg.text for arg in args if not arg.text.startswith("-")), "")
    for at, arg in enumerate(args):
        before = args[at - 1].text if at else ""
        if arg.text in ("foreach", "run") and any(other.text in ("submodule", "bisect", "hook") for other in args[:at]):
            scripts.append(" ".join(other.text for other in args[at + 1 :]))
            suffixes.append((True, tuple(args[at + 1 :])))
        elif before == "-c":
            scripts.append(_set_for_git(*arg.text.partition("=")[::2]))
        elif before.startswith("alias."):
            scripts.append(_set_for_git(before, arg.text))
        elif before in _RUNS:
            scripts.extend((arg.text, _set_for_git(*arg.text.partition("=")[::2])))
        elif arg.text.startswith("ext::"):
            scripts.append(arg.text.removeprefix("ext::").replace("% ", " "))
        elif arg.text.startswith("--config="):
            scripts.append(_set_for_git(*arg.text.removeprefix("--config=").partition("=")[::2]))
        elif sub == "config" and arg is args[-1] and len(args) > 2:
            scripts.append(arg.text.removeprefix("!"))
        elif assigned := _GIVEN.match(arg.text):
            scripts.append(next(group for group in assigned.groups() if group))
        elif arg.text.startswith("!"):
            scripts.append(arg.text[1:])
    return tuple(script for script in scripts if script), tuple(suffixes)


def subcommand(args: list[Argument]) -> str:
    """The subcommand behind git's own options; empty where there is none."""
    at = 0
    while at < len(args) and args[at].text.startswith("-"):
        at += 2 if args[at].text in _VALUED else 1
    return args[at].text if at < len(args) else ""


def ends_names(spec: Argument) -> bool:
    """Whether a pathspec keeps to names with an end; other stars pass over slashes, so that it may be about folders."""
    return spec.plain and _END_OF_NAME.fullmatch(spec.text) is not None


def keeps_files(sub: str, args: list[Argument]) -> bool:
    """Whether a subcommand that is not in the table changes no file because that is named to it."""
    texts = {arg.text for arg in args}
    unstages = sub == "restore" and texts & {"--staged", "-S"} and not texts & {"--worktree", "-W"}
    return bool(unstages) or sub in _KEEPS_FILES


def takes_from_environment(args: list[Argument]) -> bool:
    """Whether git is told to take from a variable what it runs."""
    given = ((before.text, arg.text) for before, arg in pairwise((Argument(""), *args)))
    values = (text if before == "--config-env" else text.partition("--config-env=")[2] for before, text in given)
    return any(PROGRAMS_SET.match(value.partition("=")[0]) for value in values)


def _set_for_git(name: str, value: str) -> str:
    """What git runs for a value of its configuration: an alias without an exclamation mark is a subcommand."""
    return f"git {value}" if name.startswith("alias.") and not value.startswith("!") else value.removeprefix("!")
