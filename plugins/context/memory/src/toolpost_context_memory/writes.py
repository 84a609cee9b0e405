"""Lets the model keep its memories without a question for each."""

from __future__ import annotations

from typing import Final

from toolpost import Allow, Decision, PermissionRequest, PermissionResolver

from .places import folder_of

_EDITORS: Final = frozenset({"Edit", "Write"})
_READERS: Final = frozenset({"Read", *_EDITORS})


class MemoryWrites(PermissionResolver):
    """Allows Read, Edit and Write for Markdown files of the project's memories, and has no opinion on anything else.

    What anybody denies or wants to be asked about stays so. In a folder that nobody trusted only reading is allowed.
    """

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        """Judge where the path really leads: a link in the folder is no way out of it."""
        real, session = request.real_path, request.session
        if real is None or session is None or request.tool_name not in _READERS or request.agent_type is not None:
            return None
        if request.tool_name in _EDITORS and not request.scope.trusted:
            return None
        folder = folder_of(session)
        if folder is None or not real.is_relative_to(folder) or real.suffix != ".md":
            return None
        if any(part.startswith(".") for part in real.relative_to(folder).parts):
            return None
        return Allow("it is a memory of this project")
