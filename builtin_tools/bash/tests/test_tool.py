from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolpost import Aborted, CommandEnd, Commands, TaskInfo, ToolContext, ToolFailed, ToolResult
from toolpost.testing import AbortSwitch, PlainCommands, ProgressLog, call_tool, make_context
from toolpost_tool_bash import Bash, BashInput


class Session:
    """Calls one after another, as core makes them: each in the context that the last one left."""

    def __init__(self, folder: Path, tool: Bash | None = None, **context: Any) -> None:
        self.commands = PlainCommands()
        self.ctx: ToolContext = make_context(folder, services={Commands: self.commands}, **context)
        self.tool = tool or Bash()

    async def run(self, command: str, **more: Any) -> tuple[str, ToolResult]:
        result = await call_tool(self.tool, {"command": command, **more}, self.ctx, ProgressLog())
        if result.context_modifier is not None:
            self.ctx = result.context_modifier(self.ctx)
        content = self.tool.to_result_block(result.data, "toolu_test")["content"]
        assert isinstance(content, str)
        return content, result


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    return folder


@pytest.fixture
def session(project: Path) -> Session:
    return Session(project)


async def test_a_failure_tells_its_code_and_its_output_once(session: Session) -> None:
    text, result = await session.run("echo why >&2; exit 3")
    assert (text, result.is_error) == ("Exit code 3\nwhy", True)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo a | grep b", "No matches found"),
        ("cd . && grep b /dev/null", "No matches found"),
        ("cat /dev/null | grep a | grep b", "No matches found"),
        ("LC_ALL=C command grep b /dev/null", "No matches found"),
        ("timeout 10 grep b /dev/null", "No matches found"),
        ("set -e; grep b /dev/null; echo never", "No matches found"),
        ("f() { grep b /dev/null; }; f", "No matches found"),
        ("for i in 1 2; do grep b /dev/null; done", "No matches found"),
        ("echo a > a; echo b > b; diff -q a b", "Files differ"),
        ("diff <(echo a) <(echo b)", "Files differ"),
        ("echo a > a; echo b > b; git diff --no-index --quiet a b", "Files differ"),
        ("test -f none", "Condition is false"),
        ("[ 1 = 2 ]", "Condition is false"),
        ("[[ -d none ]]", "Condition is false"),
        ("((0))", "Condition is false"),
        ("command -v no_such_program", "Not found"),
    ],
)
async def test_a_code_that_is_an_answer_is_no_failure(session: Session, command: str, says: str) -> None:
    text, result = await session.run(command)
    assert not result.is_error
    assert text.endswith(f"[{says}]")
    assert result.data["returnCodeInterpretation"] == says


@pytest.mark.parametrize(
    "command",
    [
        "cd none && grep a b",  # cd failed
        "grep a none",  # grep says 2
        "! grep root /etc/passwd",  # it was found
        "ls none | grep a",  # what was to be searched is not there
        "false",
        "exit 1",
        "(exit 1)",
        "trap 'echo bye' EXIT; exit 1",
        "python3 -c 'raise SystemExit(1)' grep",
        "echo 'a; grep b'; false",
    ],
)
async def test_a_failure_is_not_taken_for_an_answer(session: Session, command: str) -> None:
    text, result = await session.run(command)
    assert result.is_error
    assert text.startswith("Exit code")


async def test_the_folder_carries_over_and_variables_and_functions_do_not(session: Session) -> None:
    await session.run("mkdir sub; cd sub; export KEPT=1; kept() { :; }")
    text, _ = await session.run('pwd; echo "[$KEPT]"; type -t kept')
    assert text == f"{session.ctx.scope.project}/sub\n[]\n[Not found]"
    assert session.ctx.scope.cwd == session.ctx.cwd


@pytest.mark.parametrize(
    "command",
    [
        "mkdir sub; cd sub; exit 0",
        "mkdir sub; cd sub; set -e; false",
        "mkdir sub && cd sub && set -C",
        "mkdir sub; pushd sub",
        "trap 'echo bye' EXIT; mkdir sub; cd sub",
        "mkdir sub; cd sub; trap 'cd /; exit 3' 0; false",
        "mkdir sub; cd sub; trap 'echo one # two' EXIT; trap 'cat <<E\nbye\nE' EXIT TERM",
        "trap 'echo bye' EXIT; trap - EXIT; mkdir sub; cd sub",
        "set -eu; trap '' EXIT; mkdir sub; cd sub",
    ],
)
async def test_the_folder_carries_over_however_the_command_ends(session: Session, command: str) -> None:
    await session.run(command)
    assert session.ctx.cwd == session.ctx.scope.project / "sub"


@pytest.mark.parametrize(
    "name", ["with blank", "quote'\"", "dollar$x`y`", "ünï", "line\nbreak", "-dash", "back\\slash"]
)
async def test_a_folder_of_any_name_carries_over(session: Session, name: str) -> None:
    (session.ctx.cwd / name).mkdir()
    ctx_before = session.ctx.cwd
    await session.run(f"cd -- {shlex.quote(name)}")
    assert session.ctx.cwd == ctx_before / name
    assert (await session.run("pwd"))[0] == f"{ctx_before}/{name}"


