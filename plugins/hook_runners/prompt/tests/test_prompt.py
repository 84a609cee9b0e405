from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import HookAnswer, HookJob, ModelRequest, ProviderError
from toolpost.services import Models
from toolpost.testing import make_scope
from toolpost_hook_runner_prompt import PromptRunner

NO = '{"ok": false, "reason": "tests are missing"}'
PAYLOAD = {"hook_event_name": "Stop", "last_assistant_message": "done"}


class SmallModel:
    small = "small-1"

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> str:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def run(
    folder: Path, answer: str | Exception, event: str = "Stop", prompt: str = "Are there tests?", **entry: Any
) -> tuple[HookAnswer, SmallModel]:
    model = SmallModel(answer)
    handler = {"type": "prompt", "prompt": prompt, **entry}
    job = HookJob(event=event, handler=handler, payload=PAYLOAD, timeout=5.0)
    return await PromptRunner().run(job, make_scope(folder, services={Models: model})), model


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("Judge $ARGUMENTS now", f"Judge {json.dumps(PAYLOAD)} now"),
        ("Judge it", f"Judge it\n\n{json.dumps(PAYLOAD)}"),
        (r"Costs \$ARGUMENTS", f"Costs $ARGUMENTS\n\n{json.dumps(PAYLOAD)}"),
        ("$ARGUMENTSX is no place", f"$ARGUMENTSX is no place\n\n{json.dumps(PAYLOAD)}"),
    ],
)
async def test_the_event_stands_where_the_prompt_wants_it(prompt: str, sent: str, tmp_path: Path) -> None:
    _, model = await run(tmp_path, '{"ok": true}', prompt=prompt)
    assert model.asked[0].last_text == sent


async def test_a_rule_that_is_not_kept_blocks_with_the_models_reason(tmp_path: Path) -> None:
    answer, _ = await run(tmp_path, NO)
    assert (answer.status, answer.reason, answer.output) == ("blocked", "tests are missing", {})


async def test_before_a_call_the_turn_ends_too_unless_the_hook_says_otherwise(tmp_path: Path) -> None:
    ends, _ = await run(tmp_path, NO, "PreToolUse")
    goes_on, _ = await run(tmp_path, NO, "PreToolUse", continueOnBlock=True)
    assert (ends.status, ends.output) == ("blocked", {"continue": False, "stopReason": "tests are missing"})
    assert (goes_on.status, goes_on.output) == ("blocked", {})


@pytest.mark.parametrize("event", ["PermissionRequest", "PermissionDenied"])
async def test_a_refusal_counts_for_nothing_where_a_person_decides(event: str, tmp_path: Path) -> None:
    answer, _ = await run(tmp_path, NO, event)
    assert (answer.status, answer.output) == ("ok", {})


async def test_what_can_not_be_kept_does_not_keep_the_agent_going(tmp_path: Path) -> None:
    impossible = '{"ok": false, "impossible": true, "reason": "there is no network"}'
    answer, _ = await run(tmp_path, impossible)
    assert answer.status == "ok"
    assert "there is no network" in answer.output["systemMessage"]
    assert (await run(tmp_path, impossible, "UserPromptSubmit"))[0].status == "blocked"


@pytest.mark.parametrize("said", ["yes", '{"ok": "true"}', "[true]", '{"ok": true} {"ok": false}', ""])
async def test_an_answer_that_is_no_verdict_is_a_failure(said: str, tmp_path: Path) -> None:
    assert (await run(tmp_path, said))[0].status == "failed"


async def test_a_model_that_can_not_be_asked_is_a_failure_that_says_why(tmp_path: Path) -> None:
    answer, _ = await run(tmp_path, ProviderError("the session's budget is used up", kind="billing_error"))
    assert (answer.status, "budget is used up" in answer.reason) == ("failed", True)


async def test_the_hooks_own_model_is_asked(tmp_path: Path) -> None:
    _, model = await run(tmp_path, '```json\n{"ok": true}\n```', model="big-1")
    _, usual = await run(tmp_path, '{"ok": true}')
    assert (model.asked[0].model, usual.asked[0].model) == ("big-1", "small-1")
