"""The profile that sandbox-exec reads: rules of which the last that fits counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolpost import SandboxPolicy

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr")
# What programs need to start and to ask for names, users and time.
_SERVICES: Final = (
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.system.logger",
    "com.apple.logd",
    "com.apple.trustd.agent",
    "com.apple.CoreServices.coreservicesd",
    "com.apple.SecurityServer",
)


def profile(policy: SandboxPolicy, port: int | None = None) -> str:
    """Return the profile of a policy; `port` is the gateway's on this machine."""
    return "\n".join(_lines(policy, port)) + "\n"


def _lines(policy: SandboxPolicy, port: int | None) -> Iterator[str]:
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-exec*) (allow process-fork)"
    if policy.own_processes:
        yield "(allow process-info* (target same-sandbox)) (allow signal (target same-sandbox))"
    else:
        yield "(allow process-info*) (allow signal)"
    yield "(allow sysctl-read) (allow file-ioctl) (allow pseudo-tty)"
    yield "(allow ipc-posix-sem) (allow ipc-posix-shm)"
    yield f"(allow mach-lookup {' '.join(f'(global-name {_text(name)})' for name in _SERVICES)})"
    yield "(allow file-read*)"
    yield f"(allow file-write* {' '.join(f'(literal {_text(path)})' for path in _DEVICES)})"
    yield from _files(policy)
    yield from _network(policy, port)


def _files(policy: SandboxPolicy) -> Iterator[str]:
    rules = [(path, "(allow file-read* file-write* {})") for path in policy.writable]
    rules += [(path, "(allow file-read* {}) (deny file-write* {})") for path in policy.read_only]
    rules += [(path, "(deny file-read* file-write* {})") for path in policy.hidden]
    # A stable sort: of one path's rules the strictest comes last.
    for path, rule in sorted(rules, key=lambda entry: len(Path(os.path.realpath(entry[0])).parts)):
        yield rule.replace("{}", f"(subpath {_text(os.path.realpath(path))})")
    for path in dict.fromkeys((*policy.read_only, *policy.hidden)):
        # A folder on the way must not be moved aside, with another put in its place.
        for parent in _movable(path, policy):
            yield f"(deny file-write-unlink (literal {_text(str(parent))}))"


def _movable(path: Path, policy: SandboxPolicy) -> Iterator[Path]:
    """The path and the folders above it that a writable folder holds; a link by its own name, too."""
    roots = [Path(os.path.realpath(root)) for root in policy.writable]
    for form in dict.fromkeys((path, Path(os.path.realpath(path)))):
        for parent in (form, *form.parents):
            if any(parent.is_relative_to(root) and parent != root for root in roots):
                yield parent


def _network(policy: SandboxPolicy, port: int | None) -> Iterator[str]:
    if policy.unix_sockets:
        yield "(allow network-outbound (remote unix-socket)) (allow network-bind (local unix-socket))"
    if not policy.network:
        return
    if port is not None:
        yield f'(allow network-outbound (remote ip "localhost:{port}"))'
        return
    yield "(allow network*) (allow system-socket)"


def _text(value: str) -> str:
    """Return a text as a profile writes it."""
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
