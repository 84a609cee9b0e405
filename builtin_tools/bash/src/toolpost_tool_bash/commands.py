"""Works out what one command with its arguments comes to: through wrappers and shells, and inside of what may run more."""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from .arguments import Argument
from .carriers import copied
from .code import files_of_code
from .effects import effects_of, may_open
from .files import Files, files_of
from .handed import started_by, taken_whole
from .hidden import MOST_DEPTH, MOST_PARTS, Hidden, Vector, argv, shown
from .parts import BashPart, harmless
from .places import Place
from .reader import Reader
from .record import Effects
from .repository import holds_any
from .syntax import Unreadable
from .table import VERSION_UNLESS
from .wrappers import (
    EVALUATES,
    GUARDED,
    SHELLS,
    TRANSPARENT,
    guarded,
    inside_of,
    plain_shell,
    shell_script,
    transparent,
)

_SYSTEM: Final = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin"})
_COPY: Final = frozenset({"cp", "mv", "ln", "install"})
_LOOKED_THROUGH: Final = SHELLS | TRANSPARENT.keys() | {"eval"}
_ANYTHING: Final = frozenset({"source", ".", "eval", "trap"})


class Commands(Hidden):
    """Collects the parts of commands; what walks a whole line gives it `script`."""

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
        first = args[0]
        if not first.plain or not first.text:
            inside = tuple(self.shadow(guarded("?", list(args[1:])), place))
            unknown = "the program is only known once the line runs"
            part = BashPart(
                text or shown(args), argv(args), doubt=unknown, barred=unknown, args=args, around=around, inside=inside
            )
            self.add(replace(part, dynamic=True))
            place.forget(for_good=True)
            return
        path, _, last = first.text.rpartition("/")
        name = last if path in _SYSTEM else first.text
        name = "fd" if name == "fdfind" else name  # Debian's name for it
        if first.text in place.functions and not around:
            # What its body does is listed where it is defined; a rule about the name still holds.
            endless = f"{first.text} calls itself" if first.text in self.defining else ""
            self.add(BashPart(text or shown(args), argv(args), not endless, doubt=endless, args=args))
            place.forget(for_good=True)
            if name in ("cd", "pushd", "popd"):
                place.lose()
            return
        deep = name not in _LOOKED_THROUGH or len(around) >= MOST_DEPTH
        if not deep and self._looked_through(name, args, place, sure=sure, around=around, body=body):
            return
        text = text or shown(args)
        if name in ("cd", "pushd", "popd"):
            self._change_folder(args, place, sure=sure, text=text, around=around)
            return
        self._program(name, args, place, text=text, around=around, body=body)

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
        inside = transparent(name, rest, place.found)
        if inside is None or not inside.command[0].plain:
            return False
        if not all(harmless(*assigned.partition("=")[::2]) for assigned in inside.assigned):
            return False
        self.command(inside.command, place, sure=sure, around=(*around, args), body=body)
        return True

    def _text(self, text: str, args: Vector, place: Place, around: tuple[Vector, ...], *, barred: str = "") -> bool:
        """Read a literal text that a shell would run; its commands take the place of the shell's."""
        try:
            reader = Reader(text)
            script = reader.script()
        except (Unreadable, RecursionError):
            return False
        inner = self._another(text, deeper=1)
        own = place if args[0].text == "eval" else place.elsewhere()
        for number in "0123456789@*#":
            own.values.pop(number, None)
        inner.script(script, own)
        inner.late(reader.found)
        self.evaluates = self.evaluates or inner.evaluates
        if not inner.parts:
            only = BashPart(shown(args), argv(args), not barred, doubt=barred, args=args, around=around, barred=barred)
            self.add(replace(only, dynamic=bool(barred)))
        for part in inner.parts:
            if barred:
                part = replace(part, read_only=False, doubt=part.doubt or barred, barred=part.barred or barred)
            self.add(replace(part, around=(*around, args, *part.around)) if part.args else part)
        return True

    # Programs

    def _program(
        self, name: str, args: Vector, place: Place, *, text: str, around: tuple[Vector, ...], body: str | None
    ) -> None:
        rest, last = list(args[1:]), name.rpartition("/")[2]
        effects = effects_of(name, rest)
        self.evaluates = self.evaluates or (name in EVALUATES and bool(effects.why))
        # What a program that is not known may open is noted with the one around it, where that lists all of it.
        listed = not effects.known and self.tails_listed
        if not listed:
            effects.files += [] if effects.known else may_open(name, rest)
            effects.files += files_of_code(last, rest, body)
        files = Files() if listed else files_of(effects, place)
        _note_variables(name, effects, place)
        doubt = effects.why or self._led_by_files(name, place) or files.doubt or _dashed(effects, place)
        if not (effects.why or last in GUARDED or name in _COPY or "/" in name):
            # Nothing can be inside, as in most commands.
            read_only, reads, writes = not doubt and not files.writes, files.reads, files.writes
            unseen, vector = files.unseen, argv(args)
            part = BashPart(text, vector, read_only, reads, writes, doubt, unseen=unseen, args=args, around=around)
            self.add(part if place.folders else replace(part, lost=True))
            return
        inside, open_ended = self._inside(name, rest, effects, place, body)
        if inside and (effects.why or not effects.started):
            files = files.joined([part for certain, part in inside if certain])
        started = [part for certain, part in inside if certain]
        possible = [part for certain, part in inside if not certain]
        whole = (*started_by(last, rest, effects, started, place), *taken_whole(possible, place))
        perhaps = (*files.perhaps, *(path for part in possible for path in (*part.reads, *part.writes)))
        reads, writes = files.reads, (*files.writes, *whole)
        wrapper = last in GUARDED and (bool(inside) or last not in ("find", "fd", "rg", "env", "trap", "alias"))
        deletes = last == "find" and (bool(effects.sweeps) or any(kind == "wipe" for kind, _ in effects.files))
        exact = (wrapper and bool(effects.why)) or deletes
        dynamic = (last in SHELLS and bool(effects.why)) or name in ("source", ".", "eval") or open_ended
        dynamic = dynamic or (last in GUARDED and len(inside) >= MOST_PARTS)
        self.add(
            BashPart(
                text,
                argv(args),
                not doubt and not writes,
                reads,
                writes,
                doubt,
                unseen=files.unseen,
                perhaps=perhaps,
                lost=not place.folders,
                args=args,
                around=around,
                inside=tuple(inside),
                exact=exact,
                dynamic=dynamic,
            )
        )

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
        others = [
            (certain, BashPart(shown(args), argv(args), args=args)) for certain, args in _others(name, rest, place)
        ]
        if not effects.why and last not in GUARDED:
            return others, False
        inside = inside_of(last, rest, body, known=effects.known, with_tails=not self.tails_listed)
        found = [*others, *self.shadow(inside, place)]
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


