"""Takes out of a listener's answer what its plugin did not declare that it would do."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

DECIDES: Final = frozenset(
    {
        "action",
        "block",
        "content",
        "decision",
        "interrupt",
        "path",
        "retry",
        "stop",
        "suppress_original_prompt",
        "updated_permissions",
    }
)
"""Fields of outcomes that say whether something goes on, or what is permitted."""

REWRITES: Final = frozenset({"display_content", "request", "updated_input", "updated_output"})
"""Fields of outcomes that change what the event is about."""


def within(outcome: object, roles: Sequence[str]) -> tuple[Any, dict[str, list[str]]]:
    """Return the answer without what its roles do not cover, and the fields that were taken out, by the missing role."""
    if not is_dataclass(outcome) or isinstance(outcome, type):
        return outcome, {}
    missing: dict[str, list[str]] = {}
    defaults: dict[str, Any] = {}
    for role, names in (("decide", DECIDES), ("rewrite", REWRITES)):
        if role in roles:
            continue
        for field in fields(outcome):
            if field.name in names and field.default is not MISSING and getattr(outcome, field.name) != field.default:
                missing.setdefault(role, []).append(field.name)
                defaults[field.name] = field.default
    return (replace(outcome, **defaults), missing) if defaults else (outcome, missing)
