from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolpost import (
    EventBase,
    HookAnswer,
    HookJob,
    HookRunner,
    HookRunners,
    Origin,
    PostToolUse,
    PreToolUse,
    SessionScope,
    SessionStart,
    Stash,
    StopEvent,
    UserPromptSubmit,
)
from toolpost._hooks import options_of
from toolpost.testing import make_scope
from toolpost_lifecycle_settings_hooks import SettingsHooks
from toolpost_lifecycle_settings_hooks.bridge import BACKGROUND
from toolpost_lifecycle_settings_hooks.config import TITLES

Script = Callable[[HookJob], HookAnswer | Awaitable[HookAnswer]]


class ScriptRunner(HookRunner):
    type: ClassVar[str] = "command"

    def __init__(self) -> None:
        self.scripts: dict[str, Script | HookAnswer] = {}
        self.jobs: list[HookJob] = []

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        self.jobs.append(job)
        script = self.scripts[job.handler["command"]]
        if isinstance(script, HookAnswer):
            return script
        answer = script(job)
        return await answer if inspect.isawaitable(answer) else answer


class Session:
    """Settings, scripts and what was reported; `send` gives an event to its listener."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[str] = []
        self.settings: dict[str, Any] = {}
        self.runner = ScriptRunner()
        self._listeners: dict[str, Callable[..., Any]] | None = None
        self.scope = make_scope(
            folder,
            report=self.reports.append,
            services={HookRunners: self},
            results_dir=folder / "results",
            env={"PATH": str(folder / "bin")},
        )

    def get(self, type: str) -> HookRunner | None:
        return self.runner if type == "command" else None

    def configure(self, event: str, *commands: str, matcher: Any = None, **entry: Any) -> None:
        for command in commands:
            self.program(command.split()[0])
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, **entry} for command in commands]}
        if matcher is not None:
            group["matcher"] = matcher
        self.settings.setdefault("hooks", {}).setdefault(event, []).append(group)

    def program(self, name: str) -> None:
        """Have a program of that name: scripts run in its place, but it must be there."""
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.touch(0o755)

    def reload(self) -> None:
        """Have core ask for the listeners again."""
        self._listeners = None

    def script(self, **scripts: Script | HookAnswer) -> None:
        self.runner.scripts.update(scripts)

    def says(self, name: str, **output: Any) -> None:
        self.runner.scripts[name] = HookAnswer(status="ok", output=output)

    @property
    def listeners(self) -> dict[str, Callable[..., Any]]:
        if self._listeners is None:
            found = SettingsHooks().listeners(session=replace(self.scope, settings=self.settings))
            self._listeners = {vars(listener)["toolpost_impl"]["specname"]: listener for listener in found}
        return self._listeners

    async def send(self, title: str, event: EventBase) -> Any:
        origin = Origin(
            session_id="s1",
            cwd=self.folder,
            project=self.folder,
            transcript_path=self.folder / "t.jsonl",
            stash=self.scope.stash,
        )
        return await self.listeners[TITLES[title]](replace(event, origin=origin))

    @property
    def ran(self) -> list[str]:
        return [job.handler["command"] for job in self.runner.jobs]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


OK = HookAnswer(status="ok")
BASH = PreToolUse(tool_name="Bash", tool_input={"command": "git push"}, tool_use_id="t1")


def verdict(decision: str, reason: str = "", **more: Any) -> dict[str, Any]:
    return {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
        **more,
    }


async def test_only_configured_events_are_heard(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.configure("Stop", "a")
    assert sorted(session.listeners) == ["pre_tool_use", "stop"]


@pytest.mark.parametrize("settings", [{}, {"hooks": {}}, {"hooks": {"Stop": []}}, {"hooks": None}])
async def test_without_hooks_nothing_is_heard(session: Session, settings: dict[str, Any]) -> None:
    session.settings = settings
    assert session.listeners == {}


async def test_the_hook_gets_the_payload_its_entry_and_its_time(session: Session) -> None:
    session.configure("PreToolUse", "a", timeout=7)
    session.script(a=OK)
    assert await session.send("PreToolUse", BASH) is not None
    (job,) = session.runner.jobs
    assert job.payload["hook_event_name"] == "PreToolUse"
    assert job.payload["tool_input"] == {"command": "git push"}
    assert job.handler == {"type": "command", "command": "a", "timeout": 7}
    assert (job.timeout, job.source) == (7.0, "hooks.PreToolUse[0].hooks[0]")


async def test_a_hook_runs_only_for_what_its_matcher_takes(session: Session) -> None:
    session.configure("PreToolUse", "bash", matcher="Bash")
    session.configure("PreToolUse", "edit", matcher="Edit|Write")
    session.configure("PreToolUse", "all")
    session.script(bash=OK, edit=OK, all=OK)
    await session.send("PreToolUse", BASH)
    assert session.ran == ["bash", "all"]


async def test_identical_hooks_run_once(session: Session) -> None:
    session.configure("PreToolUse", "a", matcher="Bash")
    session.configure("PreToolUse", "a", "b")
    session.script(a=OK, b=OK)
    await session.send("PreToolUse", BASH)
    assert session.ran == ["a", "b"]


async def test_hooks_run_together_on_the_original_input(session: Session) -> None:
    meeting = asyncio.Barrier(2)

    def script(name: str) -> Callable[[HookJob], Any]:
        async def run(job: HookJob) -> HookAnswer:
            async with asyncio.timeout(30):
                await meeting.wait()
            seen = job.payload["tool_input"]["command"]
            change = verdict("allow", updatedInput={"command": f"{seen} {name}"})
            return HookAnswer(status="ok", output={"hookSpecificOutput": change})

        return run

    session.configure("PreToolUse", "a", "b")
    session.script(a=script("a"), b=script("b"))
    outcome = await session.send("PreToolUse", BASH)
    assert outcome.updated_input == {"command": "git push b"}


@pytest.mark.parametrize(
    ("decisions", "merged"),
    [
        (["allow", "ask"], "ask"),
        (["ask", "defer"], "defer"),
        (["defer", "deny", "allow"], "deny"),
        (["allow", "allow"], "allow"),
    ],
)
async def test_the_strictest_decision_counts(session: Session, decisions: list[str], merged: str) -> None:
    session.configure("PreToolUse", *[f"h{number}" for number in range(len(decisions))])
    for number, decision in enumerate(decisions):
        session.says(f"h{number}", hookSpecificOutput=verdict(decision, f"because {decision}"))
    outcome = await session.send("PreToolUse", BASH)
    assert outcome.decision == merged
    assert f"because {merged}" in outcome.reason


async def test_the_old_words_approve_and_block_still_count(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", decision="approve")
    assert (await session.send("PreToolUse", BASH)).decision == "allow"
    session.says("a", decision="block", reason="no")
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.decision, outcome.reason) == ("deny", "no")


@pytest.mark.parametrize("decision", ["deny", "ask"])
async def test_a_decision_beside_the_object_that_is_for_it_is_not_passed_over(decision: str, session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", permissionDecision=decision, permissionDecisionReason="no rm")
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.decision, outcome.reason, session.reports) == (decision, "no rm", [])
    session.says("a", permissionDecision="allow", hookSpecificOutput=verdict("deny"))
    assert (await session.send("PreToolUse", BASH)).decision == "deny"


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ({"decison": "block"}, "decison means nothing; did you mean 'decision'?"),
        (
            {"hookSpecificOutput": {"updatedinput": {}}},
            "updatedinput means nothing at PreToolUse; did you mean 'updatedInput'?",
        ),
        ({"terminalSequence": "x"}, "terminalSequence means nothing here"),
        ({"hookSpecificOutput": {"updatedToolOutput": "x"}}, "updatedToolOutput means nothing at PreToolUse"),
        ({"hookSpecificOutput": {"reason": "x"}}, "hookSpecificOutput.reason means nothing at PreToolUse"),
    ],
)
async def test_what_of_an_answer_means_nothing_is_told_once(
    output: dict[str, Any], says: str, session: Session
) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", **output)
    for _ in range(2):
        await session.send("PreToolUse", BASH)
    (report,) = session.reports
    assert report.startswith("PreToolUse hook (a): ")
    assert says in report


@pytest.mark.parametrize("output", [{"suppressOutput": True}, {"my_own_note": 1}])
async def test_what_others_may_read_is_not(output: dict[str, Any], session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", **output)
    await session.send("PreToolUse", BASH)
    assert session.reports == []


async def test_output_that_would_be_json_is_told_of_where_it_decides_nothing(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.script(a=HookAnswer(status="ok", text='{"decision":'))
    for _ in range(2):
        assert (await session.send("PreToolUse", BASH)).decision is None
    assert session.reports == ["PreToolUse hook (a): its output begins like JSON and is none, so it decides nothing"]


@pytest.mark.parametrize(("event", "value"), [("PreToolUse", BASH), ("Stop", StopEvent())])
async def test_a_gate_that_failed_says_that_it_held_nothing_back(event: str, value: Any, session: Session) -> None:
    session.configure(event, "a")
    session.script(a=HookAnswer(status="failed", reason="no model"))
    await session.send(event, value)
    (report,) = session.reports
    assert report.endswith("; it held nothing back") is (event == "PreToolUse")


async def test_what_a_failure_says_is_bounded(session: Session) -> None:
    session.configure("PreToolUse", "a", onFailure="block")
    session.script(a=HookAnswer(status="failed", reason="x" * 1_000_000))
    outcome = await session.send("PreToolUse", BASH)
    assert outcome.decision == "deny"
    assert all(
        len(text) < 1_200 and "(1,000,000 characters in all)" in text for text in (outcome.reason, *session.reports)
    )


async def test_a_block_is_not_outdone_by_an_allow_in_the_same_answer(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", decision="block", hookSpecificOutput=verdict("allow"))
    assert (await session.send("PreToolUse", BASH)).decision == "deny"


@pytest.mark.parametrize(
    "output",
    [
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "yes"}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": True}},
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}},
        {"hookSpecificOutput": "allow"},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": "x"}},
        {"decision": "allow"},
        {"decision": "approve", "systemMessage": 7},
    ],
)
async def test_an_answer_that_does_not_fit_is_an_error_and_no_allow(session: Session, output: dict[str, Any]) -> None:
    session.configure("PreToolUse", "a")
    session.says("a", **output)
    assert await session.send("PreToolUse", BASH) is None
    (report,) = session.reports
    assert report.startswith("PreToolUse hook failed (a): ")


async def test_exit_code_2_denies_with_the_hooks_reason(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.script(a=HookAnswer(status="blocked", reason="not on Fridays", output={"decision": "approve"}))
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.decision, outcome.reason) == ("deny", "not on Fridays")


async def test_exit_code_2_blocks_also_with_json_that_does_not_fit(session: Session) -> None:
    session.configure("PreToolUse", "a")
    session.script(a=HookAnswer(status="blocked", reason="no", output={"decision": 7}))
    assert (await session.send("PreToolUse", BASH)).decision == "deny"


@pytest.mark.parametrize(("status", "word"), [("failed", "hook failed"), ("timed_out", "hook timed out")])
async def test_a_hook_that_fails_is_reported_and_the_call_goes_on(session: Session, status: Any, word: str) -> None:
    session.configure("PreToolUse", "broken", "fine")
    session.script(broken=HookAnswer(status=status, reason="why"))
    session.says("fine", hookSpecificOutput=verdict("allow"))
    assert (await session.send("PreToolUse", BASH)).decision == "allow"
    assert session.reports == [f"PreToolUse {word} (broken): why; it held nothing back"]


@pytest.mark.parametrize(("status", "word"), [("failed", "hook failed"), ("timed_out", "hook timed out")])
async def test_a_hook_that_must_not_fail_blocks_when_it_does(session: Session, status: Any, word: str) -> None:
    session.configure("PreToolUse", "a", onFailure="block")
    session.script(a=HookAnswer(status=status, reason="why"))
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.decision, outcome.reason) == ("deny", f"PreToolUse {word} (a): why")


async def test_an_exit_code_is_a_failure_unless_the_output_decides(session: Session) -> None:
    session.configure("PreToolUse", "a", onFailure="block")
    session.script(a=HookAnswer(status="ok", exit_code=1, output={"systemMessage": "broken"}))
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.decision, "exit code 1" in outcome.reason) == ("deny", True)
    session.script(a=HookAnswer(status="ok", exit_code=1, output={"hookSpecificOutput": verdict("allow")}))
    assert (await session.send("PreToolUse", BASH)).decision == "allow"


async def test_the_end_of_a_turn_is_not_blocked_by_a_failure(session: Session) -> None:
    session.configure("Stop", "a", onFailure="block")
    session.script(a=HookAnswer(status="failed", reason="why"))
    assert await session.send("Stop", StopEvent()) is None


async def test_broken_json_counts_as_a_failure_where_the_hook_must_not_fail(session: Session) -> None:
    session.configure("PreToolUse", "a", onFailure="block")
    session.script(a=HookAnswer(status="ok", text='{"decision": '))
    assert (await session.send("PreToolUse", BASH)).decision == "deny"


async def test_a_runner_that_raises_is_a_failed_hook(session: Session) -> None:
    def raises(job: HookJob) -> HookAnswer:
        raise RuntimeError("oops")

    session.configure("PreToolUse", "a")
    session.script(a=raises)
    assert await session.send("PreToolUse", BASH) is None
    assert "RuntimeError: oops" in session.reports[0]


async def test_a_type_that_nobody_runs_is_named(session: Session) -> None:
    session.settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "https://x"}]}]}}
    assert await session.send("PreToolUse", BASH) is None
    assert "'http'" in session.reports[0]
    assert "hooks.PreToolUse[0].hooks[0]" in session.reports[0]


async def test_all_contexts_are_delivered_in_order(session: Session) -> None:
    session.configure("PostToolUse", "a", "b")
    for name in ("a", "b"):
        session.says(name, hookSpecificOutput={"hookEventName": "PostToolUse", "additionalContext": f"from {name}"})
    outcome = await session.send("PostToolUse", PostToolUse(tool_name="Bash"))
    assert outcome.additional_context == "from a\nfrom b"


async def test_continue_false_stops_whatever_else_was_said(session: Session) -> None:
    session.configure("PreToolUse", "a", "b")
    session.says("a", hookSpecificOutput=verdict("allow"))
    session.says("b", **{"continue": False, "stopReason": "enough", "systemMessage": "look"})
    outcome = await session.send("PreToolUse", BASH)
    assert (outcome.stop, outcome.stop_reason, outcome.system_message) == (True, "enough", "look")


async def test_plain_output_is_context_for_a_prompt_and_at_the_start(session: Session) -> None:
    for event in ("UserPromptSubmit", "SessionStart", "PreToolUse"):
        session.configure(event, "a")
    session.script(a=HookAnswer(status="ok", text="It rains."))
    assert (await session.send("UserPromptSubmit", UserPromptSubmit(prompt="x"))).additional_context == "It rains."
    assert (await session.send("SessionStart", SessionStart())).additional_context == "It rains."
    assert (await session.send("PreToolUse", BASH)).additional_context == ""


async def test_a_condition_keeps_a_hook_from_running(session: Session) -> None:
    session.configure("PreToolUse", "push", **{"if": "Bash(git push:*)"})
    session.configure("PreToolUse", "pull", **{"if": "Bash(git pull:*)"})
    session.script(push=OK, pull=OK)
    await session.send("PreToolUse", BASH)
    assert session.ran == ["push"]


async def test_once_is_once_a_session(session: Session) -> None:
    session.configure("PreToolUse", "a", once=True)
    session.script(a=OK)
    await session.send("PreToolUse", BASH)
    assert await session.send("PreToolUse", BASH) is None
    assert session.ran == ["a"]


async def test_once_stays_once_where_a_reload_makes_the_listeners_anew(session: Session) -> None:
    session.configure("PreToolUse", "a", once=True)
    session.script(a=OK, b=OK)
    await session.send("PreToolUse", BASH)
    session.configure("PreToolUse", "b", once=True)
    session.reload()
    await session.send("PreToolUse", BASH)
    await session.send("PreToolUse", BASH)
    assert session.ran == ["a", "b"]


@pytest.mark.parametrize(
    ("event", "given", "expected"),
    [
        ("PreToolUse", None, 600.0),
        ("PreToolUse", 3, 3.0),
        ("UserPromptSubmit", None, 30.0),
        ("UserPromptSubmit", 90, 90.0),
        ("MessageDisplay", None, 10.0),
        ("SessionEnd", None, 1.5),
        ("SessionEnd", 20, 20.0),
        ("SessionEnd", 300, 60.0),
    ],
)
async def test_core_waits_for_a_listener_longer_than_its_hooks_may_take(
    session: Session, event: str, given: float | None, expected: float
) -> None:
    session.configure(event, "a", **({} if given is None else {"timeout": given}))
    (listener,) = session.listeners.values()
    assert options_of(listener).timeout == expected + 5.0


@pytest.mark.parametrize(("said", "expected"), [("4000", 4.0), ("900000", 60.0), ("soon", 1.5), ("", 1.5)])
async def test_the_environment_says_how_long_a_session_may_take_to_end(
    said: str, expected: float, session: Session
) -> None:
    session.scope = replace(session.scope, env={**session.scope.env, "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": said})
    session.configure("SessionEnd", "a")
    (listener,) = session.listeners.values()
    assert options_of(listener).timeout == expected + 5.0


async def test_a_bad_entry_is_reported_and_the_others_run(session: Session) -> None:
    session.settings = {
        "hooks": {
            "PreToolUse": [
                {"matcher": "(", "hooks": [{"type": "command", "command": "a"}]},
                "no group",
                {"hooks": [{"type": "command"}, {"command": "a"}, {"type": "command", "command": "b", "timeout": -1}]},
                {"hooks": [{"type": "command", "command": "b", "onFailure": "explode"}]},
                {"hooks": [{"type": "command", "command": "good"}]},
            ],
            "PreToolUze": [{"hooks": [{"type": "command", "command": "a"}]}],
            "Stop": {"hooks": []},
            "SessionStart": [{"hooks": [{"type": "prompt", "prompt": "x"}]}],
            "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "a", "if": "Bash"}]}],
        }
    }
    session.script(good=OK)
    session.program("good")
    await session.send("PreToolUse", BASH)
    assert session.ran == ["good"]
    assert list(session.listeners) == ["pre_tool_use"]
    expected = [
        "hooks.PreToolUse[0].matcher '('",
        "hooks.PreToolUse[1] must be an object",
        "hooks.PreToolUse[2].hooks[0] needs a 'command'",
        "hooks.PreToolUse[2].hooks[1] must be an object with a 'type'",
        "hooks.PreToolUse[2].hooks[2] has the timeout -1",
        "hooks.PreToolUse[3].hooks[0] has onFailure 'explode'",
        "hooks.PreToolUze is no event, so its hooks never run. Did you mean 'PreToolUse'?",
        "hooks.Stop must be a list",
        "hooks.SessionStart[0].hooks[0] is of type 'prompt'",
        "hooks.UserPromptSubmit[0].hooks[0] has an 'if'",
    ]
    assert [text in report for text, report in zip(expected, session.reports, strict=True)] == [True] * 10


async def test_a_long_text_goes_to_a_file_and_its_beginning_to_the_model(session: Session) -> None:
    session.configure("UserPromptSubmit", "a")
    session.script(a=HookAnswer(status="ok", text="x" * 10_001))
    context = (await session.send("UserPromptSubmit", UserPromptSubmit(prompt="x"))).additional_context
    assert len(context) < 2_500
    (file,) = (session.folder / "results").iterdir()
    assert str(file) in context
    assert file.read_text() == "x" * 10_001


async def test_a_hook_in_the_background_holds_nothing_up_and_tells_later(session: Session) -> None:
    go = asyncio.Event()

    async def slow(job: HookJob) -> HookAnswer:
        await go.wait()
        said = {"decision": "block", "hookSpecificOutput": {"additionalContext": "tests are red"}}
        return HookAnswer(status="ok", output=said)

    session.configure("PostToolUse", "a", **{"async": True})
    session.script(a=slow)
    assert await session.send("PostToolUse", PostToolUse(tool_name="Edit")) is None
    go.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    outcome = await session.send("UserPromptSubmit", UserPromptSubmit(prompt="x"))
    assert outcome.additional_context == "tests are red"
    assert outcome.block is False


@pytest.mark.parametrize("cleared", [False, True])
async def test_hooks_in_the_background_end_with_the_conversation(session: Session, *, cleared: bool) -> None:
    ended = asyncio.Event()

    async def endless(job: HookJob) -> HookAnswer:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return OK

    session.configure("Stop", "a", **{"async": True})
    session.script(a=endless)
    if cleared:
        assert session.listeners
        session.scope = replace(session.scope, stash=Stash())
    await session.send("Stop", StopEvent())
    await asyncio.sleep(0)
    await session.scope.stash.aclose()
    assert ended.is_set()
    assert BACKGROUND not in session.scope.stash


async def test_payloads_are_json(session: Session) -> None:
    session.configure("PostToolUse", "a")
    session.script(a=lambda job: HookAnswer(status="ok", errors=json.dumps(dict(job.payload))))
    response = {"set": {1}, "bytes": b"x", "object": object()}
    await session.send("PostToolUse", PostToolUse(tool_name="X", tool_response=response))
    assert session.reports == []
