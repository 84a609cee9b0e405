from __future__ import annotations

from toolpost.testing import ContextSourceContract
from toolpost_context_git import Git


class TestGit(ContextSourceContract):
    plugin = Git
    max_chars = 2_000
