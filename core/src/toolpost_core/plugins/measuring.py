"""Runs in an interpreter of its own: imports plugins, each in a child that has the public API and nothing beside it.

Standard input has a JSON list of `module:attribute`; a JSON line answers each.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolpost_core.plugins.limit import DEFAULT, load_limit
from toolpost_core.plugins.loading import load_object
from toolpost_core.plugins.traces import own_lines


def main() -> None:
    """Answer what is asked, and print nothing that a plugin prints."""
    import asyncio

    import toolpost
    import toolpost.on

    del asyncio
    for name in toolpost.__all__:
        getattr(toolpost, name)
    wanted = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        for value in wanted:
            print(_measured(value), file=answers, flush=True)


def _measured(value: str) -> str:
    """Return a child's answer, or what became of a child that gave none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, json.dumps(_import(value)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        answer = _read(reader)
    finally:
        os.close(reader)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if answer is None:
        return json.dumps(_broken(f"the import did not come to an end within {_limit():g} s"))
    return answer or json.dumps(_broken("the import ended the process, past all that Python can catch"))


def _read(reader: int) -> str | None:
    """Read to the end; None where that takes longer than is allowed."""
    until, parts = time.monotonic() + _limit(), b""
    while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(reader, 65536)
        if not part:
            return parts.decode()
        parts += part
    return None


def _import(value: str) -> dict[str, Any]:
    began, before, modules = time.process_time(), _resident(), len(sys.modules)
    try:
        load_object(value)
    except BaseException as error:
        return {"seconds": time.process_time() - began, "error": own_lines(error)[-40:]}
    seconds = time.process_time() - began
    return {"seconds": seconds, "bytes": max(0, _resident() - before), "modules": len(sys.modules) - modules}


def _broken(said: str) -> dict[str, Any]:
    return {"seconds": _limit(), "error": [said], "broken": True}


def _limit() -> float:
    """Seconds of the clock that one import may take here; what takes longer is ended."""
    return load_limit() or DEFAULT


def _resident() -> int:
    """Bytes of memory in use; the highest so far where the system does not tell the present ones."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
