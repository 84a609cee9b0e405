"""What a hook's exit code and output mean (compat.md 2.3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from toolpost import Finished, HookAnswer

_BLOCKED = 2
_NOT_STARTED = {126: "it can't be executed", 127: "there is no such program"}
_BEGINNINGS = re.compile(r"^\{", re.MULTILINE)
_LONGEST_LINE = 500
"""Characters of standard error that say why a hook failed."""
_MOST_TRIES = 1_000
"""Lines of which each is tried: a try that fails costs as much as counting the lines before it."""
_KEYS = frozenset(
    {
        "additionalContext",
        "async",
        "continue",
        "decision",
        "hookSpecificOutput",
        "permissionDecision",
        "permissionDecisionReason",
        "reason",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "terminalSequence",
        "updatedInput",
    }
)


def answer_of(ended: Finished, *, timeout: float, duration: float, dropped: int = 0) -> HookAnswer:
    """Return the answer of a hook that ran; both times are in seconds. `dropped` bytes of its output were not kept."""
    text, errors = _text_of(ended.output), _text_of(ended.errors)
    output = _json_in(text)

    def answer(status: Any, reason: str = "") -> HookAnswer:
        return HookAnswer(
            status=status,
            output=output or {},
            text="" if output is not None else text,
            errors=errors,
            reason=reason,
            exit_code=None if ended.timed_out else ended.returncode,
            duration=duration,
        )

    if ended.timed_out:
        return answer("timed_out", f"it did not end within {timeout:g} s and was stopped")
    if ended.returncode == _BLOCKED:
        return answer("blocked", _block_reason(output or {}) or errors or "the hook gave no reason")
    if ended.returncode == 0 and dropped and text.startswith("{") and output is None:
        return answer(
            "failed", f"its JSON was cut: of {len(ended.output) + dropped:,} bytes, {dropped:,} were not kept"
        )
    if ended.returncode == 0 or (output is not None and _KEYS & output.keys()):
        return answer("ok")
    return answer("failed", _failure(ended.returncode, errors))


def _text_of(output: bytes) -> str:
    """Return what a program printed, without the byte order mark that some shells put before it."""
    return output.decode("utf-8-sig", errors="replace").strip()


def could_not_start(reason: str) -> HookAnswer:
    """Return the answer of a hook that did not run."""
    return HookAnswer(status="failed", reason=reason)


def _json_in(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object that the output is; else the last one in it that looks like an answer."""
    if text.startswith("{"):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return whole if isinstance(whole, dict) else None
    answers = [found for found in _objects(text) if _KEYS & found.keys()]
    return answers[-1] if answers else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that begin at the beginning of one of the last lines that any could begin at."""
    decoder = json.JSONDecoder()
    behind = 0
    for start in [line.start() for line in _BEGINNINGS.finditer(text)][-_MOST_TRIES:]:
        if start >= behind:
            with suppress(ValueError, RecursionError):
                found, behind = decoder.raw_decode(text, start)
                yield found


def _block_reason(output: Mapping[str, Any]) -> str:
    """The reason of a JSON answer that blocks."""
    specific = output.get("hookSpecificOutput")
    if isinstance(specific, Mapping) and specific.get("permissionDecision") == "deny":
        reason = specific.get("permissionDecisionReason")
    else:
        reason = output.get("reason") if output.get("decision") == "block" else None
    return reason if isinstance(reason, str) else ""


def _failure(code: int, errors: str) -> str:
    first = errors.splitlines()[0][:_LONGEST_LINE] if errors else "nothing on standard error"
    if code in _NOT_STARTED:
        return f"could not start ({_NOT_STARTED[code]}): {first}"
    return f"was ended by signal {-code}" if code < 0 else f"exit code {code}: {first}"
