"""Reads what stands between words: blanks, operators, keywords, assignments, redirections and here-documents."""

from __future__ import annotations

import re
from typing import Final

from .expansions import WordReader
from .syntax import Assign, Redirect, Simple, Text, Unreadable, Word, is_own_variable

CONTROL: Final = re.compile(r";;&|;;|;&|\|\||&&|\|&|[;&|\n]")
"""The operators between commands."""

_SKIPPED = frozenset(" \t\\#\n")
BEGIN_REDIRECT: Final = frozenset("0123456789{<>&")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)")
_REDIRECT = re.compile(r"(\d*)(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)(?!\()")
_DESCRIPTOR = re.compile(r"\{([A-Za-z_]\w*)\}(?=[<>])")
_KEYWORD = re.compile(r"[^\s;&|<>()'\"\\`$]+(?=[\s;&|<>()]|$)")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")


class LineReader(WordReader):
    """Reads words and what connects them; `found` keeps every simple command, also of a text that is broken further on."""

    def __init__(self, text: str, at: int = 0, *, depth: int = 0, found: list[Simple] | None = None) -> None:
        super().__init__(text, at, depth=depth)
        self.found: list[Simple] = [] if found is None else found
        self._waiting: list[tuple[str, bool, bool, list[Word]]] = []

    def skip(self, *, newlines: bool = False) -> None:
        """Go on over blanks and remarks, and with `newlines` over the ends of lines."""
        text, at = self.text, self.at
        if text.startswith(" ", at):
            self.at = at = at + 1
        # Most often a word follows at once.
        if at >= len(text) or text[at] not in _SKIPPED:
            return
        while self.at < len(text):
            char = text[self.at]
            if char not in _SKIPPED:
                return
            if blanks := _BLANKS.match(text, self.at):
                self.at = blanks.end()
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = end if end >= 0 else len(text)
            elif newlines and char == "\n":
                self.take("\n")
            else:
                return

    def skip_separators(self) -> None:
        """Go on over what separates the head of a loop from its body."""
        self.skip(newlines=True)
        if self.text.startswith(";", self.at):
            self.at += 1
        self.skip(newlines=True)

    def take(self, operator: str) -> None:
        """Go on over an operator."""
        self.at += len(operator)
        if self.text.startswith("\\\n", self.at) and operator in ("&", "|", ";"):
            raise Unreadable("an operator is split over lines")
        if operator == "\n":
            self.bodies()

    def expect(self, char: str) -> None:
        """Go on over a text that must stand here."""
        if not self.text.startswith(char, self.at):
            got = self.text[self.at : self.at + 1] or "the end"
            raise Unreadable(f"{char!r} is missing at position {self.at}, there is {got!r}")
        self.at += len(char)

    def peek_keyword(self) -> str:
        """The word that stands here if nothing of it is quoted, else nothing."""
        match = _KEYWORD.match(self.text, self.at)
        return match[0] if match else ""

    def keyword(self, *wanted: str) -> str:
        """Go on over one of the keywords that must follow, and return it."""
        self.skip(newlines=True)
        keyword = self.peek_keyword()
        if keyword not in wanted:
            raise Unreadable(f"{' or '.join(wanted)!r} is missing at position {self.at}")
        self.at += len(keyword)
        return keyword

    def argument(self) -> Word:
        """Read a word that must be there."""
        word = self.word()
        if not word.source:
            raise Unreadable(f"{self.text[self.at : self.at + 5]!r} at position {self.at} is not expected there")
        return word

    def assignment(self) -> Assign | None:
        """Read an assignment, where one stands here."""
        match = _ASSIGNMENT.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        plain = match[2] == "="
        if self.text.startswith("(", self.at):
            start = self.at
            self.at += 1
            items: list[Word] = []
            while True:
                self.skip(newlines=True)
                if self.text.startswith(")", self.at):
                    self.at += 1
                    pieces = tuple(piece for item in items for piece in item.pieces)
                    value = Word(pieces, self.text[start : self.at])
                    return Assign(match[1], value, simple=False, items=tuple(items) if plain else None)
                items.append(self.argument())
        return Assign(match[1], self.word(), simple=plain)

    def redirect(self) -> Redirect | None:
        """Read a redirection, where one stands here."""
        if self.text[self.at : self.at + 1] not in BEGIN_REDIRECT:
            return None
        if named := _DESCRIPTOR.match(self.text, self.at):
            if not is_own_variable(named[1]):
                raise Unreadable(f"a redirection sets the variable {named[1]}")
            self.at = named.end()
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        self.skip()
        operator = match[2]
        target = self.argument()
        if operator in ("<<", "<<-"):
            if target.joined or set(target.source) & set("$`"):
                raise Unreadable("the end of a here-document is no plain word")
            quoted = any(isinstance(piece, Text) and piece.quoted for piece in target.pieces)
            marker = "".join(piece.text for piece in target.pieces if isinstance(piece, Text))
            body: list[Word] = []
            self._waiting.append((marker, quoted, operator == "<<-", body))
            return Redirect(operator, target, body)
        return Redirect(operator, target)

    def bodies(self) -> None:
        """At the end of a line: read the bodies of the here-documents that were opened on it."""
        waiting, self._waiting = self._waiting, []
        for marker, quoted, indented, body in waiting:
            lines, continued = [], ""
            while True:
                if self.at >= len(self.text):
                    raise Unreadable(f"the here-document {marker!r} is not closed")
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                # Where nothing is quoted, a line that ends in a backslash goes on in the next, also for the marker.
                ends = (line.lstrip("\t") if indented else line) == marker
                if continued and (ends or (continued + line).lstrip("\t") == marker):
                    raise Unreadable(f"the here-document {marker!r} ends at a line that is continued")
                if ends:
                    break
                continued = (continued + line)[:-1] if not quoted and _CONTINUED.search(line) else ""
                lines.append(line)
            text = "\n".join(lines)
            if quoted:
                body.append(Word((Text(text, quoted=True),), text))
            else:
                self.shifted = True
                body.append(Word(self._inside(text).heredoc_body(), text))
