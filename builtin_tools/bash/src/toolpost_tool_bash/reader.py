"""Reads a command line into the typed tree; a shape that is not known here is refused, never guessed."""

from __future__ import annotations

from .compounds import OPENERS, CompoundReader
from .expansions import WordReader
from .lines import BEGIN_REDIRECT, CONTROL
from .plain import PLAIN_COMMAND, words_of
from .syntax import Assign, Command, Compound, Pipeline, Redirect, Script, Simple, Text, Unreadable, Word

_KEYWORDS = OPENERS | {"!", "time", "coproc", "then", "else", "elif", "fi", "do", "done", "esac", "}", "in", "]]"}


class Reader(CompoundReader):
    """Reads one text."""

    def script(self) -> Script:
        """Read the whole text."""
        script = self.items(())
        if self.at < len(self.text):
            raise Unreadable(f"{self.text[self.at]!r} at position {self.at} has no meaning there")
        return script

    def nested(self, text: str) -> Script:
        """Read text that was taken out of the line, such as the inside of backticks."""
        self.enter()
        script = Reader(text, depth=self.depth, found=self.found).script()
        self.depth -= 1
        return script

    def script_until_paren(self) -> Script:
        """Read a list up to its closing parenthesis."""
        script = self.items((")",))
        self.expect(")")
        return script

    def _inside(self, text: str) -> WordReader:
        self.enter()
        reader = Reader(text, depth=self.depth, found=self.found)
        self.depth -= 1
        return reader

    # Lists and pipelines

    def items(self, ends: tuple[str, ...]) -> Script:
        """Read pipelines up to one of these ends."""
        items: list[Pipeline] = []
        joiner = ""
        while True:
            self.skip(newlines=True)
            if self._at_end(ends):
                if joiner in ("&&", "||"):
                    raise Unreadable(f"nothing follows {joiner}")
                return Script(tuple(items))
            stages = self._pipeline()
            self.skip()
            following = CONTROL.match(self.text, self.at)
            operator = following[0] if following else ""
            if operator in (";;", ";&", ";;&"):
                operator = ""
            items.append(Pipeline(joiner, stages, background=operator == "&"))
            if operator:
                self.take(operator)
            elif not self._at_end(ends):
                raise Unreadable(f"{self.text[self.at : self.at + 10]!r} at position {self.at} is not expected there")
            joiner = ";" if operator == "\n" else operator

    def _at_end(self, ends: tuple[str, ...]) -> bool:
        if self.at >= len(self.text):
            self.bodies()
            return True
        if ")" in ends and self.text[self.at] == ")":
            return True
        if "esac" in ends and self.text.startswith((";;", ";&"), self.at):
            return True
        return bool(ends) and self.peek_keyword() in ends

    def _pipeline(self) -> tuple[Command, ...]:
        stages = [self.command()]
        while True:
            self.skip()
            operator = CONTROL.match(self.text, self.at)
            if not operator or operator[0] not in ("|", "|&"):
                return tuple(stages)
            self.take(operator[0])
            self.skip(newlines=True)
            stages.append(self.command())

    # Commands

    def command(self) -> Command:
        """Read one command."""
        start = self.at
        if self.text.startswith("((", start):
            inner = self.balanced(start + 2)
            if inner is not None:
                self.at = start + 2 + len(inner) + 2
                return self.with_redirects(Compound("((", self.embedded(inner), name=inner))
        if self.text.startswith("(", start):
            self.at += 1
            self.enter()
            body = self.script_until_paren()
            self.depth -= 1
            return self.with_redirects(Compound("(", (body,)))
        keyword = self.peek_keyword()
        if keyword in ("!", "time", "coproc"):
            return self._prefixed(keyword)
        if keyword in OPENERS:
            self.enter()
            compound = self.compound(keyword)
            self.depth -= 1
            return self.with_redirects(compound)
        if keyword in _KEYWORDS:
            raise Unreadable(f"{keyword!r} at position {start} has no meaning there")
        return self._simple()

    def _prefixed(self, keyword: str) -> Command:
        start, variable = self.at, ""
        self.at += len(keyword)
        self.skip()
        if keyword == "time":
            while self.peek_keyword() in ("-p", "--"):
                self.word()
                self.skip()
        if keyword == "coproc":
            before, name = self.at, self.word()
            self.skip()
            if name.bare and name.bare not in OPENERS and self._opens_compound():
                variable = name.bare
            else:
                self.at = before
        if self.at >= len(self.text) or CONTROL.match(self.text, self.at):
            return Compound(keyword)
        body = self.at
        stages = self._pipeline() if keyword != "coproc" else (self.command(),)
        if keyword == "time" and isinstance(stages[0], Simple) and body in self.starts:
            # The second parser takes `time` for a program, so that to it the command begins there.
            self.starts ^= {body, start}
        return Compound(keyword, (Script((Pipeline("", stages),)),), name=variable)

    def _opens_compound(self) -> bool:
        return self.text.startswith("(", self.at) or self.peek_keyword() in OPENERS

    def _simple(self) -> Command:
        start = self.at
        if plain := PLAIN_COMMAND.match(self.text, start):
            return self._plain(plain[0], start)
        assigns: list[Assign] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in BEGIN_REDIRECT and (redirect := self.redirect()):
                redirects.append(redirect)
            elif char in ")\n;&|":
                break
            elif char == "(":
                if len(words) == 1 and not assigns and not redirects and words[0].bare:
                    self.expect("(")
                    self.skip()
                    self.expect(")")
                    return self.function(words[0])
                raise Unreadable(f"a parenthesis at position {self.at} is not expected there")
            elif not words and (assign := self.assignment()):
                assigns.append(assign)
            else:
                words.append(self.word())
                if words[0].joined and any(p.text.count("=") for p in words[0].pieces if isinstance(p, Text)):
                    raise Unreadable("an assignment may be split over lines")
            self.skip()
        if not (assigns or words or redirects):
            raise Unreadable(f"a command is missing at position {start}")
        if words:
            self.starts.add(start)
        source = self.text[start : self.at].strip()
        simple = Simple(tuple(assigns), tuple(words), tuple(redirects), source)
        self.found.append(simple)
        return simple

    def _plain(self, source: str, start: int) -> Simple:
        """Take a command of plain words as it is."""
        self.at = start + len(source)
        self.skip()
        self.starts.add(start)
        simple = Simple((), words_of(source), (), source, plain=True)
        self.found.append(simple)
        return simple
