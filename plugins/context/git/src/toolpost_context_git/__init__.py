"""Branch, status and recent commits in the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from toolpost import ContextSource, Section, SessionScope
from toolpost_context_git.repository import find_repository


class Git(ContextSource):
    """Says how the repository stands when the session begins; nothing outside a repository or without git.

    The setting `includeGitInstructions` leaves it out.
    """

    commits: int = 5
    timeout: float = 2.0
    """Seconds for each git process; what it would have said is then left out."""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return one section of at most 2,000 characters, or none."""
        repository = None if scope.settings.get("includeGitInstructions") is False else find_repository(scope.cwd)
        if repository is None:
            return ()
        from toolpost_context_git.snapshot import describe

        text = await describe(repository, scope, commits=self.commits, timeout=self.timeout)
        # File names and commit subjects are the workspace's words: they are not put among the system's.
        return (Section(name="git", text=text, order=90, user=True),) if text else ()
