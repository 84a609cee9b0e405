"""What goes wrong between a session and its model, chosen by a seed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from mock_messages.answers import (
    Act,
    Answer,
    Content,
    Failure,
    Turn,
    block,
    cut,
    error,
    ping,
    redacted_thinking,
    stall,
    stream_error,
    text,
    tool_use,
)
from mock_messages.server import Request
from tests.integration.chaos.scenario import Model, wants_summary

IDLE_MS: Final = 250
"""How long a stream may be silent in these sessions; a stall lasts longer."""
CHANCE: Final = 0.3
"""How many requests meet a fault."""
NO_FAULT: Final = "-"
TOO_LONG: Final = "too long"
SUMMARY: Final = "summary"
NOW: Final[Mapping[str, str]] = {"retry-after": "0"}

Fault: TypeAlias = Callable[[Random, Turn], Answer]


class Faulty:
    """Answers as the model does, with faults; `met` names those that there were, a name for each request."""

    def __init__(self, model: Model, random: Random, faults: Mapping[str, Fault], *, chance: float = CHANCE) -> None:
        self._model = model
        self._random = random
        self._faults = faults
        self._chance = chance
        self.met: list[str] = []

    async def __call__(self, request: Request) -> Answer:
        """Answer one request."""
        right = self._model.answer(request)
        if wants_summary(request):
            self.met.append(SUMMARY)
            return right
        if self._random.random() >= self._chance:
            self.met.append(NO_FAULT)
            return right
        name = self._random.choice(sorted(self._faults))
        self.met.append(name)
        await asyncio.sleep(0)
        return self._faults[name](self._random, right)


def _inside(random: Random, answer: Turn, *acts: Act) -> Turn:
    """Put something between the parts of an answer, at its beginning or end."""
    at = random.randint(0, len(answer.parts))
    return replace(answer, parts=(*answer.parts[:at], *acts, *answer.parts[at:]))


def _cut_somewhere(random: Random, answer: Turn) -> Turn:
    return replace(answer, limit=random.randint(0, 4_000))


def _out_of_tokens(random: Random, answer: Turn) -> Turn:
    """End where the limit of tokens cut the last call, or the text."""
    parts = list(answer.parts)
    last = parts[-1]
    if isinstance(last, Content) and last.value["type"] == "tool_use":
        sent = str(last.value["json"])
        parts[-1] = replace(last, value={**last.value, "json": sent[: random.randint(0, len(sent) - 1)]})
    return replace(answer, parts=tuple(parts), stop_reason="max_tokens")


def _input(wrong: str) -> Fault:
    """Let the first call have an input that is none."""

    def change(random: Random, answer: Turn) -> Turn:
        del random
        return _with_first_call(answer, lambda call: replace(call, value={**call.value, "json": wrong}))

    return change


def _unknown_tool(random: Random, answer: Turn) -> Turn:
    return _inside_calls(random, answer, tool_use("NoSuchTool", {"a": 1}))


def _twins(random: Random, answer: Turn) -> Turn:
    """Give all calls one id."""
    del random
    same = [
        replace(part, value={**part.value, "id": "toolu_same"})
        if isinstance(part, Content) and part.value["type"] == "tool_use"
        else part
        for part in answer.parts
    ]
    return replace(answer, parts=tuple(same))


def _strange_block(random: Random, answer: Turn) -> Turn:
    return _inside_calls(random, answer, block({"type": "mystery", "data": {"deep": ["ünknown", 1]}}))


def _secret_thoughts(random: Random, answer: Turn) -> Turn:
    return replace(answer, parts=(redacted_thinking(), text("So."), *answer.parts))


def _inside_calls(random: Random, answer: Turn, part: Content) -> Turn:
    at = random.randint(0, len(answer.parts))
    return replace(answer, parts=(*answer.parts[:at], part, *answer.parts[at:]))


def _with_first_call(answer: Turn, change: Callable[[Content], Content]) -> Turn:
    parts = list(answer.parts)
    for at, part in enumerate(parts):
        if isinstance(part, Content) and part.value["type"] == "tool_use":
            parts[at] = change(part)
            break
    return replace(answer, parts=tuple(parts))


def _failing(failure: Failure) -> Fault:
    return lambda random, answer: failure


SERVICE: Final[Mapping[str, Fault]] = {
    "rate limit": _failing(error(429, "rate_limit_error", headers=NOW)),
    "server error": _failing(error(500, "api_error", headers=NOW)),
    "overloaded": _failing(error(529, "overloaded_error", headers=NOW)),
    "overloaded inside": lambda random, answer: _inside(random, answer, stream_error()),
    "connection cut": lambda random, answer: _inside(random, answer, cut()),
    "cut anywhere": _cut_somewhere,
    TOO_LONG: _failing(error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    "silence": lambda random, answer: _inside(random, answer, stall(3 * IDLE_MS / 1000)),
}
"""Faults of the service and of the line."""
WIRE: Final[Mapping[str, Fault]] = {
    "pings": lambda random, answer: _inside(random, answer, *[ping()] * random.randint(1, 50)),
    "small pieces": lambda random, answer: replace(answer, chunk=random.randint(1, 9)),
    "CRLF": lambda random, answer: replace(answer, crlf=True),
}
"""What is no fault and looks like one."""
MODEL: Final[Mapping[str, Fault]] = {
    "out of tokens": _out_of_tokens,
    "broken JSON": _input('{"command": "echo'),
    "a list for an object": _input("[1, 2]"),
    "no input": _input("{}"),
    "unknown tool": _unknown_tool,
    "one id for all": _twins,
    "unknown block": _strange_block,
    "redacted thinking": _secret_thoughts,
    "paused": lambda random, answer: Turn((text("I pause."),), stop_reason="pause_turn"),
    "nothing said": lambda random, answer: Turn((), stop_reason="end_turn"),
}
"""Answers that a model should not give, or seldom does."""
ALL: Final[Mapping[str, Fault]] = {**SERVICE, **WIRE, **MODEL}


def names(faults: Sequence[str]) -> str:
    """Return what a run met in one line, for who looks into a finding."""
    return " ".join(name.replace(" ", "_") for name in faults)