async def test_a_subshell_moves_nothing(session: Session) -> None:
    await session.run("mkdir sub; (cd sub); cd sub | true")
    assert session.ctx.cwd == session.ctx.scope.project


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("trap 'echo $?; exit 7' EXIT; (exit 4)", "Exit code 7\n4"),
        ("set -e; trap 'echo $?; false; echo never' EXIT; (exit 4)", "Exit code 1\n4"),
        ("end() { code=$?; echo end; exit $code; }; trap end EXIT; exit 5", "Exit code 5\nend"),
        ("(trap 'echo inner' EXIT); trap 'echo outer' EXIT", "inner\nouter"),
        ("trap 'echo failed' ERR; trap 'echo bye' EXIT; false; true", "failed\nbye"),
        ("f() { trap 'echo returned' RETURN; echo inside; }; f; trap 'echo bye' EXIT", "inside\nreturned\nbye"),
        (
            "set -x; trap 'echo bye' EXIT",
            "+ trap 'echo bye' EXIT\n+ builtin trap 'echo bye' EXIT\n+ echo bye\nbye\n+ :",
        ),
    ],
)
async def test_traps_of_a_command_do_as_ever(session: Session, command: str, output: str) -> None:
    assert (await session.run(command))[0] == output


async def test_a_folder_outside_is_left_again_and_said(session: Session) -> None:
    text, _ = await session.run("cd / && exit 0")
    assert "set back" in text
    assert session.ctx.cwd == session.ctx.scope.project


