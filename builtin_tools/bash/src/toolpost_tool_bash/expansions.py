"""Reads words: quotes, escapes and `$` expansions, each shape by name; what has no name here is `Strange`."""

from __future__ import annotations

import re

from .ansi_c import decoded
from .counting import names_in_sum
from .syntax import Piece, Script, Strange, Sub, Text, Unreadable, Var, Word, merged, scripts_of

_PLAIN = re.compile(r"[^\s;&|<>()'\"\\`$]+")
_PLAIN_QUOTED = re.compile(r"[^\"\\`$]+")
_PLAIN_BODY = re.compile(r"[^\\`$]+")
_PLAIN_BRACED = re.compile(r"(?:[^'\"\\`$}<>]|[<>](?!\())+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!_-]")
_ARITHMETIC = re.compile(r"[\d\s+*/%()<>=!&|^~?:-]*")
_SUBSCRIPT = re.compile(r"\[(@|\*|\d+)\]\}")
# Upper and lower case, quoting and escapes: of the letters only `P` has text read as a prompt, and `A` shows assignments.
_SHOWN = re.compile(r"\^\^?|,,?|@[QEULu]")
_NUMBER_SLICE = re.compile(r":\s*-?\d+(:\s*-?\d+)?")
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_ENDS_PLAIN = _ENDS_WORD - {"<", ">"}
MAX_DEPTH = 40


