from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

WORDS = """
    from pathlib import Path

    from toolpost import ToolContext, tool


    @tool(read_only=True, concurrency_safe=True)
    async def word_count(path: Path, ctx: ToolContext) -> str:
        "Count the words of a text file."
        return f"{len((await ctx.files.read_text(path)).split())} words"
"""
BELL = """
    from toolpost import on


    class Bell:
        @on.post_tool_use
        def ring(self, event):
            print("ding")


    bell = Bell()
"""
GUARD = """
    from toolpost import PermissionResolver, on


    class Guard(PermissionResolver):
        async def resolve(self, request):
            return None

        @on.stop
        def look(self, event):
            return None
"""


def test_a_plugin_is_listed_as_off_and_works_after_it_was_turned_on(toolpost: Any) -> None:
    toolpost.install("acme-words", "tools", "word_count", WORDS)
    (toolpost.project / "notes.txt").write_text("one two", encoding="utf-8")
    call = json.dumps({"tool": "word_count", "input": {"path": str(toolpost.project / "notes.txt")}}) + "\n"

    (row,) = [row for row in toolpost.json("tool", "list", "--json") if row["name"] == "word_count"]
    assert (row["enabled"], row["why"].split(":")[0]) == (False, "off by default")
    assert "No such tool" in json.loads(toolpost("tool", "run", "--json", input=call).stdout)["content"]
    refused = toolpost("tool", "show", "word_count")
    assert (refused.returncode, "toolpost plugins enable word_count" in refused.stderr) == (1, True)

    assert toolpost("plugins", "enable", "word-count").returncode == 0
    (row,) = [row for row in toolpost.json("tool", "list", "--json") if row["name"] == "word_count"]
    assert row["enabled"]
    assert row["read_only"] is True
    allowed = toolpost("tool", "run", "--json", "--allowed-tools", "word_count", input=call)
    assert json.loads(allowed.stdout)["content"] == "2 words"
    assert toolpost.json("tool", "show", "word_count", "--json")["input_schema"]["required"] == ["path"]

    assert toolpost("plugins", "disable", "acme-words").returncode == 0
    assert not toolpost.json("plugins", "info", "acme-words", "--json")[0]["enabled"]


