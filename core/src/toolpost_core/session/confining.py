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
    found, why = usable_sandbox(registry, settings)
    if found is not None and why:
        report(f"The sandbox is the weaker one that sandbox.enableWeakerNestedSandbox allows. {why}.")
    if found is None and settings.get("sandbox.failIfUnavailable"):
        raise SessionError(
            f"sandbox.failIfUnavailable is set, and no sandbox can be used here, so no session starts. {why}."
        )
    if found is None:
        report(f"sandbox.enabled is set, and no sandbox can be used here: commands run without one. {why}.")
    return found.value if found is not None else None


def usable_sandbox(registry: Registry, settings: Settings) -> tuple[Provided[Sandbox] | None, str]:
    """Return the first sandbox that is on and works here, or why there is none.

    Where `sandbox.enableWeakerNestedSandbox` allows it, one in a weaker form is the last choice; it comes with the reasons
    against the others.
    """
    weaker = settings.get("sandbox.enableWeakerNestedSandbox") is True
    reasons: list[str] = []
    last: Provided[Sandbox] | None = None
    for provided in registry.in_order("sandboxes"):
        if provided.value.platform != sys.platform:
            continue
        missing = provided.value.unusable()
        if missing is None:
            return provided, ""
        reasons.append(f"{provided.plugin}: {missing}")
        less = provided.value.weaker() if weaker and last is None else None
        if less is not None and less.unusable() is None:
            last = provided._replace(value=less)
    none = (
        f"No plugin of the kind `sandboxes` for {sys.platform} is on; those of the standard set are installed with it"
    )
    return last, "; ".join(reasons) or f"{none}: pip install toolpost"
