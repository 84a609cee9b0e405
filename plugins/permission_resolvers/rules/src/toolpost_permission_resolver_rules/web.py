"""Rules for fetching: `WebFetch(domain:…)`."""

from __future__ import annotations

import ipaddress
import re
import socket
from functools import lru_cache
from urllib.parse import urlsplit


def host_is_clear(url: object) -> bool:
    """Whether all readers of URLs agree on the host, so that a rule about another one surely does not cover it."""
    return isinstance(url, str) and _host(url) is not None


def host_matches(specifier: str, url: object) -> bool:
    """Whether the URL's host is covered; `*.x` means the subdomains of x, another `*` stays within one label."""
    if not specifier.startswith("domain:"):
        return False
    wanted = _ascii(specifier.removeprefix("domain:").strip().strip("[]").rstrip(".").lower())
    host = _host(url) if isinstance(url, str) else None
    if host is None:
        return False
    wanted = wanted if "*" in wanted else _address(wanted)
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
    if re.search(r"[\x00-\x20\x7f\\]", url) or not re.match(r"https?://", url, re.IGNORECASE):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
        port = parts.port
    except ValueError:
        return None
    del port
    if not host or set(parts.netloc) & set("@%"):
        return None
    try:
        host = _encoded(host)
    except UnicodeError:
        return None
    return _address(host.rstrip(".").lower())


def _ascii(wanted: str) -> str:
    """The names in a rule as names of hosts are sent; one that can't be is left as it is and covers nothing."""
    try:
        return _encoded(wanted)
    except UnicodeError:
        return wanted


def _encoded(host: str) -> str:
    return ".".join(label if label.isascii() else label.encode("idna").decode() for label in re.split("[.。．｡]", host))


def _address(host: str) -> str:
    """One spelling for each address: 127.1, 0x7f000001 and ::ffff:127.0.0.1 are the same place."""
    try:
        if ":" in host:
            address = ipaddress.IPv6Address(host)
            return str(address.ipv4_mapped or address)
        return socket.inet_ntoa(socket.inet_aton(host)) if host[:1].isdigit() else host
    except (ValueError, OSError):
        return host