class WordReader:
    """Turns characters into words; the command reader gives it `read_script` for what is nested."""

    def __init__(self, text: str, at: int = 0, *, depth: int = 0) -> None:
        self.text = text
        self.at = at
        self.depth = depth
        self.joined = False
        self.starts: set[int] = set()
        """Where the simple commands begin that were found so far, for the comparison with a second parser."""
        self.shifted = False
        """Some text was unescaped before it was read, so that offsets inside it say nothing."""

    def nested(self, text: str) -> Script:
        """Read text that was taken out of the line, such as the inside of backticks."""
        raise NotImplementedError

    def script_until_paren(self) -> Script:
        """Read a list up to its closing parenthesis."""
        raise NotImplementedError

    def enter(self) -> None:
        """Count one more level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels")

    def word(self) -> Word:
        """Read one word; the caller has skipped blanks."""
        start, self.joined = self.at, False
        pieces: list[Piece] = []
        text = self.text
        if (plain := _PLAIN.match(text, start)) and (plain.end() == len(text) or text[plain.end()] in _ENDS_PLAIN):
            self.at = plain.end()
            return Word((Text(plain[0]),), plain[0])
        while self.at < len(text):
            char = text[self.at]
            if char in _ENDS_WORD:
                if char in "<>" and text[self.at + 1 : self.at + 2] == "(":
                    pieces.append(self._substitution(char + "(", quoted=False))
                    continue
                break
            if plain := _PLAIN.match(text, self.at):
                pieces.append(Text(plain[0]))
                self.at = plain.end()
            else:
                pieces.extend(self._special(char))
        return Word(merged(pieces), text[start : self.at], self.joined)

    def _special(self, char: str) -> list[Piece]:
        if char == "'":
            return [self._single_quoted()]
        if char == '"':
            self.at += 1
            return self._double_quoted()
        if char == "\\":
            return self._escaped()
        if char == "`":
            return [self._backticks(quoted=False)]
        if char == "$":
            return self._dollar(quoted=False)
        # Any other white space (a carriage return, a form feed) is a character of the word for bash.
        self.at += 1
        return [Strange(f"it holds the control character {char!r}")]

    def _single_quoted(self) -> Text:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a single quote is not closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return Text(text, quoted=True)

    def _escaped(self) -> list[Piece]:
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following == "\n":
            self.joined = True
            return []
        return [Text(following or "\\", quoted=True)]

    def _double_quoted(self, plain: re.Pattern[str] = _PLAIN_QUOTED, end: str = '"') -> list[Piece]:
        """Read up to the closing quote; with `end` empty, to the end of the text (the body of a here-document)."""
        pieces: list[Piece] = [Text("", quoted=True)]
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == end:
                self.at += 1
                return pieces
            if run := plain.match(text, self.at):
                pieces.append(Text(run[0], quoted=True))
                self.at = run.end()
            elif char == "\\":
                following = text[self.at + 1 : self.at + 2]
                keeps = following not in ("$", "`", "\\", "\n", end)
                pieces.append(Text(("\\" + following) if keeps else following.strip("\n"), quoted=True))
                self.at += 2
            elif char == "`":
                pieces.append(self._backticks(quoted=True))
            elif char == "$":
                pieces.extend(self._dollar(quoted=True))
            else:
                pieces.append(Text(char, quoted=True))
                self.at += 1
        if end:
            raise Unreadable("a double quote is not closed")
        return pieces

    def heredoc_body(self) -> tuple[Piece, ...]:
        """Read the whole text as the body of a here-document whose marker is not quoted."""
        return merged(self._double_quoted(_PLAIN_BODY, end=""))

    def _backticks(self, *, quoted: bool) -> Sub:
        start = self.at + 1
        at = start
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            raise Unreadable("a backtick is not closed")
        inner = self.text[start:at]
        self.at = at + 1
        unescaped = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", inner)
        self.shifted = True
        return Sub(self.nested(unescaped), quoted, "`")

    def _substitution(self, opening: str, *, quoted: bool) -> Sub:
        self.at += len(opening)
        self.enter()
        script = self.script_until_paren()
        self.depth -= 1
        return Sub(script, quoted, opening)  # type: ignore[arg-type]

    def _dollar(self, *, quoted: bool) -> list[Piece]:
        text, after = self.text, self.text[self.at + 1 : self.at + 2]
        if text.startswith("$\\\n", self.at):
            raise Unreadable("an expansion is split over lines")
        if text.startswith("$((", self.at):
            return [self._arithmetic(quoted=quoted)]
        if after == "(":
            return [self._substitution("$(", quoted=quoted)]
        if after == "{":
            return [self._braced(quoted=quoted)]
        if after == "[":
            end = text.find("]", self.at)
            inner, self.at = text[self.at + 2 : end], (end + 1 if end > 0 else len(text))
            return [Strange("it calculates with $[ ]", quoted, self.embedded(inner))]
        if after == "'" and not quoted:
            return [self._ansi_c()]
        if after == '"' and not quoted:
            self.at += 2
            return self._double_quoted()
        if name := _NAME.match(text, self.at + 1):
            # Only one digit is part of a positional parameter's name without braces.
            shown = name[0][0] if name[0][0].isdigit() else name[0]
            self.at += 1 + len(shown)
            if text.startswith("\\\n", self.at):
                raise Unreadable("a variable's name is split over lines")
            return [Var(shown, quoted)]
        self.at += 1
        return [Text("$", quoted)]

    def _ansi_c(self) -> Piece:
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unreadable("a single quote is not closed")
        self.at = match.end()
        return decoded(match[1])

    def _arithmetic(self, *, quoted: bool) -> Piece:
        inner = self.balanced(self.at + 3)
        if inner is None:
            # `$((ls) | wc)` is a command substitution that begins with a subshell.
            return self._substitution("$(", quoted=quoted)
        self.at += 3 + len(inner) + 2
        if _ARITHMETIC.fullmatch(inner):
            return Var("(arithmetic)", quoted)
        names = names_in_sum(inner) or ()
        return Strange("it calculates with more than numbers", quoted, self.embedded(inner), names=names)

    def balanced(self, start: int) -> str | None:
        """The text from `start` up to the `))` that closes it, or nothing where no such pair closes it."""
        level = 0
        for at in range(start, len(self.text)):
            if self.text[at] == "(":
                level += 1
            elif self.text[at] == ")":
                if level == 0:
                    return self.text[start:at] if self.text[at + 1 : at + 2] == ")" else None
                level -= 1
        raise Unreadable("a parenthesis is not closed")

    def embedded(self, text: str) -> tuple[Script, ...]:
        """The substitutions in text whose other rules are not followed; quotes hide nothing here."""
        text = text.replace("\\\n", "")
        reader = self._inside(text)
        found: list[Script] = []
        while reader.at < len(text):
            char = text[reader.at]
            piece: Piece | None = None
            if char == "`":
                piece = reader._backticks(quoted=False)
            elif text.startswith(("$(", "${"), reader.at):
                piece = reader._dollar(quoted=True)[0]
            elif text.startswith(("<(", ">("), reader.at):
                piece = reader._substitution(text[reader.at : reader.at + 2], quoted=False)
            else:
                reader.at += 2 if char == "\\" else 1
            found.extend(scripts_of(piece) if piece else ())
        self.shifted = True
        return tuple(found)

    def _inside(self, text: str) -> WordReader:
        self.enter()
        reader = type(self)(text, depth=self.depth)
        self.depth -= 1
        return reader

    def _braced(self, *, quoted: bool) -> Piece:
        """Read `${…}`: plain names, lengths and literal defaults have a known shape, the rest is `Strange`."""
        self.at += 2
        length = self.text.startswith("#", self.at) and self.text[self.at + 1 : self.at + 2] not in ("}", ":", "")
        indirect = self.text.startswith("!", self.at)
        self.at += length or indirect
        name = _NAME.match(self.text, self.at)
        if not name:
            raise Unreadable("an expansion in braces has no name that is understood")
        self.at = name.end()
        if not indirect and (subscript := _SUBSCRIPT.match(self.text, self.at)):
            self.at = subscript.end()
            shown = "(arithmetic)" if length else f"{name[0]}[@]" if subscript[1] == "@" else "(part)"
            return Var(shown, quoted)
        operator, rest = self.at, self._until_brace(quoted=quoted)
        tail = self.text[operator : self.at - 1]
        scripts = tuple(script for piece in rest for script in scripts_of(piece))
        # What was quoted may be evaluated all the same, as a subscript or once it is the value of a variable.
        texts = (piece.text for piece in rest if isinstance(piece, Text) and set(piece.text) & {"$", "`"})
        scripts += tuple(script for text in texts for script in self.embedded(text))
        if indirect or (length and tail):
            return Strange("it uses an indirect or unusual expansion", quoted, scripts)
        if not tail or _NUMBER_SLICE.fullmatch(tail) or _SHOWN.fullmatch(tail):
            return Var("(arithmetic)" if length else "(part)" if tail else name[0], quoted)
        literal = all(isinstance(piece, Text) for piece in rest)
        if literal and re.match(r":?[-+?]|##?|%%?|//?", tail):
            return Var("(part)", quoted)
        why = f"the expansion ${{{name[0]}{tail[:12]}…}} may run or change something"
        return Strange(why, quoted, scripts, runs="@P" in tail)

    def _until_brace(self, *, quoted: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "}":
                self.at += 1
                return pieces
            if self.text.startswith(("<(", ">("), self.at):
                pieces.append(self._substitution(self.text[self.at : self.at + 2], quoted=quoted))
            elif run := _PLAIN_BRACED.match(self.text, self.at):
                pieces.append(Text(run[0], quoted=True))
                self.at = run.end()
            elif char == "'":
                # Inside double quotes a single quote hides nothing: reading on finds whatever bash may run.
                if quoted:
                    self.at += 1
                else:
                    pieces.append(self._single_quoted())
            else:
                pieces.extend(self._special(char))
        raise Unreadable("an expansion in braces is not closed")
