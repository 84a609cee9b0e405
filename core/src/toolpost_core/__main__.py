"""`python -m toolpost_core`: the command line without an installed script."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # `-m` puts the current folder first: a repository must not bring modules or plugins by lying there.
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):  # noqa: PTH109 - pathlib costs more than this
        del sys.path[0]
    from toolpost_core.cli import main

    sys.exit(main())
