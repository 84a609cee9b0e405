"""Long sessions that are made by seed, with facts planted in them that must not be forgotten."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from toolpost import Message, tokens_of

Kind: TypeAlias = Literal["task", "constraint", "correction", "path", "decision", "error"]
KINDS: Final[tuple[Kind, ...]] = ("task", "constraint", "correction", "path", "decision", "error")
MUST: Final[frozenset[Kind]] = frozenset({"task", "constraint", "correction", "path"})
"""What the person said, and which files were touched: of these 95 % are to be there after a compaction."""

_NOUNS: Final = (
    "batch", "cache", "cursor", "digest", "export", "filter", "gateway", "handler", "importer", "invoice", "journal",
    "kernel", "ledger", "locator", "mapper", "notifier", "outbox", "parser", "planner", "queue", "renderer", "router",
    "schema", "socket", "tenant", "tracker", "uploader", "vault", "widget", "worker",
)  # fmt: skip
_FOLDERS: Final = ("src/core", "src/api", "src/store", "tests/unit", "tests/api", "docs", "scripts", "migrations")
_RULES: Final = (
    ("Never touch {path}, somebody else owns it.", ("{path}", "ever touch")),
    ("The public function {name} must keep its signature.", ("{name}", "signature")),
    ("Whatever you do, stay below {number} ms for the {noun} request.", ("{number} ms", "{noun}")),
    ("We only use {name} version {number}, do not upgrade it.", ("{name}", "{number}")),
    ("All messages to the user are in German and go through {name}.", ("German", "{name}")),
    ("Commit nothing until I say the word {name}.", ("{name}",)),
)
_CORRECTIONS: Final = (
    ("No, that is wrong: {name} counts from {number}, not from zero.", ("{name}", "{number}")),
    ("Stop mocking the {noun} in {name}, use the real one.", ("{noun}", "{name}", "real")),
    ("I meant the {noun} of {name}, not the other one.", ("{noun}", "{name}")),
)
_DECISIONS: Final = (
    ("I decided for {name} instead of {other}, since {other} loses the order of the {noun}.", ("{name}", "{other}")),
    ("We go with a limit of {number} in {name}; a larger one made the {noun} slow.", ("{number}", "{name}")),
)
_ERRORS: Final = (
    ("{name}Error: {noun} {number} is not open", ("{name}Error", "{noun} {number}")),
    ("FAILED {path}::test_{name} - assert {number} == 0", ("test_{name}", "{number}")),
)
_SMALL_TALK: Final = (
    "Go on with the next part.", "Looks good so far.", "Please look at the failing run.", "Can you explain that part?",
    "Then do the same for the rest.", "And what about the edge cases?", "Run the tests again, please.",
)  # fmt: skip
_TASKS: Final = (
    ("Build the {noun} for {name}: it has to {other} every {number} s.", ("{noun}", "{name}", "{other}", "{number} s")),
)
_PATHS: Final = (("{path}", ("{path}",)),)
_PROSE: Final = (
    "I looked at the {noun} and it does what it says.", "The {noun} is called from two places.",
    "The tests for the {noun} pass.", "Next I look at how the {noun} is made.", "That part needs no change.",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """Something to be remembered: it is where all its `keys` stand in one paragraph."""

    kind: Kind
    keys: tuple[str, ...]

    def is_in(self, paragraphs: Sequence[str]) -> bool:
        """Whether a context still has it."""
        return any(all(key in paragraph for key in self.keys) for paragraph in paragraphs)


@dataclass
class Planted:
    """A session: its messages, the prompts among them, and the facts in the order in which they came up."""

    messages: list[Message] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


def planted(seed: int, tokens: int, *, grow: Planted | None = None) -> Planted:
    """Return a session of about so many tokens; with `grow`, one that goes on from there by as many."""
    return _Writer(random.Random(seed), grow or Planted()).write(tokens)


class _Writer:
    """Writes one session, turn by turn."""

    def __init__(self, dice: random.Random, session: Planted) -> None:
        self._dice, self._session = dice, session
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
        said = [self._dice.choice(_PROSE).format(noun=self._noun()) for _ in range(3)]
        if self._dice.random() < 0.3:
            said.insert(1, self._fact("decision", _DECISIONS))
        self._session.messages.append({"role": "assistant", "content": [{"type": "text", "text": " ".join(said)}]})

    def _prompt(self, turn: int) -> Iterator[str]:
        """Write what the person says: a task first, most rules early, and now and then a long paste between two lines."""
        if turn == 0 and not self._begun:
            yield self._fact("task", _TASKS)
        if turn < 4 or self._dice.random() < 0.1:
            yield self._fact("constraint", _RULES)
        yield self._dice.choice(_SMALL_TALK)
        if self._dice.random() < 0.25:
            yield "This is what I see:\n" + self._output(self._dice.randint(40, 400))
        if turn > 2 and self._dice.random() < 0.2:
            yield self._fact("correction", _CORRECTIONS)

    def _calls(self) -> None:
        """Write one answer with calls, and their results."""
        uses: list[Any] = []
        results: list[Any] = []
        for _ in range(self._dice.randint(1, 3)):
            id, result = f"toolu_{len(self._session.messages)}_{len(uses)}", self._output(self._dice.randint(10, 160))
            name = self._dice.choice(("Read", "Read", "Edit", "Bash"))
            if name == "Bash":
                given = {"command": f"uv run pytest -q -k {self._name()}"}
                if self._dice.random() < 0.3:
                    result += f"\n{self._fact('error', _ERRORS)}"
            else:
                given = {"file_path": self._fact("path", _PATHS)}
                given |= {"old_string": self._output(3), "new_string": self._output(4)} if name == "Edit" else {}
            uses.append({"type": "tool_use", "id": id, "name": name, "input": given})
            results.append({"type": "tool_result", "tool_use_id": id, "content": result})
        made: Any = ({"role": "assistant", "content": uses}, {"role": "user", "content": results})
        self._session.messages += made

    def _fact(self, kind: Kind, forms: Sequence[tuple[str, tuple[str, ...]]]) -> str:
        """Plant a fact and return its text."""
        form, keys = self._dice.choice(forms)
        words = {"noun": self._noun(), "name": self._name(), "other": self._name(), "path": self._path()}
        filled = {**words, "number": str(self._dice.randint(100, 99_999))}
        self._session.facts.append(Fact(kind, tuple(key.format(**filled) for key in keys)))
        return form.format(**filled)

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
