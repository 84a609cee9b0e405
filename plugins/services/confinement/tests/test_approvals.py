from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolpost import Allow, Decision, Deny, Tool
from toolpost_service_confinement.approvals import MOST_ASKED, Approvals


class Person:
    """Says yes to what is good."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def check(
        self, tool_name: str, tool_input: Mapping[str, Any], *, stand_in: Tool[Any] | None = None
    ) -> Decision:
        self.asked.append(str(tool_input["url"]))
        return Allow() if "good" in self.asked[-1] else Deny("no")


async def test_each_host_is_asked_about_once_whoever_waits_for_it() -> None:
    person = Person()
    approvals = Approvals(person)
    hosts = ("good.example", "bad.example", "good.example", "bad.example")
    answers = await asyncio.gather(*map(approvals.ask, hosts))
    assert answers == ["", "it was not allowed when asked about: no"] * 2
    assert person.asked == ["https://good.example/", "https://bad.example/"]


async def test_a_command_that_asks_on_and_on_is_not_listened_to() -> None:
    person = Person()
    approvals = Approvals(person)
    answers = [await approvals.ask(f"{number}.good.example") for number in range(MOST_ASKED + 1)]
    assert answers[:-1] == [""] * MOST_ASKED
    assert "no more are" in answers[-1]
    assert await approvals.ask("0.good.example") == ""
    assert len(person.asked) == MOST_ASKED
