"""An interrupt may come at any moment of a recorded session: it is played to the same lines, and comes to an end."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, Step, text, tool_use, turn
from recorded_place import KEY, LIMIT, Lines, Place

from toolpost import LaunchOptions
from toolpost_core.api import open_session
from toolpost_core.session.session import Session
from toolpost_service_recorder.differing import difference
from toolpost_service_recorder.writing import Writer


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path.resolve())
    place.here(monkeypatch)
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    place.settings(hooks={"PreToolUse": [hook], "Stop": [hook]})
    return place


def script(place: Place) -> list[Step]:
    """Two prompts, the first with calls side by side behind a text that comes in pieces."""
    read = tool_use("Read", {"file_path": str(place.project / "notes.txt")}, id="t1")
    bash = [tool_use("Bash", {"command": f"echo {name}"}, id=name) for name in ("t2", "t3")]
    return [turn(text("I look.", pieces=3), read, *bash), *["Done."] * 4]


class Interrupted:
    """Records the script, and interrupts it once behind an entry of the recording; `entry` is that one."""

    def __init__(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place, self._monkeypatch = place, monkeypatch
        self._session: Session | None = None
        self.entry: Mapping[str, Any] | None = None

    async def behind(self, when: Callable[[int, Mapping[str, Any]], bool]) -> str:
        """Interrupt behind the first entry of which that holds, by its number and itself; returns what was printed."""
        self.entry, numbers = None, itertools.count()

        def seen(entry: Mapping[str, Any]) -> None:
            if self._session is not None and self.entry is None and when(next(numbers), entry):
                self.entry = entry
                if entry["e"] == "piece":  # more of the answer may be there, and comes before the interrupt is heard
                    self._session.interrupt()
                else:
                    asyncio.get_running_loop().call_soon(self._session.interrupt)

        with self._monkeypatch.context() as patch:
            self._watch(patch, seen)
            return await self._recorded()

    def _watch(self, patch: pytest.MonkeyPatch, seen: Callable[[Mapping[str, Any]], None]) -> None:
        for name in ("put", "request"):
            write = getattr(Writer, name)

            def watched(writer: Writer, entry: Mapping[str, Any], *more: Any, write: Any = write) -> None:
                write(writer, entry, *more)
                seen(entry)

            patch.setattr(Writer, name, watched)

    async def _recorded(self) -> str:
        place = self._place
        options = LaunchOptions(
            cwd=place.project,
            record=place.file,
            trust=True,
            permission_mode="bypassPermissions",
            include_partial_messages=True,
        )
        with MockMessagesApi(script(place)).run_in_thread() as api:
            self._monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            self._monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
            async with open_session(options, env=place.variables(place.service(api))) as session:
                self._session, lines = session, Lines(session)
                for prompt in ("one", "two"):
                    await lines.of(session.submit(prompt))
                self._session = None
        return lines.said


def _is_number(moment: int, number: int, entry: Mapping[str, Any]) -> bool:
    del entry
    return number == moment


async def compared(place: Place, said: str) -> str:
    """Play the recording; returns how it was not what was recorded. Raises TimeoutError where it does not end."""
    async with asyncio.timeout(LIMIT):
        played, miss = await place.play()
    return miss or (difference(said, played) if played != said else "")


async def test_it_is_played_wherever_it_came(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted, ends, unlike = Interrupted(place, monkeypatch), set[str](), list[str]()
    for moment in itertools.count():
        said = await interrupted.behind(partial(_is_number, moment))
        if interrupted.entry is None:
            break
        ends.update(reason for reason in ("aborted_streaming", "aborted_tools", "completed") if reason in said)
        how = await compared(place, said)
        if how:
            unlike.append(f"behind entry {moment}, {json.dumps(interrupted.entry)[:200]}: {how}")

    assert not unlike, "\n".join(unlike)
    assert ends == {"aborted_streaming", "aborted_tools", "completed"}
