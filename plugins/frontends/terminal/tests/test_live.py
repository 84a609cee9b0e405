from __future__ import annotations

from terminal_doubles import tool_finished  # type: ignore[import-not-found]

from toolpost import Retrying, Streaming, ThinkingDelta, ToolProgressed, ToolStarted
from toolpost_frontend_terminal.live import Live


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(live: Live, *queued: str) -> list[str]:
    return ["".join(text for _, text in line) for line in live.lines([], queued)]


def test_nothing_is_shown_while_nothing_goes_on() -> None:
    assert shown(Live(Clock())) == []


def test_the_spinner_says_what_goes_on_and_for_how_long() -> None:
    clock = Clock()
    live = Live(clock)
    live.begin("Waiting for the model", "Esc interrupts")
    live.follow(Streaming(ThinkingDelta("hm")))
    clock.now += 65
    live.follow(Streaming(ThinkingDelta("hm")))
    (line,) = shown(live)
    assert line[2:] == "Thinking…  1 m 5 s · Esc interrupts"
    live.end()
    assert shown(live) == []


def test_a_service_that_has_been_silent_for_long_is_told_of() -> None:
    clock = Clock()
    live = Live(clock)
    live.begin("Waiting for the model", "Esc interrupts")
    clock.now += 29
    assert "nothing has come" not in shown(live)[0]
    clock.now += 2
    assert shown(live)[0][2:] == "Waiting for the model…  31 s · nothing has come for 31 s · Esc interrupts"
    live.follow(Streaming(ThinkingDelta("hm")))
    assert "nothing has come" not in shown(live)[0]


def test_running_calls_are_shown_with_their_last_words() -> None:
    clock = Clock()
    live = Live(clock)
    live.begin("")
    for name in ("t1", "t2"):
        live.follow(ToolStarted(tool_use_id=name, tool_name="Bash", summary=f"make {name}", activity="Making"))
    live.follow(ToolProgressed(tool_use_id="t2", tool_name="Bash", text="one\n\x1b[1mtwo\n", elapsed=1))
    clock.now += 3
    assert [line[2:] for line in shown(live)] == ["Bash(make t1)  3 s", "Bash(make t2)  3 s", "⎿  two"]
    live.follow(tool_finished("Bash", "make t1"))
    assert [line[2:] for line in shown(live)] == ["Bash(make t2)  3 s", "⎿  two"]


def test_a_retry_counts_down() -> None:
    clock = Clock()
    live = Live(clock)
    live.begin("")
    live.follow(Streaming(Retrying(3, 10, 4.0, "overloaded")))
    clock.now += 1
    assert shown(live)[0][2:].startswith("Retrying (3/10) in 3 s…")


def test_what_waits_to_be_sent_is_shown() -> None:
    live = Live(Clock())
    assert shown(live, "one", "and\nthen") == ["  next: one", "  next: and then  (↑ to change it)"]
