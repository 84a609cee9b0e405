"""Lets the tests import what they share, `tests.docs.pages`, and what writes the pages, `docs/generate.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
