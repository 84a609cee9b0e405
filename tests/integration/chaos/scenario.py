"""A session of thirty turns with parallel calls, and the model that leads through it.

The model is a function of the request alone: it looks at which steps have a result in the conversation and asks for the rest
of the first turn that is not done. So it can be asked again, cut off, called off and resumed at any point. A step that was
tried before and has no good result is asked for in a form that first looks whether it was done. Asked for a summary it names
the steps that are done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from mock_messages.answers import Content, Part, Turn, text, thinking, tool_use, turn
from mock_messages.server import Request

TURNS: Final = 30
PARTS: Final = 3
"""The thirty turns are asked for by three prompts."""
LEDGER: Final = "ran.log"
NOTES: Final = "notes.txt"
_OF_SED: Final = re.compile(r"sed\w{6}", re.ASCII)

Kind: TypeAlias = Literal["run", "slow", "write", "edit", "read", "grep", "glob"]

_MIX: Final[tuple[tuple[Kind, ...], ...]] = (
    ("read", "grep", "glob"),
    ("run",),
    ("write", "write", "run"),
    ("read", "edit"),
    ("slow", "read", "read", "run"),
    ("grep", "write"),
)
_NAME: Final = re.compile(r"step \d+\.\d+")
_DONE: Final = re.compile(r"^(step \d+\.\d+) is done$", re.MULTILINE)
_PART: Final = re.compile(r"^part (\d)$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Step:
    """One call of the scenario: the `call`-th of a turn."""

    turn: int
    call: int
    kind: Kind

    @property
    def name(self) -> str:
        """What stands in the call's input, and by that the step is known in a conversation."""
        return f"step {self.turn}.{self.call}"


STEPS: Final = tuple(
    Step(number, call, kind) for number in range(1, TURNS + 1) for call, kind in enumerate(_MIX[number % len(_MIX)], 1)
)
"""All steps in their order."""
_BY_NAME: Final = {step.name: step for step in STEPS}


def lay_out(project: Path) -> None:
    """Put the files there that the steps need."""
    sources = project / "sources"
    sources.mkdir(parents=True)
    (project / "written").mkdir()
    for step in STEPS:
        if step.kind == "read":
            (sources / f"{step.name}.txt").write_text(f"source of {step.name}\n")
    edits = (f"{step.name} open\n" for step in STEPS if step.kind == "edit")
    (project / NOTES).write_text("".join(edits))
    (project / LEDGER).touch()


def outcome(project: Path) -> dict[str, str]:
    """Return the files of a project with their texts; the ledger's lines are sorted, as calls may run side by side.

    What a `sed -i` was writing when it was ended is left there by sed, whoever ended it, and does not count.
    """
    paths = [path for path in sorted(project.rglob("*")) if path.is_file() and not _OF_SED.fullmatch(path.name)]
    files = {str(path.relative_to(project)): path.read_text() for path in paths}
    return files | {LEDGER: "".join(sorted(files[LEDGER].splitlines(keepends=True)))}


def expected(folder: Path) -> dict[str, str]:
    """Return what `outcome` is where every step ran once."""
    lay_out(folder)
    for step in STEPS:
        if step.kind == "write":
            (folder / "written" / f"{step.turn}_{step.call}.txt").write_text(f"{step.name}\n")
    notes = folder / NOTES
    notes.write_text(notes.read_text().replace(" open", " done"))
    ran = sorted(f"{step.name}\n" for step in STEPS if step.kind in ("run", "slow"))
    (folder / LEDGER).write_text("".join(ran))
    return outcome(folder)


class Model:
    """Answers requests of a session in one project."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def answer(self, request: Request) -> Turn:
        """Return the next turn; the end of a part where all its steps are done."""
        seen = Seen.of(request.body["messages"])
        if wants_summary(request):
            return turn(
                text("<summary>\n" + "\n".join(f"{step.name} is done" for step in sorted(seen.done)) + "\n</summary>")
            )
        wanted = [step for step in STEPS if step.turn <= seen.parts * (TURNS // PARTS) and step not in seen.done]
        if not wanted:
            return turn(text(f"Part {seen.parts} is done."))
        now = [step for step in wanted if step.turn == wanted[0].turn]
        return turn(*self._said(now), *(self._call(step, again=step in seen.tried) for step in now))

    def _said(self, steps: Sequence[Step]) -> Iterator[Part]:
        number = steps[0].turn
        if number % 4 == 0:
            yield thinking(f"Turn {number} comes next.", f"signature{number}")
        if number % 3:
            yield text(f"Turn {number}.")

    def _call(self, step: Step, *, again: bool) -> Content:
        path = self._project
        match step.kind:
            case "run" | "slow" | "edit" if again:
                return self._bash(step, _unless_done(step))
            case "run":
                return self._bash(step, _note(step))
            case "slow":
                return self._bash(step, f"sleep 0.05; {_note(step)}")
            case "write":
                target = path / "written" / f"{step.turn}_{step.call}.txt"
                return tool_use("Write", {"file_path": str(target), "content": f"{step.name}\n"})
            case "edit":
                change = {"old_string": f"{step.name} open", "new_string": f"{step.name} done"}
                return tool_use("Edit", {"file_path": str(path / NOTES), **change})
            case "read":
                return tool_use("Read", {"file_path": str(path / "sources" / f"{step.name}.txt")})
            case "grep":
                return tool_use("Grep", {"pattern": step.name, "path": str(path / "sources")})
            case "glob":
                return tool_use("Glob", {"pattern": f"**/{step.name}*", "path": str(path)})

    def _bash(self, step: Step, command: str) -> Content:
        return tool_use("Bash", {"command": command, "description": step.name})


def _unless_done(step: Step) -> str:
    if step.kind == "edit":
        return f"grep -q '{step.name} done' {NOTES} || sed -i 's/{step.name} open/{step.name} done/' {NOTES}"
    return f"grep -qx '{step.name}' {LEDGER} || {{ {_note(step)}; }}"


def _note(step: Step) -> str:
    """Write a step down; bash would cut an `echo` that is interrupted between its text and the end of its line."""
    return f"trap '' INT; echo '{step.name}' >> {LEDGER}"


def _summary(done: Iterable[Step]) -> str:
    return "\n".join(["<summary>", *(f"{step.name} is done" for step in sorted(done)), "</summary>"])


def wants_summary(request: Request) -> bool:
    """Whether a request asks for a summary of the conversation instead of the next turn."""
    content = request.body["messages"][-1]["content"]
    return "<summary>" in content[-1].get("text", "")


@dataclass(frozen=True)
class Seen:
    """What a conversation shows: how many parts were asked for, which steps are done, and which were tried."""

    parts: int
    done: frozenset[Step]
    tried: frozenset[Step]

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> Seen:
        """Read the messages of a request."""
        calls: dict[str, Step] = {}
        done: set[Step] = set()
        parts = 0
        for block in _blocks(messages):
            match block["type"]:
                case "tool_use":
                    if (name := _NAME.search(str(block["input"]))) and name[0] in _BY_NAME:
                        calls[block["id"]] = _BY_NAME[name[0]]
                case "tool_result":
                    step = calls.get(block["tool_use_id"])
                    if step is not None and not block.get("is_error"):
                        done.add(step)
                case "text":
                    parts = max([parts, *map(int, _PART.findall(block["text"]))])
                    done.update(_BY_NAME[name] for name in _DONE.findall(block["text"]))
        return cls(parts, frozenset(done), frozenset(calls.values()))


def _blocks(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content
