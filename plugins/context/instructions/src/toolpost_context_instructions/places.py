"""Where instructions lie: what counts from the beginning, and what a folder below adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from toolpost import Section, SessionScope
from toolpost_context_instructions.files import Reader, project_root
from toolpost_context_instructions.kinds import InstructionsFile, Kind

if TYPE_CHECKING:
    from toolpost_context_instructions.rules import Rule

MANAGED: Final = Path("/etc/toolpost/TOOLPOST.md")
RULES: Final = Path(".toolpost") / "rules"


class Names(NamedTuple):
    """What files are called; of each group the first that exists in a folder counts."""

    shared: Sequence[str]
    local: Sequence[str]


class Standing(NamedTuple):
    """What counts from the beginning of a conversation: files, their real paths, and rules that wait for a file."""

    files: Sequence[InstructionsFile]
    read: frozenset[Path]
    rules: tuple[Rule, ...]


def policy(scope: SessionScope) -> Sequence[Section]:
    """Return the instructions that managed settings hold; core takes the key from nowhere else."""
    text = scope.settings.get("claudeMd")
    if not text:
        return ()
    said = f"Instructions of whoever manages this machine:\n\n{text}"
    return (Section(name="instructions.policy", text=said, order=49, user=True),)


def standing(scope: SessionScope, names: Names, depth: int) -> Standing:
    """Read what counts from the beginning, in reading order, each file followed by what it imports."""
    reader = Reader(scope, depth)
    reader.add(MANAGED, "Managed")
    reader.add(scope.config_dir / names.shared[0], "User")
    waiting = add_rules(reader, scope.config_dir / "rules", "User", project_root(scope))
    for folder in (*reversed(scope.cwd.parents), scope.cwd):
        waiting += add_folder(reader, folder, names, scope)
    return Standing(reader.found, frozenset(reader.read), tuple(waiting))


def add_folder(reader: Reader, folder: Path, names: Names, scope: SessionScope) -> list[Rule]:
    """Take a folder's files; return its rules that are for certain files only."""
    groups: Iterable[tuple[Sequence[str], Kind]] = ((names.shared, "Project"), (names.local, "Local"))
    waiting: list[Rule] = []
    for wanted, kind in groups:
        paths = [folder / name for name in wanted]
        path = next((path for path in paths if path.is_file() and not path.is_relative_to(scope.config_dir)), None)
        if path is not None:
            reader.add(path, kind)
        if kind == "Project" and folder / RULES.parent != scope.config_dir:
            waiting += add_rules(reader, folder / RULES, kind, folder)
    return waiting


def add_rules(reader: Reader, folder: Path, kind: Kind, base: Path) -> list[Rule]:
    """Take the rules of a folder that are for all files; return those that are for some of those below `base`."""
    if not folder.is_dir():
        return []
    from toolpost_context_instructions.rules import Rule, rule_files, without_front

    waiting = []
    for path in rule_files(folder):
        text = reader.once(path, kind)
        if text is None:
            continue
        globs, text = without_front(text)
        if globs:
            waiting.append(Rule(path, kind, base, globs, text))
        else:
            reader.take(path, kind, text)
    return waiting
