from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import ToolFailed
from toolpost.testing import ProgressLog, make_context
from toolpost_service_confinement.fetching import Fetch, Fetching

ASKED = Fetch("https://api.example:8443/")


def test_a_person_is_told_of_the_host_and_offered_a_rule_for_it(tmp_path: Path) -> None:
    tool, scope = Fetching(), make_context(tmp_path).scope
    assert tool.description(ASKED) == "A command in the sandbox wants to connect to api.example"
    assert tool.render_call(ASKED) == "api.example"
    assert tool.is_open_world(ASKED)
    (update,) = tool.suggestions(ASKED, scope)
    assert update["rules"] == [{"toolName": "WebFetch", "ruleContent": "domain:api.example"}]


async def test_it_fetches_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="not installed"):
        await Fetching().call(ASKED, make_context(tmp_path), ProgressLog())
