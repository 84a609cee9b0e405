"""Whatever is done in whatever order: going back gives what the first change since then found."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from history_doubles import Sitting  # type: ignore[import-not-found]
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("a", "sub/b", "sub/deep/c")
_names = st.sampled_from(NAMES)
_contents = st.sampled_from([None, "", "1\n", "2\n", "1\n2\n"])
_steps = st.one_of(
    st.tuples(st.just("write"), _names, _contents),
    st.tuples(st.just("by hand"), _names, _contents),
    st.tuples(st.just("prompt")),
    st.tuples(st.just("again")),
    st.tuples(st.just("rewind"), st.integers(0, 20)),
)


class Model:
    """The project as it should be. `stations` has what each one's changes, and all later ones, found first."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.stations: dict[str, dict[str, str | None]] = {}

    def put(self, name: str, content: str | None) -> None:
        if content is None:
            self.files.pop(name, None)
        else:
            self.files[name] = content

    def change(self, name: str, content: str | None) -> None:
        if self.files.get(name) != content:
            for found in self.stations.values():
                found.setdefault(name, self.files.get(name))
            self.put(name, content)

    def rewind(self, station: str, own: str) -> None:
        target = dict(self.stations[station])
        if own:
            self.stations[own] = {}
        for name, content in target.items():
            self.change(name, content)


@settings(max_examples=100, deadline=None)
@given(st.lists(_steps, max_size=25))
def test_going_back_gives_what_was_there(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Sitting(Path(folder).resolve()), Model(), [("prompt",), *steps, ("rewind", 0)]))


async def _play(sitting: Sitting, model: Model, steps: list[tuple[Any, ...]]) -> None:
    by_hand = any(action == "by hand" for action, *_ in steps)  # what else is in the way of going back?
    for number, (action, *details) in enumerate(steps):
        if action == "prompt":
            sitting.journal.send(f"prompt-{number}")
            model.stations[f"prompt-{number}"] = {}
        elif action == "write":
            await _change(sitting, *details)
            model.change(*details)
        elif action == "by hand":
            _put(sitting.folder / details[0], details[1])
            model.put(*details)
        elif action == "again":
            sitting.again()
        else:
            station = list(model.stations)[details[0] % len(model.stations)]
            model.rewind(station, (await sitting.history.rewind(station, force=by_hand)).id)
        assert sitting.files() == model.files, (number, action, details)


async def _change(sitting: Sitting, name: str, content: str | None) -> None:
    path = sitting.folder / name
    await sitting.history.keep(path, becomes=None if content is None else content.encode())
    _put(path, content)
    await sitting.history.settle(path)


def _put(path: Path, content: str | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
