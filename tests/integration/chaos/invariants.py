"""What holds after any run, whatever went wrong in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from mock_messages.server import Request
from tests.integration.chaos.scenario import LEDGER, outcome


def broken_by_files(project: Path, wanted: Mapping[str, str]) -> Iterator[str]:
    """Yield where the files differ from those of a run without faults; a line twice in the ledger is a step run twice."""
    found = outcome(project)
    for name in sorted(wanted.keys() | found.keys()):
        if name == LEDGER or wanted.get(name) == found.get(name):
            continue
        yield f"{name} differs: {found.get(name)!r:.200} and not {wanted.get(name)!r:.200}"
    ran, should = Counter(found[LEDGER].splitlines()), Counter(wanted[LEDGER].splitlines())
    yield from (f"{name} ran {ran[name]} times" for name in ran - should)
    yield from (f"{name} did not run" for name in should - ran)


def broken_by_transcript(path: Path, *, cut_lines: int = 0) -> Iterator[str]:
    """Yield what is wrong in a transcript: lines that do not parse, beyond those that a kill may have cut off, and calls
    that have more than one result.
    """
    records: list[Mapping[str, Any]] = []
    bad = 0
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            bad += 1
    if bad > cut_lines:
        yield f"{bad} lines of {path.name} do not parse"
    yield from _answered_twice(records)


def _answered_twice(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    answered: set[str] = set()
    for record in records:
        if record.get("subtype") == "compact_boundary":
            answered.clear()  # the conversation begins anew: a service that repeats itself may use an id again
        content = record.get("message", {}).get("content", ())
        for block in content if record.get("type") == "user" and not isinstance(content, str) else ():
            if block["type"] != "tool_result":
                continue
            name = block["tool_use_id"]
            if name in answered:
                yield f"the call {name} has more than one result"
            answered.add(name)


def broken_by_requests(requests: Sequence[Request], shortened: Container[int] = ()) -> Iterator[str]:
    """Yield where a request does not begin with the very bytes of the one before, or does not read from the prompt cache
    what that one wrote there. `shortened` are the numbers of those after which the conversation may begin anew.
    """
    before: list[str] = []
    written = 0
    for number, request in enumerate(requests, 1):
        if number - 1 in shortened:
            before, written = [], 0
        pieces = list(_pieces(request.body))
        if pieces[: len(before)] != before:
            at = next(at for at, piece in enumerate(before) if pieces[at : at + 1] != [piece])
            yield f"request {number} has other bytes than the one before in block {at}: {before[at]:.200}"
        before = pieces
        if request.status == 200:
            if request.cache.read < written:
                yield f"request {number} read {request.cache.read} tokens from the cache, where {written} were written"
            written = request.cache.read + request.cache.created


def _pieces(body: Mapping[str, Any]) -> Iterator[str]:
    """Return what a request is made of, in the order in which the prompt cache has it."""
    for part in (*body["tools"], *body["system"]):
        yield json.dumps({**part, "cache_control": None})
    for message in body["messages"]:
        for block in message["content"]:
            yield message["role"] + json.dumps({**block, "cache_control": None})


def left_behind(folder: Path) -> list[str]:
    """Return the processes whose current folder is in a run's folder: nothing of it may be left."""
    found = []
    for process in psutil.process_iter():
        try:
            inside = Path(process.cwd()).is_relative_to(folder) and process.status() != psutil.STATUS_ZOMBIE
            command = process.cmdline()
        except (psutil.Error, OSError):  # it ended, or is in a folder that lies deeper than any path
            continue
        if inside:
            found.append(f"process {process.pid} {command} is left")
    return found
