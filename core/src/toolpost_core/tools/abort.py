"""The abort tree: session, siblings, call."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Final

from toolpost import Aborted

if TYPE_CHECKING:
    from toolpost import AbortReason

BUBBLES: Final[frozenset[AbortReason]] = frozenset({"rejected"})
"""Reasons that a child passes on to its parent: a person refused with "stop"."""


class AbortNode:
    """A node of the abort tree. A parent aborts its children with its reason and holds them weakly."""

    def __init__(self, parent: AbortNode | None = None) -> None:
        self._parent = parent
        self._children: weakref.WeakSet[AbortNode] = weakref.WeakSet()
        self._reason: AbortReason | None = None
        self._event: asyncio.Event | None = None
        if parent is not None:
            parent._children.add(self)
            self._reason = parent._reason

    @property
    def aborted(self) -> bool:
        """Whether this node or one above it was aborted."""
        return self._reason is not None

    @property
    def reason(self) -> AbortReason | None:
        """Why, once aborted; the first reason stays."""
        return self._reason

    def child(self) -> AbortNode:
        """Return a new child; whoever uses it keeps it alive."""
        return AbortNode(self)

    def abort(self, reason: AbortReason) -> None:
        """Abort this node and all below it; a refusal with "stop" goes up as well."""
        if self._reason is not None:
            return
        self._reason = reason
        if self._event is not None:
            self._event.set()
        for child in list(self._children):
            child.abort(reason)
        if reason in BUBBLES and self._parent is not None:
            self._parent.abort(reason)

    async def wait(self) -> AbortReason:
        """Return the reason once aborted."""
        if self._reason is None:
            if self._event is None:
                self._event = asyncio.Event()
            await self._event.wait()
        assert self._reason is not None
        return self._reason

    def raise_if_aborted(self) -> None:
        """Raise Aborted if aborted."""
        if self._reason is not None:
            raise Aborted(self._reason)
