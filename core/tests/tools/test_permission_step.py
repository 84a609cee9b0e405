"""The permission step of one call: rules, persons, hooks that answer, and the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, result_of, run, texts
from fake_tools import HI, DeniesText, Echo, EchoInput, asked, call, pre

from toolpost import Reply, ToolFinished, ToolUse, on
from toolpost.events.permission import PermissionDeniedOutcome, PermissionRequestOutcome
from toolpost.testing import FakeModel

# Step 8: permission.


@pytest.mark.requirement("permissions.ask_without_a_person_is_deny")
async def test_a_call_that_nobody_allows_is_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    done = await call(tmp_path, allow=False)

    assert (done.finished.is_error, done.ran) == (True, [])
    assert [d["tool_name"] for d in result_of(done.events).permission_denials] == ["Echo"]


async def test_a_person_is_shown_why_and_what_and_may_say_yes(tmp_path: Path) -> None:
    done, questions = await asked(tmp_path, Reply(allow=True))

    assert done.text == "hi"
    (question,) = questions
    assert (question.title, question.decision.reason) == ("Echo", "echoes carry far")


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(
    ("changed", "says"), [({"text": "ho"}, "ho"), ({"x": 1}, "does not fit"), ({"text": "forbidden"}, "must not be")]
)
async def test_the_input_that_a_person_changed_is_checked_and_run(
    tmp_path: Path, changed: Mapping[str, Any], says: str
) -> None:
    done, questions = await asked(tmp_path, Reply(allow=True, updated_input=changed))

    assert len(questions) == 1
    assert says in done.text
    assert done.ran == (["ho"] if says == "ho" else [])


@pytest.mark.requirement("abort.child_to_parent_only_on_stop")
async def test_a_refusal_with_stop_ends_the_turn_and_the_next_prompt_goes_on(tmp_path: Path) -> None:
    async def ask(question: Any) -> Reply:
        return Reply(allow=False, stop=True)

    model = FakeModel(ToolUse("toolu_1", "Echo", HI), "Hello again.")
    async with fake_session(tmp_path, model, Echo(ran=[]), ask=ask, allow=False) as session:
        first = result_of(await run(session))
        second = result_of(await run(session))

    assert first.terminal_reason == "aborted_tools"
    assert (second.terminal_reason, second.text) == ("completed", "Hello again.")


async def test_a_refusal_without_stop_lets_the_model_go_on(tmp_path: Path) -> None:
    done, _ = await asked(tmp_path, Reply(allow=False))

    assert result_of(done.events).terminal_reason == "completed"
    assert "The user refused" in done.text


async def test_a_call_that_was_refused_still_tells_what_it_was_about(tmp_path: Path) -> None:
    class Telling(Echo):
        def render_call(self, input: EchoInput) -> str:
            return f"say {input.text}"

    async def ask(question: Any) -> Reply:
        return Reply(allow=False)

    async with fake_session(
        tmp_path, FakeModel(ToolUse("t", "Echo", HI), "Well."), Telling(ran=[]), ask=ask, allow=False
    ) as session:
        (finished,) = of_type(await run(session), ToolFinished)

    assert (finished.is_error, finished.summary) == (True, "say hi")


async def test_a_front_end_that_fails_to_ask_grants_nothing(tmp_path: Path) -> None:
    async def ask(question: Any) -> Any:
        raise OSError("the terminal is gone")

    done = await call(tmp_path, allow=False, ask=ask)

    assert (done.finished.is_error, done.ran) == (True, [])


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_permission_hook_answers_in_the_persons_place(tmp_path: Path, decision: Any) -> None:
    answer = PermissionRequestOutcome(decision=decision, message="policy 7")
    done, questions = await asked(
        tmp_path, Reply(allow=decision == "deny"), listen(on.permission_request, lambda event: answer)
    )

    assert questions == []
    assert (done.ran == ["hi"]) == (decision == "allow")
    assert decision == "allow" or done.text.startswith("A hook denied this call: policy 7")


async def test_a_permission_hook_answers_where_nobody_can_be_asked(tmp_path: Path) -> None:
    answer = PermissionRequestOutcome(decision="allow")
    done = await call(tmp_path, listen(on.permission_request, lambda event: answer), allow=False)

    assert done.ran == ["hi"]


async def test_a_permission_hook_that_fails_leaves_the_question_to_the_person(tmp_path: Path) -> None:
    def broken(event: Any) -> None:
        raise RuntimeError("hook bug")

    answer = PermissionRequestOutcome(decision="allow")
    done, questions = await asked(
        tmp_path,
        Reply(allow=False),
        listen(on.permission_request, broken),
        listen(on.permission_request, lambda event: answer),
    )

    assert len(questions) == 1
    assert done.ran == []


async def test_a_permission_hook_that_interrupts_ends_the_turn(tmp_path: Path) -> None:
    answer = PermissionRequestOutcome(decision="deny", message="stop it", interrupt=True)
    done, _ = await asked(tmp_path, Reply(allow=True), listen(on.permission_request, lambda event: answer))

    assert result_of(done.events).terminal_reason == "aborted_tools"


async def test_the_input_of_a_permission_hook_is_checked_against_the_rules(tmp_path: Path) -> None:
    tool = DeniesText(ran=[])
    answer = PermissionRequestOutcome(decision="allow", updated_input={"text": "secret"})
    model = FakeModel(ToolUse("toolu_1", "Echo", HI), "Done.")
    hook = listen(on.permission_request, lambda event: answer)
    async with fake_session(tmp_path, model, tool, hook, allow=False) as session:
        events = await run(session)

    assert tool.ran == []
    assert "off limits" in texts(events)["toolu_1"]


@pytest.mark.parametrize("mode", ["default", "dontAsk"])
async def test_listeners_hear_of_each_refusal_without_a_person_and_may_invite_a_retry(
    tmp_path: Path, mode: str
) -> None:
    hears = listen(on.permission_denied, lambda event: PermissionDeniedOutcome(retry=True))
    denied = await call(tmp_path, pre("deny", reason="no"), hears, permission_mode=mode)
    unasked = await call(tmp_path, hears, allow=False, permission_mode=mode)

    assert "You may try again." in denied.text
    assert "You may try again." in unasked.text


@pytest.mark.requirement("permissions.every_decision_recorded")
async def test_every_decision_is_recorded_with_the_input_asked_for_and_the_input_that_ran(tmp_path: Path) -> None:
    await call(tmp_path, pre("allow", reason="fine", updated_input={"text": "ho"}))
    (file,) = (tmp_path / "state").glob("projects/*/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (record,) = [r for r in records if r["type"] == "permission-decision"]

    assert (record["toolUseId"], record["decision"], record["final"]) == ("toolu_1", "allow", "allow")
    assert (record["requestedInput"], record["effectiveInput"]) == ({"text": "hi"}, {"text": "ho"})
    assert {entry["by"] for entry in record["trace"]} == {"PreToolUse hook", "p002"}


@pytest.mark.requirement("permissions.every_decision_recorded")
async def test_the_record_has_the_input_that_a_person_put_in_the_place_of_the_models(tmp_path: Path) -> None:
    await asked(tmp_path, Reply(allow=True, updated_input={"text": "ho"}))
    (file,) = (tmp_path / "state").glob("projects/*/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    decided = [r for r in records if r["type"] == "permission-decision"]

    assert decided[-1]["final"] == "allow"
    assert decided[-1]["effectiveInput"] == {"text": "ho"}


async def test_a_permission_hook_is_told_what_yes_always_would_grant(tmp_path: Path) -> None:
    heard: list[Any] = []
    hears = listen(on.permission_request, lambda event: heard.extend(event.permission_suggestions))
    await asked(tmp_path, Reply(allow=True), hears)

    assert heard == []  # the tool itself asks, and it suggests nothing
    await call(tmp_path, hears, allow=False)
    assert [update["rules"] for update in heard] == [[{"toolName": "Echo"}]]


@pytest.mark.parametrize("decision", ["allow", None])
async def test_a_permission_hook_that_ends_the_turn_grants_nothing(tmp_path: Path, decision: Any) -> None:
    answer = PermissionRequestOutcome(decision=decision, stop=True, stop_reason="out of hours")
    done, questions = await asked(tmp_path, Reply(allow=True), listen(on.permission_request, lambda event: answer))

    assert (questions, done.ran) == ([], [])
    assert "out of hours" in done.text
    assert result_of(done.events).terminal_reason == "aborted_tools"


async def test_a_listener_to_refusals_tells_the_model_more(tmp_path: Path) -> None:
    answer = PermissionDeniedOutcome(retry=True, additional_context="See policy 7.")
    done = await call(tmp_path, listen(on.permission_denied, lambda event: answer), allow=False)

    assert done.text.endswith("\nYou may try again.\nSee policy 7.")
