"""Walks the tree of a line and lists what would run, what is read and what is written, in order."""

from __future__ import annotations

import os.path
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from .arguments import Argument, arguments
from .effects import effects_of
from .expansions import scripts_of
from .files import files_of, handed_text, opened
from .parts import SAFE_VARIABLES, BashPart
from .places import Place
from .reader import Reader
from .special import NUMERIC, Effects, check_test
from .syntax import Compound, Pipeline, Redirect, Script, Simple, Strange, Unreadable, Word
from .wrappers import EVALUATES, GUARDED, SHELLS, Inside, git_inside, guarded, shell_script, transparent

MOST_PARTS = 50
_MOST_DEPTH = 12
_LOOPS = frozenset({"while", "until", "for", "for((", "select", "function"})
_Vector: TypeAlias = tuple[Argument, ...]


class Analysis:
    """Collects the parts of one line; `home` and `folder` are where it would run."""

    def __init__(self, line: str, *, folder: str, home: str, git_is_plain: bool = True) -> None:
        self.line = line
        self.parts: list[BashPart] = []
        self.start = (folder,)
        self.place = Place(self.start, {"HOME": home, "PWD": folder})
        self.git_is_plain = git_is_plain
        self._depth = 0

    def script(self, script: Script, place: Place) -> None:
        """Walk a list of pipelines."""
        self._depth += 1
        if self._depth > _MOST_DEPTH * 4:
            raise Unreadable("it is nested too deep")
        for at, item in enumerate(script.items):
            following = script.items[at + 1].joiner if at + 1 < len(script.items) else ";"
            self._pipeline(item, place, sure=following == "&&")
        self._depth -= 1

    def _pipeline(self, item: Pipeline, place: Place, *, sure: bool) -> None:
        alone = len(item.stages) == 1 and not item.background
        for stage in item.stages:
            inner = place if alone else place.copy()
            if isinstance(stage, Simple):
                self.simple(stage, inner, sure=sure)
            else:
                self._compound(stage, inner)

    def _compound(self, node: Compound, place: Place) -> None:
        own = place.copy() if node.kind in ("(", "coproc") else place
        self._redirects(node.redirects, own)
        for word in node.words:
            self._substitutions(word, own, node.kind)
        if node.kind in ("((", "for((") and not _numbers(node.name):
            self._add(BashPart(f"(({node.name}))", doubt="it calculates with more than numbers"))
        if node.kind == "[[":
            self._double_bracket(node, own)
        if node.kind in ("for", "select"):
            own.values[node.name] = None
        if node.kind == "function":
            own.functions.add(node.name)
        if node.kind in _LOOPS:
            self._loop(node, own)
            return
        ends: list[tuple[str, ...]] = []
        for block in node.blocks:
            self.script(block, own)
            ends.append(own.folders)
        if node.kind in ("if", "case") and len({*ends, place.folders}) > 1:
            own.lose()

    def _loop(self, node: Compound, place: Place) -> None:
        """Walk a body that runs any number of times: if it moves, nothing in it has a sure place."""
        before, count = place.folders, len(self.parts)
        called_anywhere = node.kind == "function"
        if called_anywhere:
            place = place.copy()
        for block in node.blocks:
            self.script(block, place)
        if place.folders != before or (called_anywhere and _depends_on_place(self.parts[count:])):
            del self.parts[count:]
            place.lose()
            for block in node.blocks:
                self.script(block, place)

    def _double_bracket(self, node: Compound, place: Place) -> None:
        words = [arg for word in node.words for arg in arguments(word, place.values)]
        effects = Effects()
        check_test([replace(arg, splits=False, wild=False) for arg in words], effects)
        for at, arg in enumerate(words):
            beside = (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
            if arg.text in NUMERIC and not all(n.known and n.text.lstrip("-").isdigit() for n in beside):
                effects.refuse(f"[[ {arg.text} ]] evaluates its operands as arithmetic")
        inside = tuple(part for arg in words for part in self._embedded(arg.text, place)) if effects.why else ()
        part = BashPart("[[ ]]", ("[[",), not effects.why, doubt=effects.why, args=(Argument("[["), *words))
        self._add(replace(part, inside=inside))

    # Simple commands

    def simple(self, node: Simple, place: Place, *, sure: bool) -> None:
        """List what one simple command runs, reads and writes."""
        files_read = self._substituted_reads(node, place)
        text = self.line[node.start : node.end].strip()
        unsafe = self._assignments(node, place)
        args = [arg for word in node.words for arg in arguments(word, place.values, self._source(word))]
        body = self._redirects(node.redirects, place)
        if not args:
            if unsafe and not node.words:
                self._add(BashPart(text or unsafe, doubt=unsafe, barred=unsafe))
            elif node.words:
                self._add(BashPart(text, doubt="the command's words may come to nothing", dynamic=True))
            return
        strange = next((arg.strange for arg in args if arg.strange), "")
        evaluated = any(isinstance(piece, Strange) and piece.runs for word in node.words for piece in word.pieces)
        barred = unsafe or strange or (files_read and "the text of a file becomes part of the command") or ""
        count = len(self.parts)
        self.command(tuple(args), place, sure=sure, text=text, body=body)
        for at in range(count, len(self.parts)):
            part = self.parts[at]
            # A substitution may hand text to what only prints it; anything else gets words that nobody has seen.
            if barred and (unsafe or strange or not part.read_only):
                dynamic = part.dynamic or evaluated
                self.parts[at] = replace(
                    part, read_only=False, barred=barred, doubt=part.doubt or barred, dynamic=dynamic
                )

    def command(
        self,
        args: _Vector,
        place: Place,
        *,
        sure: bool = False,
        text: str = "",
        around: tuple[_Vector, ...] = (),
        body: str | None = None,
    ) -> None:
        """List what one command with its arguments comes to, looking through what surrounds it."""
        first, rest = args[0], list(args[1:])
        text = text or _shown(args)
        if not first.plain or not first.text:
            inside = tuple(self._shadow(guarded("?", rest), place))
            unknown = "the program is only known once the line runs"
            part = BashPart(text, _argv(args), doubt=unknown, barred=unknown, args=args, around=around, inside=inside)
            self._add(replace(part, dynamic=True))
            return
        path, _, last = first.text.rpartition("/")
        name = last if path in ("/bin", "/usr/bin") else first.text
        if name in place.functions:
            if name in ("cd", "pushd", "popd"):
                place.lose()
            return
        if len(around) < _MOST_DEPTH and self._looked_through(name, args, place, sure=sure, around=around, body=body):
            return
        if name in ("cd", "pushd", "popd"):
            self._change_folder(args, place, sure=sure, text=text, around=around)
            return
        self._program(name, last, args, place, text=text, around=around)

    def _looked_through(
        self, name: str, args: _Vector, place: Place, *, sure: bool, around: tuple[_Vector, ...], body: str | None
    ) -> bool:
        rest = list(args[1:])
        if name == "command" and rest and rest[0].text in ("-v", "-V"):
            self._add(BashPart(_shown(args), _argv(args), True, args=args, around=around))
            return True
        if name in SHELLS:
            script = shell_script(rest)
            known = script.text if script is not None and script.known and not script.wild else None
            if script is None and body is not None and not any(not arg.text.startswith("-") for arg in rest):
                known = body
            return known is not None and self._text(known, args, place, around)
        if name == "eval" and rest and all(arg.plain for arg in rest):
            return self._text(" ".join(arg.text for arg in rest), args, place, around)
        inside = transparent(name, rest)
        if inside is None or not inside.command[0].plain:
            return False
        if any(assigned.partition("=")[0] not in SAFE_VARIABLES for assigned in inside.assigned):
            return False
        self.command(inside.command, place, sure=sure, around=(*around, args), body=body)
        return True

    def _text(self, text: str, args: _Vector, place: Place, around: tuple[_Vector, ...]) -> bool:
        """Read a literal text that a shell would run; its commands take the place of the shell's."""
        try:
            script = Reader(text).script()
        except (Unreadable, RecursionError):
            return False
        inner = self._another(text, deeper=1)
        own = place if args[0].text == "eval" else place.copy()
        for number in "0123456789@*#":
            own.values.pop(number, None)
        inner.script(script, own)
        for part in inner.parts:
            self._add(replace(part, around=(*around, args, *part.around)) if part.args else part)
        return True

    def _program(
        self, name: str, last: str, args: _Vector, place: Place, *, text: str, around: tuple[_Vector, ...]
    ) -> None:
        rest = list(args[1:])
        effects = effects_of(name, rest)
        doubt = effects.why
        if name == "git" and not doubt and (place.folders != self.start or not self.git_is_plain):
            doubt = "git may run programs that the repository's configuration names"
        reads, writes, unknown = files_of(effects, place)
        doubt = doubt or unknown
        inside: list[tuple[bool, BashPart]] = []
        if last in GUARDED or not effects.known:
            inside = self._shadow(guarded(last, rest), place)
        elif last == "git" and effects.why:
            inside = self._shadow(git_inside(rest), place)
        if name in EVALUATES and effects.why:
            inside.extend(part for arg in rest for part in self._embedded(arg.text, place))
        for certain, part in inside:
            if certain:
                reads, writes = (*reads, *part.reads), (*writes, *part.writes)
        wrapper = last in GUARDED and (bool(inside) or last not in ("find", "fd", "rg", "env", "trap", "alias"))
        deletes = last == "find" and any(kind == "wipe" for kind, _ in effects.files)
        exact = (wrapper and bool(effects.why)) or deletes
        dynamic = last in SHELLS or name in ("source", ".", "eval")
        part = BashPart(text, _argv(args), not doubt and not writes, reads, writes, doubt, args=args, around=around)
        self._add(replace(part, inside=tuple(inside), exact=exact, dynamic=dynamic))

    # What may run without being seen

    def _shadow(self, inside: Inside, place: Place) -> list[tuple[bool, BashPart]]:
        """What may run inside of a program: never a reason to allow, always one to deny."""
        found: list[tuple[bool, BashPart]] = []
        for at, (certain, suffix) in enumerate(inside.suffixes[:MOST_PARTS]):
            if not suffix:
                continue
            head = suffix[0].text.rpartition("/")[2]
            if certain and (head in SHELLS or head == "eval"):
                found.extend((True, part) for part in self._aside(suffix, place))
            seen = certain and suffix[0].plain
            reads, writes, _ = files_of(effects_of(head, list(suffix[1:])), place) if seen else ((), (), "")
            dynamic = certain and at == 0 and not suffix[0].known
            part = BashPart(_shown(suffix), _argv(suffix), False, reads, writes, args=suffix, dynamic=dynamic)
            found.append((certain, part))
        for text in inside.scripts:
            inner = self._another(text, deeper=4)
            try:
                inner.script(Reader(text).script(), place.copy())
            except (Unreadable, RecursionError):
                continue
            found.extend((True, part) for part in inner.parts)
        return found

    def _aside(self, args: _Vector, place: Place) -> list[BashPart]:
        inner = self._another("", deeper=4)
        if inner._depth > _MOST_DEPTH * 4:
            return []
        inner.command(args, place.copy())
        return inner.parts

    def _embedded(self, text: str, place: Place) -> list[tuple[bool, BashPart]]:
        """Substitutions in an operand that a builtin evaluates though it was quoted."""
        if "$(" not in text and "`" not in text:
            return []
        inner = self._another(text, deeper=4)
        try:
            for script in Reader("").embedded(text):
                inner.script(script, place.copy())
        except (Unreadable, RecursionError):
            return []
        return [(True, part) for part in inner.parts]

    def _another(self, text: str, *, deeper: int) -> Analysis:
        inner = Analysis(text, folder="", home="", git_is_plain=self.git_is_plain)
        inner.start, inner._depth = self.start, self._depth + deeper
        return inner

    def _change_folder(
        self, args: _Vector, place: Place, *, sure: bool, text: str, around: tuple[_Vector, ...]
    ) -> None:
        targets = [arg for arg in args[1:] if not (arg.plain and arg.text in ("-L", "-P", "--"))]
        home = place.values.get("HOME")
        target = targets[0] if targets else Argument(home or "", known=home is not None)
        sound = target.plain and target.text not in ("-", "") and len(targets) <= 1
        paths = place.paths(target) if sound else None
        if args[0].text.rpartition("/")[2] != "cd" or paths is None or target.text.startswith("-"):
            self._add(
                BashPart(text, _argv(args), doubt="the folder that follows is not known", args=args, around=around)
            )
            place.lose()
            return
        self._add(BashPart(text, _argv(args), True, tuple(paths), args=args, around=around))
        folders = tuple(os.path.normpath(path) for path in paths)
        if folders != place.folders:
            place.move(folders, sure=sure)

    # Redirections

    def _redirects(self, redirects: Sequence[Redirect], place: Place) -> str | None:
        """List the redirections; return the text that a here-document or here-string hands to the command."""
        body: str | None = None
        for redirect in redirects:
            for word in (redirect.target, *redirect.body):
                self._substitutions(word, place, redirect.op)
            handed = handed_text(redirect, place)
            body = handed if handed is not None else body
            part = opened(redirect, place, self._source(redirect.target))
            if part is not None:
                self._add(part)
        return body

    # What is inside of words

    def _substituted_reads(self, node: Simple, place: Place) -> bool:
        """Walk the substitutions of a command's words; say whether they read files whose text goes on."""
        count = len(self.parts)
        for word in node.words:
            self._substitutions(word, place, "word")
        reads = any(part.reads and part.argv[:1] not in (("cd",), ("git",)) for part in self.parts[count:])
        for assign in node.assigns:
            self._substitutions(assign.value, place, "assignment")
        return reads

    def _substitutions(self, word: Word, place: Place, where: str) -> None:
        for piece in word.pieces:
            for script in scripts_of(piece):
                self.script(script, place.copy())
            if isinstance(piece, Strange) and where != "word":
                self._add(BashPart(self._source(word) or where, doubt=piece.why, barred=piece.why))

    def _assignments(self, node: Simple, place: Place) -> str:
        """Note the assignments; return why one may change what runs, or nothing."""
        why = ""
        for assign in node.assigns:
            known = assign.simple and not any(value.strange for value in arguments(assign.value, place.values))
            if node.words:
                if assign.name not in SAFE_VARIABLES or not known:
                    why = why or f"the variable {assign.name} may change what the command does"
                continue
            place.values[assign.name] = None
            lower = assign.name.islower() and not assign.name.endswith("_proxy")
            if not known or not lower or assign.name.startswith(("npm_", "_")):
                why = why or f"the variable {assign.name} may change what follows"
        return why

    def _source(self, word: Word) -> str:
        return self.line[word.start : word.end]

    def _add(self, part: BashPart) -> None:
        self.parts.append(part)


def _depends_on_place(parts: Sequence[BashPart]) -> bool:
    return any(part.argv[:1] in (("cd",), ("pushd",), ("popd",)) or part.reads or part.writes for part in parts)


def _numbers(text: str) -> bool:
    return not set(text) - set("0123456789+-*/%()<>=!&|^~?: \t\n")


def _argv(args: Sequence[Argument]) -> tuple[str, ...]:
    return tuple(arg.text if arg.known else arg.source or "?" for arg in args)


def _shown(args: Sequence[Argument]) -> str:
    return " ".join(shlex.quote(arg.text) if arg.plain else arg.source or "?" for arg in args)
