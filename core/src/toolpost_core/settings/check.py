"""Known keys are held against what they may hold; only what does not fit is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolpost_core.settings.document import Document, dotted
from toolpost_core.settings.keys import KINDS, SANDBOX_PASSED_OVER, UNHEEDED
from toolpost_core.settings.problem import Problem

_ELSEWHERE: Final = tuple(f"sandbox.{key}" for key in SANDBOX_PASSED_OVER)
"""Keys that are told of in other words."""


def checked(document: Document) -> tuple[Document, list[Problem]]:
    """Return the document without the values of the wrong kind, and a problem for each.

    A wrong item of a list or an object is dropped alone: the rules and hooks beside it stay in force. Unknown keys are
    kept.
    """
    problems: list[Problem] = []
    values = _fitting(document, (), document.values, problems)
    return (document.with_values(values) if problems else document), problems


def unknown_keys(document: Document) -> Iterator[Problem]:
    """Report keys that nothing here knows: of the file, and of objects whose keys are known."""
    yield from _unknown(document, (), document.values)


def repeated_keys(document: Document) -> Iterator[Problem]:
    """Report keys that stand more than once in their object, of which JSON keeps the last: rules may be lost by it."""
    for key in document.repeated:
        where = document.file or f"settings ({document.level})"
        said = f"{where}: the key {key!r} stands more than once in one object, and only the last one counts"
        yield Problem(f"{said}. Put what they hold into one.", file=document.file)


def unheeded(document: Document) -> Iterator[Problem]:
    """Report keys that are to hold something back and do not."""
    for key in UNHEEDED:
        value: Any = document.values
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value:
            said = "nothing in this version acts on it, so what it is to hold back is not held back"
            yield Problem(f"{document.at(*key.split('.'))}: {said}.", file=document.file)


def _fitting(
    document: Document, path: tuple[str, ...], values: Mapping[str, Any], problems: list[Problem]
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        here = (*path, key)
        kind = KINDS.get(dotted(here))
        if kind is None:
            kept[key] = value
        elif not kind.fits(value):
            problems.append(_wrong(document, here, value, kind.says))
        elif kind.item is not None:
            items = dict(value.items() if isinstance(value, dict) else enumerate(value))
            good = {place: item for place, item in items.items() if kind.item(item)}
            problems += [_wrong(document, (*here, at), items[at], kind.says) for at in items if at not in good]
            kept[key] = good if isinstance(value, dict) else list(good.values())
        else:
            kept[key] = (
                _fitting(document, here, value, problems) if isinstance(value, dict) and len(path) < 2 else value
            )
    return kept


def _wrong(document: Document, path: tuple[str | int, ...], value: Any, says: str) -> Problem:
    got = f"it is {value!r:.80}"
    text = f"{document.at(*path)}: allowed is {says}; {got}. It was passed over, the rest of the file is used."
    return Problem(text, file=document.file, level="error")


def _unknown(document: Document, path: tuple[str, ...], values: Mapping[str, Any]) -> Iterator[Problem]:
    above = f"{dotted(path)}." if path else ""
    known = [key.removeprefix(above) for key in (*KINDS, *_ELSEWHERE) if key.startswith(above)]
    for key, value in values.items() if known else ():
        here = (*path, key)
        if key not in known:
            text = f"{document.at(*here)}: this key is not known and has no effect by itself{_near(key, known)}"
            yield Problem(text, file=document.file)
        elif isinstance(value, Mapping):
            yield from _unknown(document, here, value)


def _near(key: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key, [name for name in known if "." not in name], 1)
    return f". Did you mean {close[0]}?" if close else "."
