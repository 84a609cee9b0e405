"""What a person who looks for a mistake is told of each hook, and what wakes the model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hook_doubles import Bench, Log  # type: ignore[import-not-found]

from toolpost import CwdChanged, FileChanged, HookAnswer, HookJob, PreToolUse, SessionStart, StopEvent, UserPromptSubmit

OK = HookAnswer(status="ok", exit_code=0)
CALL = PreToolUse(tool_name="Read", tool_input={"file_path": "/a"}, tool_use_id="t1")


def entry(answer: Any, **more: Any) -> dict[str, Any]:
    return {"type": "fake", "prompt": "look", "answer": answer, **more}


def group(*entries: dict[str, Any], matcher: str = "") -> dict[str, Any]:
    return {"matcher": matcher, "hooks": list(entries)}


async def test_each_hook_of_an_event_is_told_of_with_why_it_did_not_run(tmp_path: Path) -> None:
    deny = HookAnswer(status="blocked", reason="no", exit_code=2)
    groups = [
        group(entry(OK), entry(OK), matcher="Read|Edit"),
        group(entry(OK), matcher="Bash"),
        group(entry(deny, once=True), entry(OK, **{"if": "Read(/b)"})),
    ]
    bench = Bench(tmp_path, {"PreToolUse": groups})
    await bench.send("PreToolUse", CALL)
    await bench.send("PreToolUse", CALL)

    first, second = bench.log.firings
    assert (first.event, first.subject) == ("PreToolUse", "Read")
    assert [run.source for run in first.runs] == [
        f"hooks.PreToolUse[{n}].hooks[{m}]" for n, m in [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]
    ]
    assert [run.skipped for run in first.runs] == [
        "",
        "it is the same as hooks.PreToolUse[0].hooks[0]",
        "its matcher 'Bash' does not take 'Read'",
        "",
        "its if 'Read(/b)' does not cover the call",
    ]
    ran = first.runs[3]
    assert (ran.hook, ran.answer) == ("fake: look", deny)
    assert getattr(ran.outcome, "decision", None) == "deny"
    assert second.runs[3].skipped == "it runs once, and has run"


async def test_the_hooks_of_an_agent_are_for_its_events_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"PreToolUse": [{**group(entry(OK)), "agentId": "a1"}, group(entry(OK))]})
    for agent in ("a1", "a2", None):
        await bench.send("PreToolUse", CALL, agent=agent)

    assert [[run.skipped for run in firing.runs] for firing in bench.log.firings] == [
        ["", ""],
        ["it is of the agent a1", ""],
        ["it is of the agent a1", ""],
    ]


@pytest.mark.parametrize("odd", [3, "x", {"root": "/"}, None])
async def test_a_plugin_or_agent_that_is_none_is_passed_over(odd: Any, tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"PreToolUse": [{**group(entry(OK)), "plugin": odd, "agentId": ["a1"]}]})
    await bench.send("PreToolUse", CALL)
    (run,) = bench.log.firings[0].runs
    assert (run.skipped, run.answer) == ("", OK)


async def test_nothing_is_put_together_where_nobody_looks(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"PreToolUse": [group(entry(OK))]}, log=Log(wanted=False))
    await bench.send("PreToolUse", CALL)
    assert bench.log.firings == []


async def test_two_hooks_that_rewrite_the_same_call_are_both_named_and_the_last_counts(tmp_path: Path) -> None:
    def rewrites(path: str) -> HookAnswer:
        specific = {"hookEventName": "PreToolUse", "updatedInput": {"file_path": path}}
        return HookAnswer(status="ok", output={"hookSpecificOutput": specific})

    bench = Bench(tmp_path, {"PreToolUse": [group(entry(rewrites("/b")), entry(rewrites("/c")))]})
    outcome = await bench.send("PreToolUse", CALL)
    assert outcome.updated_input == {"file_path": "/c"}
    (report,) = bench.reports
    assert all(f"hooks.PreToolUse[0].hooks[{n}]" in report for n in (0, 1))


@pytest.mark.parametrize(
    ("event", "value", "blocks"),
    [
        ("PreToolUse", CALL, lambda outcome: outcome.decision == "deny" and "timed out" in outcome.reason),
        (
            "UserPromptSubmit",
            UserPromptSubmit(prompt="x"),
            lambda outcome: outcome.block and "timed out" in outcome.reason,
        ),
        ("Stop", StopEvent(), lambda outcome: outcome is None),
    ],
)
async def test_a_callback_that_answers_too_late_blocks_where_it_is_a_gate(
    event: str, value: Any, blocks: Any, tmp_path: Path
) -> None:
    late = HookAnswer(status="timed_out", reason="it did not return within 1 s")
    bench = Bench(tmp_path, {event: [group({"type": "callback", "callback": len, "answer": late})]})
    assert blocks(await bench.send(event, value))
    assert bench.reports == [f"{event} hook timed out (len): it did not return within 1 s"]


async def test_a_command_that_answers_too_late_does_not(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"PreToolUse": [group(entry(HookAnswer(status="timed_out", reason="late")))]})
    assert await bench.send("PreToolUse", CALL) is None


@pytest.mark.parametrize(
    ("answer", "reads"),
    [
        (HookAnswer(status="blocked", reason="3 tests fail", errors="3 tests fail", text="log"), "3 tests fail"),
        (HookAnswer(status="blocked", reason="it gave no reason", text="printed only"), "printed only"),
    ],
)
async def test_a_hook_in_the_background_wakes_the_model(answer: HookAnswer, reads: str, tmp_path: Path) -> None:
    go = asyncio.Event()

    async def later(job: HookJob) -> HookAnswer:
        await go.wait()
        return answer

    bench = Bench(tmp_path, {"Stop": [group(entry(later, asyncRewake=True))]})
    assert await bench.send("Stop", StopEvent()) is None
    assert bench.inbox.expected == 1, "a session without a person waits for it"
    go.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    (text,) = bench.inbox.texts
    assert text.endswith(f"says:\n{reads}")
    assert bench.inbox.expected == 0
    assert "'look'" in text


async def test_one_that_has_nothing_to_say_wakes_nobody(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"Stop": [group(entry(OK, asyncRewake=True), entry(OK, **{"async": True}))]})
    await bench.send("Stop", StopEvent())
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert (bench.inbox.texts, bench.inbox.expected) == ([], 0)


async def test_the_literal_names_of_matchers_are_watched(tmp_path: Path) -> None:
    groups = [group(entry(OK), matcher=".env|.envrc"), group(entry(OK)), group(entry(OK), matcher="a.toml|.env")]
    bench = Bench(tmp_path, {"FileChanged": groups})
    started = await bench.send("SessionStart", SessionStart())
    moved = await bench.send("CwdChanged", CwdChanged(old_cwd=tmp_path, new_cwd=tmp_path))
    assert started.watch_paths == moved.watch_paths == (".env", ".envrc", "a.toml")


async def test_a_hook_for_every_file_watches_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"FileChanged": [group(entry(OK))]})
    assert sorted(bench.listeners) == ["file_changed"]
    await bench.send("FileChanged", FileChanged(file_path=tmp_path / "x"))
    assert [run.skipped for run in bench.log.firings[0].runs] == [""]


async def test_what_a_hook_tells_that_moved_to_the_background_is_read_with_the_next_request(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def ends() -> HookAnswer:
        await go.wait()
        said = {"decision": "block", "reason": "tests are red", "systemMessage": "look at the tests"}
        return HookAnswer(status="ok", output=said)

    async def moves(job: HookJob) -> HookAnswer:
        return HookAnswer(status="ok", output={"async": True}, later=ends())

    bench = Bench(tmp_path, {"PreToolUse": [group(entry(moves))]})
    assert await bench.send("PreToolUse", CALL) is None
    go.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert (bench.inbox.texts, bench.reports) == (["tests are red"], ["look at the tests"])


async def test_one_that_always_has_something_to_say_wakes_the_model_eight_times(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"Stop": [group(entry(HookAnswer(status="blocked", reason="more"), asyncRewake=True))]})
    for _ in range(10):
        await bench.send("Stop", StopEvent())
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert len(bench.inbox.texts) == 8
    assert "it woke the model 8 times" in bench.reports[0]
