"""Small stand-ins for what a session gives a plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolpost.errors import Aborted, MissingService

if TYPE_CHECKING:
    from toolpost.context import AbortReason

S = TypeVar("S")


class AbortSwitch:
    """An AbortSignal that a test triggers."""

    def __init__(self) -> None:
        self._reason: AbortReason | None = None
        self._event = asyncio.Event()

    def trigger(self, reason: AbortReason = "user_cancel") -> None:
        """Abort; a second call changes nothing."""
        if self._reason is None:
            self._reason = reason
            self._event.set()

    @property
    def aborted(self) -> bool:
        """Whether it was triggered."""
        return self._reason is not None

    @property
    def reason(self) -> AbortReason | None:
        """With what it was triggered."""
        return self._reason

    async def wait(self) -> AbortReason:
        """Return once triggered."""
        await self._event.wait()
        return cast("AbortReason", self._reason)

    def raise_if_aborted(self) -> None:
        """Raise Aborted if triggered."""
        if self._reason is not None:
            raise Aborted(self._reason)


class ServiceMap:
    """The services that a test offers, each under its Protocol."""

    def __init__(self, services: Mapping[Any, object]) -> None:
        self._services = dict(services)

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService where the test offers none."""
        if protocol not in self._services:
            name = protocol.__name__
            raise MissingService(
                f"This test offers no service {name!r}. Give one: make_context(tmp_path, services={{{name}: ...}})."
            )
        return cast("S", self._services[protocol])


@dataclass(frozen=True)
class ProgressLog:
    """A Progress that keeps what a tool told: lines, and the data that came with them."""

    lines: list[str] = field(default_factory=list)
    data: list[Mapping[str, Any]] = field(default_factory=list)

    def __call__(self, text: str, /, **data: Any) -> None:
        """Keep one line."""
        self.lines.append(text)
        self.data.append(data)
