"""From the flags of a run to a front end that runs it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolpost_core.cli.exits import complain, run_async
from toolpost_core.cli.flags import parse
from toolpost_core.cli.options import demo_options, launch_options
from toolpost_core.cli.stdin import is_interactive, piped_text
from toolpost_core.cli.streams import own_stdout
from toolpost_core.cli.usage import UsageMistake

if TYPE_CHECKING:
    from toolpost import LaunchOptions
    from toolpost_core.settings import Settings

FRONTENDS: Final[Mapping[str, str]] = {"interactive": "terminal", "print": "headless", "demo": "demo"}
"""The front ends' plugins by the way of running; the setting `frontends` names others."""


def launch(arguments: Sequence[str]) -> int:
    """Run a front end to its end and return its exit code; flags and terminal say which."""
    given = parse(arguments)
    if given.values.get("help"):
        from toolpost_core.cli.help import help_text

        print(help_text())
        return 0
    options = launch_options(given)
    if given.values.keys() & {"rewind_files", "force", "dry_run"}:
        from toolpost_core.cli.rewind import check, rewind_files

        check(given.values, given.words)
        return run_async(rewind_files(options, given.values))
    if "init_only" in given.values:
        from toolpost_core.cli.setup import init_only

        return run_async(init_only(options, given.words))
    if is_interactive() and not given.values.get("print"):
        return _run("interactive", options)
    if options.resume == "":
        raise UsageMistake(_which_session(options))
    with own_stdout():
        return _run("print", _with_input(options))


def launch_demo(arguments: Sequence[str]) -> int:
    """Run the demonstration and return its exit code."""
    if arguments and arguments[0] in ("-h", "--help"):
        from toolpost_core.cli.help import DEMO_HELP

        print(DEMO_HELP)
        return 0
    return _run("demo", demo_options(arguments))


def frontend_name(settings: Settings, way: str) -> str:
    """Return the front end's plugin for a way of running."""
    name: str = settings.get(f"frontends.{way}") or FRONTENDS[way]
    return name


def _which_session(options: LaunchOptions) -> str:
    from toolpost_core.api import find_places
    from toolpost_core.session.resuming import known
    from toolpost_core.transcripts.store import Store

    places = find_places(options, os.environ)
    return f"--resume needs a session where nobody can pick one.\n{known(Store(places.config_dir), places)}"


def _with_input(options: LaunchOptions) -> LaunchOptions:
    """Add what was piped in to the prompt."""
    if options.input_format != "text":
        return options
    from dataclasses import replace

    piped = piped_text(have_prompt=bool(options.prompt)).strip("\n")
    both = "\n\n".join(text for text in (options.prompt, piped) if text and text.strip())
    if not both and options.resume is None and not options.continue_last:  # a call may wait there, without a prompt
        raise UsageMistake('There is no prompt. Give one (toolpost -p "your prompt") or pipe it to standard input.')
    return replace(options, prompt=both or None)


def _run(way: str, options: LaunchOptions) -> int:
    from toolpost_core.api import find_places, make_host, read_settings

    settings, registry = read_settings(options, find_places(options, os.environ), os.environ, lambda _: None)
    name = frontend_name(settings, way)
    if not any(entry.group == "frontends" for entry in registry.inventory.entries):
        raise UsageMistake(
            f"No front end is installed, so there is nothing to show a run with (wanted: {name!r}). "
            "Install the standard set: pip install toolpost. `toolpost plugins list` shows what is there."
        )
    if options.extra.get("debug") == "plugins":
        from toolpost_core.plugins.audit import Auditor, owners

        Auditor(owners(registry.inventory), lambda text: complain(f"debug: {text}")).install()
    return run_async(make_host(options).launch(name, options))
