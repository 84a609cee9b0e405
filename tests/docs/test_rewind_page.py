"""docs/guides/rewind.md shows what a terminal shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.rewind_screens import PAGE, screens, with_screens
from tmux_pane import HAS_TMUX

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")


def test_the_screens_on_the_page_are_what_a_terminal_shows(tmp_path: Path) -> None:
    """If this fails: look at the difference, and write the page anew: `python tests/docs/rewind_screens.py`."""
    page = PAGE.read_text(encoding="utf-8")

    assert with_screens(page, screens(tmp_path.resolve())) == page
