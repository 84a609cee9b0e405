"""A stand-in for the model that sums up: it copies sentences and knows nothing of what is planted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolpost import Message, ModelRequest

WORDS: Final = 900
"""About what a model writes where it is asked for a handover."""
_SHARES: Final = {"user": 0.4, "assistant": 0.4, "error": 0.2}
_FILES: Final = 10
_ASIDE: Final = "<system-reminder>"


async def extract(request: ModelRequest) -> str:
    """Answer a request for a summary from the messages before the instruction."""
    return f"<summary>{summed_up(request.messages[:-1])}</summary>"


def summed_up(messages: Sequence[Message]) -> str:
    """Return the sentences that have most in common with the rest, of each side its share, and the files named most."""
    found: dict[str, list[str]] = {kind: [] for kind in _SHARES}
    files: Counter[str] = Counter()
    for kind, text in _texts(messages):
        if kind == "file":
            files[text] += 1
        else:
            found[kind] += [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]
    lines = [line for kind, share in _SHARES.items() for line in _central(found[kind], round(WORDS * share))]
    return "\n".join([*lines, "Files: " + ", ".join(path for path, _ in files.most_common(_FILES))])


def _central(sentences: Sequence[str], words: int) -> Iterator[str]:
    common = Counter(word for sentence in sentences for word in set(_words(sentence)))
    scored = {
        sentence: sum(common[word] for word in set(own)) / len(own)
        for sentence in dict.fromkeys(sentences)
        if (own := _words(sentence))
    }
    taken: set[str] = set()
    for sentence in sorted(scored, key=lambda one: -scored[one]):
        words -= len(_words(sentence))
        if words < 0:
            break
        taken.add(sentence)
    yield from (sentence for sentence in scored if sentence in taken)


def _words(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def _texts(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        content: Any = message["content"]
        blocks: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text" and not block["text"].startswith(_ASIDE):
                yield message["role"], block["text"]
            elif block["type"] == "tool_use" and "file_path" in block["input"]:
                yield "file", block["input"]["file_path"]
            elif block["type"] == "tool_result":
                for line in str(block["content"]).splitlines():
                    if re.search("error|failed", line, re.IGNORECASE):
                        yield "error", line
