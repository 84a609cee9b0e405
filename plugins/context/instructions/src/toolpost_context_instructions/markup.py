"""Markdown as far as it matters here: comments go, and `@path` counts where it is not code."""

from __future__ import annotations

import re

_MARK = re.compile(
    r"""
    ^[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n?
    | (?P<comment><!--)
    | (?P<ticks>`+)
    | (?P<indented>(?:(?<=\n\n)|\A)(?:(?:[ ]{4}|[ ]{0,3}\t)[^\n]*(?:\n|\Z))+)
    """,
    re.VERBOSE | re.MULTILINE,
)
_IMPORT = re.compile(r"(?:(?<=\s)|(?<=[(\[{'\"])|\A)@((?:\\[ ]|[^\s\\])+)")
_LIST_ITEM = re.compile(r"[-*+]\s|\d{1,9}[.)]\s")
# How far is looked for the other end of a code span and the beginning of a list: keeps the time linear.
_LONGEST_SPAN = 2_000
_LONGEST_ITEM = 1_000


def read_markup(text: str) -> tuple[str, list[str]]:
    """Return the text without HTML comments, and the paths that it imports, in order and each once.

    Comments, imports and the like inside code blocks and code spans are text.
    """
    kept: list[str] = []
    prose: list[str] = []
    position = 0
    last_comment = text.rfind("-->")
    while mark := _MARK.search(text, position):
        start = mark.start()
        prose.append(text[position:start])
        kept.append(text[position:start])
        if mark["comment"] and mark.end() <= last_comment:
            position = text.index("-->", mark.end()) + 3
            if text[position : position + 1] == "\n" and not _line_before(text, start).strip():
                position += 1
            continue
        position, is_code = _end_of(mark, text)
        kept.append(text[start:position])
        if not is_code:
            prose.append(text[start:position])
    kept.append(text[position:])
    prose.append(text[position:])
    found = [name.replace("\\ ", " ") for part in prose for name in _IMPORT.findall(part)]
    return "".join(kept), list(dict.fromkeys(found))


def _line_before(text: str, position: int) -> str:
    return text[text.rfind("\n", 0, position) + 1 : position]


def _end_of(mark: re.Match[str], text: str) -> tuple[int, bool]:
    """Return where a marked part ends, and whether it is code; a mark without its other end is text."""
    if fence := mark["fence"]:
        closing = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        close = closing.search(text, mark.end())
        return (close.end() if close else len(text)), True
    if ticks := mark["ticks"]:
        return _end_of_span(ticks, mark.end(), text)
    return mark.end(), bool(mark["indented"]) and not _in_list(text, mark.start())


def _end_of_span(ticks: str, start: int, text: str) -> tuple[int, bool]:
    paragraph = text.find("\n\n", start, start + _LONGEST_SPAN)
    limit = paragraph if paragraph >= 0 else start + _LONGEST_SPAN
    close = re.compile(rf"(?<!`){ticks}(?!`)").search(text, start, limit)
    return (close.end(), True) if close else (start, False)


def _in_list(text: str, position: int) -> bool:
    """Whether what comes before ends in a list, whose items may go on indented."""
    before = text[max(position - _LONGEST_ITEM, 0) : position]
    line = next((line for line in reversed(before.splitlines()) if line[:1].strip()), "")
    return bool(_LIST_ITEM.match(line))