def test_each_line_is_answered_before_the_next_is_read(toolpost: Any) -> None:
    (toolpost.project / "a.txt").write_text("alpha\n", encoding="utf-8")
    process = subprocess.Popen(
        toolpost.command("tool", "run", "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=toolpost.project,
        env=toolpost.env,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    for line in (
        {"tool": "Read", "input": {"file_path": str(toolpost.project / "a.txt")}},
        {"tool": "Nope"},
        {"parallel": [{"tool": "Glob", "input": {"pattern": "*.txt"}}, {"tool": "Nope", "id": "mine"}]},
    ):
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        answers += [json.loads(process.stdout.readline()) for _ in line.get("parallel", [line])]
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    assert [answer["tool"] for answer in answers] == ["Read", "Nope", "Glob", "Nope"]
    assert [answer["is_error"] for answer in answers] == [False, True, False, True]
    assert "alpha" in str(answers[0]["content"])
    assert answers[0]["permission"]["decision"] == "allow"
    assert answers[3]["tool_use_id"] == "mine"
    assert set(answers[0]) == {"tool", "tool_use_id", "is_error", "content", "permission", "duration_ms"}


def test_a_bad_line_gets_an_error_line_and_the_session_goes_on(toolpost: Any) -> None:
    lines = [
        "nonsense",
        "[]",
        '{"tool": 1}',
        '{"tool": "Glob", "input": []}',
        '{"parallel": []}',
        "",
        '{"tool": "Nope"}',
    ]
    done = toolpost("tool", "run", "--json", input="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [answer["is_error"] for answer in answers] == [True] * 6
    assert ["error" in answer for answer in answers] == [True] * 5 + [False]


def test_an_ask_is_a_deny_unless_yes_answers_it(toolpost: Any) -> None:
    call = json.dumps({"tool": "Write", "input": {"file_path": str(toolpost.project / "new.txt"), "content": "x"}})
    refused = json.loads(toolpost("tool", "run", "--json", input=call).stdout)
    assert (refused["is_error"], refused["permission"]["decision"]) == (True, "deny")
    assert not (toolpost.project / "new.txt").exists()
    assert not json.loads(toolpost("tool", "run", "--json", "--yes", input=call).stdout)["is_error"]
    assert (toolpost.project / "new.txt").read_text(encoding="utf-8") == "x"


def test_a_decision_is_explained_with_rule_source_file_and_line(toolpost: Any) -> None:
    file = toolpost.settings({"permissions": {"deny": ["Bash(rm *)"]}})
    answer = toolpost.json("permissions", "explain", "Bash", "--input", '{"command": "ls && rm x"}', "--json")
    assert (answer["decision"], answer["rule"], answer["source"]) == ("deny", "Bash(rm *)", "userSettings")
    assert (answer["file"], answer["line"]) == (str(file), 4)
    assert [part["command"] for part in answer["subcommands"]] == ["ls", "rm x"]
    ask = ("permissions", "explain", "Bash", "--input", '{"command": "npm test"}', "--json")
    assert toolpost.json(*ask)["decision"] == "ask"
    assert toolpost.json(*ask, "--no-interactive")["decision"] == "deny"
    assert toolpost.json(*ask, "--mode", "bypassPermissions")["decision"] == "allow"
    assert toolpost.json(*ask, "--hook", '{"permissionDecision": "allow"}')["decision"] == "allow"
    assert (
        toolpost.json(*ask, "--settings", '{"permissions": {"allow": ["Bash(npm test)"]}}')["source"] == "flagSettings"
    )
    assert "rule Bash(rm *)" in toolpost("permissions", "explain", "Bash", "--input", '{"command": "rm x"}').stdout


def test_a_rule_in_the_place_of_a_tool_is_not_decided_on(toolpost: Any) -> None:
    done = toolpost("permissions", "explain", "Bash(rm x)", check=False)
    assert done.returncode == 2
    assert "'Bash(rm x)' is a rule" in done.stderr
    assert "--input" in done.stderr


def test_a_batch_answers_every_line_whatever_it_holds(toolpost: Any) -> None:
    lines = [
        '{"id": 1, "tool": "Bash", "input": {"command": "ls"}}',
        '{"id": 2, "tool": "Bash", "input": {}}',
        '{"id": 3, "tool": "Bash", "input": {"command": "rm x"}, "interactive": false}',
        '{"id": 4, "tool": 5}',
        "broken",
        '{"id": 6, "tool": "mcp__x__y", "input": {}, "settings": {"permissions": {"allow": ["mcp__x"]}}}',
        '{"id": 7, "tool": "Bash", "input": {"command": "x"}, "sources": [{"source": "cli", "rules": {"deny": ["Bash"]}}]}',
        '{"id": 8, "tool": "Bash", "input": {"command": "x"}, "sources": [{"source": "nobody"}]}',
        '{"id": 9, "tool": "@startup", "input": {"activate": "hook"}, "trusted": false}',
    ]
    done = toolpost("permissions", "explain", "--json", "--batch", "-", input="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, None, 6, 7, 8, 9]
    assert [answer["decision"] for answer in answers] == [
        "allow",
        "deny",
        "deny",
        "deny",
        "deny",
        "allow",
        "deny",
        "deny",
        "ask",
    ]


def test_rules_are_added_listed_and_removed(toolpost: Any) -> None:
    assert toolpost("permissions", "add", "allow", "Bash(git *)", "Read").returncode == 0
    rows = toolpost.json("permissions", "list", "--json")
    assert [(row["behavior"], row["rule"], row["source"]) for row in rows] == [
        ("allow", "Bash(git *)", "userSettings"),
        ("allow", "Read", "userSettings"),
    ]
    assert toolpost("permissions", "add", "allow", "Bash((").returncode == 2
    assert toolpost("permissions", "remove", "allow", "Read").returncode == 0
    assert [row["rule"] for row in toolpost.json("permissions", "list", "--json")] == ["Bash(git *)"]


def test_settings_are_shown_with_where_they_come_from_and_without_secrets(toolpost: Any) -> None:
    file = toolpost.settings(
        {"model": "m", "env": {"A_TOKEN": "abc"}, "permissions": {"defaultMode": "plan"}, "modle": 1}
    )
    shown = toolpost.json("settings", "show", "--json")
    assert shown["settings"]["model"] == {"key": "model", "value": "m", "from": [{"level": "user", "file": str(file)}]}
    assert shown["settings"]["permissions.defaultMode"]["value"] == "plan"
    assert shown["settings"]["env"]["value"] == {"A_TOKEN": "********"}
    assert "Did you mean model?" in shown["problems"][0]["text"]
    assert toolpost.json("settings", "show", "model", "--json")["value"] == "m"
    assert toolpost("settings", "show", "language").returncode == 2
    assert str(file) in toolpost("settings", "show").stdout


def test_validate_says_what_is_wrong_and_exits_2(toolpost: Any) -> None:
    assert toolpost("settings", "validate").stdout.strip() == "Valid."
    file = toolpost.settings({"maxTurns": "many", "permissions": {"deny": ["Bash(("]}, "plugins": {"bash": "yes"}})
    for arguments in ([], [str(file)]):
        done = toolpost("settings", "validate", *arguments, "--json")
        found = json.loads(done.stdout)
        assert (done.returncode, found["valid"]) == (2, False)
        assert "line 2: maxTurns: allowed is a whole number from 1" in found["problems"][0]["text"]
        assert "'Bash((' is not a permission rule" in found["problems"][1]["text"]
        assert "plugins.bash: allowed are true, false" in found["problems"][2]["text"]
    assert "PROBLEM  settings: " in toolpost("doctor").stdout
    assert "plugins.bash: allowed are" in toolpost("doctor").stdout
    assert toolpost("settings", "validate", "missing.json").returncode == 2


def test_validate_says_what_is_wrong_with_the_settings_of_a_plugin(toolpost: Any) -> None:
    toolpost.install("acme-words", "tools", "word_count", WORDS)
    file = toolpost.settings({"plugins": {"word_count": {"enabled": True, "config": {"nope": 1}}}})
    done = toolpost("settings", "validate")
    assert done.returncode == 2
    assert f"it takes no settings, but `config` in {file}" in done.stdout
    assert done.stdout.endswith("Not valid.\n")


def test_a_broken_settings_file_is_named_and_the_rest_goes_on(toolpost: Any) -> None:
    file = toolpost.config / "settings.json"
    file.write_text('{"model": }', encoding="utf-8")
    assert f"{file}, line 1, column 11" in toolpost("settings", "validate").stdout
    assert toolpost("tool", "list").returncode == 0
    assert toolpost("plugins", "disable", "bash").returncode == 2
    assert file.read_text(encoding="utf-8") == '{"model": }'


def test_the_record_of_a_decision_is_found_again(toolpost: Any) -> None:
    call = json.dumps({"tool": "Bash", "input": {"command": "rm x"}, "id": "toolu_mine"})
    toolpost("tool", "run", "--json", "--disallowed-tools", "Bash(rm *)", input=call)
    record = toolpost.json("why", "--json")
    assert (record["toolName"], record["decision"], record["rule"]) == ("Bash", "deny", "Bash(rm *)")
    assert toolpost.json("why", "toolu_mine", "--json")["toolUseId"] == "toolu_mine"
    assert "Bash(rm *)" in toolpost("why", "last").stdout
    missing = toolpost("why", "toolu_other")
    assert (missing.returncode, "toolu_other" in missing.stderr) == (1, True)
    (session,) = toolpost.json("sessions", "list", "--json")
    assert session["project"] in (str(toolpost.project), None)
    assert toolpost("sessions", "show", session["id"][:8]).stdout.count("rm x") >= 1
    assert toolpost("sessions", "show", "nothing").returncode == 1


def test_hooks_and_events_are_listed(toolpost: Any) -> None:
    handler = {"type": "command", "command": "./check.sh"}
    file = toolpost.settings({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}})
    found = toolpost.json("hooks", "list", "--json")
    assert [(hook["event"], hook["matcher"], hook["from"]) for hook in found["configured"]] == [
        ("PreToolUse", "Bash", str(file))
    ]
    events = {event["event"]: event for event in found["events"]}
    assert (events["PreToolUse"]["kind"], events["PreToolUse"]["rewrites"]) == ("decide", True)
    assert events["PostToolUse"]["failure"] == "passed over"
    assert len(events) >= 27
    assert "./check.sh" in toolpost("hooks", "list").stdout
    assert "PreToolUse" in toolpost("hooks", "list", "--events").stdout


def test_listeners_of_plugins_of_any_kind_are_listed_once_they_are_on(toolpost: Any) -> None:
    toolpost.install("acme-bell", "lifecycle", "bell", BELL)
    toolpost.install("acme-guard", "permission_resolvers", "Guard", GUARD)
    assert toolpost("hooks", "list").stdout == "No hook is set up.\n"
    for name in ("bell", "Guard"):
        assert toolpost("plugins", "enable", name).returncode == 0
    found = {(hook["event"], hook["plugin"]) for hook in toolpost.json("hooks", "list", "--json")["listeners"]}
    assert found == {("PostToolUse", "lifecycle/bell"), ("Stop", "permission_resolvers/Guard")}
    shown = toolpost("hooks", "list").stdout
    assert ["lifecycle/bell" in shown, "permission_resolvers/Guard" in shown] == [True, True]


def test_a_plugin_that_fails_is_what_the_doctor_finds(toolpost: Any) -> None:
    toolpost.install("acme-bad", "tools", "bad", "1 / 0")
    assert toolpost("plugins", "enable", "bad").returncode == 0
    done = toolpost("plugins", "doctor", "--json")
    assert done.returncode == 1
    assert "bad" in [found["plugin"] for found in json.loads(done.stdout)]
    assert toolpost("plugins", "info", "bad").stdout.startswith("bad (tools) from acme-bad 1.0: failed")
    whole = toolpost("doctor")
    assert whole.returncode == 1
    assert "ZeroDivisionError" in whole.stdout
    assert toolpost("plugins", "info", "bash").returncode == 0


@pytest.mark.requirement("plugins.core_without_plugins")
def test_without_any_plugin_the_core_starts_lists_nothing_and_says_what_to_install(toolpost: Any) -> None:
    bare = toolpost.without_plugins()
    assert bare("--version").returncode == 0
    for command in (["tool", "list"], ["plugins", "list"]):
        done = bare(*command)
        assert (done.returncode, "pip install toolpost" in done.stdout) == (0, True), done.stderr
        assert bare.json(*command, "--json") == []
    for command in (["-p", "hi"], ["demo"]):
        done = bare(*command)
        assert (done.returncode, done.stdout, "pip install toolpost" in done.stderr) == (2, "", True), done.stderr
    assert bare("doctor").returncode == 1
    assert bare("plugins", "doctor").returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["tool", "nope"],
        ["tool", "show"],
        ["plugins", "list", "--nope"],
        ["permissions", "add", "maybe", "X"],
        ["--nope"],
    ],
)
def test_bad_usage_exits_2_with_nothing_on_standard_output(toolpost: Any, arguments: list[str]) -> None:
    done = toolpost(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["plugins", "lst"], "There is no command 'lst' here. Did you mean 'list'? See `toolpost plugins --help`."),
        (["plugin", "list"], "There is no command 'plugin'. Did you mean 'plugins'?"),
        (["help", "setings"], "There is no command 'setings'. Did you mean 'settings'?"),
    ],
)
def test_a_command_that_is_not_there_is_answered_with_the_nearest(
    toolpost: Any, arguments: list[str], told: str
) -> None:
    done = toolpost(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_help_before_a_command_is_its_help(toolpost: Any) -> None:
    assert toolpost("help", "tool", "list").stdout == toolpost("tool", "list", "--help").stdout
    assert toolpost("help", "demo").stdout.startswith("Usage: toolpost demo")


def test_the_help_of_a_group_cuts_no_line(toolpost: Any) -> None:
    assert "..." not in toolpost("plugins", "--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("command", [("tool",), ("tool", "-h")])
def test_a_group_without_a_command_shows_its_help_as_it_is(toolpost: Any, command: tuple[str, ...]) -> None:
    done = toolpost(*command)
    assert (done.stdout + done.stderr).startswith("Usage: toolpost tool")
    assert done.returncode == (0 if "-h" in command else 2)


@pytest.mark.parametrize("command", [("tool", "list"), ("hooks", "list", "--json"), ("--help",)])
def test_without_a_standard_output_a_command_runs_to_its_end(toolpost: Any, command: tuple[str, ...]) -> None:
    line = ["sh", "-c", 'exec "$0" "$@" >&-', *toolpost.command(*command)]
    done = subprocess.run(
        line, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=toolpost.project, env=toolpost.env, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", [("tool", "list"), ("hooks", "list", "--json")])
def test_an_output_that_is_full_is_told_in_one_line(toolpost: Any, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            toolpost.command(*command),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=toolpost.project,
            env=toolpost.env,
            timeout=60,
        )
    (line,) = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert "No space left" in line


def test_a_reader_that_has_gone_ends_a_command_quietly(toolpost: Any) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        toolpost.command("hooks", "list", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=toolpost.project,
        env=toolpost.env,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_what_a_session_cost_is_added_up_by_model_with_each_answer_counted_once(toolpost: Any) -> None:
    toolpost("tool", "run", "--json", input='{"tool": "Glob", "input": {"pattern": "*"}}')
    (session,) = toolpost.json("sessions", "list", "--json")
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100}
    message = {"id": "msg_1", "model": "unheard-of", "usage": usage, "content": []}
    records = [{"type": "assistant", "message": {**message, "id": name}} for name in ("msg_1", "msg_1", "msg_2")]
    whole = {**usage, "output_tokens": 900}
    records.append({"type": "answer-usage", "messageId": "msg_2", "model": "unheard-of", "usage": whole})
    with Path(session["file"]).open("a", encoding="utf-8") as transcript:
        transcript.writelines(json.dumps(record) + "\n" for record in records)
    found = toolpost.json("cost", session["id"], "--json")["models"]["unheard-of"]
    assert (found["requests"], found["input_tokens"], found["output_tokens"], found["usd"]) == (2, 20, 905, None)
    assert found["cache_read_input_tokens"] == 200
    assert "unheard-of" in toolpost("cost").stdout


def test_half_a_character_in_the_input_breaks_no_answer(toolpost: Any) -> None:
    done = toolpost("tool", "run", "--json", input='{"tool": "Read\\ud800", "input": {}}\n{"tool": "Nope"}')
    assert [json.loads(line)["tool"] for line in done.stdout.splitlines()] == ["Read\ud800", "Nope"]
    line = '{"id": "\\ud800", "tool": "Bash", "input": {"command": "echo \\ud800"}}'
    assert json.loads(toolpost("permissions", "explain", "--batch", "-", input=line).stdout)["id"] == "\ud800"
    toolpost.env["PYTHONIOENCODING"] = "ascii"
    toolpost.cold = True
    toolpost.settings({"language": "ü"})
    assert toolpost.json("settings", "show", "language", "--json")["value"] == "ü"
    assert toolpost("settings", "show").returncode == 0
