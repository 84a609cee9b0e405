"""The command line; `main` is the console script."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return the exit code; a run that is over ends the process itself."""
    if sys.argv[1:] in (["--version"], ["-v"], ["-V"]):
        from toolpost_core import __version__

        print(f"{__version__} (Toolpost)")
        return 0
    from toolpost_core.cli.run import run

    return run(sys.argv[1:])
