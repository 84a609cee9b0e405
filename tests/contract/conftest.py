"""Lets the tests import what they share, `tests.contract.requirements`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
