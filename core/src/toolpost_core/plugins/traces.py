"""The part of a traceback that a plugin's author can do something about."""

from __future__ import annotations

import traceback


def own_lines(error: BaseException) -> list[str]:
    """Return the traceback without the interpreter's import machinery and without core, and what was raised.

    The chain of causes is kept; a syntax error names its file and line by itself.
    """
    told = traceback.TracebackException.from_exception(error)
    seen: traceback.TracebackException | None = told
    while seen is not None:
        seen.stack = traceback.StackSummary.from_list([frame for frame in seen.stack if _is_theirs(frame.filename)])
        seen = seen.__cause__ or seen.__context__
    return "".join(told.format()).rstrip("\n").split("\n")


def _is_theirs(file: str) -> bool:
    return not file.startswith("<frozen") and "toolpost_core" not in file and "/importlib/" not in file
