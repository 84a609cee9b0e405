"""`/rewind` in a real terminal, with the real session, tools and files; docs/guides/rewind.md shows the usual way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi, Step, Turn, tool_use, turn
from tmux_pane import HAS_TMUX, Pane, pane

from toolpost import text_of
from toolpost_core.transcripts.history import read

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")
IDLE = r"(?m)^›$"


class Sitting:
    """A terminal in which two prompts were sent: the first made `one`, the second `two`."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self._home = folder / "home"

    @contextmanager
    def after_two_prompts(self, term: str = "xterm-256color") -> Iterator[tuple[Pane, MockMessagesApi]]:
        script: list[Step] = [self._writes("one"), "Made one.", self._writes("two"), "Made two.", "Another."]
        with MockMessagesApi(script).run_in_thread() as api:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "TERM": term,
                "LANG": "C.UTF-8",
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            command = [str(Path(sys.executable).with_name("toolpost")), "--permission-mode", "acceptEdits"]
            with pane(command, cwd=self.project, env=env) as terminal:
                terminal.shows(IDLE)
                terminal.send("make one")
                terminal.shows(r"(?s)Made one\..*\n›$" if term == "dumb" else r"(?sm)Made one\..*^›$")
                terminal.send("make two")
                terminal.shows(r"(?s)Made two\..*\n›$" if term == "dumb" else r"(?sm)Made two\..*^›$")
                yield terminal, api

    def files(self) -> list[str]:
        return sorted(path.name for path in self.project.iterdir())

    def said(self) -> list[str]:
        """Return what a resume would go on from: the last line of each message."""
        (path,) = self._home.glob(".toolpost/projects/*/*.jsonl")
        texts = [text_of(message).strip().rpartition("\n")[2] for message in read(path).messages]
        return [text for text in texts if text]

    def _writes(self, name: str) -> Turn:
        return turn(tool_use("Write", {"file_path": str(self.project / name), "content": name}))


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path.resolve())


def test_the_conversation_alone_goes_back_and_on_from_there(sitting: Sitting) -> None:
    with sitting.after_two_prompts() as (terminal, api):
        terminal.send("/rewind")
        terminal.shows("2. make one")
        terminal.press("Enter")
        terminal.shows("4. Nothing")
        terminal.type("3")
        terminal.shows(r"› make two")
        terminal.press("C-u")
        terminal.send("something else")
        terminal.shows(r"(?sm)Another\..*^›$")
        sent = [text_of(message).strip().rpartition("\n")[2] for message in api.requests[-1].body["messages"]]

    assert [text for text in sent if text] == ["make one", "Made one.", "something else"]
    assert sitting.files() == ["one", "two"]
    assert sitting.said() == ["make one", "Made one.", "something else", "Another."]


def test_files_alone_go_back_and_the_rewind_is_undone_by_its_id(sitting: Sitting) -> None:
    with sitting.after_two_prompts() as (terminal, _):
        terminal.press("Escape", "Escape")
        terminal.shows("2. make one")
        terminal.press("Down", "Enter")
        terminal.shows("4. Nothing")
        terminal.type("2")
        screen = terminal.shows(r"(?sm)2 files went back\..*^›$")
        assert sitting.files() == []
        terminal.send("/rewind " + screen.rpartition("To undo that: /rewind ")[2].split()[0])
        terminal.shows(r"(?sm)made anew.*2 files went back\..*^›$")
        assert sitting.files() == ["one", "two"]

    assert sitting.said() == ["make one", "Made one.", "make two", "Made two."]


def test_a_terminal_that_cant_redraw_numbers_what_there_is(sitting: Sitting) -> None:
    with sitting.after_two_prompts("dumb") as (terminal, _):
        terminal.send("/rewind")
        terminal.shows(r"(?s)1\. make two .*2\. make one .*Number, or Enter to leave everything as it is:$")
        terminal.send("1")
        terminal.shows(r"(?s)4\. Nothing\n.*as it is:$")
        terminal.send("1")
        terminal.shows(r"(?s)can be changed and sent again\.\n+make two\n")

    assert sitting.files() == ["one"]
    assert sitting.said() == ["make one", "Made one."]
