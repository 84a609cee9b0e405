"""What is sent where: the URL and the headers of a hook's entry, within what the settings allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolpost import HookJob, SessionScope

_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))")
_NOT_IN_A_HEADER: Final = re.compile(r"[\r\n\0]")


class RequestError(Exception):
    """Raised when a hook's request must not be sent or can't be answered; says why."""


@dataclass(frozen=True)
class Call:
    """A request to make. `patterns` are the URLs that settings allow; None for all."""

    url: str
    headers: Mapping[str, str]
    patterns: Sequence[str] | None = None

    def allows(self, url: str) -> bool:
        """Whether settings let hooks go to a URL; a `*` in a pattern stands for anything."""
        return self.patterns is None or any(_fits(pattern, url) for pattern in self.patterns)


def call_of(job: HookJob, scope: SessionScope) -> Call:
    """Return the request of a hook. Raises RequestError."""
    url = job.handler.get("url")
    if not isinstance(url, str) or not re.match(r"https?://[^/\s]", url, re.IGNORECASE):
        raise RequestError(
            f"{job.source or 'the hook'} needs a 'url' that begins with http:// or https://, not {url!r}"
        )
    call = Call(url, _headers(job.handler, scope), _texts(scope.settings.get("allowedHttpHookUrls")))
    if not call.allows(url):
        raise RequestError(f"allowedHttpHookUrls in the settings does not list {url}")
    return call


def _headers(handler: Mapping[str, Any], scope: SessionScope) -> dict[str, str]:
    given = handler.get("headers") or {}
    if not isinstance(given, Mapping):
        raise RequestError("the hook's 'headers' must be an object of texts")
    names = set(_texts(handler.get("allowedEnvVars")) or ())
    bound = _texts(scope.settings.get("httpHookAllowedEnvVars"))
    allowed = names if bound is None else names & set(bound)
    headers = {"content-type": "application/json"}
    for name, value in given.items():
        filled = _filled(str(value), scope.env, allowed)
        if _NOT_IN_A_HEADER.search(filled) or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", str(name)):
            raise RequestError(f"the hook's header {name!r} can't be sent: it holds a line break, or is no name")
        headers[str(name).lower()] = filled
    return headers


def _filled(text: str, env: Mapping[str, str], allowed: Iterable[str]) -> str:
    """Put variables into a text; one that is not allowed becomes empty, so that no header carries its name about."""

    def value(found: re.Match[str]) -> str:
        name = found["braced"] or found["plain"]
        return env.get(name, "") if name in allowed else ""

    return _VARIABLE.sub(value, text)


def _texts(given: object) -> list[str] | None:
    return [text for text in given if isinstance(text, str)] if isinstance(given, list | tuple) else None


def _fits(pattern: str, url: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), url) is not None
