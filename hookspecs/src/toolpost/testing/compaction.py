"""The contract kit of compaction strategies."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from toolpost.compaction import CompactionResult, Context
from toolpost.messages import Message
from toolpost.providers import ModelRequest
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing._legal import broken_rules


def conversation(
    turns: int, *, calls: int = 2, tool: str = "Read", result: str = "line\n" * 400, thoughts: bool = False
) -> list[Message]:
    """Return a conversation of prompts, each answered with `calls` calls of `tool` and a text; `thoughts` go before both."""
    messages: list[Message] = []
    for turn in range(turns):
        ids = [f"toolu_{turn}_{call}" for call in range(calls)]
        uses = [{"type": "tool_use", "id": name, "name": tool, "input": {"file_path": f"/{name}.txt"}} for name in ids]
        results = [{"type": "tool_result", "tool_use_id": name, "content": result} for name in ids]
        thought = [{"type": "thinking", "thinking": f"Thought {turn}", "signature": "c2ln"}] if thoughts else []
        messages.append({"role": "user", "content": f"Prompt {turn}"})
        if calls:
            messages += [
                {"role": "assistant", "content": cast("Any", [*thought, *uses])},
                {"role": "user", "content": cast("Any", results)},
            ]
        text = {"type": "text", "text": f"Answer {turn}"}
        messages.append({"role": "assistant", "content": cast("Any", [*thought, text])})
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
        return conversation(30, thoughts=True)

    def test_it_does_nothing_where_nothing_is_to_do(self) -> None:
        """If this fails: return 0 from applies(), or None; anything else moves the cached prefix and costs money."""
        assert self._compact(self._context(self.idle)) is None

    def test_it_makes_a_full_conversation_shorter(self) -> None:
        """If this fails: set `full` to a context in which the strategy acts, or mend compact(); core goes by its size."""
        context = self._context(self.full)
        assert _size(self._acted(context).messages) < _size(context.messages)

    def test_what_it_makes_is_at_rest(self) -> None:
        """If this fails: do all in one go; what is cut again and again is never in the prompt cache."""
        context = self._context(self.full)
        made = self._acted(context)
        used = context.used - context.tokens(context.messages) + made.tokens
        again = {**self.full, "messages": made.messages, "used": used, "trigger": "before_request", "part": None}
        assert self._compact(self._context(again)) is None

    def test_every_call_keeps_its_result(self) -> None:
        """If this fails: drop a tool_use and its tool_result together; the service refuses a request with half a pair."""
        assert _broken(self._acted(self._context(self.full)), "call") == []

    def test_it_begins_with_the_person(self) -> None:
        """If this fails: keep from a message of the role user on; the service refuses a request that begins otherwise."""
        assert _broken(self._acted(self._context(self.full)), "begin") == []

    def test_the_roles_alternate(self) -> None:
        """If this fails: join messages of one role in a row, or use context.begun_with; the service refuses them."""
        assert _broken(self._acted(self._context(self.full)), "role") == []

    def test_thoughts_stay_with_their_answer(self) -> None:
        """If this fails: keep or drop an answer as a whole; a thought is signed together with what follows it."""
        context = self._context(self.full)
        thoughts = {json.dumps(m["content"]) for m in context.messages if _thinks(m)}
        assert [
            m for m in self._acted(context).messages if _thinks(m) and json.dumps(m["content"]) not in thoughts
        ] == []

    def test_it_says_what_it_did(self) -> None:
        """If this fails: make the result with context.result(messages, boundary); people are shown what it says."""
        context = self._context(self.full)
        made = self._acted(context)
        assert sorted([*made.kept, *made.dropped]) == list(range(len(context.messages)))
        assert bool(made.boundary) == self.make().summarizes
        assert made.boundary in "\n".join(_texts(made.messages))

    def test_messages_that_stay_are_the_same_objects(self) -> None:
        """If this fails: return the messages that do not change as they are, no copies: adapters remember them."""
        context = self._context(self.full)
        same = {id(message) for message in context.messages}
        made = self._acted(context)
        assert [m for m in made.messages if id(m) not in same and any(m == old for old in context.messages)] == []

    def test_the_conversation_that_it_got_is_left_as_it_was(self) -> None:
        """If this fails: make new messages; those that were sent are in the prompt cache and the transcript."""
        context = self._context(self.full)
        before = copy.deepcopy(context.messages)
        self._compact(context)
        assert context.messages == before

    def test_the_same_conversation_gives_the_same_bytes(self) -> None:
        """If this fails: leave times and random ids out of what is kept; the prompt cache compares bytes."""
        first, second = (json.dumps(self._acted(self._context(self.full)).messages) for _ in range(2))
        assert first == second

    def _context(self, fields: Mapping[str, Any]) -> Context:
        messages = self.messages()
        request = ModelRequest(model="model", messages=messages)
        return Context(**{"messages": messages, "request": request, "ask": _summary, **fields})

    def _compact(self, context: Context) -> CompactionResult | None:
        strategy = self.make()
        if context.trigger not in strategy.triggers or strategy.applies(context) <= 0:
            return None
        made: CompactionResult | None = finish(strategy.compact(context))
        return made

    def _acted(self, context: Context) -> CompactionResult:
        made = self._compact(context)
        assert made is not None, "the strategy did nothing in the context `full`"
        return made


async def _summary(request: ModelRequest) -> str:
    return f"<summary>A summary of {len(request.messages)} messages.</summary>"


def _size(messages: Sequence[Message]) -> int:
    return len(json.dumps(messages))


def _broken(made: CompactionResult, subject: str) -> list[str]:
    return [text for about, text in broken_rules(made.messages) if about == subject]


def _blocks(message: Message) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _thinks(message: Message) -> bool:
    return any(block["type"] in ("thinking", "redacted_thinking") for block in _blocks(message))


def _texts(messages: Sequence[Message]) -> list[str]:
    return [block["text"] for message in messages for block in _blocks(message) if block["type"] == "text"]
