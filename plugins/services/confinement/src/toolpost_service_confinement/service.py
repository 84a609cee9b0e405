"""`Confinement` by the settings: one for each session."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import Permissions, PermissionState, Sandboxes, Stash, ToolFailed, Violation, Wrapped

from .gitlinks import Gitlinks, Parts
from .guard import Guard
from .policy import Grounds, policy_of, repositories, without_secrets
from .survey import Surveyor
from .violations import MOST, not_ignored, refused_writes

if TYPE_CHECKING:
    from toolpost import Rule, SessionScope

    from .approvals import Approvals
    from .domains import Domains
    from .gateway import FilteringGateway


LOOKED_AGAIN_SECONDS: Final = 2.0
"""How long what a command planted is there at most, while the command goes on."""


class SettingsConfinement:
    """Builds each command's policy from what is in force when it starts, and has the session's sandbox keep it."""

    def __init__(self, session: SessionScope) -> None:
        assert session.services is not None
        self._session = session
        self._services = session.services
        self._state = session.services.get(PermissionState)
        self._surveyor = Surveyor()
        self._gitlinks = Gitlinks()
        self._stash = Stash()
        self._temporary: Path | None = None
        self._gateway: FilteringGateway | None = None
        self._approvals: Approvals | None = None

    @property
    def in_force(self) -> bool:
        """Whether a sandbox is on and can be used."""
        return bool((self._state.scope.sandbox or {}).get("enabled"))

    async def enter(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        command: str = "",
        writable: Sequence[Path] = (),
        network_only: bool = False,
    ) -> Wrapped:
        """Return the command to start instead. Raises ToolFailed where no sandbox is in force or can keep the policy."""
        sandbox = self._services.get(Sandboxes).usable()
        grounds = self._grounds(self._state.rules)
        if sandbox is None or not self.in_force:
            raise ToolFailed("The sandbox went off while this call was decided on, so it was not started. Call again.")
        temporary = self._temporary_folder()
        written = tuple(repositories(grounds, self._surveyor)) if not network_only else ()
        policy = policy_of(
            grounds,
            self._surveyor,
            temporary=temporary,
            writable=writable,
            links=self._gitlinks.below(written),
            gateway=self._way_out(grounds),
            stash=self._stash,
            network_only=network_only,
        )
        if not network_only:
            env = without_secrets({**env, "TMPDIR": str(temporary)}, grounds.credentials)
        parts = Parts(self._gitlinks, written, self._surveyor.first_repositories)
        guard = Guard(grounds.roots, grounds.scope.cwd, policy.read_only, written, parts)
        wrapped = await sandbox.wrap(argv, env, policy)
        ignored = grounds.settings.get("ignoreViolations")
        return replace(wrapped, finish=_Finish(wrapped, guard, lambda found: not_ignored(found, command, ignored)))

    def told(self, output: str, *, command: str = "") -> Sequence[Violation]:
        """Return the writes that programs said were refused, by the path that they name."""
        return not_ignored(refused_writes(output), command, (self._state.scope.sandbox or {}).get("ignoreViolations"))

    async def aclose(self) -> None:
        """Close the way out, and remove the temporary folder. Whoever started a command finishes it."""
        await self._stash.aclose()
        if self._approvals is not None:
            self._approvals.close()
        if self._gateway is not None:
            await self._gateway.aclose()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _temporary_folder(self) -> Path:
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="toolpost-sandbox-")).resolve()
        return self._temporary

    def _way_out(self, grounds: Grounds) -> FilteringGateway | None:
        """Return the gateway; None where it could let nothing out."""
        if not grounds.domains.allowed and not self._can_ask(grounds):
            return None
        if self._gateway is None:
            from .gateway import FilteringGateway
            from .log import Log
            from .proxies import Proxies
            from .verdicts import Verdicts

            results = self._session.results_dir
            log = Log(results.parent / "sandbox-network.jsonl" if results is not None else None)
            self._gateway = FilteringGateway(
                Verdicts(self._domains, self._ask), log, lambda: Proxies.of(self._grounds(()).network)
            )
        return self._gateway

    def _domains(self) -> Domains:
        return self._grounds(self._state.rules).domains

    def _grounds(self, rules: Sequence[Rule]) -> Grounds:
        return Grounds(self._state.scope.sandbox or {}, self._state.scope, rules)

    def _can_ask(self, grounds: Grounds) -> bool:
        closed = any(grounds.network.get(key) is True for key in ("strictAllowlist", "allowManagedDomainsOnly"))
        return self._session.interactive and not closed

    async def _ask(self, host: str) -> str:
        """Return why a host that nothing names is not allowed; nothing where a person said that it is."""
        if not self._can_ask(self._grounds(())):
            return "neither sandbox.network.allowedDomains nor a rule WebFetch(domain:...) allows it"
        if self._approvals is None:
            from .approvals import Approvals

            self._approvals = Approvals(self._services.get(Permissions))
        return await self._approvals.ask(host)


class _Finish:
    """The end of one command: what the sandbox made is freed, what was planted is taken away.

    A command may go on for hours, so that is looked for meanwhile as well.
    """

    def __init__(
        self, wrapped: Wrapped, guard: Guard, heed: Callable[[Sequence[Violation]], Sequence[Violation]]
    ) -> None:
        self._wrapped = wrapped
        self._guard = guard
        self._heed = heed
        self._planted: list[Violation] = []
        self._looking = asyncio.create_task(self._look())

    async def __call__(self) -> Sequence[Violation]:
        """Return what the command tried and was not let."""
        self._looking.cancel()
        held_back = await self._wrapped.finish()
        return self._heed((*held_back, *self._planted, *self._guard.mend()))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOKED_AGAIN_SECONDS)
            # Beyond that somebody has it made again and again; it is taken away, but no longer told.
            found = self._guard.mend()
            self._planted += found[: max(MOST - len(self._planted), 0)]
