"""`toolpost --resume` without an id, and `/resume`: the person picks among the folder's sessions."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terminal_doubles import ScriptedHost  # type: ignore[import-not-found]
from test_repl import ScriptedStage  # type: ignore[import-not-found]

from toolpost import KeptSession, LaunchOptions, SessionError
from toolpost_frontend_terminal.repl import Repl

KEPT = (
    KeptSession(id="new", title="Mend the\x1b[2J build", modified=1_600_000_000.0, size=2_500_000, branch="main"),
    KeptSession(id="old", title="x" * 200, modified=1_500_000_000.0, size=900),
)


async def sit(pick: int | None, kept: Any = KEPT) -> tuple[ScriptedHost, ScriptedStage]:
    host, stage = ScriptedHost(options=LaunchOptions(resume=""), kept=kept), ScriptedStage()
    stage.picks = [pick]
    code = await Repl(host, stage, lambda _: None, interactive=True).run()
    assert code == 0
    return host, stage


async def test_the_picked_session_is_opened() -> None:
    host, stage = await sit(1)

    assert host.opened is not None
    assert host.opened.resume == "old"
    mend, old = stage.offered[0]
    assert mend.startswith("Mend the")
    assert "\x1b" not in mend
    assert len(old) < 120


async def test_who_picks_none_leaves() -> None:
    host, _ = await sit(None)
    assert host.opened is None


async def test_where_there_is_none_it_says_so() -> None:
    host, stage = await sit(None, kept=())

    assert host.opened is None
    assert stage.offered == []


@dataclass
class Opening(ScriptedHost):  # type: ignore[misc]
    """A host that knows the sessions of `KEPT` and notes what it is asked to open."""

    def __post_init__(self) -> None:
        self.all_opened: list[LaunchOptions] = []

    def open(self, options: LaunchOptions, ask: Any = None) -> AbstractAsyncContextManager[Any]:
        self.all_opened.append(options)
        unknown = options.resume not in (None, "new", "old", self.door.id)
        self.refusal = SessionError(f"There is no session {options.resume!r}.") if unknown else None
        return super().open(options, ask)  # type: ignore[no-any-return]


async def change(*lines: str, picks: tuple[int | None, ...] = (), **options: Any) -> tuple[Opening, ScriptedStage]:
    host, stage = Opening(options=LaunchOptions(**options), kept=KEPT), ScriptedStage(*lines)
    stage.picks = list(picks)
    assert await Repl(host, stage, lambda _: None, interactive=True).run() == 0
    return host, stage


async def test_another_session_is_picked_and_the_prompt_of_the_start_is_not_sent_to_it() -> None:
    host, _ = await change("/resume", "hello", picks=(1,), prompt="first", fork_session=True, resume="new")

    assert [(opened.resume, opened.prompt, opened.fork_session) for opened in host.all_opened] == [
        ("new", "first", True),
        ("old", None, False),
    ]
    assert host.door.prompts == ["first", "hello"]


async def test_the_session_that_goes_on_is_not_offered() -> None:
    host = Opening(kept=(*KEPT, KeptSession(id=ScriptedHost().door.id, title="this one", modified=0.0, size=1)))
    stage = ScriptedStage("/resume")
    stage.picks = [None]
    await Repl(host, stage, lambda _: None, interactive=True).run()

    assert [len(offer) for offer in stage.offered] == [2]
    assert len(host.all_opened) == 1


async def test_it_may_be_named() -> None:
    host, stage = await change("/resume old")
    assert [opened.resume for opened in host.all_opened] == [None, "old"]
    assert stage.offered == []


async def test_one_that_cannot_be_opened_leaves_the_person_where_they_were() -> None:
    host, stage = await change("/resume nope", "hello")
    assert "There is no session 'nope'." in stage.said
    assert [opened.resume for opened in host.all_opened] == [None, "nope", None]
    assert host.door.prompts == ["hello"]


async def test_a_recorded_session_is_not_left(tmp_path: Path) -> None:
    host, stage = await change("/resume old", record=tmp_path / "file")
    assert "being recorded" in stage.said
    assert len(host.all_opened) == 1
