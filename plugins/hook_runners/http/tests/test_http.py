from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hook_server import HookServer  # type: ignore[import-not-found]

from toolpost import HookAnswer, HookJob
from toolpost.testing import make_scope
from toolpost_hook_runner_http import HttpRunner

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "echo ü"}}


@pytest.fixture
def server() -> Iterator[HookServer]:
    server = HookServer()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


async def run(
    folder: Path, url: str, settings: dict[str, Any] | None = None, plugin: HttpRunner | None = None, **entry: Any
) -> HookAnswer:
    job = HookJob(event="PreToolUse", handler={"type": "http", "url": url, **entry}, payload=PAYLOAD, timeout=5.0)
    scope = make_scope(folder, settings=settings or {}, env={"TOKEN": "s3cret", "OTHER": "hidden", "BAD": "a\r\nb: c"})
    return await (plugin or HttpRunner()).run(job, scope)


async def test_the_event_is_posted_as_json(server: HookServer, tmp_path: Path) -> None:
    assert (await run(tmp_path, f"{server.url}/ok")).status == "ok"
    ((_, headers, body),) = server.received
    assert body == PAYLOAD
    assert headers["content-type"] == "application/json"


async def test_a_json_object_is_the_hooks_output(server: HookServer, tmp_path: Path) -> None:
    server.answers["/say"] = (200, {}, b'{"systemMessage": "hello"}')
    assert (await run(tmp_path, f"{server.url}/say")).output == {"systemMessage": "hello"}


@pytest.mark.parametrize("body", [b"fine", b"[1]", b"{", b'"ok"'])
async def test_any_other_text_is_a_failure(body: bytes, server: HookServer, tmp_path: Path) -> None:
    server.answers["/say"] = (200, {}, body)
    answer = await run(tmp_path, f"{server.url}/say")
    assert (answer.status, "no JSON object" in answer.reason) == ("failed", True)


async def test_headers_hold_the_variables_that_the_hook_names_and_no_others(server: HookServer, tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Other": "[$OTHER]", "X-None": "[$MISSING]"}
    await run(tmp_path, f"{server.url}/ok", headers=headers, allowedEnvVars=["TOKEN", "MISSING"])
    ((_, sent, _),) = server.received
    assert (sent["authorization"], sent["x-other"], sent["x-none"]) == ("Bearer s3cret", "[]", "[]")


async def test_settings_bound_the_variables_of_all_hooks(server: HookServer, tmp_path: Path) -> None:
    settings = {"httpHookAllowedEnvVars": ["OTHER"]}
    headers = {"X-Token": "[$TOKEN]"}
    await run(tmp_path, f"{server.url}/ok", settings, headers=headers, allowedEnvVars=["TOKEN"])
    assert server.received[0][1]["x-token"] == "[]"


@pytest.mark.parametrize("headers", [{"X": "$BAD"}, {"X\nY": "1"}, {"X": "a\nb"}])
async def test_a_header_that_would_make_another_one_is_not_sent(
    headers: dict[str, str], server: HookServer, tmp_path: Path
) -> None:
    answer = await run(tmp_path, f"{server.url}/ok", headers=headers, allowedEnvVars=["BAD"])
    assert (answer.status, server.received) == ("failed", [])


@pytest.mark.parametrize(
    ("patterns", "allowed"), [(["*"], True), (["http://127.0.0.1:*/ok"], True), (["https://*"], False), ([], False)]
)
async def test_settings_bound_where_hooks_may_go(
    patterns: list[str], allowed: bool, server: HookServer, tmp_path: Path
) -> None:
    answer = await run(tmp_path, f"{server.url}/ok", settings={"allowedHttpHookUrls": patterns})
    assert (answer.status == "ok", bool(server.received)) == (allowed, allowed)


async def test_a_redirect_on_the_same_host_keeps_the_event(server: HookServer, tmp_path: Path) -> None:
    server.answers["/moved"] = (307, {"location": "/ok"}, b"")
    assert (await run(tmp_path, f"{server.url}/moved")).status == "ok"
    assert [body for _, _, body in server.received] == [PAYLOAD, PAYLOAD]


@pytest.mark.parametrize(
    ("status", "place"), [(307, "http://localhost:{port}/ok"), (302, "/ok"), (307, "https://127.0.0.1:{port}/ok")]
)
async def test_a_redirect_to_another_host_or_without_the_event_is_a_failure(
    status: int, place: str, server: HookServer, tmp_path: Path
) -> None:
    server.answers["/moved"] = (status, {"location": place.format(port=server.server_port)}, b"")
    assert (await run(tmp_path, f"{server.url}/moved")).status == "failed"
    assert [path for path, _, _ in server.received] == ["/moved"]


async def test_redirects_in_a_circle_end(server: HookServer, tmp_path: Path) -> None:
    server.answers["/moved"] = (308, {"location": "/moved"}, b"")
    answer = await run(tmp_path, f"{server.url}/moved")
    assert (answer.status, "redirects more than" in answer.reason) == ("failed", True)


async def test_a_flood_is_cut_off(server: HookServer, tmp_path: Path) -> None:
    server.answers["/say"] = (200, {}, b"x" * 10_000)
    answer = await run(tmp_path, f"{server.url}/say", plugin=HttpRunner(max_output=1_000))
    assert (answer.status, "more than 1,000 bytes" in answer.reason) == ("failed", True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "example.org", "http:///x", 7])
async def test_what_is_no_web_address_is_a_failure(url: Any, tmp_path: Path) -> None:
    assert (await run(tmp_path, url)).status == "failed"


async def test_a_server_that_is_not_there_is_a_failure_that_names_it(server: HookServer, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    answer = await run(tmp_path, f"{server.url}/ok")
    assert (answer.status, server.url in answer.reason) == ("failed", True)