def _others(name: str, rest: list[Argument], place: Place) -> Iterator[tuple[bool, Vector]]:
    """Programs under another name: what a path links to surely runs, and what is copied or linked to may run next."""
    if "/" in name:
        for path in place.paths(Argument(name)) or ():
            real = os.path.realpath(path)
            if os.path.basename(real) != path.name:  # noqa: PTH119 - a text, and of one program after another
                yield True, (Argument(os.path.basename(real)), *rest)  # noqa: PTH119
    if name in _COPY:
        for program in copied(rest):
            yield False, (Argument(program), Argument("", known=False, splits=True, source="its arguments"))


def _dashed(effects: Effects, place: Place) -> str:
    """Why a pattern may come to an option; empty if no name that it matches looks like one."""
    for arg in effects.globs:
        found = place.paths(arg)
        if found is None or any(path.name.startswith("-") for path in found):
            return f"{arg.source or arg.text} matches what looks like an option"
    return ""


def _note_variables(name: str, effects: Effects, place: Place) -> None:
    """Note what a builtin does to the variables that the line follows."""
    if name in ("read", "export") and not effects.why:
        for arg in effects.operands:
            variable, _, value = arg.text.partition("=")
            place.assign(variable, value if name == "export" and "~" not in value else None)
    elif name == "shopt":
        place.globs_vary = True
        place.forget(for_good=True)
    elif effects.why and (name in EVALUATES or name in _ANYTHING):
        place.forget(for_good=True)
        if name in _ANYTHING:
            place.wander()