async def test_a_link_to_the_outside_is_left_again_too(session: Session, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (session.ctx.cwd / "link").symlink_to(tmp_path / "outside")
    assert "set back" in (await session.run("cd link"))[0]
    assert session.ctx.cwd == session.ctx.scope.project


async def test_a_folder_that_is_gone_is_replaced_by_the_project(session: Session) -> None:
    await session.run("mkdir gone && cd gone")
    session.ctx.cwd.rmdir()
    text, result = await session.run("echo here")
    assert not result.is_error
    assert "here" in text
    assert "is gone" in text


@pytest.mark.parametrize(
    "command", ["mkdir gone; cd gone; rmdir ../gone", f"d={'d' * 200}; for i in {{1..25}}; do mkdir $d; cd $d; done"]
)
async def test_a_folder_that_can_not_be_gone_on_in_is_told(session: Session, command: str) -> None:
    text, result = await session.run(command)
    assert not result.is_error
    assert text == f"[The folder where it left off is gone or can't be used; the working folder is {session.ctx.cwd}]"


async def test_the_command_finds_nobody_and_no_terminal(session: Session) -> None:
    text, _ = await session.run("cat; test -t 0 || echo none; cat /dev/tty 2>/dev/null || echo no tty")
    assert text == "none\nno tty"
    assert (await session.run('echo "$TOOLPOST $GIT_EDITOR $GIT_PAGER $PAGER $TERM"'))[0] == "1 true cat cat dumb"


async def test_git_opens_neither_pager_nor_editor(session: Session) -> None:
    text, result = await session.run(
        "git init -q; git config user.email a@b; git config user.name n; git config core.pager 'less -X';"
        " git config core.editor vi; echo x > x; git add x; git commit -q -m one; git commit --amend -q; git log --format=%s"
    )
    assert (text, result.is_error) == ("one", False)


async def test_nothing_of_the_set_up_shows(session: Session) -> None:
    text, _ = await session.run(
        'set -xv; echo "$# $0"; env | grep -c -e BASH_ENV -e TOLD; declare -p | grep -c __toolpost'
    )
    assert [line for line in text.splitlines() if not line.startswith("+")][:1] == ["0 bash"]
    assert "toolpost-test-" not in text


async def test_lines_keep_their_numbers(session: Session) -> None:
    text, _ = await session.run("true\nno_such_program\n")
    assert text == "Exit code 127\nbash: line 2: no_such_program: command not found"


async def test_a_command_longer_than_an_argument_runs_and_moves(session: Session) -> None:
    text, _ = await session.run(f"mkdir sub; cd sub; x='{'a' * 200_000}'; echo ${{#x}}")
    assert text == "200000"
    assert session.ctx.cwd.name == "sub"


@pytest.mark.parametrize(
    "command", ["# only a comment", "cat <<EOF\nabc\nEOF", "\n\necho abc", "echo abc #", "{ echo abc; }"]
)
async def test_any_form_of_a_command_runs(session: Session, command: str) -> None:
    assert not (await session.run(command))[1].is_error


async def test_at_the_time_out_what_was_printed_is_shown(session: Session) -> None:
    text, result = await session.run("echo started; sleep 300", timeout=300)
    assert result.is_error
    assert "timed out after 0.3 s" in text
    assert "started" in text


async def test_an_aborted_call_raises(project: Path) -> None:
    switch = AbortSwitch()
    switch.trigger()
    with pytest.raises(Aborted):
        await Session(project, abort=switch).run("echo never")


@pytest.mark.parametrize(
    ("input", "seconds"),
    [
        ({}, 120),
        ({"timeout": 5000}, 5),
        ({"timeout": 999_999_999}, 600),
        ({"timeout": 0}, 120),
        ({"run_in_background": True}, 1800),
        ({"run_in_background": True, "timeout": 999_999_999}, 7200),
    ],
)
async def test_time_outs_have_defaults_and_bounds(session: Session, input: dict[str, Any], seconds: float) -> None:
    await session.run("true", **input)
    assert (session.commands.ran + session.commands.started)[0].timeout == seconds


async def test_a_background_command_is_handed_over_and_named(session: Session) -> None:
    text, result = await session.run("npm start", description="Serve it", run_in_background=True)
    assert result.data["backgroundTaskId"] in text
    assert result.data["outputFile"] in text
    assert session.commands.started[0].description == "Serve it"


@pytest.mark.parametrize(
    ("command", "more", "moves"),
    [
        ("npm install", {}, 15.0),
        ("until curl -s x; do sleep 1; done", {}, 15.0),
        ("for i in 1 2 3; do sleep 10; done", {}, 15.0),
        ("sleep 60", {}, None),
        ("sleep 60 && cat log", {}, None),
    ],
)
async def test_what_takes_long_may_move_but_not_a_sleep(
    session: Session, command: str, more: dict[str, Any], moves: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float | None] = []

    async def ended(command: Any, **_: Any) -> CommandEnd:
        given.append(command.move_after)
        return CommandEnd(code=0, output="", size=0)

    monkeypatch.setattr(session.commands, "run", ended)
    await session.run(command, **more)
    assert given == [moves]


async def test_a_command_that_moved_is_told_as_such(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    async def moved(command: Any, **_: Any) -> TaskInfo:
        return await session.commands.start(command)

    monkeypatch.setattr(session.commands, "run", moved)
    text, result = await session.run("npm install")
    assert text.startswith("It takes long and goes on in the background with id task1. Its output goes to /")
    assert result.data["movedToBackground"] is True


@pytest.mark.parametrize(
    ("sandbox", "input", "confined"),
    [
        (None, {}, False),
        ({"enabled": True}, {}, True),
        ({"enabled": True}, {"dangerouslyDisableSandbox": True}, False),
    ],
)
async def test_a_command_goes_into_the_sandbox_unless_it_is_to_stay_out(
    session: Session, sandbox: Any, input: dict[str, Any], confined: bool
) -> None:
    session.ctx = replace(session.ctx, scope=replace(session.ctx.scope, sandbox=sandbox))
    await session.run("true", **input)
    command = session.commands.ran[0]
    assert command.confined is confined
    assert not any(Path(name).name == "bash-setup.sh" for name in command.writable)


async def test_no_file_is_left_behind_but_the_set_up(session: Session) -> None:
    await session.run("echo small")
    await session.run(f"x='{'a' * 200_000}'")
    assert [file.name for file in session.commands.folder().iterdir()] == ["bash-setup.sh"]


async def test_a_call_that_is_called_off_leaves_no_file_either(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def called_off(*_: Any, **__: Any) -> CommandEnd:
        raise Aborted("user_cancel")

    monkeypatch.setattr(session.commands, "run", called_off)
    with pytest.raises(Aborted):
        await session.run("true")
    assert [file.name for file in session.commands.folder().iterdir()] == ["bash-setup.sh"]


async def test_a_shell_that_can_not_be_started_is_told(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    async def missing(*_: Any, **__: Any) -> CommandEnd:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(session.commands, "run", missing)
    with pytest.raises(ToolFailed, match=r"bash could not be started in .*: No such file"):
        await session.run("true")


@pytest.mark.parametrize(
    ("command", "safe"), [("ls -la", True), ("cd src", False), ("touch a", False), ("ls > a", False)]
)
def test_only_what_reads_runs_beside_others(command: str, safe: bool) -> None:
    assert Bash().is_concurrency_safe(BashInput(command)) is safe


@pytest.mark.parametrize(("seconds", "says"), [(15.0, "over 15 s"), (0.5, "over 0.5 s"), (0.0, "")])
def test_the_model_reads_after_how_long_a_command_moves(seconds: float, says: str) -> None:
    text = Bash(background_after=seconds).prompt({})
    assert says in text
    assert ("background" in text) is bool(says)


def test_the_tool_takes_less_than_two_kilobytes_of_a_request() -> None:
    tool = Bash()
    spent = {"name": tool.name, "description": tool.prompt({}), "input_schema": tool.shape().schema}
    assert len(json.dumps(spent)) <= 1_800


@pytest.mark.parametrize("put", ["mkfifo", "mkdir", "ln -s /dev/zero", "ln -s nowhere"])
async def test_what_a_command_puts_in_place_of_what_the_shell_tells_harms_nobody(session: Session, put: str) -> None:
    replaces = f'told=$__toolpost_told; builtin trap - EXIT; rm -f "$told"; {put} "$told"; echo done'
    text, result = await session.run(replaces)
    assert (text, result.is_error) == ("done", False)
    text, _ = await session.run("echo next")
    assert text == "next"
