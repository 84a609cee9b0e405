"""What came out of a conversation: sentences of the model's, and lines of results that tell of errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any, Final, cast

from toolpost._rounds import blocks_of
from toolpost.messages import Message
from toolpost.tokens import tokens_in_text

PATHS: Final = ("file_path", "notebook_path", "path")
"""Fields of a call's input that name a file."""
LINE_CHARS: Final = 240
_LEFT_OUT: Final = " … "
_SHORTEST: Final = 12
"""Characters below which a sentence says nothing by itself."""
_BEGINNING: Final = 2_000
_END: Final = 4_000
"""Characters of a long result that are looked at: what went wrong stands where output begins or ends."""
_ENDS: Final = 2
"""Lines that are taken from either end where many tell of errors: the first is the cause, the last what it came to."""

_CODE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1`*~*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_MARKS: Final = re.compile(r"^(?:[-*+>#|]+|\d+[.)])\s+")
_WORD: Final = re.compile(r"[\w./:-]*\w")
_WORDS: Final = (
    "can't", "cannot", "conflict", "denied", "err!", "error", "exception", "fail", "fatal", "fault", "invalid", "killed",
    "mismatch", "missing", "no such", "not found", "panic", "refused", "rejected", "timed out", "unable", "undefined",
    "unexpected",
)  # fmt: skip
"""Of these a line has one that tells of an error; matched without case, also inside of names such as KeyError."""
_FINE: Final = re.compile(
    r"\b(?:0|no|without) (?:\w+ )?(?:errors?|failures?|failed|warnings?)\b|\b(?:errors?|failed|failures?)\s*[:=]\s*0\b"
    r"|\b(?:passed|ok|succeeded)\W*$",
    re.IGNORECASE,
)
"""A line that counts none of them, or names what went well."""


def sentences_in(message: Message) -> Iterator[str]:
    """Yield what the model said in a message, sentence by sentence; code is left out."""
    if message["role"] != "assistant":
        return
    for block in cast("Any", blocks_of(message)):
        if block["type"] != "text":
            continue
        for part in _SENTENCE_END.split(_CODE.sub("\n", block["text"])):
            sentence = _MARKS.sub("", part.strip())
            if len(sentence) >= _SHORTEST:
                yield cut(sentence)


def telling(sentences: Sequence[str], tokens: int) -> tuple[str, ...]:
    """Return the sentences with at most so many tokens, in their order: those that say what the others do not.

    A sentence counts by how rare its words are among all of them: "Let me look at the tests" is said all the time, names
    and figures are not. So it works in any language that has words, and needs no list of them.
    """
    own = {sentence: set(map(str.casefold, _WORD.findall(sentence))) for sentence in dict.fromkeys(sentences)}
    common = Counter(word for words in own.values() for word in words)

    def weight(sentence: str) -> float:
        words = own[sentence]
        return sum(log(len(own) / common[word]) for word in words) / (len(words) + 1)

    ranked = sorted(own, key=lambda sentence: -weight(sentence))
    taken = set(_within(ranked, tokens))
    return tuple(sentence for sentence in own if sentence in taken)


def newest(lines: Sequence[str], tokens: int) -> tuple[str, ...]:
    """Return the last lines with at most so many tokens, in their order; of equal ones the last counts."""
    return tuple(reversed(list(_within(list(dict.fromkeys(reversed(lines))), tokens))))


def errors_by_call(messages: Sequence[Message]) -> dict[str, list[str]]:
    """Return the lines of results that tell of errors, by the ids of their calls.

    Of a call that names a file only a failure counts: the word "error" in a file's text is no error.
    """
    shows_file: dict[str, bool] = {}
    found: dict[str, list[str]] = {}
    for message in messages:
        for block in cast("Any", blocks_of(message)):
            if block["type"] == "tool_use":
                shows_file[block["id"]] = any(block["input"].get(key) for key in PATHS)
            elif block["type"] == "tool_result" and (
                block.get("is_error") or not shows_file.get(block["tool_use_id"], False)
            ):
                found[block["tool_use_id"]] = errors_in(block)
    return {call: lines for call, lines in found.items() if lines}


def errors_in(result: Mapping[str, Any]) -> list[str]:
    """Return the lines of a result that tell of errors, a few at most; the last ones of a failure that names none."""
    text = _text_of(result.get("content", ""))
    shown = text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]}\n{text[-_END:]}"
    lowered = shown.lower()
    words = [word for word in _WORDS if word in lowered]
    if not words and not result.get("is_error"):
        return []
    lines = [line for line in dict.fromkeys(map(str.strip, shown.splitlines())) if line]
    found = [line for line in lines if _tells(line, words)]
    if not found and result.get("is_error"):
        found = lines[-_ENDS:]
    if len(found) > 2 * _ENDS:
        found = [*found[:_ENDS], *found[-_ENDS:]]
    return list(dict.fromkeys(map(cut, found)))


def cut(line: str) -> str:
    """Return a line without its middle where it is long."""
    half = (LINE_CHARS - len(_LEFT_OUT)) // 2
    return line if len(line) <= LINE_CHARS else f"{line[:half]}{_LEFT_OUT}{line[-half:]}"


def _tells(line: str, words: Sequence[str]) -> bool:
    lowered = line.lower()
    return any(word in lowered for word in words) and not _FINE.search(line)


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _within(lines: Sequence[str], tokens: int) -> Iterator[str]:
    for line in lines:
        tokens -= tokens_in_text(line) + 1
        if tokens < 0:
            return
        yield line
