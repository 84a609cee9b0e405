"""Interpreters beside the one that the tests run in."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_API: Final = """
import asyncio, importlib, json, os, sys, traceback
sys.path[:] = json.loads(sys.argv[1])
import toolpost
for name in toolpost.__all__:
    getattr(toolpost, name) if name != "on" else importlib.import_module("toolpost.on")
"""
_SERVER: Final = """
def answered(path, script, arguments):
    sys.path[:] = path
    importlib.invalidate_caches()
    scope = {"sys": sys, "arguments": arguments}
    try:
        exec(script, scope)
    except BaseException:
        return {"error": traceback.format_exc()}
    return {"answer": scope["answer"]}

nothing = os.open(os.devnull, os.O_RDWR)
for line in sys.stdin:
    reading, writing = os.pipe()
    if not (child := os.fork()):
        # Standard input and output are the talk with the tests; what a script reads or prints must not get into it.
        os.dup2(nothing, 0), os.dup2(nothing, 1)
        with open(writing, "w") as file:
            json.dump(answered(*json.loads(line)), file)
        os._exit(0)
    os.close(writing)
    with open(reading) as file:
        told = file.read()
    os.waitpid(child, 0)
    print(told or '{"error": "its process ended"}', flush=True)
"""


class ReadyInterpreter:
    """An interpreter that has the public API, and forks for each script: that takes a tenth of starting one."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _API + _SERVER, json.dumps(sys.path)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._end)

    def ask(self, script: str, *arguments: str) -> Any:
        """Run a script in a process of its own, with this interpreter's path; return the `answer` that it set."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([sys.path, script, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "an interpreter with the API did not start; standard error says why"
        told = json.loads(line)
        assert "error" not in told, f"in an interpreter of its own this failed:\n{told['error'][-2000:]}"
        return told["answer"]

    def _end(self) -> None:
        self._process.communicate()


@cache
def ready_interpreter(compiled: Path | None = None, *, seed: int | None = None) -> ReadyInterpreter:
    """Return the one of this run with what is given: where it keeps what it compiles, and the seed of its hashes.

    Without `compiled` it compiles as the environment says: where that says not to, what is not compiled yet is compiled by
    each script that imports it. With it, everything is compiled there, the API too.
    """
    env = dict(os.environ)
    if compiled is not None and env.pop("PYTHONDONTWRITEBYTECODE", ""):
        env["PYTHONPYCACHEPREFIX"] = str(compiled)
    if seed is not None:
        env["PYTHONHASHSEED"] = str(seed)
    return ReadyInterpreter(env)
