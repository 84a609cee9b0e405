"""Going back to before a prompt: the files, the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import FileHistory, SessionError
from toolpost_core.session.conversation import Conversation
from toolpost_core.transcripts.kinds import REWIND
from toolpost_core.transcripts.past import before, turn_of
from toolpost_core.transcripts.reading import records_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import FileRewind, Rewound, TurnChanges
    from toolpost_core.session.inner import Inner


class Rewinder:
    """Goes back in one session."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    async def turn_changes(self) -> Mapping[str, TurnChanges]:
        """What the turns changed in files, by the prompt's id."""
        return await self._history.turns()

    async def plan(self, message_id: str) -> Sequence[FileRewind]:
        """Say what rewinding the files would do."""
        return await self._history.plan(self._station(message_id))

    async def files(self, message_id: str, *, force: bool) -> Rewound:
        """Rewind the files; the model has to read them again, and is told so with the next prompt."""
        station = self._station(message_id)

        async def rewind() -> Sequence[Rewound]:
            return (await self._history.rewind(station, force=force),)

        done = await self._session.outside.gather("rewound files", rewind)
        if not done:
            raise SessionError("No file was rewound when this was recorded.")
        (rewound,) = done
        conversation, paths = self._session.conversation, [file.path for file in rewound.files]
        self._session.surroundings.forget(paths)
        if paths and conversation.messages:
            names = "\n".join(map(str, paths))
            told = f"[The user set these files back to what they were at an earlier point of the session:\n{names}]"
            conversation.opening = (*conversation.opening, told)
        return rewound

    def conversation(self, message_id: str) -> str:
        """Go back to before a prompt and return its text. What was said since stays in the transcript."""
        session = self._session
        if session.transcript.path is None or not session.transcript.path.exists():
            raise SessionError("The conversation can't be rewound: this session keeps no transcript.")
        past = before(session.transcript.path, message_id)
        carried = session.conversation.opening_from(prompt.id for prompt in session.prompt_log.since(past.prompt))
        session.transcript.side(REWIND, messageId=past.prompt, leafUuid=past.leaf)
        session.transcript.parent = past.leaf
        began, clock = session.conversation.began, session.conversation.clock
        session.go_on_from(Conversation(past.messages, began=began, opening=carried, clock=clock))
        session.prompt_log.rewind(past.prompt)
        return past.text

    @property
    def _history(self) -> FileHistory:
        return self._session.services.get(FileHistory)

    def _station(self, message_id: str) -> str:
        """Return the prompt that a message, or the beginning of a prompt's id, stands for.

        What is none of the session's messages may be a rewind's id.
        """
        session = self._session
        meant = [prompt.id for prompt in session.prompt_log.all() if prompt.id.startswith(message_id)]
        if message_id and len(meant) == 1:
            return meant[0]
        path = session.transcript.path
        records = records_in(path) if path is not None and path.exists() else ()
        return turn_of(records, message_id) or message_id
