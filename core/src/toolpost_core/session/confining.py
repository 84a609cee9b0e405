"""Which sandbox a session's commands run in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import Sandbox
    from toolpost_core.plugins.registry import Provided, Registry
    from toolpost_core.settings import Settings


def choose_sandbox(settings: Settings, registry: Registry, report: Callable[[str], None]) -> Sandbox | None:
    """Return the first sandbox that is on and works here, if the settings want one.

    Where none does, `report` is told how to get one, or SessionError raised where `sandbox.failIfUnavailable` says so.
    """
    if not settings.get("sandbox.enabled"):
        return None
    found, why = usable_sandbox(registry)
    if found is None and settings.get("sandbox.failIfUnavailable"):
        raise SessionError(
            f"sandbox.failIfUnavailable is set, and no sandbox can be used here, so no session starts. {why}."
        )
    if found is None:
        report(f"sandbox.enabled is set, and no sandbox can be used here: commands run without one. {why}.")
    return found.value if found is not None else None


def usable_sandbox(registry: Registry) -> tuple[Provided[Sandbox] | None, str]:
    """Return the first sandbox that is on and works here, or why there is none."""
    reasons: list[str] = []
    for provided in registry.in_order("sandboxes"):
        if provided.value.platform != sys.platform:
            continue
        missing = provided.value.unusable()
        if missing is None:
            return provided, ""
        reasons.append(f"{provided.plugin}: {missing}")
    none = (
        f"No plugin of the kind `sandboxes` for {sys.platform} is on; those of the standard set are installed with it"
    )
    return None, "; ".join(reasons) or f"{none}: pip install toolpost"
