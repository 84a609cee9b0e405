"""Counts what sessions still know after a compaction: `python -m tests.benchmarks.compaction_quality`; see README.md."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.benchmarks.drawing import bars, svg, table
from tests.benchmarks.extract import extract, summed_up
from tests.benchmarks.planted import FOUND, KINDS, MUST, Planted, planted
from tests.benchmarks.wordings import HELD_OUT, PLAIN, Wording

from toolpost import CompactionResult, CompactionStrategy, Context, Message, ModelRequest, SystemBlock, tokens_of
from toolpost.services import SessionNotes
from toolpost.testing.doubles import ServiceMap
from toolpost_compaction_micro import Micro
from toolpost_compaction_reactive import Reactive
from toolpost_compaction_session_memory import SessionMemory
from toolpost_compaction_snip import Snip
from toolpost_compaction_summary import Summary
from toolpost_compaction_summary.prompt import INSTRUCTION

Ask: TypeAlias = Callable[[ModelRequest], Awaitable[str]]
RATIO: Final = 10
TARGET: Final = 0.95
ROUNDS: Final = 3
"""Compactions of one session, which goes on in between: what a summary of a summary forgets shows here."""
BASELINE: Final = "plain summary"
SERIES: Final = (
    f"said by the person, and files touched: after 1 compaction (target {TARGET:.0%} at {RATIO}:1)",
    f"the same after {ROUNDS} compactions",
    f"decisions of the model's, and errors: after {ROUNDS} compactions",
)
WORDINGS: Final = {"plain": PLAIN, "held-out": HELD_OUT}


class PlainSummary(CompactionStrategy):
    """What the others are held against: the model's summary before the newest rounds, and nothing beside it."""

    keep: int

    async def compact(self, context: Context) -> CompactionResult | None:
        """Ask for the summary."""
        start = context.newest(self.keep)
        summary = await context.summary_of(context.messages[:start], INSTRUCTION)
        return context.result(context.begun_with(summary, start), summary)


@dataclass(frozen=True)
class Contestant:
    """Strategies that act one after another; with `notes` somebody took notes while the session went on."""

    name: str
    strategies: Sequence[CompactionStrategy]
    notes: bool = False


@dataclass
class Score:
    """What of the planted facts is left, by kind, after the first compaction and after the last; and what that takes."""

    name: str
    first: dict[str, list[bool]] = field(default_factory=dict)
    last: dict[str, list[bool]] = field(default_factory=dict)
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How much shorter conversations got, on average over all compactions."""
        return sum(self.before) / sum(self.after)

    @property
    def tokens(self) -> int:
        """What is left on average."""
        return round(sum(self.after) / len(self.after))


@dataclass(frozen=True)
class Notes:
    """Notes as the small model would have taken them of what came before the newest messages."""

    text: str

    def read(self) -> str:
        """Return them."""
        return self.text


def main(argv: Sequence[str]) -> None:
    """Compact, count, and print a table and bars; writes a plot where it is asked to."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compaction_quality", description=__doc__)
    parser.add_argument(
        "--tokens", type=int, default=150_000, help="tokens of a session before each compaction (150000)"
    )
    parser.add_argument("--sessions", type=int, default=5, help="sessions, each of another seed (5)")
    parser.add_argument(
        "--model", help="let this model sum up, with ANTHROPIC_API_KEY; without it sentences are copied"
    )
    parser.add_argument("--wording", choices=WORDINGS, default="plain", help="how things are put (plain)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first session (0)")
    parser.add_argument("--svg", type=Path, help="write the plot to this file")
    given = parser.parse_args(argv)
    ask = _asking(given.model) if given.model else extract
    seeds = range(given.first, given.first + given.sessions)
    scores = asyncio.run(compare(contestants(given.tokens), ask, given.tokens, seeds, WORDINGS[given.wording]))
    print(table(_rows(scores)))
    shares = {
        f"{score.name} ({score.ratio:.1f}:1)": (
            kept(score.first, MUST),
            kept(score.last, MUST),
            kept(score.last, FOUND),
        )
        for score in scores
    }
    print("\n" + "\n".join(f"{number}. {name}" for number, name in enumerate(SERIES, start=1)) + "\n")
    print(bars(shares, TARGET))
    if given.svg:
        title = f"What is kept of sessions of {given.tokens:,} tokens"
        given.svg.write_text(svg(title, shares, SERIES, TARGET), encoding="utf-8")


