"""Walks the tree of a line and lists what would run, what is read and what is written, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .arguments import Argument, arguments, assigned_text, looped
from .carriers import START_FILES, assigned
from .commands import MOST_DEPTH, Commands
from .files import handed_text, opened
from .parts import BashPart, harmless
from .places import Place
from .reader import Reader
from .record import Effects
from .special import NUMERIC, check_test
from .syntax import (
    Assign,
    Compound,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Strange,
    Unreadable,
    Word,
    and_or_lists,
    is_own_variable,
    scripts_of,
)

_MOST_ROUNDS = 8
_MOST_UNROLLED = 24


class Analysis(Commands):
    """Collects the parts of one line; `home` and `folder` are where it would run."""

    def script(self, script: Script, place: Place) -> None:
        """Walk a list of pipelines."""
        self.depth += 1
        if self.depth > MOST_DEPTH * 4:
            raise Unreadable("it is nested too deep")
        for group in and_or_lists(script.items):
            # An ampersand sends all that is joined by && and || away, not just the last of it.
            self._and_or(group, place.copy() if group[-1].background else place)
        self.depth -= 1

    def _and_or(self, group: Sequence[Pipeline], place: Place) -> None:
        seen = [place.folders]
        for at, item in enumerate(group):
            if item.joiner == "||":
                place.stay_in(seen)
            before = place.copy()
            # What follows an && ran after this, unless a || may have passed this over.
            sure = at + 1 < len(group) and all(other.joiner != "||" for other in group[: at + 2])
            self._pipeline(item, place, sure=sure)
            if item.joiner in ("&&", "||"):
                place.functions = before.functions
                place.blur(before.values)
            seen.append(place.folders)
        if len(group) > 1:
            # What follows runs after any of them failed, too.
            place.stay_in(seen)

    def _pipeline(self, item: Pipeline, place: Place, *, sure: bool) -> None:
        alone = len(item.stages) == 1
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
            self.add(BashPart(f"(({node.name}))", doubt="it calculates with more than numbers"))
            own.forget(for_good=False)
        if node.kind in ("for", "select", "coproc") and node.name and not is_own_variable(node.name):
            why = f"the variable {node.name} may change what follows"
            self.add(BashPart(f"{node.kind} {node.name}", doubt=why, barred=why))
            own.forget(for_good=True)
        if node.kind == "[[":
            self._double_bracket(node, own)
        if node.kind == "function":
            own.functions.add(node.name)
            self._function(node, own)
        elif node.kind == "for":
            self._for(node, own)
        elif node.kind in ("while", "until", "for((", "select"):
            own.assign(node.name, None)
            self._repeated(node, own)
        else:
            self._blocks(node, own)

    def _blocks(self, node: Compound, place: Place) -> None:
        before, branches, ends = place.copy(), node.kind in ("if", "case"), [place.folders]
        for block in node.blocks:
            self.script(block, place)
            ends.append(place.folders)
            if branches:
                place.blur(before.values)
        if branches:
            place.functions = before.functions
            if len(set(ends)) > 1:
                place.lose()

    def _for(self, node: Compound, place: Place) -> None:
        """Walk the body once for each of a few words that are known, else once for all."""
        words = [arg for word in node.words for arg in arguments(word, place.values, self._source(word))]
        before, count = place.copy(), len(self.parts)
        steady = 0 < len(words) <= _MOST_ROUNDS and all(arg.known for arg in words)
        for arg in words if steady else ():
            moved = self._round(node, place, looped(arg), since=count)
            if moved or len(self.parts) - count > _MOST_UNROLLED:
                steady = False
                break
        if not steady:
            del self.parts[count:]
            self._round(node, place, None, since=count)
        # It may have had any number of rounds.
        place.blur(before.values)

    def _round(self, node: Compound, place: Place, value: str | None, *, since: int) -> bool:
        before, count = dict(place.values), len(self.parts)
        place.assign(node.name, value)
        moved = self._repeated(node, place)
        place.blur({**before, node.name: None})
        earlier = self.parts[since:count]
        self.parts[count:] = [part for part in self.parts[count:] if part not in earlier]
        return moved

    def _repeated(self, node: Compound, place: Place) -> bool:
        """Walk a body that may run any number of times; return whether it moves, so that nothing has a sure place."""
        before, count = place.copy(), len(self.parts)
        for block in node.blocks:
            self.script(block, place)
        moved = place.folders != before.folders
        if moved or place.values != before.values:
            del self.parts[count:]
            place.blur(before.values)
            place.functions = set(before.functions)
            if moved:
                place.lose()
            for block in node.blocks:
                self.script(block, place)
            place.blur(before.values)
        place.functions = before.functions
        return moved

    def _function(self, node: Compound, place: Place) -> None:
        """Walk a body that may run anywhere later, when variables hold other values."""
        count, own = len(self.parts), place.elsewhere()
        own.functions = set(place.functions)
        self._blocks(node, own)
        moves = own.folders != place.folders
        if moves or _depends_on_place(self.parts[count:]):
            del self.parts[count:]
            own.functions = set(place.functions)
            own.lose()
            self._blocks(node, own)
        # From here on, whatever has its name may move and set variables.
        place.forget(for_good=True)
        if moves:
            place.wander()

    def _double_bracket(self, node: Compound, place: Place) -> None:
        words = [arg for word in node.words for arg in arguments(word, place.values)]
        effects = Effects()
        check_test([replace(arg, splits=False, wild=False) for arg in words], effects)
        for at, arg in enumerate(words):
            beside = (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
            if arg.text in NUMERIC and not all(n.known and n.text.lstrip("-").isdigit() for n in beside):
                effects.refuse(f"[[ {arg.text} ]] evaluates its operands as arithmetic")
        inside = tuple(part for arg in words for part in self.embedded(arg.text, place)) if effects.why else ()
        part = BashPart("[[ ]]", ("[[",), not effects.why, doubt=effects.why, args=(Argument("[["), *words))
        self.add(replace(part, inside=inside))

    # Simple commands

    def simple(self, node: Simple, place: Place, *, sure: bool) -> None:
        """List what one simple command runs, reads and writes."""
        files_read = self._substituted_reads(node, place)
        text = self.line[node.start : node.end].strip()
        unsafe = self._assignments(node, place)
        for assign in node.assigns:
            self._carried(assign, place)
        args = [arg for word in node.words for arg in arguments(word, place.values, self._source(word))]
        body = self._redirects(node.redirects, place)
        if not args:
            if unsafe and not node.words:
                self.add(BashPart(text or unsafe, doubt=unsafe, barred=unsafe))
            elif node.words:
                self.add(BashPart(text, doubt="the command's words may come to nothing", dynamic=True))
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

    def salvage(self, reader: Reader) -> None:
        """Of a text that can't be read, list what can: bash runs the first lines before it meets a mistake further on."""
        self.parts.clear()
        for simple in reader.found:
            try:
                place = self.place.copy()
                place.lose()
                self.simple(simple, place, sure=False)
            except (Unreadable, RecursionError):
                text = reader.text[simple.start : simple.end]
                self.add(BashPart(text, doubt="it is nested too deep", dynamic=True))

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
                self.add(part)
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
            if isinstance(piece, Strange):
                place.forget(for_good=False)
                if where != "word":
                    self.add(BashPart(self._source(word) or where, doubt=piece.why, barred=piece.why))

    def _assignments(self, node: Simple, place: Place) -> str:
        """Note the assignments; return why one may change what runs, or nothing."""
        why = ""
        for assign in node.assigns:
            known = assign.simple and not any(value.strange for value in arguments(assign.value, place.values))
            if node.words:
                if not known or not harmless(assign.name, self._source(assign.value)):
                    why = why or f"the variable {assign.name} may change what the command does"
                continue
            own = is_own_variable(assign.name)
            place.assign(assign.name, assigned_text(assign.value, place.values) if known and own else None)
            if assign.name == "IFS":
                place.forget(for_good=True)
            if not known or not own:
                why = why or f"the variable {assign.name} may change what follows"
        return why

    def _carried(self, assign: Assign, place: Place) -> None:
        """List what a variable holds for some program to run."""
        text = (assigned_text(assign.value, place.values) if assign.simple else "") or ""
        carried = "" if harmless(assign.name, text) else assigned(assign.name, text)
        inside = [(True, part) for part in self.in_text(carried, place)] if carried else []
        if inside or assign.name in START_FILES:
            why = f"the variable {assign.name} names what runs"
            starts = assign.name in START_FILES
            self.add(BashPart(f"{assign.name}={text}", doubt=why, barred=why, inside=tuple(inside), dynamic=starts))

    def _source(self, word: Word) -> str:
        return self.line[word.start : word.end]


def _depends_on_place(parts: Sequence[BashPart]) -> bool:
    return any(part.argv[:1] in (("cd",), ("pushd",), ("popd",)) or part.reads or part.writes for part in parts)


def _numbers(text: str) -> bool:
    return not set(text) - set("0123456789+-*/%()<>=!&|^~?: \t\n")
