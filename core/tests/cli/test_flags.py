from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from toolpost_core.cli.flags import FLAGS, parse
from toolpost_core.cli.help import help_text
from toolpost_core.cli.options import demo_options, launch_options, rules
from toolpost_core.cli.usage import UsageMistake


def test_a_prompt_may_stand_anywhere() -> None:
    for arguments in (["-p", "hi"], ["hi", "-p"], ["-p", "--model", "m", "hi"], ["--model=m", "-p", "--", "hi"]):
        given = parse(arguments)
        assert given.words == ["hi"]
        assert given.values["print"] is True


def test_a_prompt_that_begins_with_a_dash_is_a_prompt_if_no_flag_looks_like_it() -> None:
    assert parse(["-p", "- first point\n- second"]).words == ["- first point\n- second"]
    assert parse(["-p", "--", "-x"]).words == ["-x"]
    assert parse(["-p", "-"]).words == ["-"]


def test_short_switches_may_be_written_as_one() -> None:
    assert parse(["-pc", "go on"]).values == {"print": True, "continue_last": True}


@pytest.mark.parametrize("spelling", ["--allowed-tools", "--allowedTools"])
def test_tools_are_allowed_in_every_spelling(spelling: str) -> None:
    for arguments in (
        ["-p", "hi", spelling, "Read,Bash(git log:*) Edit"],
        ["-p", "hi", f"{spelling}=Read", spelling, "Bash(git log:*)", f"{spelling}=Edit"],
        [spelling, "Read", "Bash(git log:*)", "Edit", "-p", "hi"],
        ["-p", "hi", spelling, "Read", "Bash(git log:*)", "Edit"],
    ):
        made = launch_options(parse(arguments))
        assert made.allowed_tools == ("Read", "Bash(git log:*)", "Edit"), arguments
        assert made.prompt == "hi"


def test_rules_are_not_split_inside_their_brackets() -> None:
    assert rules(["Bash(echo a, b),Read(~/my notes/**) mcp__x"]) == ("Bash(echo a, b)", "Read(~/my notes/**)", "mcp__x")
    assert rules(["Bash(f(a b) c),X"]) == ("Bash(f(a b) c)", "X")
    assert rules(["", " , "]) == ()


def test_a_session_is_named_behind_resume_or_bound_to_it() -> None:
    assert parse(["-r", "abc", "-p", "x"]).values["resume"] == "abc"
    assert parse(["--resume=abc"]).values["resume"] == "abc"


def test_debug_takes_only_a_bound_filter() -> None:
    given = parse(["--debug", "hi", "-p"])
    assert (given.values["debug"], given.words) == ("", ["hi"])
    assert parse(["--debug=hooks"]).values["debug"] == "hooks"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--modle", "x"], "Did you mean --model?"),
        (["-p", "-x"], "goes behind `--`"),
        (["--model"], "--model needs a value: --model MODEL"),
        (["--model", "--verbose"], "--model needs a value"),
        (["--verbose=yes"], "--verbose takes no value"),
        (["--output-format", "xml"], "one of text, json, stream-json"),
        (["--permission-mode", "yolo"], "acceptEdits"),
        (["--max-turns", "0"], "a whole number from 1"),
        (["--max-turns", "many"], "a whole number from 1"),
        (["--max-budget-usd", "nan"], "a number above 0"),
        (["--max-budget-usd", "inf"], "a number above 0"),
        (["one", "two"], "more than one prompt: 'one' and 'two'"),
        (["--resume", "-p"], "toolpost sessions list"),
        (["--resume", "a", "--continue"], "give one of them"),
        (["--fork-session"], "goes with --resume or --continue"),
        (["--session-id", "x"], "It is a UUID"),
        (["--input-format", "stream-json"], "goes with --output-format stream-json"),
        (["--input-format", "stream-json", "--output-format", "stream-json", "hi"], "leave out the prompt"),
        (["--include-partial-messages"], "goes with --output-format stream-json"),
        (["--dangerously-skip-permissions", "--permission-mode", "plan"], "contradict"),
        (["--system-prompt", "a", "--system-prompt-file", "b"], "give one of them"),
        (["--append-system-prompt-file", "/nowhere/x"], "/nowhere/x can't be read"),
        (["--add-dir", "/nowhere"], "there is no folder /nowhere"),
        (["--cwd", "/nowhere"], "there is no folder /nowhere"),
        (["--json-schema", "{"], "is not JSON"),
        (["--json-schema", "[]"], "must be a JSON object"),
    ],
)
def test_a_mistake_says_what_is_allowed(arguments: Sequence[str], said: str) -> None:
    with pytest.raises(UsageMistake) as error:
        launch_options(parse(arguments))
    assert said in str(error.value)


def test_options_are_what_the_flags_say(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Be brief.", encoding="utf-8")
    made = launch_options(
        parse(
            [
                *("-p", "hi", "--model", "m", "--max-turns", "3", "--max-budget-usd", "0.5", "--tools", "Read,Grep"),
                *("--append-system-prompt-file", str(tmp_path / "prompt.txt"), "--setting-sources", "user,local"),
                *("--add-dir", str(tmp_path), "--no-session-persistence", "--dangerously-skip-permissions", "--trust"),
            ]
        )
    )
    assert (made.model, made.max_turns, made.max_budget_usd, made.tools) == ("m", 3, 0.5, ("Read", "Grep"))
    assert made.append_system_prompt == "Be brief."
    assert made.setting_sources == ("user", "local")
    assert made.add_dirs == (tmp_path,)
    assert (made.persist, made.permission_mode, made.trust) == (False, "bypassPermissions", True)


def test_what_is_not_said_is_left_to_the_settings() -> None:
    made = launch_options(parse(["hi"]))
    assert (made.permission_mode, made.tools, made.model, made.resume, made.persist) == (None, None, None, None, True)
    assert launch_options(parse(["--tools", "default"])).tools is None
    assert launch_options(parse(["--tools", ""])).tools == ()
    assert launch_options(parse(["--permission-mode", "manual"])).permission_mode == "default"
    assert launch_options(parse(["--setting-sources", ""])).setting_sources == ()


def test_a_flag_that_nothing_acts_on_yet_is_said_to_have_no_effect(capsys: pytest.CaptureFixture[str]) -> None:
    made = launch_options(parse(["--mcp-config", "a.json", "--debug=api", "--fallback-model", "small", "-p", "hi"]))
    assert made.extra == {"mcp_config": ["a.json"], "debug": "api"}
    told = capsys.readouterr().err
    assert "--mcp-config has no effect" in told
    assert "--debug=plugins or --debug=hooks" in told


def test_the_demo_has_its_own_flags() -> None:
    assert demo_options(["--yes", "--fast"]).extra == {"yes": True, "fast": True}
    assert demo_options(["--keep", "here", "-y"]).extra == {"keep": "here", "yes": True}
    assert demo_options(["--keep=here"]).extra == {"keep": "here"}
    for wrong, says in ((["--no"], "takes --yes"), (["--yes=1"], "takes --yes"), (["--keep"], "needs a folder")):
        with pytest.raises(UsageMistake, match=says):
            demo_options(wrong)
    with pytest.raises(UsageMistake, match="needs a folder"):
        demo_options(["--keep", "--fast"])


def test_help_names_every_flag_and_command() -> None:
    text = help_text()
    for flag in FLAGS:
        assert all(name in text for name in flag.names)
    for name in ("tool", "permissions", "settings", "plugins", "sessions", "why", "doctor", "demo"):
        assert f"\n  {name} " in text
