"""Reads a command line into the typed tree; a shape that is not known here is refused, never guessed."""

from __future__ import annotations

import re

from .expansions import WordReader
from .syntax import (
    Assign,
    Command,
    Compound,
    Piece,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Text,
    Unreadable,
    Word,
)

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)")
_REDIRECT = re.compile(r"(\d*)(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)(?!\()")
_DESCRIPTOR = re.compile(r"\{[A-Za-z_]\w*\}(?=[<>])")
_CONTROL = re.compile(r";;&|;;|;&|\|\||&&|\|&|[;&|\n]")
_KEYWORD = re.compile(r"[^\s;&|<>()'\"\\`$]+(?=[\s;&|<>()]|$)")
_TEST_OPERATOR = re.compile(r"&&|\|\||[()<>|]")
_OPENERS = frozenset({"{", "if", "while", "until", "for", "case", "select", "function", "[["})
_KEYWORDS = _OPENERS | {"!", "time", "coproc", "then", "else", "elif", "fi", "do", "done", "esac", "}", "in", "]]"}


class Reader(WordReader):
    """Reads one text; `found` keeps every simple command, also of a text that turns out to be broken further on."""

    def __init__(self, text: str, at: int = 0, *, depth: int = 0, found: list[Simple] | None = None) -> None:
        super().__init__(text, at, depth=depth)
        self.found: list[Simple] = [] if found is None else found
        self._waiting: list[tuple[str, bool, bool, list[Word]]] = []

    def script(self) -> Script:
        """Read the whole text."""
        script = self._list(())
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
        script = self._list((")",))
        self._expect(")")
        return script

    def _inside(self, text: str) -> WordReader:
        self.enter()
        reader = Reader(text, depth=self.depth, found=self.found)
        self.depth -= 1
        return reader

    # Lists and pipelines

    def _list(self, ends: tuple[str, ...]) -> Script:
        items: list[Pipeline] = []
        joiner = ""
        while True:
            self._skip(newlines=True)
            if self._at_end(ends):
                if joiner in ("&&", "||"):
                    raise Unreadable(f"nothing follows {joiner}")
                return Script(tuple(items))
            stages = self._pipeline()
            self._skip()
            following = _CONTROL.match(self.text, self.at)
            operator = following[0] if following else ""
            if operator in (";;", ";&", ";;&"):
                operator = ""
            items.append(Pipeline(joiner, stages, background=operator == "&"))
            if operator:
                self._take(operator)
            elif not self._at_end(ends):
                raise Unreadable(f"{self.text[self.at : self.at + 10]!r} at position {self.at} is not expected there")
            joiner = ";" if operator == "\n" else operator

    def _at_end(self, ends: tuple[str, ...]) -> bool:
        if self.at >= len(self.text):
            self._bodies()
            return True
        if ")" in ends and self.text[self.at] == ")":
            return True
        if "esac" in ends and self.text.startswith((";;", ";&"), self.at):
            return True
        return self._peek_keyword() in ends

    def _pipeline(self) -> tuple[Command, ...]:
        stages = [self._command()]
        while True:
            self._skip()
            operator = _CONTROL.match(self.text, self.at)
            if not operator or operator[0] not in ("|", "|&"):
                return tuple(stages)
            self._take(operator[0])
            self._skip(newlines=True)
            stages.append(self._command())

    # Commands

    def _command(self) -> Command:
        start = self.at
        if self.text.startswith("((", start):
            inner = self.balanced(start + 2)
            if inner is not None:
                self.at = start + 2 + len(inner) + 2
                return self._with_redirects(Compound("((", self.embedded(inner), name=inner, start=start))
        if self.text.startswith("(", start):
            self.at += 1
            self.enter()
            body = self.script_until_paren()
            self.depth -= 1
            return self._with_redirects(Compound("(", (body,), start=start))
        keyword = self._peek_keyword()
        if keyword in ("!", "time", "coproc"):
            return self._prefixed(keyword)
        if keyword in _OPENERS:
            self.enter()
            compound = self._compound(keyword)
            self.depth -= 1
            return self._with_redirects(compound)
        if keyword in _KEYWORDS:
            raise Unreadable(f"{keyword!r} at position {start} has no meaning there")
        return self._simple()

    def _prefixed(self, keyword: str) -> Command:
        start = self.at
        self.at += len(keyword)
        self._skip()
        if keyword == "time":
            while self._peek_keyword() in ("-p", "--"):
                self.word()
                self._skip()
        if keyword == "coproc":
            before, name = self.at, self.word()
            self._skip()
            if not (name.bare and name.bare not in _OPENERS and self._opens_compound()):
                self.at = before
        if self.at >= len(self.text) or _CONTROL.match(self.text, self.at):
            return Compound(keyword, start=start)
        body = self.at
        stages = self._pipeline() if keyword != "coproc" else (self._command(),)
        if keyword == "time" and isinstance(stages[0], Simple) and body in self.starts:
            # The second parser takes `time` for a program, so that to it the command begins there.
            self.starts ^= {body, start}
        return Compound(keyword, (Script((Pipeline("", stages),)),), start=start)

    def _opens_compound(self) -> bool:
        return self.text.startswith("(", self.at) or self._peek_keyword() in _OPENERS

    def _compound(self, keyword: str) -> Compound:
        start = self.at
        self.at += len(keyword)
        if keyword == "{":
            return Compound("{", (self._block("}"),), start=start)
        if keyword == "[[":
            return self._test(start)
        if keyword in ("while", "until"):
            return Compound(keyword, (self._block("do"), self._block("done")), start=start)
        if keyword == "if":
            return self._if(start)
        if keyword in ("for", "select"):
            return self._for(keyword, start)
        if keyword == "case":
            return self._case(start)
        self._skip()
        name = self.word()
        self._skip()
        if self.text.startswith("(", self.at):
            self._expect("(")
            self._skip()
            self._expect(")")
        return self._function(name, start)

    def _block(self, *ends: str) -> Script:
        script = self._list(ends)
        self._keyword(*ends)
        return script

    def _if(self, start: int) -> Compound:
        blocks = [self._list(("then",))]
        self._keyword("then")
        while True:
            blocks.append(self._list(("elif", "else", "fi")))
            keyword = self._keyword("elif", "else", "fi")
            if keyword == "fi":
                return Compound("if", tuple(blocks), start=start)
            if keyword == "elif":
                blocks.append(self._list(("then",)))
                self._keyword("then")

    def _for(self, keyword: str, start: int) -> Compound:
        self._skip()
        if self.text.startswith("((", self.at):
            inner = self.balanced(self.at + 2)
            if inner is None:
                raise Unreadable("a for loop's arithmetic is not understood")
            scripts = self.embedded(inner)
            self.at += 2 + len(inner) + 2
            self._skip_separators()
            return Compound("for((", (*scripts, self._do_body()), name=inner, start=start)
        name = self.word().bare
        if name is None or not name.isidentifier():
            raise Unreadable("a loop's variable is no plain name")
        self._skip(newlines=True)
        words: list[Word] = []
        if self._peek_keyword() == "in":
            self.at += 2
            self._skip()
            while self.at < len(self.text) and not _CONTROL.match(self.text, self.at):
                words.append(self._argument())
                self._skip()
        self._skip_separators()
        return Compound(keyword, (self._do_body(),), tuple(words), name=name, start=start)

    def _do_body(self) -> Script:
        end = {"do": "done", "{": "}"}[self._keyword("do", "{")]
        return self._block(end)

    def _case(self, start: int) -> Compound:
        self._skip()
        words = [self.word()]
        blocks: list[Script] = []
        self._skip(newlines=True)
        self._keyword("in")
        while True:
            self._skip(newlines=True)
            if self._peek_keyword() == "esac":
                self._keyword("esac")
                return Compound("case", tuple(blocks), tuple(words), start=start)
            if self.text.startswith("(", self.at):
                self.at += 1
            while True:
                self._skip()
                words.append(self._argument())
                self._skip()
                if self.text[self.at : self.at + 1] == ")":
                    break
                self._expect("|")
            self._expect(")")
            blocks.append(self._list(("esac",)))
            operator = _CONTROL.match(self.text, self.at)
            if operator and operator[0] in (";;", ";&", ";;&"):
                self.at = operator.end()

    def _test(self, start: int) -> Compound:
        """Read `[[ … ]]`: its words and operators in order; operators become plain words."""
        words: list[Word] = []
        while True:
            self._skip(newlines=True)
            if self.at >= len(self.text):
                raise Unreadable("a [[ test is not closed")
            operator = _TEST_OPERATOR.match(self.text, self.at)
            if operator:
                words.append(Word((Text(operator[0]),), self.at, operator.end()))
                self.at = operator.end()
                continue
            if self.text[self.at] in ";&":
                raise Unreadable("a [[ test is not closed")
            word = self.word()
            if word.bare == "]]":
                return Compound("[[", words=tuple(words), start=start)
            words.append(word)

    def _function(self, name: Word, start: int) -> Compound:
        self._skip(newlines=True)
        body = self._command()
        if isinstance(body, Simple):
            raise Unreadable("a function's body is no group")
        return Compound("function", (Script((Pipeline("", (body,)),)),), name=name.bare or "?", start=start)

    def _with_redirects(self, compound: Compound) -> Compound:
        redirects: list[Redirect] = []
        self._skip()
        while redirect := self._redirect():
            redirects.append(redirect)
            self._skip()
        return compound._replace(redirects=tuple(redirects))

    def _simple(self) -> Command:
        start = self.at
        assigns: list[Assign] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            if redirect := self._redirect():
                redirects.append(redirect)
            elif self.text[self.at] in ")\n;&|" or _CONTROL.match(self.text, self.at):
                break
            elif self.text[self.at] == "(":
                if len(words) == 1 and not assigns and not redirects and words[0].bare:
                    self._expect("(")
                    self._skip()
                    self._expect(")")
                    return self._function(words[0], start)
                raise Unreadable(f"a parenthesis at position {self.at} is not expected there")
            elif not words and (assign := self._assignment()):
                assigns.append(assign)
            else:
                words.append(self.word())
            self._skip()
        if not (assigns or words or redirects):
            raise Unreadable(f"a command is missing at position {start}")
        if words:
            self.starts.add(start)
        simple = Simple(tuple(assigns), tuple(words), tuple(redirects), start, self.at)
        self.found.append(simple)
        return simple

    def _argument(self) -> Word:
        word = self.word()
        if word.start == word.end:
            raise Unreadable(f"{self.text[self.at : self.at + 5]!r} at position {self.at} is not expected there")
        return word

    def _assignment(self) -> Assign | None:
        match = _ASSIGNMENT.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        plain = match[2] == "="
        if self.text.startswith("(", self.at):
            start = self.at
            self.at += 1
            pieces: list[Piece] = []
            while True:
                self._skip(newlines=True)
                if self.text.startswith(")", self.at):
                    self.at += 1
                    return Assign(match[1], Word(tuple(pieces), start, self.at), simple=False)
                pieces.extend(self._argument().pieces)
        return Assign(match[1], self.word(), simple=plain)

    # Redirections and here-documents

    def _redirect(self) -> Redirect | None:
        if named := _DESCRIPTOR.match(self.text, self.at):
            self.at = named.end()
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        self._skip()
        operator = match[2]
        target = self._argument()
        if operator in ("<<", "<<-"):
            quoted = any(not isinstance(piece, Text) or piece.quoted for piece in target.pieces)
            marker = "".join(piece.text for piece in target.pieces if isinstance(piece, Text))
            body: list[Word] = []
            self._waiting.append((marker, quoted, operator == "<<-", body))
            return Redirect(operator, target, body)
        return Redirect(operator, target)

    def _bodies(self) -> None:
        """At the end of a line: read the bodies of the here-documents that were opened on it."""
        waiting, self._waiting = self._waiting, []
        for marker, quoted, indented, body in waiting:
            start, lines = self.at, []
            while True:
                if self.at >= len(self.text):
                    raise Unreadable(f"the here-document {marker!r} is not closed")
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                if (line.lstrip("\t") if indented else line) == marker:
                    break
                lines.append(line)
            text = "\n".join(lines)
            if quoted:
                body.append(Word((Text(text, quoted=True),), start, self.at))
            else:
                self.shifted = True
                body.append(Word(self._inside(text).heredoc_body(), start, self.at))

    # Tokens

    def _skip(self, *, newlines: bool = False) -> None:
        while self.at < len(self.text):
            if blanks := _BLANKS.match(self.text, self.at):
                self.at = blanks.end()
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            elif newlines and self.text[self.at] == "\n":
                self._take("\n")
            else:
                return

    def _skip_separators(self) -> None:
        self._skip(newlines=True)
        if self.text.startswith(";", self.at):
            self.at += 1
        self._skip(newlines=True)

    def _take(self, operator: str) -> None:
        self.at += len(operator)
        if self.text.startswith("\\\n", self.at) and operator in ("&", "|", ";"):
            raise Unreadable("an operator is split over lines")
        if operator == "\n":
            self._bodies()

    def _expect(self, char: str) -> None:
        if not self.text.startswith(char, self.at):
            got = self.text[self.at : self.at + 1] or "the end"
            raise Unreadable(f"{char!r} is missing at position {self.at}, there is {got!r}")
        self.at += len(char)

    def _peek_keyword(self) -> str:
        match = _KEYWORD.match(self.text, self.at)
        return match[0] if match else ""

    def _keyword(self, *wanted: str) -> str:
        self._skip(newlines=True)
        keyword = self._peek_keyword()
        if keyword not in wanted:
            raise Unreadable(f"{' or '.join(wanted)!r} is missing at position {self.at}")
        self.at += len(keyword)
        return keyword
