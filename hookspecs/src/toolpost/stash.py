"""`Stash`: typed state that a plugin hangs on somebody else's object."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class StashKey(Generic[T]):
    """A key of a `Stash`; two keys are never equal, whatever their names."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StashKey({self.name!r})"


class Stash:
    """A mapping from `StashKey[T]` to `T`.

    A session owns one; a sub-agent has its own. At the session's end each value that has an `aclose()` coroutine
    method is closed, last stored first.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[StashKey[Any], Any] = {}

    def __setitem__(self, key: StashKey[T], value: T) -> None:
        self._values[key] = value

    def __getitem__(self, key: StashKey[T]) -> T:
        return cast("T", self._values[key])

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: StashKey[T], default: T) -> T:
        """Return the value, or `default` without storing it."""
        return cast("T", self._values.get(key, default))

    def setdefault(self, key: StashKey[T], default: T) -> T:
        """Return the value, storing `default` first if there is none."""
        return cast("T", self._values.setdefault(key, default))

    async def aclose(self) -> None:
        """Close what can be closed and forget everything; the first error is raised after all were tried."""
        first: Exception | None = None
        while self._values:
            _, value = self._values.popitem()
            close = getattr(value, "aclose", None)
            if close is None:
                continue
            try:
                await close()
            except Exception as error:
                first = first or error
        if first is not None:
            raise first
