"""Holds commands in with macOS's own sandbox, by a profile made for each."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolpost import Sandbox, SandboxPolicy, ToolFailed, Violation, Wrapped, proxied

__all__ = ["Seatbelt"]


class Seatbelt(Sandbox):
    """A sandbox on macOS. `program` is the path of sandbox-exec."""

    platform = "darwin"
    program: str = "/usr/bin/sandbox-exec"

    def unusable(self) -> str | None:
        """Say that sandbox-exec is not there."""
        return None if Path(self.program).exists() else f"{self.program} is not there; it is a part of macOS"

    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        """Return the command to start instead. Raises ToolFailed where the policy can't be kept."""
        from .profile import profile

        if policy.network and policy.gateway is None and (policy.allowed_domains or policy.denied_domains):
            raise ToolFailed("seatbelt can't tell one host from another without a gateway. Turn the network off.")
        if not policy.network or policy.gateway is None:
            return Wrapped(argv=(self.program, "-p", profile(policy), *argv), env=env)
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        port: int = listener.getsockname()[1]
        refused: list[Violation] = []
        stop = policy.gateway.serve(listener, refused.append)

        async def finish() -> Sequence[Violation]:
            stop()
            return tuple(refused)

        return Wrapped(argv=(self.program, "-p", profile(policy, port), *argv), env=proxied(env, port), finish=finish)
