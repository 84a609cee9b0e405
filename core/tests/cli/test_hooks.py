from __future__ import annotations

import json
from typing import Any

LISTENS = """
    from toolpost import Plugin, hookimpl, on

    class Listens(Plugin):
        @on.stop
        def stopped(self, event):
            return None

        @hookimpl
        def listeners(self, session):
            @on.pre_tool_use.listener(timeout=2.5, on_failure="continue")
            def judge(event):
                return None

            @on.post_tool_use
            def look(event):
                return None

            return [judge, look] if session.settings.get("language") == "fr" else []
"""
FAILS = """
    from toolpost import Plugin, hookimpl, on

    class Fails(Plugin):
        @on.pre_tool_use.listener(on_failure="continue")
        def judge(self, event):
            raise ValueError("no")

        @hookimpl
        def listeners(self, session):
            print("a word that is no JSON")
            raise ValueError("no settings for me")
"""


def test_each_listener_is_told_with_its_terms_also_those_that_are_made_for_the_settings(toolpost: Any) -> None:
    toolpost.install("acme-listens", "lifecycle", "Listens", LISTENS)
    toolpost.settings({"plugins": {"Listens": True}, "language": "fr"})
    found = {row["event"]: row for row in toolpost.json("hooks", "list", "--json")["listeners"]}

    same = {"distribution": "acme-listens", "version": "1.0", "state": "on", "off_in_session": None}
    made = "lifecycle/Listens (settings)"
    assert found == {
        "PreToolUse": {
            "event": "PreToolUse",
            "plugin": made,
            "kind": "decide",
            "rewrites": True,
            "deadline": 2.5,
            "failure": "passed over",
            **same,
        },
        "PostToolUse": {
            "event": "PostToolUse",
            "plugin": made,
            "kind": "observe",
            "rewrites": True,
            "deadline": 10.0,
            "failure": "passed over",
            **same,
        },
        "Stop": {
            "event": "Stop",
            "plugin": "lifecycle/Listens",
            "kind": "observe",
            "rewrites": False,
            "deadline": 600.0,
            "failure": "passed over",
            **same,
        },
    }
    lines = toolpost("hooks", "list").stdout.splitlines()
    (judge,) = [line.split() for line in lines if line.startswith("PreToolUse")]
    assert judge[1:] == [*made.split(), "acme-listens", "1.0", "decide", "yes", "2.5", "s", "passed", "over", "on"]


def test_what_a_plugin_declares_limits_what_its_listener_is_told_to_do(toolpost: Any) -> None:
    toolpost.install("acme-listens", "lifecycle", "Listens", LISTENS)
    package = toolpost.site / "acme_listens"
    package.mkdir()
    (toolpost.site / "acme_listens.py").rename(package / "__init__.py")
    (package / "toolpost.toml").write_text('[capabilities.events]\npre_tool_use = "observe"\n', encoding="utf-8")
    toolpost.settings({"plugins": {"Listens": True}, "language": "fr"})
    found = {row["event"]: row for row in toolpost.json("hooks", "list", "--json")["listeners"]}

    assert (found["PreToolUse"]["kind"], found["PreToolUse"]["rewrites"]) == ("observe", False)


def test_one_that_was_off_in_the_last_session_is_marked(toolpost: Any) -> None:
    toolpost.install("acme-fails", "lifecycle", "Fails", FAILS)
    toolpost.settings({"plugins": {"Fails": True}})
    calls = [{"tool": "Glob", "input": {"pattern": "*"}}] * 3
    assert toolpost("tool", "run", "--json", input="\n".join(map(json.dumps, calls))).returncode == 0
    (session,) = toolpost.json("sessions", "list", "--json")
    (listener,) = toolpost.json("hooks", "list", "--json")["listeners"]

    assert (listener["state"], listener["off_in_session"]) == ("on", session["id"])
    assert f"was off after 3 failures in session {session['id'][:8]}" in toolpost("hooks", "list").stdout


def test_listeners_that_can_not_be_made_are_told_apart_from_the_list(toolpost: Any) -> None:
    toolpost.install("acme-fails", "lifecycle", "Fails", FAILS)
    toolpost.settings({"plugins": {"Fails": True}})
    done = toolpost("hooks", "list", "--json")

    assert [row["plugin"] for row in json.loads(done.stdout)["listeners"]] == ["lifecycle/Fails"]
    assert "lifecycle/Fails" in done.stderr
    assert "no settings for me" in done.stderr
