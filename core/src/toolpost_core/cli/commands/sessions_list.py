"""`toolpost sessions list`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions
from toolpost_core.cli.exits import complain
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from toolpost_core.transcripts.listing import SessionFile

HEAD = ("SESSION", "LAST CHANGE", "SIZE", "BRANCH", "TITLE")
TITLE_SHOWN = 80


@click.command("list")
@click.option("--all", "every", is_flag=True, help="Those of all folders.")
@click.option("--search", metavar="WORDS", default="", help="Those that have all these words: title, what was said.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, every: bool, search: str, as_json: bool) -> None:
    """The sessions of this folder, the newest first.

    Words are looked for in title, branch and folder, then in what was said and done; of very long sessions in their ends.
    """
    places = open_workspace(options).places
    store = Store(places.config_dir)
    sessions = store.all() if every else store.of(places.project)
    if search.strip():
        _print_found(sessions, search, as_json, every)
    elif as_json:
        print_json([_values(session) for session in sessions])
    else:
        head = (*HEAD, "FOLDER") if every else HEAD
        rows = [_cells(session)[: len(head)] for session in sessions]
        print_table(head, rows, "No session was kept for this folder.")
    for path, error in store.unreadable(None if every else places.project):
        complain(f"{path} is not among these: it can't be read ({error.strerror or error})")


def _print_found(sessions: list[SessionFile], words: str, as_json: bool, every: bool) -> None:
    """Print the sessions that have some words, and where they do."""
    from toolpost_core.transcripts.searching import Search

    search = Search(words)
    found = [(session, said) for session in sessions if (said := search.found(session)) is not None]
    if search.partly:
        complain(f"{search.partly} long sessions were searched in part: their ends, or their titles only")
    if as_json:
        print_json([{**_values(session), "match": said or None} for session, said in found])
        return
    head = (*HEAD, "FOLDER") if every else HEAD
    rows = [(*_cells(session)[: len(head)], said) for session, said in found]
    print_table((*head, "SAID"), rows, "No such session was kept.")


def _values(session: SessionFile) -> dict[str, Any]:
    return {
        "id": session.id,
        "title": session.title,
        "file": str(session.path),
        "created": session.created or None,
        "modified": _time(session.modified),
        "bytes": session.size,
        "project": str(session.project) if session.project else None,
        "cwd": str(session.cwd) if session.cwd else None,
        "branch": session.branch or None,
        "first_prompt": session.first_prompt,
        "forked_from": session.forked_from or None,
    }


def _cells(session: SessionFile) -> tuple[str, ...]:
    title = session.title if len(session.title) <= TITLE_SHOWN else session.title[: TITLE_SHOWN - 1] + "…"
    return session.id, _time(session.modified), _size(session.size), session.branch, title, str(session.project or "")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
