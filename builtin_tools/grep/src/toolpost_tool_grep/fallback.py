"""A search that stands in for ripgrep where there is none: run as a program of its own, so that it can be ended.

It takes the options that `search.arguments` names and prints what ripgrep would print for them, with Python's regular
expressions. Not imported by the plugin.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

BINARY_HEAD = 8_192


def main() -> int:
    """Search and return ripgrep's exit code."""
    options = _options()
    if options.type:
        print(f"unrecognized file type: {options.type} (there is no ripgrep here to know types)", file=sys.stderr)
        return 2
    flags = re.IGNORECASE * options.ignore_case | re.DOTALL * options.multiline_dotall | re.MULTILINE
    try:
        pattern = re.compile(options.regexp, flags)
    except re.error as error:
        print(f"regex parse error: {options.regexp}\nerror: {error}", file=sys.stderr)
        return 2
    found = False
    for file in _files(Path(options.target), options.glob):
        try:
            data = file.read_bytes()
        except OSError:
            continue
        if b"\0" not in data[:BINARY_HEAD]:
            found = _report(str(file), data.decode("utf-8", "surrogateescape"), pattern, options) or found
    return 0 if found else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    switches = "no-config hidden no-messages null with-filename no-heading no-require-git crlf line-number column"
    for name in f"{switches} files-with-matches count only-matching ignore-case multiline multiline-dotall".split():
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("color", "engine", "type", "regexp"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--glob", action="append", default=[])
    for name in ("before-context", "after-context"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("target")
    return parser.parse_args()


def _files(target: Path, globs: list[str]) -> Iterator[Path]:
    from pathspec import GitIgnoreSpec

    if target.is_file():
        yield target
        return
    wanted = GitIgnoreSpec.from_lines(_expanded(glob for glob in globs if not glob.startswith("!")))
    unwanted = GitIgnoreSpec.from_lines(_expanded(glob[1:] for glob in globs if glob.startswith("!")))
    ignored: dict[Path, Callable[[Path], bool]] = {}
    for folder, folders, names in os.walk(target):
        here = Path(folder)
        ignored[here] = _ignore(here, ignored.get(here.parent, lambda _: False))
        folders[:] = sorted(name for name in folders if not ignored[here](here / name / "x"))
        folders[:] = [name for name in folders if not unwanted.match_file(str(here / name))]
        for name in sorted(names):
            file = here / name
            asked_for = not wanted.patterns or wanted.match_file(str(file))
            if asked_for and not unwanted.match_file(str(file)) and not ignored[here](file) and file.is_file():
                yield file


def _expanded(globs: Iterable[str]) -> Iterator[str]:
    """Write out the alternatives in braces, innermost first."""
    for glob in globs:
        braces = re.search(r"\{([^{}]*)\}", glob)
        if braces is None:
            yield glob
        else:
            yield from _expanded(glob[: braces.start()] + one + glob[braces.end() :] for one in braces[1].split(","))


def _ignore(folder: Path, above: Callable[[Path], bool]) -> Callable[[Path], bool]:
    """Return what says whether a path below `folder` is ignored, by its .gitignore or one above."""
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines((folder / ".gitignore").read_text(errors="replace").splitlines())
    except OSError:
        return above
    return lambda path: above(path) or spec.match_file(str(path.relative_to(folder)))


def _report(file: str, text: str, pattern: re.Pattern[str], options: argparse.Namespace) -> bool:
    lines = text.split("\n")
    hits = list(_hits(text, lines, pattern, multiline=options.multiline))
    if not hits:
        return False
    if options.files_with_matches:
        _print(f"{file}\0", end="")
    elif options.count:
        _print(f"{file}\0{len({number for number, _, _ in hits})}")
    elif options.only_matching:
        for number, column, match in hits:
            _print(f"{file}\0{number}:{column}:{match}")
    else:
        _print_lines(file, lines, hits, options)
    return True


def _hits(text: str, lines: list[str], pattern: re.Pattern[str], *, multiline: bool) -> Iterator[tuple[int, int, str]]:
    """Yield line, column in bytes, and matching text."""
    if not multiline:
        for number, line in enumerate(lines, 1):
            if number < len(lines) or line:
                for match in pattern.finditer(line.removesuffix("\r")):
                    yield number, _column(line, match.start()), match.group()
        return
    for match in pattern.finditer(text):
        first, start = text.count("\n", 0, match.start()) + 1, text.rfind("\n", 0, match.start()) + 1
        for number, part in enumerate(match.group().split("\n"), first):
            yield number, _column(text[start:], match.start() - start) if number == first else 1, part


def _column(line: str, at: int) -> int:
    return len(line[:at].encode("utf-8", "surrogateescape")) + 1


def _print_lines(file: str, lines: list[str], hits: list[tuple[int, int, str]], options: argparse.Namespace) -> None:
    first: dict[int, int] = {}
    for number, column, _ in hits:
        first.setdefault(number, column)
    shown = {
        near
        for number in first
        for near in range(number - options.before_context, number + options.after_context + 1)
        if 1 <= near <= len(lines) - (lines[-1] == "")
    }
    for number in sorted(shown):
        mark = f":{first[number]}:" if number in first else "-"
        _print(f"{file}\0{number}{mark}{lines[number - 1]}")


def _print(text: str, end: str = "\n") -> None:
    sys.stdout.buffer.write((text + end).encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main())
