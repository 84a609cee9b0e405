"""What files that were read bring along: the instructions of their folders, and rules for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from toolpost import Message, SessionScope
from toolpost_context_instructions.announce import Loaded
from toolpost_context_instructions.files import Reader, project_root
from toolpost_context_instructions.kinds import InstructionsFile
from toolpost_context_instructions.places import Names, Standing, add_folder
from toolpost_context_instructions.rules import Rule

_PATH_KEYS = ("file_path", "notebook_path")


def used_files(messages: Sequence[Message], tools: Collection[str]) -> list[str]:
    """Return the paths of calls that succeeded, in their order, each once."""
    calls: dict[str, str] = {}
    used: dict[str, None] = {}
    for block in _blocks(messages):
        if block["type"] == "tool_use" and block["name"] in tools:
            path = next((block["input"][key] for key in _PATH_KEYS if key in block["input"]), None)
            if isinstance(path, str):
                calls[block["id"]] = path
        elif block["type"] == "tool_result" and block["tool_use_id"] in calls and not block.get("is_error"):
            used[calls[block["tool_use_id"]]] = None
    return list(used)


def brought_along(
    files: Sequence[str],
    scope: SessionScope,
    standing: Standing,
    names: Names,
    reader: Reader,
    foreign: Collection[str],
) -> Iterator[Loaded]:
    """Yield what the files bring, outer folders first; nothing that counts from the beginning.

    Files outside the project bring nothing: nobody has opened their folders. Nor do folders called as one of `foreign`,
    and those in them, which hold what others wrote.
    """
    root = project_root(scope)
    nested: list[Rule] = []
    for name in files:
        file = Path(scope.cwd, name)
        if not _is_below(file, root):
            continue
        at = len(reader.found)
        for folder in takewhile(lambda folder: folder.name not in foreign, _folders(file, root)):
            nested += add_folder(reader, folder, names, scope)
        yield from (Loaded(found, "nested_traversal", trigger=file) for found in reader.found[at:])
        for rule in _taken(reader, [*standing.rules, *nested], file):
            yield Loaded(rule, "path_glob_match", trigger=file)


def untold(loaded: Sequence[Loaded], messages: Sequence[Message]) -> list[Loaded]:
    """Return those whose text a conversation does not hold."""
    texts = [
        str(block["text"])
        for message in messages
        if message["role"] == "user"
        for block in _blocks([message])
        if block["type"] == "text"
    ]
    return [one for one in loaded if not any(one.file.heading in text for text in texts)]


def _is_below(file: Path, root: Path) -> bool:
    try:
        return file.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # links that lead to themselves, or no path at all
        return False


def _folders(file: Path, root: Path) -> list[Path]:
    """Return the folders from the project's root to the file's, by whatever links it was named."""
    folder = file.parent if file.parent.is_relative_to(root) else file.resolve().parent
    return [one for one in (*reversed(folder.parents), folder) if one.is_relative_to(root)]


def _taken(reader: Reader, rules: Sequence[Rule], file: Path) -> Sequence[InstructionsFile]:
    at = len(reader.found)
    for rule in rules:
        if rule.is_for(file) and not any(found.path == rule.path for found in reader.found):
            reader.take(rule.path, rule.kind, rule.text, globs=rule.globs)
    return reader.found[at:]


def _blocks(messages: Sequence[Message]) -> Iterator[Any]:
    for message in messages:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content
