"""Walks what has a body: branches, loops that may run any number of times, and functions that may run anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from .arguments import NUMBER, arguments, holds_number, looped
from .commands import Commands
from .parts import BashPart
from .places import Place
from .syntax import Compound

_MOST_ROUNDS = 8
_MOST_UNROLLED = 24


class Bodies(Commands):
    """Collects the parts of bodies; what walks whole lines gives it `script`."""

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
        words = [arg for word in node.words for arg in arguments(word, place.values)]
        before, count = dict(place.values), len(self.parts)
        steady = 0 < len(words) <= _MOST_ROUNDS and all(arg.known for arg in words)
        for arg in words if steady else ():
            moved = self._round(node, place, looped(arg), since=count)
            if moved or len(self.parts) - count > _MOST_UNROLLED:
                steady = False
                break
        if not steady:
            del self.parts[count:]
            counts = words and all(arg.number or (arg.plain and holds_number(arg.text)) for arg in words)
            self._round(node, place, NUMBER if counts else None, since=count)
        # It may have had any number of rounds.
        place.blur(before)

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
        folders, values, functions, count = place.folders, dict(place.values), set(place.functions), len(self.parts)
        for block in node.blocks:
            self.script(block, place)
        moved = place.folders != folders
        if moved or place.values != values:
            del self.parts[count:]
            place.blur(values)
            place.functions = set(functions)
            if moved:
                place.lose()
            for block in node.blocks:
                self.script(block, place)
            place.blur(values)
        place.functions = functions
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


def _depends_on_place(parts: Sequence[BashPart]) -> bool:
    return any(part.argv[:1] in (("cd",), ("pushd",), ("popd",)) or part.reads or part.writes for part in parts)
