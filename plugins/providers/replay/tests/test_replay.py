from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Block,
    InputDelta,
    Message,
    MessageStart,
    ModelRequest,
    ProviderError,
    Stash,
    Stop,
    StreamEvent,
    TextDelta,
    ToolUse,
    ToolUseStart,
)
from toolpost_provider_replay import Replay

README = Path(__file__).parents[1] / "README.md"


def tape(folder: Path, *answers: Any, header: Any = None) -> Path:
    path = folder / "tape.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (header or {"cassette": 1}, *answers)) + "\n")
    return path


class Player:
    """A session that is asked for one answer after the other."""

    def __init__(self, cassette: Path, speed: float = 0, cwd: Path | None = None) -> None:
        self._replay = Replay(cassette=cassette, speed=speed, cwd=cwd)
        self._stash = Stash()
        self.messages: list[Message] = [{"role": "user", "content": "Go"}]

    async def answer(self, *results: str) -> list[StreamEvent]:
        if results:
            blocks: Any = [{"type": "tool_result", "tool_use_id": "x", "content": result} for result in results]
            self.messages.append({"role": "user", "content": blocks})
        request = ModelRequest(model="replay", messages=tuple(self.messages), stash=self._stash)
        return [event async for event in self._replay.stream(request)]

    async def said(self, *results: str) -> str:
        return "".join(event.text for event in await self.answer(*results) if isinstance(event, TextDelta))

    async def call(self, *results: str) -> ToolUse:
        (call,) = [event for event in await self.answer(*results) if isinstance(event, ToolUse)]
        return call


async def test_a_text_is_streamed_word_by_word_and_a_call_follows(tmp_path: Path) -> None:
    events = await Player(tape(tmp_path, {"say": "I  look\nnow", "call": "Now"})).answer()
    assert events[1:-1] == [
        TextDelta("I  "),
        TextDelta("look\n"),
        TextDelta("now"),
        Block({"type": "text", "text": "I  look\nnow"}),
        ToolUseStart("replay_1_1", "Now"),
        InputDelta("{}"),
        ToolUse("replay_1_1", "Now", {}),
    ]
    assert isinstance(events[0], MessageStart)
    stop = events[-1]
    assert isinstance(stop, Stop)
    assert stop.reason == "tool_use"
    assert stop.usage is not None
    assert stop.usage.output_tokens > 0


async def test_each_request_gets_the_next_answer_until_the_cassette_has_run_out(tmp_path: Path) -> None:
    player = Player(tape(tmp_path, {"say": "one"}, {"say": "two"}))
    assert [await player.said(), await player.said()] == ["one", "two"]
    with pytest.raises(ProviderError, match=r"tape\.jsonl: the cassette has run out: this is request 3"):
        await player.said()


async def test_placeholders_take_what_the_tools_found(tmp_path: Path) -> None:
    path = tape(
        tmp_path,
        {
            "call": "Read",
            "input": {"deep": [{"path": "{{cwd}}/{{result:1:^(\\w+\\.py):}}"}], "n": 1, "braces": "{{x}}"},
        },
        {"say": "{{last_result}}|{{result:-2:b(c)?}}|{{result:2:\\d{2}}}"},
    )
    player = Player(path, cwd=Path("/project"))
    call = await player.call("no\nmoney.py:3", "b 12")
    assert call.input == {"deep": [{"path": "/project/money.py"}], "n": 1, "braces": "{{x}}"}
    assert await player.said("the end") == "the end||12"


@pytest.mark.parametrize(
    ("say", "error"),
    [
        ("{{last_result}}", "of which there are 0"),
        ("{{result:3:x}}", "of which there are 0"),
    ],
)
async def test_a_placeholder_without_a_result_ends_the_answer(tmp_path: Path, say: str, error: str) -> None:
    with pytest.raises(ProviderError, match=rf"tape\.jsonl:2: .*{error}"):
        await Player(tape(tmp_path, {"say": say})).answer()


async def test_a_placeholder_that_finds_nothing_shows_what_it_looked_at(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"tape\.jsonl:2: .*finds nothing .*'nothing here'"):
        await Player(tape(tmp_path, {"say": "before", "call": "X", "input": {"a": "{{result:1:(z)}}"}})).answer(
            "nothing here"
        )


async def test_a_condition_chooses_and_next_leads_on_or_back(tmp_path: Path) -> None:
    path = tape(
        tmp_path,
        {"name": "test", "call": "Bash"},
        {"when": {"last_result_matches": "^FAILED"}, "say": "again", "next": "test"},
        {"when": {"last_result_matches": "^OK"}, "say": "good", "next": "end"},
        {"say": "strange"},
        {"name": "end", "say": "bye"},
    )
    player = Player(path)
    await player.call()
    assert await player.said("ran\nFAILED (1)") == "again"
    await player.call()
    assert [await player.said("OK"), await player.said()] == ["good", "bye"]
    other = Player(path)
    await other.call()
    assert [await other.said("?"), await other.said()] == ["strange", "bye"]


