from __future__ import annotations

import json
from typing import Any

import pytest

SLEEPY = """
    import asyncio

    from toolpost import on


    class Sleepy:
        @on.pre_tool_use.listener(timeout=0.05, on_failure="continue")
        async def wait(self, event):
            if event.tool_input.get("pattern") == "slow":
                await asyncio.sleep(30)

        @on.session_end
        async def end(self, event):
            return None


    sleepy = Sleepy()
"""
MOTTO = """
    from toolpost import ContextSource, Section


    class Motto(ContextSource):
        async def sections(self, scope):
            return (Section(name="motto", text="x" * 400),)
"""
BIG = """
    held = bytes(range(256)) * 40_000

    from toolpost import tool


    @tool(read_only=True)
    async def big(text: str) -> str:
        "Say it again, and again, and then once more."
        return text
"""


@pytest.fixture
def busy(toolpost: Any) -> Any:
    toolpost.install("acme-sleepy", "lifecycle", "sleepy", SLEEPY)
    toolpost.install("acme-motto", "context", "Motto", MOTTO)
    toolpost.install("acme-big", "tools", "big", BIG)
    toolpost.settings({"plugins": dict.fromkeys(("sleepy", "Motto", "big"), True)})
    return toolpost


def test_import_memory_and_tokens_of_each_plugin_are_told(busy: Any) -> None:
    found = busy.json("plugins", "profile", "--json")
    rows = {row["name"]: row for row in found["plugins"]}
    assert (found["session"], found["listeners"]) == (None, [])
    assert rows["Motto"]["prompt_tokens"] == 100
    assert rows["big"]["tool_tokens"] > 20
    assert rows["big"]["memory_bytes"] > 8_000_000 > rows["Motto"]["memory_bytes"]
    assert all(row["import_ms"] is not None and row["modules"] >= 0 for row in rows.values())
    assert "tools/big" in busy("plugins", "profile").stdout


def test_an_import_that_fails_is_told_in_its_row(busy: Any) -> None:
    (busy.site / "acme_big.py").write_text("1 / 0\n", encoding="utf-8")
    rows = {row["name"]: row for row in busy.json("plugins", "profile", "--json")["plugins"]}
    assert rows["big"]["error"] == "ZeroDivisionError: division by zero"
    assert (rows["big"]["import_ms"], rows["Motto"]["error"]) == (None, None)


def test_listeners_of_the_last_session_are_told_with_their_time_outs(busy: Any) -> None:
    calls = [{"tool": "Glob", "input": {"pattern": pattern}} for pattern in ("*", "slow", "*.txt")]
    busy("tool", "run", "--json", input="\n".join(map(json.dumps, calls)))
    found = busy.json("plugins", "profile", "--json")
    rows = {row["event"]: row for row in found["listeners"]}
    assert found["session"]
    assert set(rows) == {"PreToolUse", "SessionEnd"}
    row = rows["PreToolUse"]
    assert (row["plugin"], row["calls"], row["timeouts"], row["failures"]) == ("lifecycle/sleepy", 3, 1, 0)
    assert 0 < row["p50"] <= row["p99"] <= row["max"] <= row["total"]
    assert busy.json("plugins", "profile", found["session"][:8], "--json")["listeners"] == found["listeners"]
    assert "lifecycle/sleepy" in busy("plugins", "profile").stdout


def test_a_listener_that_was_taken_out_is_told_by_profile_and_doctor(busy: Any) -> None:
    calls = [{"tool": "Glob", "input": {"pattern": "slow"}}] * 3
    busy("tool", "run", "--json", input="\n".join(map(json.dumps, calls)))
    found = busy.json("plugins", "profile", "--json")
    (row,) = found["quarantined"]
    assert (row["event"], row["plugin"], row["blocks"]) == ("PreToolUse", "lifecycle/sleepy", False)
    assert "timed out after 0.05 s" in row["error"]
    assert "Off at the end of that session" in busy("plugins", "profile").stdout

    done = busy("plugins", "doctor", "--json")
    (finding,) = [row for row in json.loads(done.stdout) if row["check"] == "quarantine"]
    assert (finding["plugin"], finding["distribution"]) == ("sleepy", "acme-sleepy")
    assert found["session"] in finding["text"]
    assert "timed out after 0.05 s" in finding["text"]

    busy("tool", "run", "--json", input=json.dumps({"tool": "Glob", "input": {"pattern": "*"}}))
    done = busy("plugins", "doctor", "--json")
    assert "quarantine" not in {row["check"] for row in json.loads(done.stdout)}


def test_a_session_in_which_nothing_was_kept_stays_unkept(busy: Any) -> None:
    busy("tool", "run", "--json", input="")
    assert busy.json("sessions", "list", "--json") == []
