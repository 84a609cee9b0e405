"""From what the service says to a ProviderError that a reader can act on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from toolpost import PromptTooLong, ProviderError

LONGEST_WAIT: Final = 120.0
"""Seconds; who is asked to wait longer wants to know instead."""


class Cause(NamedTuple):
    """What an error means."""

    kind: str
    retriable: bool = False
    advice: str = ""


_KEY: Final = Cause("authentication_failed", advice="Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN).")
_BILLING: Final = Cause("billing_error", advice="Check the account's plan and credit.")
_INVALID: Final = Cause("invalid_request")
_MISSING: Final = Cause("model_not_found", advice="Check the model's name and ANTHROPIC_BASE_URL.")
_TIMEOUT: Final = Cause("timeout", retriable=True)
_BLOCK: Final = Cause("invalid_block")
_IMAGE: Final = Cause("invalid_image")
_LIMIT: Final = Cause("rate_limit", retriable=True)
_SERVER: Final = Cause("server_error", retriable=True)
_OVERLOADED: Final = Cause("overloaded", retriable=True)
_BY_TYPE: Final[Mapping[str, Cause]] = {
    "authentication_error": _KEY,
    "permission_error": _KEY,
    "billing_error": _BILLING,
    "invalid_request_error": _INVALID,
    "request_too_large": _INVALID,
    "not_found_error": _MISSING,
    "timeout_error": _TIMEOUT,
    "rate_limit_error": _LIMIT,
    "api_error": _SERVER,
    "overloaded_error": _OVERLOADED,
}
_BY_STATUS: Final[Mapping[int, Cause]] = {
    401: _KEY,
    402: _BILLING,
    403: _KEY,
    404: _MISSING,
    408: _TIMEOUT,
    409: Cause("server_error", retriable=True),
    429: _LIMIT,
    504: _TIMEOUT,
    529: _OVERLOADED,
}
_TOO_LONG: Final = re.compile(
    r"prompt is too long|exceeds? (the )?context (limit|window)|input is too long|too many total text bytes",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(r"messages\.(\d+)(?:\.content\.(\d+))?")
_MEDIA: Final = re.compile(r"\b(image|pdf|document|media_type|base64)", re.IGNORECASE)
_BAD_MEDIA: Final = re.compile(
    r"could not process (image|pdf|document)|image (exceeds|dimensions)|pdf (specified )?(was |is )?not valid|pdf pages",
    re.IGNORECASE,
)
_MEASURED: Final = re.compile(r"(\d+)(?:\s*\+\s*(\d+))?(?: tokens)?\s*>\s*(\d+)")


def from_response(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Explain an answer that is no stream; header names are lower case."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        return from_error(answer["error"], status, headers)
    return _foreign(status, headers, body)


def from_error(
    error: Mapping[str, Any], status: int | None = None, headers: Mapping[str, str] = MappingProxyType({})
) -> ProviderError:
    """Explain the service's error object; `status` is None for one that came inside a stream."""
    type, message = str(error.get("type", "")), str(error.get("message", "")) or "no reason given"
    cause = _BY_TYPE.get(type) or _of_status(status)
    if "credit balance is too low" in message.lower():
        cause = _BILLING
    said = f"The Anthropic API says: {message} ({', '.join(str(part) for part in (type, status) if part)})."
    place = _PLACE.search(message)
    facts: dict[str, Any] = {
        "status": status,
        "message_index": int(place[1]) if place is not None else None,
        "content_index": int(place[2]) if place is not None and place[2] is not None else None,
        "details": dict(error),
    }
    if type == "request_too_large" or status == 413 or (cause is _INVALID and _TOO_LONG.search(message)):
        return PromptTooLong(said, tokens_over=_tokens_over(message), **facts)
    if cause is _INVALID:
        cause = _of_block(message, named=facts["content_index"] is not None)
    wait = retry_after(headers)
    return ProviderError(
        " ".join(filter(None, (said, cause.advice, _when(wait)))),
        kind=cause.kind,
        retriable=_should_retry(headers, cause.retriable),
        retry_after=wait,
        **facts,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the service asks to wait, given in milliseconds, in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return _until(headers.get("retry-after", ""))


def _when(wait: float | None) -> str:
    """Say when to come back, where nobody waits for that."""
    if wait is None or wait <= LONGEST_WAIT:
        return ""
    minutes = math.ceil(wait / 60)
    return f"It asks to wait for {minutes} minutes." if minutes < 120 else f"It asks to wait for {minutes // 60} hours."


def not_an_answer(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Explain a body with a status of success that is no answer of a model."""
    return _foreign(status, headers, body)


def raise_unless_uncounted(error: ProviderError, cause: Exception | None = None) -> None:
    """Raise the error, unless it says that the address counts no tokens at all."""
    if error.status not in (404, 405, 501) or names_model(error):
        raise error from cause


def names_model(error: ProviderError) -> bool:
    """Whether the service says that there is no such model; a 404 alone may be about the address."""
    details = error.details
    return details.get("type") == "not_found_error" and "model" in str(details.get("message", "")).lower()


def malformed(what: str) -> ProviderError:
    """Explain a stream that breaks the protocol; `what` quotes no more than a line of it."""
    return ProviderError(
        f"The answer's stream can't be read: {what}. If ANTHROPIC_BASE_URL is set, check that the address speaks the "
        f"Messages API.",
        kind="server_error",
        retriable=True,
    )


def _foreign(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    shown = " ".join(re.sub(r"<[^>]*>", " ", body[:4000].decode("utf-8", "replace")).split())[:200]
    kind = headers.get("content-type", "").split(";")[0] or "no content type"
    cause = _of_status(status) if status >= 400 else Cause("invalid_request")
    return ProviderError(
        f"The address answered {status} with {kind} instead of the Messages API's events: {shown!r}. "
        f"Check ANTHROPIC_BASE_URL and the proxy variables.",
        kind=cause.kind,
        status=status,
        retriable=_should_retry(headers, cause.retriable),
        retry_after=retry_after(headers),
    )


def _of_status(status: int | None) -> Cause:
    if status is None:
        return Cause("unknown")
    return _BY_STATUS.get(status) or (_SERVER if status >= 500 else _INVALID)


def _of_block(message: str, *, named: bool) -> Cause:
    """Say whether one block of the request is what is wrong with it; `named` if the message tells which."""
    if _BAD_MEDIA.search(message) or (named and _MEDIA.search(message)):
        return _IMAGE
    return _BLOCK if named else _INVALID


def _should_retry(headers: Mapping[str, str], otherwise: bool) -> bool:
    return {"true": True, "false": False}.get(headers.get("x-should-retry", ""), otherwise)


def _tokens_over(message: str) -> int | None:
    found = _MEASURED.search(message)
    if found is None:
        return None
    return max(0, int(found[1]) + int(found[2] or 0) - int(found[3])) or None


def _until(text: str) -> float | None:
    if not text:
        return None
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
