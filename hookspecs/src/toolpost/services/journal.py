"""`Journal`: the session's transcript, as far as plugins may use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from toolpost._frozen import frozen


@frozen(kw_only=True)
class SentPrompt:
    """A prompt of a session.

    `id` is the uuid of its record in the transcript, `time` when it was sent, in ISO 8601. `rewound` says that the
    conversation went back to before it.
    """

    id: str
    text: str
    time: str
    rewound: bool = False


class Journal(Protocol):
    """Prompts of the session, and records that a plugin keeps beside the conversation; offered by core.

    Records survive what the transcript survives: they are there when the session is resumed, and in its forks.
    """

    @property
    def session_id(self) -> str:
        """The session's id at this moment; a new conversation has a new one."""

    def prompts(self) -> Sequence[SentPrompt]:
        """Every prompt in the order in which they were sent, also those that were rewound; the last may still run."""

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a record of the type `kind`; does nothing where no transcript is kept.

        Raises ValueError for a type that the conversation itself is made of.
        """

    def records(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the session's records of that type, oldest first; what is damaged is left out."""
