"""`FileHistory`: what files were before the session changed them, and bringing that back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from toolpost._frozen import frozen


@frozen(kw_only=True)
class FileRewind:
    """What rewinding does to one file.

    `change` is what became of the file since: rewinding gives a changed one its old content back, deletes a created one,
    and makes a deleted one anew. `added` and `removed` are the lines that rewinding puts in and takes out, None where the
    file is no text. `by_hand` says what somebody else changed since, which rewinding would undo as well. `problem` says
    why the file can't be rewound; it then stays as it is.
    """

    path: Path
    change: Literal["changed", "created", "deleted"]
    added: int | None = None
    removed: int | None = None
    by_hand: str = ""
    problem: str = ""


@frozen(kw_only=True)
class Rewound:
    """What a rewind did. Rewinding to its `id`, empty where there was nothing to do, undoes it."""

    id: str
    files: Sequence[FileRewind]
    left: Sequence[FileRewind] = ()


@frozen(kw_only=True)
class TurnChanges:
    """What the turn of one prompt changed: how many files, and the lines that it put in and took out."""

    files: int
    added: int
    removed: int


class FileHistory(Protocol):
    """Keeps what a file was before the session changes it, tied to the prompt whose turn does it.

    Whoever changes files on the session's behalf calls `keep`. The service `Files` does so with each write: a tool that
    writes through `ctx.files` need not.
    """

    async def keep(self, path: Path, *, becomes: bytes | None = None) -> None:
        """Keep the file, or that there is none, before it is changed; of a folder, the files below it.

        `becomes` is the content that is going to be written. Where that is not known, `settle` is called after the
        change. Never raises: what can't be kept can't be rewound, and says so then.
        """

    async def settle(self, path: Path) -> None:
        """Take the file as it is now for what the session made of it. Never raises."""

    async def turns(self) -> Mapping[str, TurnChanges]:
        """What the turn of each prompt changed, by the prompt's id; prompts that changed nothing are left out."""

    async def plan(self, prompt_id: str) -> Sequence[FileRewind]:
        """Say what `rewind` would do, by path; files that are as they were are left out.

        Raises SessionError for an id that is neither a prompt's nor a rewind's.
        """

    async def rewind(self, prompt_id: str, *, force: bool = False) -> Rewound:
        """Bring the files back to what they were before the prompt, or before the rewind of that id.

        The present state is kept first. Either all files that can be rewound are, or none is changed. Raises
        SessionError, naming the files, where something was changed by hand since, unless `force` says to go on; and
        where a file can't be written.
        """
