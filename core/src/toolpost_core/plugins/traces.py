"""The part of a traceback that a plugin's author can do something about."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

import toolpost

API: Final = f"{Path(toolpost.__file__).parent}{os.sep}"


def own_lines(error: BaseException) -> list[str]:
    """Return the traceback without the interpreter's import machinery and without ours, and what was raised.

    The chain of causes is kept; a syntax error names its file and line by itself.
    """
    told = traceback.TracebackException.from_exception(error)
    seen: traceback.TracebackException | None = told
    while seen is not None:
        seen.stack = traceback.StackSummary.from_list([frame for frame in seen.stack if is_theirs(frame.filename)])
        seen = seen.__cause__ or seen.__context__
    return "".join(told.format()).rstrip("\n").split("\n")


def is_theirs(file: str) -> bool:
    """Whether code of a file is neither the interpreter's import machinery nor the core's or the public API's."""
    return not file.startswith(("<frozen", API)) and "toolpost_core" not in file and "/importlib/" not in file
