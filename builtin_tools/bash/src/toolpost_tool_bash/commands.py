"""Works out what one command with its arguments comes to: through wrappers and shells, and inside of what may run more."""

from __future__ import annotations

import os.path
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from .arguments import Argument
from .carriers import carries
from .effects import effects_of
from .files import files_of
from .parts import BashPart, harmless
from .places import Place
from .reader import Reader
from .record import Effects
from .repository import holds_any
from .syntax import Script, Unreadable
from .table import VERSION_UNLESS
from .wrappers import (
    EVALUATES,
    GUARDED,
    SHELLS,
    TRANSPARENT,
    Inside,
    guarded,
    inside_of,
    plain_shell,
    shell_script,
    transparent,
)

MOST_PARTS = 50
MOST_DEPTH = 12
_MOST_ASIDE = 150
_RUN_OTHERS: Final = SHELLS | GUARDED | TRANSPARENT.keys() | {"eval", "git"}
_ANYTHING: Final = frozenset({"source", ".", "eval", "trap"})
Vector: TypeAlias = tuple[Argument, ...]


class Commands:
    """Collects the parts of commands; what walks a whole line gives it `script`."""

    def __init__(self, line: str, *, folder: str, home: str, git_is_plain: bool = True) -> None:
        self.line = line
        self.parts: list[BashPart] = []
        self.start = (folder,)
        self.place = Place(self.start, {"HOME": home, "PWD": folder}, start=self.start)
        self.git_is_plain = git_is_plain
        self.depth = 0
        self._aside_left = [_MOST_ASIDE]

    def script(self, script: Script, place: Place) -> None:
        """Walk a list of pipelines."""
        raise NotImplementedError

    def command(
        self,
        args: Vector,
        place: Place,
        *,
        sure: bool = False,
        text: str = "",
        around: tuple[Vector, ...] = (),
        body: str | None = None,
    ) -> None:
        """List what one command with its arguments comes to, looking through what surrounds it."""
        first, rest = args[0], list(args[1:])
        text = text or shown(args)
        if not first.plain or not first.text:
            inside = tuple(self._shadow(guarded("?", rest), place))
            unknown = "the program is only known once the line runs"
            part = BashPart(text, argv(args), doubt=unknown, barred=unknown, args=args, around=around, inside=inside)
            self.add(replace(part, dynamic=True))
            place.forget(for_good=True)
            return
        path, _, last = first.text.rpartition("/")
        name = last if path in ("/bin", "/usr/bin") else first.text
        if first.text in place.functions and not around:
            # What its body does is listed where it is defined; a rule about the name still holds.
            self.add(BashPart(text, argv(args), True, args=args))
            place.forget(for_good=True)
            if name in ("cd", "pushd", "popd"):
                place.lose()
            return
        if len(around) < MOST_DEPTH and self._looked_through(name, args, place, sure=sure, around=around, body=body):
            return
        if name in ("cd", "pushd", "popd"):
            self._change_folder(args, place, sure=sure, text=text, around=around)
            return
        self._program(name, args, place, text=text, around=around, body=body)

    def add(self, part: BashPart) -> None:
        """Note one more part."""
        self.parts.append(part)

    # What is looked through

    def _looked_through(
        self, name: str, args: Vector, place: Place, *, sure: bool, around: tuple[Vector, ...], body: str | None
    ) -> bool:
        rest = list(args[1:])
        if name == "command" and rest and rest[0].text in ("-v", "-V"):
            self.add(BashPart(shown(args), argv(args), True, args=args, around=around))
            return True
        if name in SHELLS:
            script = shell_script(rest)
            known = script.text if script is not None and script.known and not script.wild else None
            if script is None and body is not None and not any(not arg.text.startswith("-") for arg in rest):
                known = body
            barred = "" if plain_shell(name, rest) else f"{name} may read other files first when it is started so"
            return known is not None and self._text(known, args, place, around, barred=barred)
        if name == "eval" and rest and all(arg.plain for arg in rest):
            return self._text(" ".join(arg.text for arg in rest), args, place, around)
        inside = transparent(name, rest)
        if inside is None or not inside.command[0].plain:
            return False
        if not all(harmless(*assigned.partition("=")[::2]) for assigned in inside.assigned):
            return False
        self.command(inside.command, place, sure=sure, around=(*around, args), body=body)
        return True

    def _text(self, text: str, args: Vector, place: Place, around: tuple[Vector, ...], *, barred: str = "") -> bool:
        """Read a literal text that a shell would run; its commands take the place of the shell's."""
        try:
            script = Reader(text).script()
        except (Unreadable, RecursionError):
            return False
        inner = self._another(text, deeper=1)
        own = place if args[0].text == "eval" else place.elsewhere()
        for number in "0123456789@*#":
            own.values.pop(number, None)
        inner.script(script, own)
        for part in inner.parts:
            if barred:
                part = replace(part, read_only=False, doubt=part.doubt or barred, barred=part.barred or barred)
            self.add(replace(part, around=(*around, args, *part.around)) if part.args else part)
        return True

    # Programs

    def _program(
        self, name: str, args: Vector, place: Place, *, text: str, around: tuple[Vector, ...], body: str | None
    ) -> None:
        rest, last = list(args[1:]), args[0].text.rpartition("/")[2]
        effects = effects_of(name, rest)
        _note_variables(name, effects, place)
        reads, writes, unknown = files_of(effects, place)
        doubt = effects.why or self._led_by_files(name, place) or unknown
        inside, open_ended = self._inside(name, rest, effects, place, body)
        for certain, part in inside:
            if certain:
                reads, writes = (*reads, *part.reads), (*writes, *part.writes)
        reads, writes = tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes))
        wrapper = last in GUARDED and (bool(inside) or last not in ("find", "fd", "rg", "env", "trap", "alias"))
        deletes = last == "find" and any(kind == "wipe" for kind, _ in effects.files)
        exact = (wrapper and bool(effects.why)) or deletes
        dynamic = last in SHELLS or name in ("source", ".", "eval") or open_ended
        part = BashPart(text, argv(args), not doubt and not writes, reads, writes, doubt, args=args, around=around)
        self.add(replace(part, inside=tuple(inside), exact=exact, dynamic=dynamic))

    def _led_by_files(self, name: str, place: Place) -> str:
        """Why files that lie there may make a program start others although its arguments do not; empty if none does."""
        if name == "git" and (place.folders != self.start or not self.git_is_plain):
            return "git may run programs that the repository's configuration names"
        leading = VERSION_UNLESS.get(name)
        if leading and (not place.folders or holds_any(leading, place.folders)):
            return f"{name} may run what the project names, even to tell its version"
        return ""

    def _inside(
        self, name: str, rest: list[Argument], effects: Effects, place: Place, body: str | None
    ) -> tuple[list[tuple[bool, BashPart]], bool]:
        """What a program may run without being seen, each with whether it surely does; and whether that may be anything."""
        last = name.rpartition("/")[2]
        if not effects.why and last not in GUARDED:
            return [], False
        inside = inside_of(last, rest, body, known=effects.known)
        found = self._shadow(inside, place)
        if name in EVALUATES and effects.why:
            texts = (arg.text if arg.known else arg.sure for arg in rest)
            found.extend(part for text in texts for part in self.embedded(text, place))
        return found, inside.open

    def _change_folder(self, args: Vector, place: Place, *, sure: bool, text: str, around: tuple[Vector, ...]) -> None:
        targets = [arg for arg in args[1:] if not (arg.plain and arg.text in ("-L", "-P", "--"))]
        home = place.values.get("HOME")
        target = targets[0] if targets else Argument(home or "", known=home is not None)
        sound = target.plain and target.text not in ("-", "") and len(targets) <= 1
        paths = place.paths(target) if sound else None
        if args[0].text.rpartition("/")[2] != "cd" or paths is None or target.text.startswith("-"):
            self.add(BashPart(text, argv(args), doubt="the folder that follows is not known", args=args, around=around))
            place.lose()
            return
        self.add(BashPart(text, argv(args), True, tuple(paths), args=args, around=around))
        folders = tuple(os.path.normpath(path) for path in paths)
        if folders != place.folders:
            place.move(folders, sure=sure)

    # What may run without being seen

    def _shadow(self, inside: Inside, place: Place) -> list[tuple[bool, BashPart]]:
        """What may run inside of a program: never a reason to allow, always one to deny."""
        found: list[tuple[bool, BashPart]] = []
        for at, (certain, suffix) in enumerate(inside.suffixes[:MOST_PARTS]):
            if not suffix:
                continue
            head = suffix[0].text.rpartition("/")[2]
            if certain and (head in _RUN_OTHERS or carries(head)) and (aside := self._aside(suffix, place)):
                found.extend((True, part) for part in aside)
                continue
            dynamic = certain and at == 0 and not suffix[0].known
            part = BashPart(shown(suffix), argv(suffix), args=suffix, dynamic=dynamic)
            effects = effects_of(head, list(suffix[1:])) if certain and suffix[0].plain else None
            # What an unknown program may open is noted with the one that starts it.
            if effects is not None and effects.known:
                reads, writes, _ = files_of(effects, place)
                part = replace(part, reads=reads, writes=writes)
            found.append((certain, part))
        for certain, texts in ((True, inside.scripts), (False, inside.possible)):
            found.extend((certain, part) for text in texts for part in self.in_text(text, place))
        return found

    def _aside(self, args: Vector, place: Place) -> list[BashPart]:
        inner = self._another("", deeper=4)
        if inner.depth > MOST_DEPTH * 4:
            return []
        self._count_aside()
        inner.command(args, place.elsewhere())
        return inner.parts

    def _count_aside(self) -> None:
        self._aside_left[0] -= 1
        if self._aside_left[0] < 0:
            raise Unreadable("it has too many programs inside of others")

    def in_text(self, text: str, place: Place) -> list[BashPart]:
        """The parts of a text that something hands to a shell, or may; of one that can't be read, what can be."""
        self._count_aside()
        inner = self._another(text, deeper=4)
        reader = Reader(text)
        try:
            inner.script(reader.script(), place.elsewhere())
        except (Unreadable, RecursionError):
            inner.salvage(reader)
            # It may be split at blanks by somebody who is no shell.
            words = tuple(Argument(word) for piece in text.split()[:MOST_PARTS] if (word := piece.strip("'\"")))
            inner.parts.extend([BashPart(shown(words), argv(words), args=words)] if words else [])
            inner.add(BashPart(text, doubt="it can't be read as a whole", dynamic=True))
        return inner.parts

    def salvage(self, reader: Reader) -> None:
        """Of a text that can't be read, list what can: bash runs the first lines before it meets a mistake further on."""
        raise NotImplementedError

    def embedded(self, text: str, place: Place) -> list[tuple[bool, BashPart]]:
        """Substitutions in an operand that a builtin evaluates though it was quoted."""
        if "$(" not in text and "`" not in text:
            return []
        inner = self._another(text, deeper=4)
        try:
            for script in Reader("").embedded(text):
                inner.script(script, place.elsewhere())
        except (Unreadable, RecursionError):
            return [(True, BashPart(text, doubt="it is evaluated and can't be read", dynamic=True))]
        return [(True, part) for part in inner.parts]

    def _another(self, text: str, *, deeper: int) -> Commands:
        inner = type(self)(text, folder="", home="", git_is_plain=self.git_is_plain)
        inner.start, inner.depth, inner._aside_left = self.start, self.depth + deeper, self._aside_left
        return inner


def _note_variables(name: str, effects: Effects, place: Place) -> None:
    """Note what a builtin does to the variables that the line follows."""
    if name == "read" and not effects.why:
        for arg in effects.operands:
            place.assign(arg.text, None)
    elif effects.why and (name in EVALUATES or name in _ANYTHING):
        place.forget(for_good=True)
        if name in _ANYTHING:
            place.wander()


def argv(args: Sequence[Argument]) -> tuple[str, ...]:
    """The arguments as rules and people see them; what is not known stands there as it was written."""
    return tuple(arg.text if arg.known else arg.source or "?" for arg in args)


def shown(args: Sequence[Argument]) -> str:
    """The arguments as one line."""
    return " ".join(shlex.quote(arg.text) if arg.plain else arg.source or "?" for arg in args)
