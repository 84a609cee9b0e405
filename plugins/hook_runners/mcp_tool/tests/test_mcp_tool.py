from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolpost import HookAnswer, HookJob
from toolpost.services import Mcp
from toolpost.testing import make_scope
from toolpost_hook_runner_mcp_tool import McpToolRunner

PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "tool_name": "Edit",
    "tool_input": {"file_path": "/a/é.py", "lines": [3, 5], "deep": {"er": None}},
}


class Server:
    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append((server, tool, arguments))
        return self.result


def text(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": each} for each in texts]


async def run(folder: Path, connected: Server | None, **entry: Any) -> HookAnswer:
    handler = {"type": "mcp_tool", "server": "lint", "tool": "check", **entry}
    job = HookJob(event="PreToolUse", handler=handler, payload=PAYLOAD, timeout=5.0, source="hooks.PreToolUse[0]")
    services: Mapping[Any, object] = {} if connected is None else {Mcp: connected}
    return await McpToolRunner().run(job, make_scope(folder, services=services))


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ({"path": "${tool_input.file_path}"}, {"path": "/a/é.py"}),
        ({"lines": "${tool_input.lines}"}, {"lines": [3, 5]}),
        ({"first": "${tool_input.lines.0}", "far": "${tool_input.lines.9}"}, {"first": 3, "far": ""}),
        ({"said": "${tool_name}: ${tool_input.lines}!"}, {"said": "Edit: [3, 5]!"}),
        ({"nested": [{"x": "${tool_input.deep.er}"}, 7]}, {"nested": [{"x": None}, 7]}),
        ({"missing": "${no.such}", "text": "a${no}b"}, {"missing": "", "text": "ab"}),
        ({"plain": "$HOME ${", "odd": "${a b}"}, {"plain": "$HOME ${", "odd": "${a b}"}),
        (None, {}),
    ],
)
async def test_the_tool_gets_its_input_with_the_events_values(template: Any, sent: Any, tmp_path: Path) -> None:
    server = Server({"content": text("fine")})
    await run(tmp_path, server, input=template)
    assert server.calls == [("lint", "check", sent)]


async def test_json_that_it_says_decides(tmp_path: Path) -> None:
    answer = await run(tmp_path, Server({"content": text('{"decision": "block",', '"reason": "no"}')}))
    assert (answer.status, answer.output) == ("ok", {"decision": "block", "reason": "no"})


@pytest.mark.parametrize("said", ["all is well", "{no json", "[1]"])
async def test_any_other_text_is_text(said: str, tmp_path: Path) -> None:
    answer = await run(tmp_path, Server({"content": text(said)}))
    assert (answer.status, answer.text, answer.output) == ("ok", said, {})


@pytest.mark.parametrize("result", [{}, {"content": None}, {"content": ["odd", {"type": "image"}]}])
async def test_a_result_without_text_says_nothing(result: Mapping[str, Any], tmp_path: Path) -> None:
    answer = await run(tmp_path, Server(result))
    assert (answer.status, answer.text) == ("ok", "")


async def test_an_error_of_the_tool_is_a_failure_with_its_text(tmp_path: Path) -> None:
    answer = await run(tmp_path, Server({"content": text("no such file"), "isError": True}))
    assert (answer.status, answer.reason) == ("failed", "no such file")


async def test_without_a_plugin_that_connects_servers_it_fails_and_says_so(tmp_path: Path) -> None:
    answer = await run(tmp_path, None)
    assert answer.status == "failed"
    assert "'check' of 'lint'" in answer.reason
    assert "Mcp" in answer.reason


@pytest.mark.parametrize("entry", [{"server": 3}, {"server": ""}, {"tool": None}, {"input": [1]}])
async def test_an_entry_that_is_wrong_is_named(entry: Mapping[str, Any], tmp_path: Path) -> None:
    answer = await run(tmp_path, Server({}), **entry)
    assert answer.status == "failed"
    assert "hooks.PreToolUse[0]" in answer.reason
