"""The kernel and the command line."""

from typing import Final

__version__: Final = "0.1.0"
