"""What shells offer to complete the command line with, written down once: a Tab starts no program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import click

from toolpost_core.cli.commands import COMMANDS
from toolpost_core.cli.flags import FLAGS
from toolpost_core.cli.lazy import LazyGroup

_DEMO: Final = ("--yes", "--fast", "--keep", "--help")

_BASH: Final = """\
_toolpost() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" place="" words="" index
    case "$before" in
{values}
    esac
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "$place ${{COMP_WORDS[index]}}" in
            {places}) place="$place ${{COMP_WORDS[index]}}" ;;
        esac
    done
    case "$place" in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _toolpost toolpost"""


def _bash() -> str:
    """Return the script; files are offered where nothing else fits."""
    tree = dict(_tree())
    choices = {name: flag.choices for flag in FLAGS if flag.choices for name in flag.names}
    values = (
        f'        {name}) COMPREPLY=($(compgen -W "{" ".join(texts)}" -- "$current")); return ;;'
        for name, texts in choices.items()
    )
    words = (f'        "{" ".join(["", *place])}") words="{" ".join(texts)}" ;;' for place, texts in tree.items())
    places = "|".join(f'"{" ".join(["", *place])}"' for place in tree if place)
    return _BASH.format(values="\n".join(values), places=places, words="\n".join(words))


def _zsh() -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    return "\n".join(_fish_lines())


def _fish_lines() -> Iterator[str]:
    for place, words in _tree():
        here = [f"__fish_seen_subcommand_from {word}" for word in place]
        deeper = " ".join(word for word in words if not word.startswith("-"))
        if deeper:
            here.append(f"not __fish_seen_subcommand_from {deeper}")
        yield f"complete -c toolpost -n '{'; and '.join(here) or 'true'}' -a '{' '.join(words)}'"
    for flag in FLAGS:
        long = [name.removeprefix("--") for name in flag.names if name.startswith("--")]
        if flag.choices and long:
            yield f"complete -c toolpost -l {long[0]} -x -a '{' '.join(flag.choices)}'"


def _tree() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield each place in the command line, as the commands that lead to it, with the words that may follow."""
    flags = [name for flag in FLAGS for name in flag.names]
    yield (), sorted([*COMMANDS, "demo", "help"]) + flags
    yield ("demo",), list(_DEMO)
    root = LazyGroup("toolpost", places=COMMANDS)
    yield from _below(root, ())


def _below(group: click.Group, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None:
            continue
        deeper = command.list_commands(ctx) if isinstance(command, click.Group) else []
        yield (*place, name), [*deeper, *_arguments(command), *_options(command)]
        if isinstance(command, click.Group):
            yield from _below(command, (*place, name))


def _arguments(command: click.Command) -> list[str]:
    return [
        str(choice)
        for argument in command.params
        if isinstance(argument, click.Argument) and isinstance(argument.type, click.Choice)
        for choice in argument.type.choices
    ]


def _options(command: click.Command) -> list[str]:
    named = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    return [text for option in named for text in (*option.opts, *option.secondary_opts)] + ["--help"]


SCRIPTS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType({"bash": _bash, "zsh": _zsh, "fish": _fish})
"""What writes the script of each shell."""
