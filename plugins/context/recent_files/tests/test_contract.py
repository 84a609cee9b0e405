from __future__ import annotations

from toolpost.testing import ContextSourceContract
from toolpost_context_recent_files import RecentFiles


class TestRecentFiles(ContextSourceContract):
    plugin = RecentFiles
