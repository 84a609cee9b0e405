"""Walks the tree of a line and lists what would run, what is read and what is written, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .arguments import NUMBER, Argument, Found, arguments, assigned_text, holds_number, literal_items
from .bodies import Bodies
from .counting import counted, settled, settled_command
from .files import handed_text, opened
from .found import goes_through
from .found import printed as names_printed
from .handed import Handed, printed, prints_files, written
from .hidden import MOST_DEPTH
from .parts import BashPart, harmless
from .places import Place
from .reader import Reader
from .record import Effects
from .special import NUMERIC, check_test
from .syntax import (
    Assign,
    Command,
    Compound,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Strange,
    Text,
    Unreadable,
    Word,
    and_or_lists,
    is_own_variable,
    scripts_of,
)

_NOTHING = Handed()


class Analysis(Bodies):
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
        if len(group) == 1:
            self._pipeline(group[0], place, sure=False)
            return
        seen = [place.folders]
        alternative = next((at for at, item in enumerate(group) if item.joiner == "||"), len(group))
        for at, item in enumerate(group):
            if item.joiner == "||":
                place.stay_in(seen)
            values, functions = dict(place.values), set(place.functions)
            # What follows an && ran after this, unless a || may have passed this over.
            sure = at + 1 < len(group) and at + 1 < alternative
            self._pipeline(item, place, sure=sure)
            if at:
                place.functions = functions
                place.blur(values)
            seen.append(place.folders)
        # What follows runs after any of them failed, too.
        place.stay_in(seen)

    def _pipeline(self, item: Pipeline, place: Place, *, sure: bool) -> None:
        if len(item.stages) == 1:
            place.found = None
            self._stage(item.stages[0], place, sure=sure)
            return
        handed, follows = _NOTHING, "xargs" in self.line
        names: Found | None = None
        for stage in item.stages:
            inner, count = place.copy(), len(self.parts)
            if isinstance(stage, Simple):
                inner.found = names if names is not None and goes_through(stage.redirects) else None
            self._stage(stage, inner, sure=sure)
            self._hand(handed, since=count)
            if isinstance(stage, Simple) and stage.words and prints_files(stage.words[0].bare):
                handed = printed(self._arguments(stage, place), place, handed)
            names = self._names_printed(stage, place, names) if follows else None

    def _stage(self, node: Command, place: Place, *, sure: bool) -> None:
        if not isinstance(node, Simple):
            self._compound(node, place)
        elif node.plain:
            self.command(tuple(self._arguments(node, place)), place, sure=sure, text=node.source)
        else:
            self.simple(node, place, sure=sure)

    def _names_printed(self, stage: Command, place: Place, before: Found | None) -> Found | None:
        """The files whose names a stage of a pipe hands to the next, where it hands on nothing else."""
        if not isinstance(stage, Simple) or stage.assigns or not goes_through(stage.redirects):
            return None
        args = self._arguments(stage, place)
        return None if args and args[0].text in place.functions else names_printed(args, before)

    def _hand(self, handed: Handed, *, since: int) -> None:
        """Note what the commands of a line get to know of while they run."""
        if handed == _NOTHING:
            return
        self.parts[since:] = [handed.given(part) for part in self.parts[since:]]

    def _arguments(self, node: Simple, place: Place) -> list[Argument]:
        return [arg for word in node.words for arg in arguments(word, place.values)]

    def _compound(self, node: Compound, place: Place) -> None:
        own = place.copy() if node.kind in ("(", "coproc") else place
        if node.words and self.calculates:
            node = node._replace(words=tuple(settled(word, own.values) for word in node.words))
        self._redirects(node.redirects, own)
        self.listed.extend(node.words)
        for word in node.words:
            self._substitutions(word, own, node.kind)
        if node.kind in ("((", "for(("):
            self._calculate(node.name, own)
        if node.kind in ("for", "select", "coproc") and node.name and not is_own_variable(node.name):
            why = f"the variable {node.name} may change what follows"
            self.add(BashPart(f"{node.kind} {node.name}", doubt=why, barred=why))
            own.forget(for_good=True)
        if node.kind == "[[":
            self._double_bracket(node, own)
        if node.kind == "function":
            own.functions.add(node.name)
            self.defining.append(node.name)
            self._function(node, own)
            self.defining.pop()
        elif node.kind == "for":
            self._for(node, own)
        elif node.kind in ("while", "until", "for((", "select"):
            own.assign(node.name, None)
            self._repeated(node, own)
        else:
            self._blocks(node, own)

    def _calculate(self, text: str, place: Place) -> None:
        changed = counted(text, place.values)
        for name in changed or ():
            place.assign(name, NUMBER)
        if changed is None:
            self.evaluates = True
            self.add(BashPart(f"(({text}))", doubt="it calculates with more than numbers"))
            place.forget(for_good=False)

    def _double_bracket(self, node: Compound, place: Place) -> None:
        words = [arg for word in node.words for arg in arguments(word, place.values)]
        effects = Effects()
        check_test([arg._replace(splits=False, wild=False) for arg in words], effects)
        for at, arg in enumerate(words):
            beside = (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
            if arg.text in NUMERIC and not all(n.number or (n.known and holds_number(n.text)) for n in beside):
                effects.refuse(f"[[ {arg.text} ]] evaluates its operands as arithmetic")
                self.evaluates = True
        inside = tuple(part for arg in words for part in self.embedded(arg.text, place)) if effects.why else ()
        part = BashPart("[[ ]]", ("[[",), not effects.why, doubt=effects.why, args=(Argument("[["), *words))
        self.add(replace(part, inside=inside))

    # Simple commands

    def simple(self, node: Simple, place: Place, *, sure: bool) -> None:
        """List what one simple command runs, reads and writes."""
        if self.calculates:
            node = settled_command(node, place.values)
        files_read = self._substituted_reads(node, place)
        text = node.source
        unsafe = self._assignments(node, place)
        for assign in node.assigns:
            self.carried(assign, place)
        args = self._arguments(node, place)
        body = self._redirects(node.redirects, place)
        if not args:
            if unsafe and not node.words:
                self.add(BashPart(text or unsafe, doubt=unsafe, barred=unsafe))
            elif node.words:
                self.add(BashPart(text, doubt="the command's words may come to nothing", dynamic=True))
            return
        strange = next((arg.strange for arg in args if arg.strange), "")
        barred = unsafe or strange or (files_read and "the text of a file becomes part of the command") or ""
        count = len(self.parts)
        self.command(tuple(args), place, sure=sure, text=text, body=body)
        if body is not None:
            self._hand(written(body, place), since=count)
        if not barred:
            return
        evaluated = any(isinstance(piece, Strange) and piece.runs for word in node.words for piece in word.pieces)
        for at in range(count, len(self.parts)):
            part = self.parts[at]
            # A substitution may hand text to what only prints it; anything else gets words that nobody has seen.
            if unsafe or strange or not part.read_only:
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
                self.add(BashPart(simple.source, doubt="it is nested too deep", dynamic=True))

    # Redirections

    def _redirects(self, redirects: Sequence[Redirect], place: Place) -> str | None:
        """List the redirections; return the text that a here-document or here-string hands to the command."""
        body: str | None = None
        for redirect in redirects:
            for word in (redirect.target, *redirect.body):
                self._substitutions(word, place, redirect.op)
            handed = handed_text(redirect, place)
            body = handed if handed is not None else body
            part = opened(redirect, place)
            if part is not None:
                self.add(part)
        return body

    # What is inside of words

    def _substituted_reads(self, node: Simple, place: Place) -> bool:
        """Walk the substitutions of a command's words; say whether they read files whose text goes on."""
        count = len(self.parts)
        for word in node.words:
            if len(word.pieces) != 1 or not isinstance(word.pieces[0], Text):
                self._substitutions(word, place, "word")
        reads = len(self.parts) > count and any(
            part.reads and part.argv[:1] not in (("cd",), ("git",)) for part in self.parts[count:]
        )
        for assign in node.assigns:
            self._substitutions(assign.value, place, "assignment")
        return reads

    def _substitutions(self, word: Word, place: Place, where: str) -> None:
        if len(word.pieces) == 1 and isinstance(word.pieces[0], Text):
            return
        for piece in word.pieces:
            for script in scripts_of(piece):
                self.script(script, place.copy())
            if isinstance(piece, Strange):
                self.evaluates = True
                place.forget(for_good=False)
                if where != "word":
                    self.add(BashPart(word.source or where, doubt=piece.why, barred=piece.why))

    def _only_holds_text(self, assign: Assign) -> bool:
        """Whether an array's elements, or what is joined to a variable's text, are words of which none is calculated."""
        if assign.simple or "[" in assign.name or assign.name == "IFS":
            return False
        if assign.items is None and assign.value.source.startswith("("):
            return False
        pieces = [piece for word in assign.items or (assign.value,) for piece in word.pieces]
        texts = (piece.text for piece in pieces if isinstance(piece, Text))
        return not any(isinstance(piece, Strange) for piece in pieces) and not any(
            text.startswith("[") or "]=" in text or "`" in text or "$" in text for text in texts
        )

    def _assignments(self, node: Simple, place: Place) -> str:
        """Note the assignments; return why one may change what runs, or nothing."""
        why = ""
        for assign in node.assigns:
            known = assign.simple and not any(value.strange for value in arguments(assign.value, place.values))
            if node.words:
                splits = assign.name == "IFS" and node.words[0].bare == "read"
                if not known or not (splits or harmless(assign.name, assign.value.source)):
                    why = why or f"the variable {assign.name} may change what the command does"
                if holds_number(place.values.get(assign.name)):
                    place.assign(assign.name, None)  # to what runs now it holds this value
                continue
            own = is_own_variable(assign.name)
            if own and (elements := literal_items(assign, place.values)) is not None:
                place.fill(assign.name, elements)
                continue
            if own and self._only_holds_text(assign):
                place.assign(assign.name, None)
                continue
            self.evaluates = self.evaluates or not assign.simple  # subscripts are calculated
            place.assign(assign.name, assigned_text(assign.value, place.values) if known and own else None)
            if assign.name == "IFS":
                place.forget(for_good=True)
            if not known or not own:
                why = why or f"the variable {assign.name} may change what follows"
        return why
