"""Chooses between a run and a command, and turns every ending into an exit code."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from toolpost import SettingsError, ToolpostError
from toolpost_core.cli.commands import COMMANDS
from toolpost_core.cli.exits import complain, crash, leave, mute_stdout, prepare_streams, tell_notes
from toolpost_core.cli.usage import UsageMistake, near

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def run(arguments: Sequence[str]) -> int:
    """Run a command line to its end; the process is left from here, with everything closed and flushed."""
    prepare_streams()
    code = guarded(lambda: _chosen(_as_asked(arguments)))
    leave(code)
    return code


def guarded(work: Callable[[], int]) -> int:
    """Return what the work returns, or the exit code of what it raised, which is told on standard error."""
    try:
        return work()
    except (UsageMistake, SettingsError) as error:
        complain(str(error))
        return USAGE
    except ToolpostError as error:
        complain(str(error))
        return FAILED
    except KeyboardInterrupt as error:
        tell_notes(error)
        return INTERRUPTED
    except BrokenPipeError:
        mute_stdout()
        return FAILED
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            complain(f"what there is to say can't be written: {error.strerror}")
            mute_stdout()
            return FAILED
        return crash(error)


def _chosen(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        from toolpost_core.cli.root import run_command

        return run_command(arguments)
    from toolpost_core.cli.launch import launch, launch_demo

    if arguments and arguments[0] == "demo":
        return launch_demo(arguments[1:])
    return launch(["--help"] if arguments == ["help"] else arguments)


def _as_asked(arguments: Sequence[str]) -> list[str]:
    """Return `help plugins list` as `plugins list --help`."""
    if len(arguments) < 2 or arguments[0] != "help":
        return list(arguments)
    asked, known = arguments[1], (*COMMANDS, "demo")
    if asked not in known:
        raise UsageMistake(f"There is no command {asked!r}.{near(asked, known)} `toolpost --help` lists them.")
    return [*arguments[1:], "--help"]