def contestants(tokens: int) -> Sequence[Contestant]:
    """Return the strategies, set so that those that can make a tenth of a conversation do."""
    room = tokens // RATIO
    # Of the tenth a half is for words, files and the summary; the baseline has but a summary to find room for.
    keep, words = room // 3, room // 3
    summary = Summary(keep=keep, words=words)
    memory = SessionMemory(min_tokens=keep, min_texts=1, max_tokens=keep, words=words)
    return (
        Contestant(BASELINE, (PlainSummary(keep=room * 5 // 6),)),
        Contestant("summary", (summary,)),
        Contestant("micro, snip, summary", (Micro(), Snip(), summary)),
        Contestant("session_memory", (memory,)),
        Contestant("session_memory, notes", (memory,), notes=True),
        Contestant("reactive", (Reactive(keep=keep / tokens, words=words),)),
        Contestant("micro", (Micro(),)),
        Contestant("snip", (Snip(),)),
    )


async def compare(
    given: Sequence[Contestant], ask: Ask, tokens: int, seeds: Sequence[int], wording: Wording = PLAIN
) -> list[Score]:
    """Let each compact the same sessions; each goes on for some rounds."""
    scores = []
    for contestant in given:
        score = Score(contestant.name)
        for seed in seeds:
            await _session(contestant, score, ask, tokens, seed, wording)
        scores.append(score)
    return scores


async def _session(contestant: Contestant, score: Score, ask: Ask, tokens: int, seed: int, wording: Wording) -> None:
    session = Planted()
    for number in range(ROUNDS):
        room = tokens - round(tokens_of(session.messages))
        planted(seed * ROUNDS + number, max(room, tokens // 4), grow=session, wording=wording)
        score.before.append(tokens_of(session.messages))
        session.messages = await _compacted(contestant, session, ask)
        score.after.append(tokens_of(session.messages))
        if number in (0, ROUNDS - 1):
            _count(session, score.first if number == 0 else score.last)


async def _compacted(contestant: Contestant, session: Planted, ask: Ask) -> list[Message]:
    messages: Sequence[Message] = session.messages
    for strategy in contestant.strategies:
        size = round(tokens_of(messages))
        services = ServiceMap({SessionNotes: Notes(summed_up(messages))} if contestant.notes else {})
        context = Context(
            messages=messages,
            used=size,
            window=size,
            budget=size // 2,
            trigger="prompt_too_long" if isinstance(strategy, Reactive) else "auto",
            request=ModelRequest(model="", messages=session.messages, purpose="compaction"),
            ask=ask,
            said=lambda: session.prompts,
            services=services,
        )
        made = await strategy.compact(context)
        messages = made.messages if made is not None else messages
    return list(messages)


def _count(session: Planted, into: dict[str, list[bool]]) -> None:
    lines = [line for text in _texts(session.messages) for line in text.splitlines()]
    for fact in session.facts:
        into.setdefault(fact.kind, []).append(fact.is_in(lines))


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the texts of a conversation; of calls their inputs, since a path in one can be read again."""
    for message in messages:
        content: Any = message["content"]
        blocks: Any = [{"text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield from (str(value) for value in block.get("input", {}).values())
            yield str(block.get("text") or block.get("content") or "")


def kept(found: Mapping[str, Sequence[bool]], kinds: Iterable[str]) -> float:
    """Return the share of facts of these kinds that are there."""
    counted = [one for kind in kinds for one in found.get(kind, ())]
    return sum(counted) / len(counted) if counted else 1.0


def _rows(scores: Sequence[Score]) -> Iterator[Sequence[str]]:
    yield (
        "strategy",
        "ratio",
        "tokens",
        *(f"{kind}s" for kind in KINDS),
        f"must, {ROUNDS} rounds",
        "must, 1 round",
        "met",
    )
    for score in scores:
        shares = [kept(score.last, (kind,)) for kind in KINDS]
        must = kept(score.last, MUST), kept(score.first, MUST)
        reached = score.ratio >= RATIO * 0.98
        met = ("yes" if min(must) >= TARGET else "no") if reached else "-"
        yield (
            score.name,
            f"{score.ratio:.1f}:1",
            f"{score.tokens:,}",
            *(f"{one:.0%}" for one in (*shares, *must)),
            met,
        )


def _asking(model: str) -> Ask:
    """Return what asks a model of the Anthropic API. Exits where there is no key."""
    from toolpost import TextDelta
    from toolpost_provider_anthropic import Anthropic

    if not os.environ.get("ANTHROPIC_API_KEY"):
        sys.exit("--model asks the Anthropic API: set ANTHROPIC_API_KEY, or leave it out.")
    provider = Anthropic()
    system = (SystemBlock("You are a coding agent in the user's terminal."),)

    async def ask(request: ModelRequest) -> str:
        asked = ModelRequest(
            model=provider.model(model).id, messages=request.messages, system=system, max_tokens=8_000, env=os.environ
        )
        return "".join([event.text async for event in provider.stream(asked) if isinstance(event, TextDelta)])

    return ask


if __name__ == "__main__":
    main(sys.argv[1:])
