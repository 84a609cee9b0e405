from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from toolpost import SandboxPolicy, ToolFailed, Violation
from toolpost_sandbox_seatbelt import Seatbelt
from toolpost_sandbox_seatbelt.profile import profile

WORK, DOCS, KEYS = Path("/srv/app"), Path("/srv/app/docs"), Path("/srv/app/docs/keys")


def rules(policy: SandboxPolicy, port: int | None = None) -> list[str]:
    return profile(policy, port).splitlines()


def last_about(lines: list[str], action: str, path: Path) -> str:
    """Return whether the last rule that fits an action on a path allows or denies it, as sandbox-exec reads them."""
    verdict = "deny"
    for line in lines:
        for rule in re.findall(r"\((allow|deny) ([^()]*?)((?: \((?:subpath|literal) \"[^\"]*\"\))*)\)", line):
            kind, actions, filters = rule
            named = re.findall(r"\((subpath|literal) \"([^\"]*)\"\)", filters)
            fits = not named or any(
                path.is_relative_to(text) if how == "subpath" else path == Path(text) for how, text in named
            )
            if fits and any(action.startswith(name.rstrip("*")) for name in actions.split()):
                verdict = kind
    return verdict


POLICY = SandboxPolicy(writable=(WORK, KEYS / "public"), read_only=(DOCS,), hidden=(KEYS,))


@pytest.mark.parametrize(
    ("path", "read", "write"),
    [
        (Path("/etc/hosts"), "allow", "deny"),
        (Path("/dev/null"), "allow", "allow"),
        (WORK / "a.py", "allow", "allow"),
        (DOCS / "a.md", "allow", "deny"),
        (KEYS / "secret", "deny", "deny"),
        (KEYS / "public/a", "allow", "allow"),
    ],
)
def test_the_last_rule_of_a_path_is_that_of_the_longest(path: Path, read: str, write: str) -> None:
    lines = rules(POLICY)
    assert last_about(lines, "file-read-data", path) == read
    assert last_about(lines, "file-write-data", path) == write


def test_folders_that_hold_what_is_protected_can_not_be_moved_aside() -> None:
    text = profile(SandboxPolicy(writable=(WORK,), read_only=(WORK / "deep/er/.claude",)))
    for name in ("deep", "deep/er", "deep/er/.claude"):
        assert f'(deny file-write-unlink (literal "{WORK / name}"))' in text
    assert f'(deny file-write-unlink (literal "{WORK}"))' not in text


def test_everything_is_denied_first() -> None:
    assert rules(SandboxPolicy())[:2] == ["(version 1)", "(deny default)"]


def test_the_network_is_off_or_the_gateways_port_or_all() -> None:
    assert "network" not in profile(SandboxPolicy())
    assert '(allow network-outbound (remote ip "localhost:4711"))' in profile(SandboxPolicy(network=True), 4711)
    assert "network*" not in profile(SandboxPolicy(network=True), 4711)
    assert "(allow network*)" in profile(SandboxPolicy(network=True))


def test_processes_outside_are_out_of_reach_unless_the_policy_says_so() -> None:
    assert "(allow signal (target same-sandbox))" in profile(SandboxPolicy())
    assert "(allow signal)" in profile(SandboxPolicy(own_processes=False))


def test_a_path_can_not_end_its_text() -> None:
    text = profile(SandboxPolicy(writable=(Path('/a"))(allow default)/b\\'),)))
    assert r'"/a\"))(allow default)/b\\"' in text


class Served:
    """A gateway that only remembers what it served."""

    def __init__(self) -> None:
        self.listener: socket.socket | None = None

    def serve(self, listener: socket.socket, refused: Callable[[Violation], None]) -> Callable[[], None]:
        self.listener = listener
        refused(Violation("connect", "a.example:443"))
        return listener.close


async def test_a_gateway_gets_a_port_for_as_long_as_the_command_runs() -> None:
    gateway = Served()
    wrapped = await Seatbelt().wrap(("make",), {"A": "b"}, SandboxPolicy(network=True, gateway=gateway))
    assert gateway.listener is not None
    port = gateway.listener.getsockname()[1]
    assert wrapped.argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert wrapped.argv[3:] == ("make",)
    assert f"localhost:{port}" in wrapped.argv[2]
    assert wrapped.env["https_proxy"] == f"http://127.0.0.1:{port}"
    assert wrapped.env["A"] == "b"
    assert [str(one) for one in await wrapped.finish()] == ["connect a.example:443"]
    assert gateway.listener.fileno() == -1


async def test_domains_without_a_gateway_are_refused() -> None:
    with pytest.raises(ToolFailed, match="gateway"):
        await Seatbelt().wrap(("make",), {}, SandboxPolicy(network=True, denied_domains=("a.example",)))
