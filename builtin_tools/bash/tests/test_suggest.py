from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import PermissionScope
from toolpost_tool_bash.tool import Bash, BashInput

SCOPE = PermissionScope(cwd=Path("/srv"), home=Path("/home/me"), project=Path("/srv"), directories=(Path("/srv"),))


def offered(command: str) -> list[str]:
    updates = Bash().suggestions(BashInput(command), SCOPE)
    return [rule["ruleContent"] for update in updates for rule in update["rules"]]


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm test", ["npm test *"]),
        ("git commit -m x && git push", ["git commit *", "git push *"]),
        ("ls && npm run build", ["npm run *"]),
        ("make", ["make"]),
        ("./run.sh fast", ["./run.sh fast"]),
        ("touch one", ["touch one"]),
    ],
)
def test_what_is_offered_covers_the_program_and_its_subcommand(command: str, rules: list[str]) -> None:
    assert offered(command) == rules


@pytest.mark.parametrize("command", ["python3 -c 'print(1)'", "rm old.txt", "sudo make install", "xargs rm"])
def test_of_a_program_that_can_do_anything_only_this_very_command_is_offered(command: str) -> None:
    assert all("*" not in rule for rule in offered(command))


@pytest.mark.parametrize("command", ["$TOOL run", "eval x", "a; b; c; d; e; f", "ls", "touch 'a*b'"])
def test_nothing_with_a_wildcard_is_offered_for_what_can_not_be_vouched_for(command: str) -> None:
    assert all(not rule.endswith(" *") for rule in offered(command))


@pytest.mark.parametrize("command", ["npm test", "git commit -m x && git push", "make", "rm old.txt"])
def test_what_is_offered_allows_the_same_command_the_next_time(command: str) -> None:
    matcher = Bash().permission_matcher(BashInput(command), SCOPE)
    rules = offered(command)
    assert all(any(matcher.matches(part, rule, "allow") for rule in rules) for part in matcher.parts)
