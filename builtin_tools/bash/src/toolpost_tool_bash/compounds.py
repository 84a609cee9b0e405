"""Reads loops, branches, tests and functions: the commands that have a body."""

from __future__ import annotations

import re
from typing import Final

from .lines import CONTROL, LineReader
from .syntax import Command, Compound, Pipeline, Redirect, Script, Simple, Text, Unreadable, Word

_TEST_OPERATOR = re.compile(r"&&|\|\||[()<>|]")
OPENERS: Final = frozenset({"{", "if", "while", "until", "for", "case", "select", "function", "[["})
"""The keywords that open a compound command."""


class CompoundReader(LineReader):
    """Reads compound commands; what reads whole lists gives it `items` and `command`."""

    def items(self, ends: tuple[str, ...]) -> Script:
        """Read pipelines up to one of these ends."""
        raise NotImplementedError

    def command(self) -> Command:
        """Read one command."""
        raise NotImplementedError

    def compound(self, keyword: str) -> Compound:
        """Read what a keyword opens."""
        self.at += len(keyword)
        if keyword == "{":
            return Compound("{", (self._block("}"),))
        if keyword == "[[":
            return self._test()
        if keyword in ("while", "until"):
            return Compound(keyword, (self._block("do"), self._block("done")))
        if keyword == "if":
            return self._if()
        if keyword in ("for", "select"):
            return self._for(keyword)
        if keyword == "case":
            return self._case()
        self.skip()
        name = self.word()
        self.skip()
        if self.text.startswith("(", self.at):
            self.expect("(")
            self.skip()
            self.expect(")")
        return self.function(name)

    def _block(self, *ends: str) -> Script:
        script = self.items(ends)
        self.keyword(*ends)
        return script

    def _if(self) -> Compound:
        blocks = [self.items(("then",))]
        self.keyword("then")
        while True:
            blocks.append(self.items(("elif", "else", "fi")))
            keyword = self.keyword("elif", "else", "fi")
            if keyword == "fi":
                return Compound("if", tuple(blocks))
            if keyword == "elif":
                blocks.append(self.items(("then",)))
                self.keyword("then")

    def _for(self, keyword: str) -> Compound:
        self.skip()
        if self.text.startswith("((", self.at):
            inner = self.balanced(self.at + 2)
            if inner is None:
                raise Unreadable("a for loop's arithmetic is not understood")
            scripts = self.embedded(inner)
            self.at += 2 + len(inner) + 2
            self.skip_separators()
            return Compound("for((", (*scripts, self._do_body()), name=inner)
        name = self.word().bare
        if name is None or not name.isidentifier():
            raise Unreadable("a loop's variable is no plain name")
        self.skip(newlines=True)
        words: list[Word] = []
        if self.peek_keyword() == "in":
            self.at += 2
            self.skip()
            while self.at < len(self.text) and not CONTROL.match(self.text, self.at):
                words.append(self.argument())
                self.skip()
        self.skip_separators()
        return Compound(keyword, (self._do_body(),), tuple(words), name=name)

    def _do_body(self) -> Script:
        end = {"do": "done", "{": "}"}[self.keyword("do", "{")]
        return self._block(end)

    def _case(self) -> Compound:
        self.skip()
        words = [self.word()]
        blocks: list[Script] = []
        self.skip(newlines=True)
        self.keyword("in")
        while True:
            self.skip(newlines=True)
            if self.peek_keyword() == "esac":
                self.keyword("esac")
                return Compound("case", tuple(blocks), tuple(words))
            if self.text.startswith("(", self.at):
                self.at += 1
            while True:
                self.skip()
                words.append(self.argument())
                self.skip()
                if self.text[self.at : self.at + 1] == ")":
                    break
                self.expect("|")
            self.expect(")")
            blocks.append(self.items(("esac",)))
            operator = CONTROL.match(self.text, self.at)
            if operator and operator[0] in (";;", ";&", ";;&"):
                self.at = operator.end()

    def _test(self) -> Compound:
        """Read `[[ … ]]`: its words and operators in order; operators become plain words."""
        words: list[Word] = []
        while True:
            self.skip(newlines=True)
            if self.at >= len(self.text):
                raise Unreadable("a [[ test is not closed")
            operator = _TEST_OPERATOR.match(self.text, self.at)
            if operator and not self.text.startswith(("<(", ">("), self.at):
                words.append(Word((Text(operator[0]),), operator[0]))
                self.at = operator.end()
                continue
            if self.text[self.at] in ";&":
                raise Unreadable("a [[ test is not closed")
            word = self.word()
            if word.bare == "]]":
                return Compound("[[", words=tuple(words))
            words.append(word)

    def function(self, name: Word) -> Compound:
        """Read the body of a function."""
        self.skip(newlines=True)
        body = self.command()
        if isinstance(body, Simple):
            raise Unreadable("a function's body is no group")
        return Compound("function", (Script((Pipeline("", (body,)),)),), name=name.bare or "?")

    def with_redirects(self, compound: Compound) -> Compound:
        """Read the redirections that follow a compound command."""
        redirects: list[Redirect] = []
        self.skip()
        while redirect := self.redirect():
            redirects.append(redirect)
            self.skip()
        return compound._replace(redirects=tuple(redirects))
