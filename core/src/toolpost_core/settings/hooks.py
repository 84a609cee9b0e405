"""The shape of the `hooks` key, held against what any hook must be; what a hook does is its plugin's matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolpost_core.settings.document import Document
from toolpost_core.settings.problem import Problem


def sound_hooks(document: Document) -> tuple[Document, list[Problem]]:
    """Return the document without hooks that can't be any, and a problem for each; those beside them stay in force."""
    events = document.values.get("hooks")
    if not events:
        return document, []
    problems: list[Problem] = []
    known = _titles()
    kept: dict[str, list[Any]] = {}
    for event, groups in events.items():
        if event in known:
            kept[event] = list(_groups(document, event, groups, problems))
        else:
            what = f"there is no such event, so its hooks never run{_near(event, known)}"
            # Another version or program may have the event: that is no reason to take the file for broken.
            problems.append(replace(_odd(document, what, event), level="warning"))
    return (document.with_values({**document.values, "hooks": kept}) if problems else document), problems


def hooks_in_force(documents: Sequence[Document]) -> list[Document]:
    """Return the documents without hooks that are switched off; those of managed settings only these can switch off."""
    policy = [document.values for document in documents if document.level == "managed"]
    all_off = any(values.get("disableAllHooks") for values in policy)
    only_policy = any(values.get("allowManagedHooksOnly") for values in policy)
    others_off = only_policy or any(document.values.get("disableAllHooks") for document in documents)
    return [
        document.with_values({key: value for key, value in document.values.items() if key != "hooks"})
        if all_off or (others_off and document.level != "managed")
        else document
        for document in documents
    ]


def _titles() -> set[str]:
    from toolpost import on

    return {"".join(word.capitalize() for word in name.split("_")) for name in on.__all__}


def _groups(document: Document, event: str, groups: list[Any], problems: list[Problem]) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(groups):
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            what = 'this must be an object with "hooks" (a list) and perhaps "matcher" (a text)'
            problems.append(_odd(document, f"{what}; it is left out", event, number))
        elif not isinstance(group.get("matcher", ""), str | None):
            what = f"this must be a text, not {group['matcher']!r:.80}; its hooks do not run"
            problems.append(_odd(document, what, event, number, "matcher"))
        else:
            yield {**group, "hooks": list(_handlers(document, event, number, group["hooks"], problems))}


def _handlers(
    document: Document, event: str, number: int, handlers: list[Any], problems: list[Problem]
) -> Iterator[dict[str, Any]]:
    for index, handler in enumerate(handlers):
        if isinstance(handler, dict) and isinstance(handler.get("type"), str):
            yield handler
        else:
            what = 'this must be an object with a "type" such as "command"; it does not run'
            problems.append(_odd(document, what, event, number, "hooks", index))


def _odd(document: Document, what: str, *path: str | int) -> Problem:
    return Problem(f"{document.at('hooks', *path)}: {what}.", file=document.file, level="error")


def _near(event: str, known: set[str]) -> str:
    import difflib

    close = difflib.get_close_matches(event, known, 1)
    return f" (did you mean {close[0]}?)" if close else "; `toolpost hooks list --events` shows those that there are"
