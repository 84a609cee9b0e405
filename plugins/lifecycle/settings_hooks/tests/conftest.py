from __future__ import annotations

import sys
from pathlib import Path

# Test files are imported by path, so that modules which they share have to be findable.
sys.path.insert(0, str(Path(__file__).parent))
