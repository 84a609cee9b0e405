from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import Commands
from toolpost.testing import PlainCommands, ProgressLog, call_tool, make_context
from toolpost_tool_bash import Bash

PROFILE = """
echo noise of a start-up file
alias greet='echo "good day"'
alias ls='ls --color'
helper() { echo "helped $1"; }
ask() { helper "$1"; }
grep() { echo fake; }
cd() { echo fake; }
_complete() { :; }
export LEAKED=1
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bash_profile").write_text(PROFILE)
    return home


async def out(folder: Path, home: Path, command: str, *, login_shell: bool) -> str:
    ctx = make_context(folder, home=home, services={Commands: PlainCommands()})
    result = await call_tool(Bash(login_shell=login_shell), {"command": command}, ctx, ProgressLog())
    return str(result.data["stdout"])


async def test_functions_and_aliases_of_the_login_shell_come_where_they_are_wanted(tmp_path: Path, home: Path) -> None:
    assert await out(tmp_path, home, "greet; ask me", login_shell=True) == "good day\nhelped me\n"
    assert "command not found" in await out(tmp_path, home, "greet", login_shell=False)


async def test_nothing_takes_the_place_of_a_program_or_a_builtin(tmp_path: Path, home: Path) -> None:
    text = await out(tmp_path, home, "type -t ls grep cd _complete; echo [$LEAKED]", login_shell=True)
    assert text == "file\nfile\nbuiltin\n[]\n"


async def test_lines_keep_their_numbers_and_codes_their_meaning(tmp_path: Path, home: Path) -> None:
    ctx = make_context(tmp_path, home=home, services={Commands: PlainCommands()})
    bash = Bash(login_shell=True)
    failed = await call_tool(bash, {"command": "greet\nno_such_program\n"}, ctx, ProgressLog())
    assert str(failed.data["stdout"]).endswith(".sh: line 2: no_such_program: command not found\n")
    searched = await call_tool(bash, {"command": "greet; grep none /dev/null"}, ctx, ProgressLog())
    assert searched.data["returnCodeInterpretation"] == "No matches found"
    left = await call_tool(bash, {"command": "env; bash -c env"}, ctx, ProgressLog())
    assert "BASH_ENV" not in str(left.data["stdout"])
    assert "bash-login" not in str(left.data["stdout"])


async def test_a_profile_that_fails_costs_the_snapshot_only(tmp_path: Path, home: Path) -> None:
    (home / ".bash_profile").write_text("exit 3")
    assert await out(tmp_path, home, "echo runs", login_shell=True) == "runs\n"


ODD = r"""
shopt -s extglob
early() { echo early; }
glob() { case $1 in +(a|b)) echo matched;; esac; }
late() { cat <<EOF
late $1
EOF
}
alias say-it='echo "it'"'"'s"'
alias -- -='echo dash'
alias for=echo
printf 'a\0b'
trap 'echo left' EXIT
IFS=:
"""


async def test_odd_definitions_and_what_is_printed_beside_them_cost_no_other(tmp_path: Path, home: Path) -> None:
    (home / ".bash_profile").write_text(ODD + "trap 'echo noise' DEBUG\n")
    text = await out(tmp_path, home, "early; late night; say-it; - ; shopt -q extglob || echo plain", login_shell=True)
    assert text == "early\nlate night\nit's\ndash\nplain\n"
    assert "command not found" in await out(tmp_path, home, "glob a", login_shell=True)
