"""The settings under `sandbox` that managed settings keep for themselves, and those that this version passes over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolpost_core.settings.document import Document
from toolpost_core.settings.keys import SANDBOX_PASSED_OVER
from toolpost_core.settings.problem import Problem

_LOCKS: Final = {
    ("network", "allowManagedDomainsOnly"): "allowedDomains",
    ("filesystem", "allowManagedReadPathsOnly"): "allowRead",
}
"""What a lock leaves to managed settings alone. One that stands elsewhere locks nothing."""


def sandbox_in_force(documents: Sequence[Document]) -> list[Document]:
    """Return the documents without what a lock of managed settings takes from the others, and without their locks."""
    managed = [document.values for document in documents if document.level == "managed"]
    taken = {lock for lock in _LOCKS if any(_at(values, *lock) is True for values in managed)}
    return [document if document.level == "managed" else _without(document, taken) for document in documents]


def odd_sandbox(document: Document) -> Iterator[Problem]:
    """Report locks that are none, what is passed over, and credentials that are hidden instead of masked."""
    for part, lock in _LOCKS if document.level != "managed" else ():
        if _at(document.values, part, lock):
            yield _problem(document, ("sandbox", part, lock), "it counts in managed settings only, and was passed over")
    for key in SANDBOX_PASSED_OVER:
        if _at(document.values, *key.split(".")):
            yield _problem(document, ("sandbox", *key.split(".")), "this version does not have it, and passes it over")
    for kind in ("files", "envVars"):
        listed = _at(document.values, "credentials", kind)
        entries = listed if isinstance(listed, list) else ()
        if any(isinstance(entry, dict) and entry.get("mode") == "mask" for entry in entries):
            said = "nothing is masked in this version: what has the mode `mask` is kept from commands, as with `deny`"
            yield _problem(document, ("sandbox", "credentials", kind), said)


def _without(document: Document, taken: set[tuple[str, str]]) -> Document:
    sandbox = document.values.get("sandbox")
    if not isinstance(sandbox, dict):
        return document
    kept: dict[str, Any] = dict(sandbox)
    for (part, lock), opens in _LOCKS.items():
        left_out = {lock, *((opens,) if (part, lock) in taken else ())}
        values = kept.get(part)
        if isinstance(values, dict) and left_out & set(values):
            kept[part] = {key: value for key, value in values.items() if key not in left_out}
    return document.with_values({**document.values, "sandbox": kept}) if kept != sandbox else document


def _problem(document: Document, path: tuple[str, ...], said: str) -> Problem:
    return Problem(f"{document.at(*path)}: {said}.", file=document.file)


def _at(values: Mapping[str, Any], *path: str) -> Any:
    """Return the value at a path under `sandbox`; None where there is none."""
    found: Any = values.get("sandbox")
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found
