from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from toolpost import Rule
from toolpost_service_confinement.domains import Address, Domains, covers, host_of, is_public
from toolpost_service_confinement.verdicts import Refused, Verdicts


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("example.com", "example.com", True),
        ("Example.com.", "example.com", True),
        ("example.com", "www.example.com", False),
        ("example.com", "evilexample.com", False),
        ("*.example.com", "www.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("api-*.example.com", "api-eu.example.com", True),
        ("api-*.example.com", "api-.evil.example.com", False),
        ("*", "anything.test", True),
        ("*", "127.0.0.1", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("::1", "::1", True),
        ("10.0.0.0/8", "::ffff:10.1.2.3", True),
        ("192.0.2.7", "::ffff:c000:207", True),
    ],
)
def test_a_pattern_covers_what_it_says_and_no_more(pattern: str, host: str, expected: bool) -> None:
    assert covers(pattern, host) is expected


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM.", "example.com"),
        ("[::1]", "::1"),
        ("a_b.example", "a_b.example"),
        ("evil.test\0.example.com", None),
        ("user@example.com", None),
        ("example.com/path", None),
        ("exa mple.com", None),
        ("", None),
        ("a" * 64 + ".com", None),
        ("127.0.0.1%lo", None),
    ],
)
def test_a_host_is_read_in_one_way(text: str, host: str | None) -> None:
    assert host_of(text) == host


LOCAL = """
    127.0.0.1 0.0.0.0 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 224.0.0.1 255.255.255.255
    ::1 :: fe80::1 fd00::1 ff02::1 fd00:ec2::254 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 2002:7f00:1::
"""


@pytest.mark.parametrize("address", str.split(LOCAL))
def test_addresses_of_this_machine_and_its_networks_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


def test_webfetch_rules_count_beside_the_settings() -> None:
    rules = [
        Rule.parse("WebFetch(domain:docs.example)", "allow"),
        Rule.parse("WebFetch(domain:bad.example)", "deny"),
        Rule.parse("WebFetch(domain:maybe.example)", "ask"),
        Rule.parse("WebFetch", "allow"),
    ]
    domains = Domains.of({"allowedDomains": ["a.example"], "deniedDomains": ["b.example"]}, rules)
    assert domains == Domains(("a.example", "docs.example"), ("b.example", "bad.example"))


NAMES = {
    "good.example": ["93.184.216.34"],
    "rebound.example": ["169.254.169.254"],
    "both.example": ["10.0.0.1", "1.1.1.1"],
}


def verdicts(allowed: Sequence[str] = (), denied: Sequence[str] = (), answer: str = "nobody knows it") -> Verdicts:
    async def ask(host: str) -> str:
        return answer

    async def resolve(host: str, port: int) -> Sequence[Address]:
        return [ip_address(text) for text in NAMES[host]]

    return Verdicts(lambda: Domains(tuple(allowed), tuple(denied)), ask, resolve)


async def test_an_allowed_name_is_connected_to_as_it_was_judged() -> None:
    assert await verdicts(["*.example"]).addresses("GOOD.example", 443) == ["93.184.216.34"]


async def test_of_several_addresses_only_those_of_the_internet_are_used() -> None:
    assert await verdicts(["*.example"]).addresses("both.example", 443) == ["1.1.1.1"]


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("rebound.example", "leads to 169.254.169.254"),
        ("127.0.0.1", "allowedDomains names them"),
        ("169.254.169.254", "allowedDomains names them"),
        ("[::1]", "allowedDomains names them"),
        ("bad host", "no host"),
    ],
)
async def test_neither_a_name_nor_an_address_leads_to_this_machine(host: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        await verdicts(["*"]).addresses(host, 80)


async def test_an_address_that_is_named_is_let_through() -> None:
    assert await verdicts(["127.0.0.0/8"]).addresses("127.0.0.1", 80) == ("127.0.0.1",)
    assert await verdicts(["rebound.example", "169.254.169.254"]).addresses("rebound.example", 80) == [
        "169.254.169.254"
    ]


async def test_what_is_denied_is_refused_whatever_allows_it() -> None:
    with pytest.raises(Refused, match="denied"):
        await verdicts(["*"], ["good.example"], "").addresses("good.example", 443)
    with pytest.raises(Refused, match="address is denied"):
        await verdicts(["*"], ["93.184.216.0/24"], "").addresses("good.example", 443)


async def test_a_name_that_nothing_allows_is_asked_about() -> None:
    assert await verdicts(answer="").addresses("good.example", 443) == ["93.184.216.34"]
    with pytest.raises(Refused, match="nobody knows it"):
        await verdicts().addresses("good.example", 443)


async def test_a_yes_to_a_name_is_none_to_an_address_of_this_machine() -> None:
    with pytest.raises(Refused, match="not on the internet"):
        await verdicts(answer="").addresses("rebound.example", 80)
