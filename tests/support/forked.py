"""Starts the program as a fork of a process that has imported it: for tests of what it does, not of how it starts.

Each run is a process of its own, with the environment, folder and streams that it is given; only what a start imports is
there already. That is most of a start's time, and hundreds of tests start the program several times.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

_CORE = ("toolpost_core.cli.workspace", "toolpost_core.cli.commands.plugins_list", "toolpost_core.cli.calls")
"""With what these import, most of what a command needs of the core is there."""


def run_program(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    input: str | bytes | None = None,
    flags: Sequence[str] = (),
    timeout: float = 60.0,
) -> subprocess.CompletedProcess[str]:
    """Run `toolpost ARGUMENTS` to its end; it finds what an interpreter with these flags would find.

    Without `input` standard input is /dev/null. Raises subprocess.TimeoutExpired where it takes longer; it is killed then.
    """
    reader, writer = os.pipe() if input is not None else (os.open(os.devnull, os.O_RDONLY), None)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = [Connection(reader), *(Connection(os.dup(file.fileno())) for file in (out, err))]
        process = _server().Process(target=_become, args=(streams, list(arguments), str(cwd), dict(env), _path(*flags)))
        process.start()
        for stream in streams:
            stream.close()
        if writer is not None:
            _write(writer, input.encode() if isinstance(input, str) else input or b"")
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout, _all_of(out), _all_of(err))
        printed, told = _all_of(out).decode(), _all_of(err).decode()
        return subprocess.CompletedProcess(list(arguments), process.exitcode, printed, told)


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    found = entry_points()
    plugins = {
        point.module for name in found.groups if name.startswith("toolpost.") for point in found.select(group=name)
    }
    context.set_forkserver_preload([*_CORE, *sorted(plugins)])
    return context


@cache
def _path(*flags: str) -> list[str]:
    """Where an interpreter that pytest has no part in looks for modules, without its first entry, the script's folder."""
    told = subprocess.run(
        [sys.executable, *flags, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"],
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        check=True,
    )
    found: list[str] = json.loads(told.stdout)
    return found


def _write(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as pipe:
        try:
            pipe.write(data)
            pipe.flush()
        except BrokenPipeError:
            pass  # it reads nothing


def _all_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _become(
    streams: Sequence[Connection], arguments: Sequence[str], cwd: str, env: Mapping[str, str], path: Sequence[str]
) -> None:
    """Run in the fork: take over what a start would have given, and never come back."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115 - descriptors, for as long as the process lives
    sys.stderr = open(2, "w", errors="backslashreplace")  # noqa: SIM115 - the same
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:] = [*filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *path]
    sys.argv = ["toolpost", *arguments]
    from toolpost_core.cli import main

    code = 1
    try:
        code = main()
    except BaseException:  # nobody is above it who could tell
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
