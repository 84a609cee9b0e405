"""`--max-budget-usd` over HTTP: what is left decides before a request whether it is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, Step, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
MODEL = "claude-sonnet-4-5"


class Place:
    """A project, and a program that is run there to its end."""

    def __init__(self, folder: Path) -> None:
        self._project, self.home = folder / "project", folder / "home"
        self._project.mkdir()

    def run(self, api: MockMessagesApi, *args: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the result."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        command = [TOOLPOST, "-p", "go", "--model", MODEL, "--output-format", "json", "--dangerously-skip-permissions"]
        done = subprocess.run(
            [*command, *args], cwd=self._project, env=env, text=True, capture_output=True, timeout=60, check=False
        )
        return done.returncode, json.loads(done.stdout)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def costs(output_tokens: int, name: str) -> Step:
    """An answer with a call; a million tokens of output cost 15 dollars."""
    return turn(tool_use("Bash", {"command": "true"}, id=name), usage={"output_tokens": output_tokens})


@pytest.mark.requirement("budget.stops_the_run")
def test_no_request_is_sent_that_what_is_left_does_not_pay(place: Place) -> None:
    script: list[Step] = [costs(60_000, f"t{number}") for number in range(9)]
    with MockMessagesApi(script).run_in_thread() as api:
        code, result = place.run(api, "--max-budget-usd", "2")

    assert (code, result["subtype"], result["terminal_reason"]) == (1, "error_max_budget_usd", "budget_exhausted")
    assert len(api.requests) == 3, "the third was begun while there was enough, and is not cut"
    assert "dollars are spent" in result["errors"][0]


def test_a_budget_that_does_not_pay_the_first_prompt_sends_nothing(place: Place) -> None:
    with MockMessagesApi([]).run_in_thread() as api:
        code, result = place.run(api, "--max-budget-usd", "0.001")

    assert (code, result["subtype"], result["total_cost_usd"]) == (1, "error_max_budget_usd", 0)
    assert api.requests == []


def test_a_run_within_its_budget_completes(place: Place) -> None:
    with MockMessagesApi([costs(60_000, "t1"), "Done."]).run_in_thread() as api:
        code, result = place.run(api, "--max-budget-usd", "2")

    assert (code, result["result"]) == (0, "Done.")
    assert 0.9 < result["total_cost_usd"] < 1.2


@pytest.mark.requirement("budget.one_for_plugins")
def test_what_hooks_ask_the_model_is_paid_from_the_same_budget(place: Place) -> None:
    asks = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"}]}]}}
    fine = json.dumps({"ok": True})
    script: list[Step] = [turn(fine, usage={"output_tokens": 200_000}), "Done."]
    with MockMessagesApi(script).run_in_thread() as api:
        code, result = place.run(api, "--settings", json.dumps(asks), "--max-budget-usd", "0.05")

    assert (code, result["subtype"]) == (1, "error_max_budget_usd")
    assert len(api.requests) == 1, "the hook's request used it up"
