"""Holds commands in with bubblewrap: namespaces, mounts and a filter of system calls."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

from toolpost import Sandbox, SandboxPolicy, ToolFailed, Violation, Wrapped, proxied

from .programs import found

__all__ = ["Bubblewrap", "Nested"]


class Bubblewrap(Sandbox):
    """A sandbox on Linux. `program` is the path of bwrap, if it does not lie where the system's programs do."""

    platform = "linux"
    program: str = ""
    _own_proc: ClassVar[bool] = True

    def unusable(self) -> str | None:
        """Say what is missing: bwrap itself, or the kernel's leave to make namespaces."""
        from .trial import missing

        return missing(self._found(), own_proc=self._own_proc)

    def weaker(self) -> Sandbox | None:
        """Return itself for containers that let nobody mount another `/proc`."""
        return Nested(program=self.program)

    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        """Return the command to start instead. Raises ToolFailed where the policy can't be kept."""
        from contextlib import AsyncExitStack

        from .environment import outside, set_inside
        from .network import PORT, networks_of
        from .run import group_inside, prepared
        from .trial import ISOLATED

        program = self._found()
        if program is None:
            raise ToolFailed("bwrap is gone, so the command was not started. Install it: apt install bubblewrap")
        if policy.network and policy.gateway is None and (policy.allowed_domains or policy.denied_domains):
            raise ToolFailed("bubblewrap can't tell one host from another without a gateway. Turn the network off.")
        async with AsyncExitStack() as making:
            network = None
            if policy.gateway is not None or not policy.network:
                network = await networks_of(policy.stash, making).get(program, policy.gateway)
            made = prepared(policy, network, making, own_proc=self._own_proc)
            until = making.pop_all()

        async def finish() -> Sequence[Violation]:
            await until.aclose()
            return tuple(made.refused)

        return Wrapped(
            argv=(
                *(network.entering() if network else ()),
                *(program, *ISOLATED, *made.options, *set_inside(env), "--", *argv),
            ),
            env=outside(proxied(env, PORT) if policy.gateway is not None else env),
            pass_fds=made.fds,
            group=group_inside,
            finish=finish,
        )

    def _found(self) -> str | None:
        if self.program:
            return self.program if os.access(self.program, os.X_OK) else None
        return found("bwrap")


class Nested(Bubblewrap):
    """Shows the `/proc` of outside, to read: commands see which processes there are, and reach none."""

    _own_proc = False

    def weaker(self) -> Sandbox | None:
        """Return None: this is the weakest."""
        return None
