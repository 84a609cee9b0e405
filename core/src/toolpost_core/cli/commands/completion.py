"""`toolpost completion`: scripts that complete the command line in a shell."""

from __future__ import annotations

import click

from toolpost_core.cli.completing import SCRIPTS


@click.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def completion(shell: str) -> None:
    """Print a script that completes this command line.

    \b
    bash  eval "$(toolpost completion bash)" in ~/.bashrc
    zsh   eval "$(toolpost completion zsh)" in ~/.zshrc, behind compinit
    fish  toolpost completion fish > ~/.config/fish/completions/toolpost.fish
    """
    print(SCRIPTS[shell]())
