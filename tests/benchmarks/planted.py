"""Long sessions that are made by seed, with facts planted in them that must not be forgotten."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from tests.benchmarks.wordings import PLAIN, Form, Wording

from toolpost import Message, tokens_of

Kind: TypeAlias = Literal["task", "constraint", "correction", "path", "decision", "error"]
KINDS: Final[tuple[Kind, ...]] = ("task", "constraint", "correction", "path", "decision", "error")
MUST: Final[frozenset[Kind]] = frozenset({"task", "constraint", "correction", "path"})
"""What the person said, and which files were touched: of these 95 % are to be there after a compaction."""
FOUND: Final[frozenset[Kind]] = frozenset({"decision", "error"})
"""What came out of the work."""

_NOUNS: Final = (
    "batch", "cache", "cursor", "digest", "export", "filter", "gateway", "handler", "importer", "invoice", "journal",
    "kernel", "ledger", "locator", "mapper", "notifier", "outbox", "parser", "planner", "queue", "renderer", "router",
    "schema", "socket", "tenant", "tracker", "uploader", "vault", "widget", "worker",
)  # fmt: skip
_FOLDERS: Final = ("src/core", "src/api", "src/store", "tests/unit", "tests/api", "docs", "scripts", "migrations")
_PATHS: Final = (("{path}", ("{path}",)),)


@dataclass(frozen=True)
class Fact:
    """Something to be remembered: it is where all its `keys` stand in one line."""

    kind: Kind
    keys: tuple[str, ...]

    def is_in(self, lines: Sequence[str]) -> bool:
        """Whether a context still has it."""
        return any(all(key in line for key in self.keys) for line in lines)


@dataclass
class Planted:
    """A session: its messages, the prompts among them, and the facts in the order in which they came up."""

    messages: list[Message] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


def planted(seed: int, tokens: int, *, grow: Planted | None = None, wording: Wording = PLAIN) -> Planted:
    """Return a session of about so many tokens; with `grow`, one that goes on from there by as many."""
    return _Writer(random.Random(seed), grow or Planted(), wording).write(tokens)


class _Writer:
    """Writes one session, turn by turn."""

    def __init__(self, dice: random.Random, session: Planted, wording: Wording) -> None:
        self._dice, self._session, self._wording = dice, session, wording
        self._begun = bool(session.messages)

    def write(self, tokens: int) -> Planted:
        session, written, turn = self._session, 0.0, 0
        while written < tokens:
            before = len(session.messages)
            self._turn(turn)
            written += tokens_of(session.messages[before:])
            turn += 1
        return session

    def _turn(self, turn: int) -> None:
        prompt = "\n\n".join(self._prompt(turn))
        self._session.prompts.append(prompt)
        self._session.messages.append({"role": "user", "content": prompt})
        for _ in range(self._dice.randint(2, 5)):
            self._calls()
        said = [self._filled(self._wording.prose) for _ in range(3)]
        if self._dice.random() < 0.3:
            said.insert(1, self._fact("decision", self._wording.decisions))
        text = "\n".join(said) if self._wording.narrates else " ".join(said)
        self._session.messages.append({"role": "assistant", "content": [{"type": "text", "text": text}]})

    def _prompt(self, turn: int) -> Iterator[str]:
        """Write what the person says: a task first, most rules early, and now and then a long paste between two lines."""
        if turn == 0 and not self._begun:
            yield self._fact("task", self._wording.tasks)
        if turn < 4 or self._dice.random() < 0.1:
            yield self._fact("constraint", self._wording.rules)
        yield self._dice.choice(self._wording.small_talk)
        if self._dice.random() < 0.25:
            yield "This is what I see:\n" + self._output(self._dice.randint(40, 400))
        if turn > 2 and self._dice.random() < 0.2:
            yield self._fact("correction", self._wording.corrections)

    def _calls(self) -> None:
        """Write one answer with calls, and their results."""
        uses: list[Any] = []
        results: list[Any] = []
        said: list[Any] = []
        if self._wording.narrates and self._dice.random() < 0.7:
            said = [{"type": "text", "text": self._filled(self._wording.prose)}]
        for _ in range(self._dice.randint(1, 3)):
            id, result = f"toolu_{len(self._session.messages)}_{len(uses)}", self._output(self._dice.randint(10, 160))
            name = self._dice.choice(("Read", "Read", "Edit", "Bash"))
            if name == "Bash":
                given = {"command": f"uv run pytest -q -k {self._name()}"}
                if self._dice.random() < 0.3:
                    result += f"\n{self._fact('error', self._wording.errors)}"
                elif self._wording.noise:
                    result += f"\n{self._filled(self._wording.noise)}"
            else:
                given = {"file_path": self._fact("path", _PATHS)}
                given |= {"old_string": self._output(3), "new_string": self._output(4)} if name == "Edit" else {}
            uses.append({"type": "tool_use", "id": id, "name": name, "input": given})
            results.append({"type": "tool_result", "tool_use_id": id, "content": result})
        made: Any = ({"role": "assistant", "content": [*said, *uses]}, {"role": "user", "content": results})
        self._session.messages += made

    def _fact(self, kind: Kind, forms: Sequence[Form]) -> str:
        """Plant a fact and return its text."""
        form, keys = self._dice.choice(forms)
        words = self._words()
        self._session.facts.append(Fact(kind, tuple(key.format(**words) for key in keys)))
        return form.format(**words)

    def _filled(self, forms: Sequence[str]) -> str:
        return self._dice.choice(forms).format(**self._words())

    def _words(self) -> dict[str, str]:
        words = {"noun": self._noun(), "name": self._name(), "other": self._name(), "path": self._path()}
        return {**words, "number": str(self._dice.randint(100, 99_999))}

    def _noun(self) -> str:
        return self._dice.choice(_NOUNS)

    def _name(self) -> str:
        return f"{self._noun()}_{self._noun()}{self._dice.randint(0, 999)}"

    def _path(self) -> str:
        return f"/home/ada/shop/{self._dice.choice(_FOLDERS)}/{self._noun()}_{self._noun()}.py"

    def _output(self, lines: int) -> str:
        return "\n".join(
            f"{number:4d}  {self._noun()}.{self._noun()}({self._dice.random():.6f})  # {self._noun()}"
            for number in range(lines)
        )
