"""`toolpost --resume` without an id: the person picks among the folder's sessions."""

from __future__ import annotations

from typing import Any

from terminal_doubles import ScriptedHost  # type: ignore[import-not-found]
from test_repl import ScriptedStage  # type: ignore[import-not-found]

from toolpost import KeptSession, LaunchOptions
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
