"""Which hosts the settings and rules name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Rule

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_PREFIX = "domain:"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Domains:
    """The hosts that are allowed and denied: names, patterns of them, addresses and networks."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    @classmethod
    def of(cls, network: Mapping[str, Any], rules: Iterable[Rule]) -> Domains:
        """Read `sandbox.network` and the WebFetch rules; where managed settings say so, theirs alone allow."""
        managed_only = network.get("allowManagedDomainsOnly") is True
        by_rule: dict[str, list[str]] = {"allow": [], "deny": [], "ask": []}
        for rule in rules:
            if managed_only and rule.behavior == "allow" and rule.source != "policySettings":
                continue
            if rule.tool == "WebFetch" and (rule.specifier or "").startswith(_PREFIX):
                by_rule[rule.behavior].append((rule.specifier or "").removeprefix(_PREFIX))
        allowed = (*network.get("allowedDomains", ()), *by_rule["allow"])
        denied = (*network.get("deniedDomains", ()), *by_rule["deny"])
        return cls(_unique(allowed), _unique(denied))


def host_of(text: str) -> str | None:
    """Return a host as it is compared and resolved: lower case, no dot at its end; None for what is none."""
    host = text.strip("[]").removesuffix(".").lower()
    if address_of(host) is not None:
        return host
    return host if len(host) <= 253 and _NAME.fullmatch(host) else None


def address_of(host: str) -> Address | None:
    """Return the address that a host is written as, IPv4 where IPv6 stands for it; None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    # Connected to, the one is the other: what is said of one has to count for both.
    return (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped) or address


def covers(pattern: str, host: str) -> bool:
    """Whether a pattern covers a host: `*.x` what lies below x, another `*` what has no dot, `*` alone every name."""
    pattern = pattern.strip().removesuffix(".").lower()
    address = address_of(host)
    if address is not None:
        return _holds(pattern, address)
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and "*" not in pattern[1:]
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch("[^.]*".join(parts), host) is not None


def is_public(address: Address) -> bool:
    """Whether an address is one of the internet, also that which it stands for in another protocol."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None:
            return False
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def names_address(patterns: Sequence[str], address: Address) -> bool:
    """Whether the address itself, or a network that it is in, is named."""
    return any(_holds(pattern.strip().lower(), address) for pattern in patterns)


def _holds(network: str, address: Address) -> bool:
    try:
        return address in ipaddress.ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _unique(texts: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and text.strip()))
