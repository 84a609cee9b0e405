"""The contract kit of compaction strategies."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from toolpost.compaction import Context
from toolpost.messages import Message
from toolpost.providers import ModelRequest
from toolpost.testing._contract import PluginContract, finish


def conversation(turns: int, *, calls: int = 2, tool: str = "Read", result: str = "line\n" * 400) -> list[Message]:
    """Return a conversation of prompts, each answered with `calls` calls of `tool` and a text."""
    messages: list[Message] = []
    for turn in range(turns):
        ids = [f"toolu_{turn}_{call}" for call in range(calls)]
        uses = [{"type": "tool_use", "id": name, "name": tool, "input": {"file_path": f"/{name}.txt"}} for name in ids]
        results = [{"type": "tool_result", "tool_use_id": name, "content": result} for name in ids]
        messages.append({"role": "user", "content": f"Prompt {turn}"})
        if calls:
            messages += [
                {"role": "assistant", "content": cast("Any", uses)},
                {"role": "user", "content": cast("Any", results)},
            ]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Answer {turn}"}]})
    return messages


class CompactionContract(PluginContract):
    """The suite for a compaction strategy.

    `full` are the fields of a Context in which the strategy has something to do, `idle` those of one in which it has
    not. Both start from a conversation of 30 turns.
    """

    group = "compaction"
    full: ClassVar[Mapping[str, Any]] = {"used": 195_000, "trigger": "auto"}
    idle: ClassVar[Mapping[str, Any]] = {"used": 1_000, "trigger": "before_request"}

    def messages(self) -> list[Message]:
        """Return the conversation; override it where another is needed."""
        return conversation(30)

    def test_it_does_nothing_where_nothing_is_to_do(self) -> None:
        """If this fails: return None; anything else moves the cached prefix and costs the person money."""
        assert self._compact(self._context(self.idle)) is None

    def test_it_makes_a_full_conversation_shorter(self) -> None:
        """If this fails: set `full` to a context in which the strategy acts, or mend compact(); core goes by its size."""
        context = self._context(self.full)
        assert _size(self._acted(context)) < _size(context.messages)

    def test_every_call_keeps_its_result(self) -> None:
        """If this fails: drop a tool_use and its tool_result together; the service refuses a request with half a pair."""
        kept = self._acted(self._context(self.full))
        calls, results = _ids(kept, "tool_use", "id"), _ids(kept, "tool_result", "tool_use_id")
        assert calls == results

    def test_it_begins_with_the_person(self) -> None:
        """If this fails: keep from a message of the role user on; the service refuses a request that begins otherwise."""
        assert self._acted(self._context(self.full))[0]["role"] == "user"

    def test_messages_that_stay_are_the_same_objects(self) -> None:
        """If this fails: return the messages that do not change as they are, no copies: adapters remember them."""
        context = self._context(self.full)
        same = {id(message) for message in context.messages}
        copies = [m for m in self._acted(context) if id(m) not in same and any(m == old for old in context.messages)]
        assert copies == []

    def test_the_conversation_that_it_got_is_left_as_it_was(self) -> None:
        """If this fails: make new messages; those that were sent are in the prompt cache and the transcript."""
        context = self._context(self.full)
        before = copy.deepcopy(context.messages)
        self._compact(context)
        assert context.messages == before

    def test_the_same_conversation_gives_the_same_bytes(self) -> None:
        """If this fails: leave times and random ids out of what is kept; the prompt cache compares bytes."""
        first, second = (json.dumps(self._acted(self._context(self.full))) for _ in range(2))
        assert first == second

    def _context(self, fields: Mapping[str, Any]) -> Context:
        return Context(**{"messages": self.messages(), "ask": _summary, **fields})

    def _compact(self, context: Context) -> Sequence[Message] | None:
        kept: Sequence[Message] | None = finish(self.make().compact(context))
        return kept

    def _acted(self, context: Context) -> Sequence[Message]:
        kept = self._compact(context)
        assert kept is not None, "the strategy did nothing in the context `full`"
        return kept


async def _summary(request: ModelRequest) -> str:
    return f"<summary>A summary of {len(request.messages)} messages.</summary>"


def _size(messages: Sequence[Message]) -> int:
    return len(json.dumps(messages))


def _ids(messages: Sequence[Message], kind: str, key: str) -> list[str]:
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [cast("Mapping[str, str]", block)[key] for block in blocks if block["type"] == kind]