async def test_no_alternative_that_fits_is_said_with_the_result(tmp_path: Path) -> None:
    path = tape(tmp_path, {"when": {"last_result_matches": "a"}, "say": "a"})
    with pytest.raises(ProviderError, match=r"tape\.jsonl:2: no answer .* 'xyz'"):
        await Player(path).answer("xyz")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{not json}", ""),
        ('"text"', "an answer is a JSON object"),
        ("{}", "`say`, `call` or `events`"),
        ('{"sai": "x"}', "'sai' is unknown here; allowed are name, when, say"),
        ('{"say": 1}', "`say` is a text"),
        ('{"input": {}}', "belongs to a `call`"),
        ('{"call": "X", "input": []}', "`input` is an object"),
        ('{"say": "{{result:1}}"}', "can't be understood"),
        ('{"say": "{{result:0:x}}"}', "can't be understood"),
        ('{"say": "{{result:1:(}}"}', "no regular expression"),
        ('{"say": "x", "when": {"other": 1}}', "`when` is"),
        ('{"say": "x", "when": {"last_result_matches": "("}}', "no regular expression"),
        ('{"say": "x", "next": "nowhere"}', "no answer has that name; there are: 'first'"),
        ('{"say": "x", "name": "first"}', "taken by line 2"),
        ('{"events": [{"event": "Other"}]}', "there is no event 'Other'"),
        ('{"events": [{"event": "TextDelta", "txt": "x"}]}', "the event TextDelta has other fields"),
        ('{"events": [{"event": "TextDelta", "text": 1}]}', "`text` can't be 1"),
        ('{"events": [{"event": "Stop", "reason": "end_turn", "at": -1}]}', "`at` is a number"),
    ],
)
async def test_a_mistake_is_told_with_file_and_line(tmp_path: Path, line: str, error: str) -> None:
    path = tmp_path / "tape.jsonl"
    path.write_text('{"cassette": 1}\n{"say": "x", "name": "first"}\n\n' + line + "\n")
    with pytest.raises(ProviderError) as caught:
        await Player(path).answer()
    assert str(caught.value).startswith(f"{path}:4: ")
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("text", "error"),
    [("", "no cassette"), ("hello", "no cassette"), ('{"cassette": 2}', "version 2"), ('{"a": 1}', "no cassette")],
)
async def test_a_file_that_is_no_cassette_is_refused(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "tape.jsonl").write_text(text)
    with pytest.raises(ProviderError, match=error):
        await Player(tmp_path / "tape.jsonl").answer()


async def test_a_recorded_answer_is_played_as_it_is(tmp_path: Path) -> None:
    events = [
        {"event": "Retrying", "attempt": 1, "of": 2, "delay": 0, "error": "busy"},
        {"event": "MessageStart", "id": "m", "model": "big", "usage": {"input_tokens": 3}},
        {"event": "TextDelta", "text": "{{cwd}}"},
        {"event": "Stop", "reason": "max_tokens"},
    ]
    played = await Player(tape(tmp_path, {"events": events})).answer()
    assert [type(event).__name__ for event in played] == ["Retrying", "MessageStart", "TextDelta", "Stop"]
    assert played[2] == TextDelta("{{cwd}}")
    assert played[3] == Stop("max_tokens")


async def test_an_answer_that_was_cut_off_is_an_error_when_played(tmp_path: Path) -> None:
    path = tape(tmp_path, {"events": [{"event": "TextDelta", "text": "x"}]})
    with pytest.raises(ProviderError, match=r"tape\.jsonl:2: the answer broke off"):
        await Player(path).answer()


async def test_pauses_are_kept_and_can_be_called_off(tmp_path: Path) -> None:
    path = tape(
        tmp_path, {"events": [{"event": "TextDelta", "text": "a"}, {"event": "Stop", "reason": "x", "at": 1e6}]}
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Player(path, speed=1).answer()
    assert len(await Player(path, speed=1e9).answer()) == 3
    assert len(await Player(path, speed=0).answer()) == 3


def test_without_a_cassette_it_says_how_to_set_one(tmp_path: Path) -> None:
    assert "No cassette is set" in str(Replay().unusable({}))
    assert "is not there" in str(Replay(cassette=Path("x.jsonl"), cwd=tmp_path).unusable({}))
    tape(tmp_path)
    assert Replay(cassette=Path("tape.jsonl"), cwd=tmp_path).unusable({}) is None


def test_it_costs_nothing() -> None:
    price = Replay().model("any").price
    assert price is not None
    assert price.of(MessageStart("", "").usage) == 0


def _examples() -> Sequence[str]:
    return [part.split("```")[0] for part in README.read_text().split("```jsonl\n")[1:]]


async def test_the_examples_of_the_readme_play(tmp_path: Path) -> None:
    fix, hello = _examples()
    path = tmp_path / "tape.jsonl"
    path.write_text(fix)
    player = Player(path, cwd=tmp_path)
    assert (await player.call()).input["path"] == str(tmp_path)
    assert (await player.call("src/money.py")).input == {"file_path": "src/money.py"}
    assert (await player.call("1\tdef split")).name == "Bash"
    edit = await player.answer("FAIL: test_split\nFAILED (failures=1)")
    assert TextDelta("test_split. ") in edit
    assert isinstance(edit[-2], ToolUse)
    assert edit[-2].input["file_path"] == "src/money.py"
    assert (await player.call("edited")).name == "Bash"
    assert await player.said("OK") == "All tests pass."
    path.write_text(hello)
    assert await Player(path).said() == "Hello."


def test_its_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, toolpost_provider_replay; print({'pydantic', 'httpx2', 'email'} & set(sys.modules) or 'nothing')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "nothing"
