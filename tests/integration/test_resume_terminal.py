"""`toolpost --resume` without an id in a real terminal: the person picks the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi
from tmux_pane import HAS_TMUX, pane

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")
TOOLPOST = str(Path(sys.executable).with_name("toolpost"))


def environment(tmp_path: Path, api: MockMessagesApi, term: str = "xterm-256color") -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "TERM": term,
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "test",
    }


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_the_picked_session_goes_on(tmp_path: Path, term: str) -> None:
    project = tmp_path.resolve() / "project"
    project.mkdir()
    with MockMessagesApi(["Mended.", "Painted.", "It is still mended."]).run_in_thread() as api:
        env = environment(tmp_path, api, term)
        for prompt in ("mend the build", "paint the shed"):
            subprocess.run([TOOLPOST, "-p", prompt], cwd=project, env=env, check=True, stdin=subprocess.DEVNULL)
        with pane([TOOLPOST, "--resume"], cwd=project, env=env) as terminal:
            terminal.shows(r"(?s)Go on with which session\?.*1\. paint the shed.*2\. mend the build")
            terminal.send("2") if term == "dumb" else terminal.press("Down", "Enter")
            terminal.shows(r"(?sm)mend the build.*Mended\..*^›$")
            terminal.send("how is it?")
            terminal.shows(r"It is still mended\.")

    sent = str(api.requests[-1].body["messages"])
    assert "Mended." in sent
    assert "Painted." not in sent


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_sitting_changes_to_another_session_and_stays_where_that_fails(tmp_path: Path, term: str) -> None:
    project = tmp_path.resolve() / "project"
    project.mkdir()
    with MockMessagesApi(["Mended.", "Painted.", "It is still mended.", "It still is."]).run_in_thread() as api:
        env = environment(tmp_path, api, term)
        subprocess.run([TOOLPOST, "-p", "mend the build"], cwd=project, env=env, check=True, stdin=subprocess.DEVNULL)
        with pane([TOOLPOST, "paint the shed"], cwd=project, env=env) as terminal:
            terminal.shows(r"(?sm)Painted\..*^›$")
            terminal.send("/resume")
            terminal.shows(r"(?s)Go on with which session\?.*1\. mend the build")
            terminal.send("1") if term == "dumb" else terminal.press("Enter")
            terminal.shows(r"(?sm)› mend the build\s+Mended\..*The session goes on after 2 messages.*^›$")
            terminal.send("how is it?")
            terminal.shows(r"(?sm)It is still mended\..*^›$")
            terminal.send("/resume nothing")
            terminal.shows(r"(?sm)There is no session 'nothing'.*goes on after 4 messages.*^›$")
            terminal.send("sure?")
            terminal.shows(r"It still is\.")

    sent = str(api.requests[-1].body["messages"])
    assert "It is still mended." in sent
    assert "Painted." not in sent
