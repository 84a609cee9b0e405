"""What importing a plugin costs, seen from a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolpost import PluginError
from toolpost_core.plugins.scan import Entry

BUDGET: Final = 0.05
"""Seconds of CPU that importing a plugin may take beyond the public API; the contract kits hold plugins to the same."""
TRIES: Final = 4
"""How often an import that seems slow is looked at again: other programs take turns, and a first one compiles."""
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from toolpost_core.plugins.measuring import main; main()"
)


class Cost(NamedTuple):
    """Seconds of CPU, bytes of memory, modules that came with it; `error` has a traceback's lines if it failed.

    `broken` says that it can't be imported here either: it hangs, or ends the process.
    """

    seconds: float
    memory: int = 0
    modules: int = 0
    error: tuple[str, ...] = ()
    broken: bool = False


def import_costs(entries: Iterable[Entry]) -> dict[Entry, Cost]:
    """Import each entry in a process of its own; nothing is imported here. What seems slow gets further tries."""
    wanted = list(entries)
    costs = dict(zip(wanted, _measured(wanted, os.environ), strict=True))
    slow = [entry for entry, cost in costs.items() if cost.seconds > BUDGET and not cost.error]
    with tempfile.TemporaryDirectory() as compiled:
        again = _measured(slow * TRIES, _environment(compiled))
    for entry, cost in zip(slow * TRIES, again, strict=True):
        costs[entry] = min(costs[entry], cost, key=lambda cost: cost.seconds)
    return costs


def _measured(entries: Sequence[Entry], env: Mapping[str, str]) -> list[Cost]:
    if not entries:
        return []
    done = subprocess.run(
        [sys.executable, "-c", _START, json.dumps(sys.path)],
        input=json.dumps([entry.value for entry in entries]),
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PluginError(f"Imports can't be measured: a fresh {sys.executable} failed: {done.stderr[-500:]}")
    return [_cost(json.loads(line)) for line in done.stdout.splitlines()]


def _cost(answer: Mapping[str, Any]) -> Cost:
    return Cost(
        answer["seconds"],
        answer.get("bytes", 0),
        answer.get("modules", 0),
        tuple(answer.get("error", ())),
        answer.get("broken", False),
    )


def _environment(compiled: str) -> dict[str, str]:
    """Where nothing may be compiled beside the source, it goes elsewhere, and compiling is not taken for importing.

    Not for the first try: what is compiled already does not count there, and all of the API would be compiled anew.
    """
    env = dict(os.environ)
    if env.pop("PYTHONDONTWRITEBYTECODE", ""):
        env["PYTHONPYCACHEPREFIX"] = compiled
    return env
