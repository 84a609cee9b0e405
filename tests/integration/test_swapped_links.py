"""A link that is exchanged between the decision on a call and the call leads it nowhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, tool_use, turn

from toolpost import LaunchOptions, Question, Reply, SessionEvent, ToolFinished
from toolpost_core.api import open_session

ASKED = ("Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep")
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


class Folders:
    """A project, and a folder outside of it that has files of the same names and content."""

    def __init__(self, folder: Path) -> None:
        self.project, self.outside = folder / "project", folder / "outside"
        for place in (self.project / "inside", self.outside):
            place.mkdir(parents=True)
            (place / "a.txt").write_text("one\n")
            (place / "a.ipynb").write_text(NOTEBOOK)
        (self.project / "folder").symlink_to("inside")
        (self.project / "file.txt").symlink_to("inside/a.txt")
        (self.project / "file.ipynb").symlink_to("inside/a.ipynb")

    def swap(self) -> None:
        """Lead all links outside."""
        for name, target in (("folder", "."), ("file.txt", "a.txt"), ("file.ipynb", "a.ipynb")):
            (self.project / "new").symlink_to(self.outside / target)
            (self.project / "new").replace(self.project / name)

    def texts(self) -> set[tuple[str, str]]:
        """Return all files with their content."""
        return {
            (str(file), file.read_text()) for top in (self.project / "inside", self.outside) for file in top.iterdir()
        }


async def ended(folders: Folders, swap: Callable[[], None], *calls: tuple[str, dict[str, Any]]) -> list[ToolFinished]:
    """Make the calls, each of which is asked about, and let `swap` run before the yes to the last one."""
    answered = 0

    async def ask(question: Question) -> Reply:
        nonlocal answered
        answered += 1
        if answered == len(calls):
            swap()
        return Reply(allow=True)

    settings = folders.project / ".toolpost" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"ask": ASKED}}))
    events: list[SessionEvent] = []
    async with MockMessagesApi([*(turn(tool_use(name, given)) for name, given in calls), "Done."]) as api:
        env = {"PATH": os.environ["PATH"], "HOME": str(folders.project.parent / "home")}
        env |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test"}
        async with open_session(LaunchOptions(cwd=folders.project), ask, env=env) as session:
            events = [event async for event in session.submit("go")]
    assert answered == len(calls)
    return [event for event in events if isinstance(event, ToolFinished)]


def calls_on(project: Path) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    made: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for where, text, book in (
        ("file", project / "file.txt", project / "file.ipynb"),
        ("folder", project / "folder" / "a.txt", project / "folder" / "a.ipynb"),
    ):
        read, read_book = ("Read", {"file_path": str(text)}), ("Read", {"file_path": str(book)})
        edit = {"file_path": str(text), "old_string": "one", "new_string": "two"}
        cell = {"notebook_path": str(book), "new_source": "1", "edit_mode": "insert", "cell_type": "code"}
        made |= {
            f"Read {where}": [read],
            f"Edit {where}": [read, ("Edit", edit)],
            f"Write {where}": [read, ("Write", {"file_path": str(text), "content": "two\n"})],
            f"NotebookEdit {where}": [read_book, ("NotebookEdit", cell)],
            f"Grep {where}": [("Grep", {"pattern": "one", "path": str(text), "output_mode": "content"})],
        }
    return made | {
        "Write new": [("Write", {"file_path": str(project / "folder" / "new.txt"), "content": "two\n"})],
        "Edit new": [("Edit", {"file_path": str(project / "folder" / "b"), "old_string": "", "new_string": "two\n"})],
        "Grep in": [("Grep", {"pattern": "one", "path": "folder", "output_mode": "content"})],
        "Glob in": [("Glob", {"pattern": "*.txt", "path": "folder"})],
        "Glob pattern": [("Glob", {"pattern": "folder/*.txt"})],
    }


@pytest.mark.requirement("permissions.links_are_held")
@pytest.mark.parametrize("case", calls_on(Path()))
async def test_a_link_that_is_exchanged_after_the_decision_leads_a_call_nowhere(tmp_path: Path, case: str) -> None:
    folders = Folders(tmp_path)
    before = folders.texts()

    *_, last = await ended(folders, folders.swap, *calls_on(folders.project)[case])

    assert last.is_error
    assert "by now" in last.text
    assert "one" not in last.text.replace(str(tmp_path), "")
    assert folders.texts() == before


@pytest.mark.parametrize("case", calls_on(Path()))
async def test_a_link_that_stays_is_followed(tmp_path: Path, case: str) -> None:
    folders = Folders(tmp_path)

    assert not any(done.is_error for done in await ended(folders, lambda: None, *calls_on(folders.project)[case]))
    assert (folders.outside / "a.txt").read_text() == "one\n"
