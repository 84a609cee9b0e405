from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from terminal_doubles import ALWAYS, ScriptedDoor, ScriptedHost, question  # type: ignore[import-not-found]

from toolpost import LaunchOptions, ModelInfo, Reply, SentPrompt, SettingsError
from toolpost_frontend_terminal.console import Ansi
from toolpost_frontend_terminal.narrate import Narrator, WholeLines
from toolpost_frontend_terminal.repl import Repl


class ScriptedStage:
    """A person who sends these lines and picks the first choice."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.said = ""
        self.asked = 0
        self.statuses: list[str] = []
        self.offered: list[list[str]] = []
        self.picks: list[int | None] = []
        self.filled = ""
        self.cycle: Any = None
        self._narrator = Narrator(WholeLines(), lambda _: 1, markdown=False)

    async def next_line(self) -> str | None:
        return self.lines.pop(0) if self.lines else None

    def show(self, kind: str, *drawings: Any) -> None:
        self._draw(self._narrator.other(kind, *drawings))

    def follow(self, event: Any) -> None:
        self._draw(self._narrator.tell(event))

    def seen(self, view: Any) -> None:
        self._narrator.seen(view)

    def busy(self, activity: str, turn: Any = None) -> None: ...

    def idle(self) -> None: ...

    async def choose(self, choices: Sequence[Any]) -> tuple[str, Reply]:
        self.asked += 1
        for _ in range(5):  # what comes meanwhile has time to come
            await asyncio.sleep(0)
        assert self.asked == 1, "two questions at once"
        self.asked -= 1
        return choices[0].label, choices[0].reply

    async def pick(self, entries: Sequence[Any]) -> int | None:
        self.offered.append([" | ".join(entry).rstrip(" |") for entry in entries])
        return self.picks.pop(0)

    def fill(self, text: str) -> None:
        self.filled = text

    def status(self, text: str, next_mode: Any = None) -> None:
        self.statuses.append(text)
        self.cycle = next_mode

    def _draw(self, drawings: Any) -> None:
        self.said += re.sub(r"\x1b\[[0-9;]*m", "", Ansi().text(list(drawings), 100))


def sitting(*lines: str, interactive: bool = True, **options: Any) -> tuple[Repl, ScriptedStage, ScriptedDoor]:
    host = ScriptedHost(LaunchOptions(**options))
    stage = ScriptedStage(*lines)
    return Repl(host, stage, lambda _: 1, interactive=interactive), stage, host.door


async def test_each_line_is_a_prompt_until_the_person_is_done() -> None:
    repl, stage, door = sitting("hello", "/etc/hosts says what?")
    assert await repl.run() == 0
    assert door.prompts == ["hello", "/etc/hosts says what?"]
    assert "You said: hello" in stage.said
    assert "› hello" in stage.said


@pytest.mark.parametrize("word", ["/exit", "/quit", "/EXIT "])
async def test_exit_leaves_and_shows_what_it_cost(word: str) -> None:
    repl, stage, door = sitting("hello", word, "never")
    assert await repl.run() == 0
    assert door.prompts == ["hello"]
    spent = stage.said.rpartition("›")[2]
    assert "$0.0123" in spent
    assert "answers took 3.0 s; tools 1.0 s" in spent


async def test_the_commands_do_what_help_says() -> None:
    repl, stage, door = sitting("/help", "/model model-2", "/model", "/permissions", "/hooks", "/cost", "/clear")
    await repl.run()
    assert door.model.id == "model-2"
    assert "model-2 answers from now on." in stage.said
    assert "Bash(git *)" in stage.said
    assert "/home/me/.toolpost/settings.json:4" in stage.said
    assert "command: ./bell.sh" in stage.said
    assert "Nothing was asked of a model yet." in stage.said
    assert door.cleared == 1
    for name in ("/help", "/clear", "/cost", "/model [NAME]", "/permissions", "/exit"):
        assert name in stage.said


@pytest.mark.parametrize(("no_color", "signs"), [("", "■■"), ("1", "ab")])
async def test_context_is_a_map_of_the_window(monkeypatch: pytest.MonkeyPatch, no_color: str, signs: str) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    repl, stage, _ = sitting("/context")
    await repl.run()
    assert "model-1: 120,000 of 180,000 tokens (67%)" in stage.said
    assert "by itself from 167,000 on" in stage.said
    assert "off by -1.3%" in stage.said
    lines = [line.strip() for line in stage.said.splitlines()]
    rows = [line for line in lines if line and set(line) <= {*signs, "·", "×"}]
    assert [len(row) for row in rows] == [40] * 5
    assert sum(row.count(sign) for row in rows for sign in {*signs}) == 120


async def test_effort_is_shown_and_changed() -> None:
    repl, stage, door = sitting("/effort", "/effort max", "/effort huge", "/effort default")
    door.model = ModelInfo(id="model-1", efforts=("low", "high"), effort="high")
    await repl.run()
    assert "model-1 answers at its own level, high. It takes low, high." in stage.said
    assert "The effort is max; of those that model-1 takes the nearest is asked for." in stage.said
    assert "There is no level 'huge': low, medium, high, xhigh, max, or default." in stage.said
    assert door.effort is None


async def test_a_model_without_levels_says_so() -> None:
    repl, stage, _ = sitting("/effort low")
    await repl.run()
    assert "model-1 takes no level of effort" in stage.said


async def test_an_unknown_command_names_the_nearest() -> None:
    repl, stage, door = sitting("/permisions", "/zzz")
    await repl.run()
    assert "There is no command /permisions. Did you mean /permissions?" in stage.said
    assert "There is no command /zzz. /help lists them all." in stage.said
    assert door.prompts == []


async def test_settings_that_can_not_be_read_are_told_at_once() -> None:
    repl, stage, door = sitting("/plugins reload")

    async def refuse() -> Sequence[str]:
        raise SettingsError("The settings stay as they were: no JSON")

    door.reload = refuse
    await repl.run()
    assert "The settings stay as they were: no JSON" in stage.said
    assert "the plugins are the same" not in stage.said


async def test_a_question_is_answered_and_the_answer_stays_on_the_screen() -> None:
    repl, stage, door = sitting("bash please")
    await repl.run()
    assert door.replies == [Reply(allow=True)]
    assert "→ Yes" in stage.said
    assert stage.said.index("? Bash") < stage.said.index("→ Yes") < stage.said.index("● Bash(make clean)")


async def test_nothing_comes_between_a_question_and_its_answer() -> None:
    repl, stage, _ = sitting("busy now")
    await repl.run()
    assert re.search(r"\? Bash\n.*\n.*no rule allows it\n  → Yes\n", stage.said)
    assert stage.said.index("→ Yes") < stage.said.index("● Read(b.py)") < stage.said.index("the end")


async def test_questions_come_one_at_a_time() -> None:
    repl, _, _ = sitting()
    replies = await asyncio.gather(*(repl._ask(question(suggestions=(ALWAYS,))) for _ in range(5)))
    assert [reply.allow for reply in replies] == [True] * 5


async def test_yes_answers_visibly() -> None:
    repl, stage, door = sitting(prompt="bash please", interactive=False, extra={"once": True, "yes": True})
    assert await repl.run() == 0
    assert door.replies == [Reply(allow=True)]
    assert "→ Yes (--yes answers)" in stage.said


async def test_where_nobody_can_be_asked_the_session_gets_to_know() -> None:
    repl, _, door = sitting(prompt="bash please", interactive=False, extra={"once": True})
    await repl.run()
    assert [reply.allow for reply in door.replies] == [False]


async def test_once_ends_with_the_prompt_and_its_exit_code() -> None:
    repl, _, door = sitting("never", prompt="fail now", extra={"once": True})
    assert await repl.run() == 1
    assert door.prompts == ["fail now"]


async def test_once_says_that_it_was_interrupted() -> None:
    repl, stage, _ = sitting(prompt="stopped", extra={"once": True})
    assert await repl.run() == 130
    assert "⏹ Interrupted\n" in stage.said


async def test_the_prompt_of_the_start_may_be_a_command() -> None:
    repl, stage, door = sitting("hello", prompt="/permissions")
    assert await repl.run() == 0
    assert "Permission mode: default" in stage.said
    assert door.prompts == ["hello"]


async def test_shift_tab_goes_through_the_modes() -> None:
    repl, stage, door = sitting()
    await repl.run()
    modes = [stage.cycle() for _ in range(3)]
    assert modes == ["acceptEdits", "plan", "default"]
    assert "plan mode" in stage.statuses[-2]
    assert door.permission_mode == "default"


async def test_a_session_that_goes_on_shows_its_last_exchange() -> None:
    repl, stage, door = sitting()
    asked = "<system-reminder>\nfor the model\n</system-reminder>\nold question"
    door.messages = ({"role": "user", "content": asked}, {"role": "assistant", "content": "old answer"})
    door.sent_prompts = lambda: [
        SentPrompt(id="1", text="old question", time=""),
        SentPrompt(id="2", text="taken back", time="", rewound=True),
    ]
    await repl.run()
    assert stage.said.index("› old question") < stage.said.index("old answer")
    assert "for the model" not in stage.said
    assert "taken back" not in stage.said


async def test_a_summary_in_the_place_of_what_was_said_is_not_shown_as_said() -> None:
    repl, stage, door = sitting()
    door.messages = ({"role": "user", "content": "<earlier-conversation>summed up</earlier-conversation>"},)
    await repl.run()
    assert "summed up" not in stage.said
    assert "goes on after 1 message." in stage.said


async def test_the_end_says_where_the_transcript_lies(tmp_path: Path) -> None:
    repl, stage, door = sitting("hello")
    door.transcript_path = tmp_path / "t.jsonl"
    door.transcript_path.write_text("")
    await repl.run()
    assert f"toolpost --resume {door.id}" in stage.said
    assert "t.jsonl" in stage.said


async def test_a_folder_with_settings_that_wait_for_trust_is_asked_about_before_the_session_opens() -> None:
    host = ScriptedHost(LaunchOptions(), waiting=("/srv/.toolpost/settings.json: hooks, permissions.allow",))
    stage = ScriptedStage()
    assert await Repl(host, stage, lambda _: 1, interactive=True).run() == 0
    assert host.trusted is True
    assert "Do you trust this folder?" in stage.said
    assert "hooks, permissions.allow" in stage.said


@pytest.mark.parametrize(
    ("waiting", "interactive", "options"),
    [((), True, {}), (("a file: hooks",), False, {}), (("a file: hooks",), True, {"extra": {"once": True}})],
)
async def test_trust_is_asked_about_only_where_there_is_something_and_a_person(
    waiting: tuple[str, ...], interactive: bool, options: dict[str, Any]
) -> None:
    host = ScriptedHost(LaunchOptions(prompt="hello", **options), waiting=waiting)
    stage = ScriptedStage()
    await Repl(host, stage, lambda _: 1, interactive=interactive).run()
    assert host.trusted is None
    assert "trust this folder" not in stage.said


async def test_a_turn_that_is_due_is_run_without_a_line() -> None:
    repl, stage, door = sitting("hello")
    door.enqueue("a prompt that waits")
    assert await repl.run() == 0
    assert door.prompts == ["a prompt that waits", "hello"]
    assert "› a prompt that waits" in stage.said


async def test_a_session_that_wakes_while_the_person_thinks_has_its_turn() -> None:
    repl, stage, door = sitting()
    asked = asyncio.Event()

    async def thinks() -> str | None:
        if asked.is_set():
            return None
        asked.set()
        return str(await asyncio.Event().wait())

    stage.next_line = thinks  # type: ignore[method-assign]
    running = asyncio.create_task(repl.run())
    async with asyncio.timeout(10):
        await asked.wait()
        door.enqueue("a task ended")
        assert await running == 0
    assert door.prompts == ["a task ended"]


async def test_the_status_says_what_is_left_of_a_budget() -> None:
    repl, stage, door = sitting("hello")
    door.limited = True
    await repl.run()
    assert stage.statuses[0].endswith("default mode · $0.5000 left · /help")
    assert "$0.0123, $0.5000 left" in stage.statuses[-1]
