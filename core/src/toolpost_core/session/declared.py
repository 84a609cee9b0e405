"""What one plugin gets of a session: what its package declares."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from toolpost import MissingService

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Services, SessionScope, ToolContext
    from toolpost_core.plugins.capabilities import Capabilities
    from toolpost_core.plugins.listening import ListenerRules

S = TypeVar("S")

ENDS: Final = ("KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS")
"""What the names of environment variables end in that hold a key, a token or the like."""


class Limits:
    """Takes out of a session what a plugin's package does not declare; one that declares nothing gets all.

    Plugins are named as they are registered with pluggy, `group/name`.
    """

    def __init__(self, rules: ListenerRules) -> None:
        self._rules = rules
        self._env: tuple[Mapping[str, str], Mapping[str, str]] | None = None

    def scope(self, scope: SessionScope, plugin: str) -> SessionScope:
        """Return the session as a plugin is told of it."""
        declared = self._rules.declared(plugin)
        if declared is None:
            return scope
        services = self._services(scope.services, declared, plugin) if scope.services is not None else None
        return replace(scope, services=services, env=self._visible(scope.env, declared))

    def context(self, ctx: ToolContext, plugin: str) -> ToolContext:
        """Return the context of a call of a plugin's tool."""
        declared = self._rules.declared(plugin)
        if declared is None:
            return ctx
        services = self._services(ctx.services, declared, plugin)
        return replace(ctx, services=services, env=self._visible(ctx.env, declared))

    def _services(self, services: Services, declared: Capabilities, plugin: str) -> DeclaredServices:
        entry = self._rules.entry(plugin)
        return DeclaredServices(services, declared, *((entry.name, entry.distribution) if entry else (plugin, "")))

    def _visible(self, env: Mapping[str, str], declared: Capabilities) -> Mapping[str, str]:
        if declared.secrets:
            return env
        if self._env is None or self._env[0] is not env:
            self._env = env, {name: value for name, value in env.items() if not _is_secret(name.upper())}
        return self._env[1]


class DeclaredServices:
    """`Services` for a plugin whose package declares what it needs."""

    def __init__(self, services: Services, declared: Capabilities, plugin: str, distribution: str) -> None:
        self._services = services
        self._declared = declared
        self._plugin = plugin
        self._distribution = distribution

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService for one that the package does not declare."""
        if not self._declared.has_service(protocol.__name__):
            own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", protocol.__name__).lower()
            names = ", ".join(f'"{name}"' for name in (*self._declared.services, own))
            raise MissingService(
                f"The plugin {self._plugin!r} ({self._distribution}) asked for the service {protocol.__name__}, which it "
                f"does not declare. Its author writes into [capabilities] in {self._declared.file}: services = [{names}]"
            )
        return self._services.get(protocol)


def _is_secret(name: str) -> bool:
    # Asked of each variable at each start: a loop over the parts would take twice as long.
    return name.endswith(ENDS) or "TOKEN_" in name or "SECRET_" in name or "PASSWORD_" in name or "CREDENTIALS_" in name
