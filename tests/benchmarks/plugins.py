"""What many listeners and many installed distributions cost: in one process, beside nothing but bare awaits."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from toolpost import PreToolUseOutcome, on
from toolpost._hooks import PROJECT
from toolpost.events._base import Origin
from toolpost.events.tool import PreToolUse
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.plugins.hooks import HookTable

LISTENERS: Final = 50
CALLS: Final = 200
INSTALLED: Final = 300
OURS: Final = 60

_SCAN: Final = """
import sys, time
from pathlib import Path
from toolpost_core.plugins.registry import Registry
from toolpost_core.plugins.scan import scan
started = time.perf_counter()
registry = Registry(scan(Path(sys.argv[1])), {})
registry.names("tools")
print(1000 * (time.perf_counter() - started))
"""


def listeners() -> dict[str, tuple[float, float]]:
    """Return milliseconds of one PreToolUse for each sort of 50 listeners: through the dispatcher, and called bare."""
    return asyncio.run(_listeners())


def discovery(root: Path) -> tuple[float, float]:
    """Return milliseconds of a warm scan: with 300 more distributions, 60 of them with a plugin, and without them."""
    site = root / "many"
    for number in range(INSTALLED):
        _install(site, number, ours=number < OURS)
    return _scanned(root / "cache-with", site), _scanned(root / "cache-without", root / "none")


async def _listeners() -> dict[str, tuple[float, float]]:
    answer = PreToolUseOutcome()

    async def says_nothing(event: PreToolUse) -> None:
        del event

    async def answers(event: PreToolUse) -> PreToolUseOutcome:
        del event
        return answer

    def sync(event: PreToolUse) -> None:
        del event

    def sync_answers(event: PreToolUse) -> PreToolUseOutcome:
        del event
        return answer

    sorts: dict[str, tuple[Callable[..., Any], ...]] = {
        "async": (says_nothing,),
        "async, with answers": (answers,),
        "sync": (sync,),
        "sync, with answers": (sync_answers,),
        "sync and async in turn": (sync, says_nothing),
    }
    return {name: await _timed(kinds) for name, kinds in sorts.items()}


async def _timed(kinds: tuple[Callable[..., Any], ...]) -> tuple[float, float]:
    manager = HookTable(PROJECT)
    called = [kinds[number % len(kinds)] for number in range(LISTENERS)]
    for number, listener in enumerate(called):
        hear = staticmethod(on.pre_tool_use(listener))
        manager.register(type("Plugin", (), {"hear": hear})(), f"lifecycle/p{number:02}")
    events = Dispatcher(manager, lambda _: None, Origin)
    value = PreToolUse(tool_name="Bash", tool_input={"command": "true"})
    through, bare = [], []
    for _ in range(CALLS):
        started = time.perf_counter()
        await events.emit(on.pre_tool_use, value)
        emitted = time.perf_counter()
        for listener in called:
            answer = listener(value)
            if asyncio.iscoroutine(answer):
                await answer
        through.append(emitted - started)
        bare.append(time.perf_counter() - emitted)
    return 1000 * statistics.median(through), 1000 * statistics.median(bare)


def _install(site: Path, number: int, *, ours: bool) -> None:
    info = site / f"many_{number}-1.0.dist-info"
    info.mkdir(parents=True)
    requires = "Requires-Dist: toolpost-hookspecs>=1,<2\n" if ours else ""
    metadata = f"Metadata-Version: 2.4\nName: many-{number}\nVersion: 1.0\n{requires}"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    group = "toolpost.tools" if ours else "console_scripts"
    (info / "entry_points.txt").write_text(f"[{group}]\nmany{number} = many_{number}:it\n", encoding="utf-8")
    package = site / f"many_{number}"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    if ours:
        (package / "toolpost.toml").write_text('[capabilities]\nfilesystem = "read"\n', encoding="utf-8")


def _scanned(cache: Path, site: Path) -> float:
    argv = [sys.executable, "-c", _SCAN, str(cache)]
    samples = []
    for _ in range(2):  # the first fills the cache
        done = subprocess.run(argv, env={"PYTHONPATH": str(site)}, capture_output=True, text=True, check=True)
        samples.append(float(done.stdout))
    return samples[-1]
