"""Rules for fetching: `WebFetch(domain:…)`."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit


def host_matches(specifier: str, url: object) -> bool:
    """Whether the URL's host is covered; `*.x` means the subdomains of x, another `*` stays within one label."""
    if not specifier.startswith("domain:"):
        return False
    wanted = specifier.removeprefix("domain:").strip().rstrip(".").lower()
    host = _host(url) if isinstance(url, str) else None
    if host is None:
        return False
    if wanted == "*":
        return True
    if "*" not in wanted:
        return host == wanted
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) > len(wanted) - 1
    return re.fullmatch("[^.]*".join(re.escape(piece) for piece in wanted.split("*")), host) is not None


@lru_cache(maxsize=8)
def _host(url: str) -> str | None:
    """The host that a client would really ask, or None where readers of URLs may differ about it."""
    if re.search(r"[\x00-\x20\x7f\\]", url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
        port = parts.port
    except ValueError:
        return None
    del port
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return None
    host = host.rstrip(".").lower()
    try:
        return host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return None
